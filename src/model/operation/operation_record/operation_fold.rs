//! The records of all operations, made of their events.

use std::collections::{BTreeMap, HashMap};

use super::super::touched::touched_tasks;
use super::{NAMED, OperationRecord, OperationRecordState, TaskAsAdded};
use crate::base::ids::{OperationId, RequestId, TaskId};
use crate::base::text::ValueChange;
use crate::journal::journaled::OperationEnd;
use crate::journal::journaled::{JournaledOperation, OperationKind};
use crate::state::audit;
use crate::state::current_state::State;
use crate::state::event::Event;
use crate::state::event_envelope::{EventAuthor, EventEnvelope};
use crate::work::restorable::restorable_state::RestorableState;
use crate::work::restorable::standing_changes::TaskStandingChanges;
use crate::work::sessions::session::SupervisorRequest;
use crate::work::tasks::task::{Task, TaskChangeSet, TaskFieldChange, TaskStatus};
use axiom_base::error::Result;

/// Folds events into transactions. See the module.
#[derive(Debug, Default)]
pub struct OperationFold {
    /// The number of the event after which it began: 0 for all events.
    from: u64,
    state: State,
    all: Vec<OperationRecord>,
    places: HashMap<OperationId, usize>,
    /// For each transaction, the tasks it touched: before its first event that touched them, and after the last one.
    /// Transactions overlap: events of the supervisor can come between the events of a command that waits for it.
    touched: HashMap<usize, BTreeMap<TaskId, TaskBeforeAfter>>,
    /// The transactions that asked a session for something, until it has answered.
    asked: HashMap<RequestId, usize>,
}

impl OperationFold {
    /// A fold of the events after `state` only. Finish it with [`OperationFold::finish_known`].
    pub fn of_events_after(state: State) -> Self {
        Self { from: state.seq, state, ..Self::default() }
    }

    /// Adds the next event.
    pub fn push(&mut self, envelope: &EventEnvelope) -> Result<()> {
        let place = *self.places.entry(envelope.txn.clone()).or_insert_with(|| {
            self.all.push(OperationRecord::begin(envelope));
            self.all.len() - 1
        });
        let ids = touched_tasks(&self.state, &envelope.event);
        let touched = self.touched.entry(place).or_default();
        for id in &ids {
            if !touched.contains_key(id) {
                let before = self.state.restorable.tasks.get(id).cloned();
                touched.insert(id.clone(), TaskBeforeAfter { before, after: None });
            }
        }
        let ended = matches!(envelope.event, Event::OperationEnded { end: OperationEnd::Done, .. });
        let open = if ended { self.state.record.open.clone() } else { None };
        if let Some(open) = &open {
            let transaction = &mut self.all[place];
            transaction.changes.add(&open.operation);
            transaction.nature.operates = true;
            let of_ours =
                matches!(open.operation.kind, OperationKind::DeleteCheckpoints { .. } | OperationKind::BeginMerge { .. });
            transaction.nature.is_housekeeping = of_ours && envelope.by.is_automatic();
            let deletes = matches!(open.operation.kind, OperationKind::DeleteCheckpoints { .. });
            transaction.nature.is_retention = deletes && envelope.by.is_automatic();
        }
        // Whoever records what an agent said, or a recovery that its work has ended, did nothing themselves.
        let ends = matches!(envelope.event, Event::IterationEnded { .. } | Event::WorkReleased { .. });
        let only_says = matches!(envelope.event, Event::Signalled { .. }) || ends && envelope.by == EventAuthor::Recovery;
        if only_says && self.all[place].events.first == envelope.seq {
            self.all[place].nature.is_housekeeping = true;
        }
        let mode = self.state.restorable.mode;
        let left_gates = left_gates(&self.state.restorable, &envelope.event, open.as_ref().map(|open| &open.operation));
        let before = open.as_ref().filter(|open| restores_standing(&open.operation)).map(|_| standing(&self.state.restorable));
        self.state.apply(envelope)?;
        if let Some(before) = before {
            self.all[place].brought_back.standing = TaskStandingChanges::between(&before, &self.state.restorable);
        }
        self.all[place].brought_back.standing.gates.extend(left_gates.gates);
        if open.is_some() && self.state.restorable.mode != mode {
            self.all[place].brought_back.mode = Some(ValueChange::new(mode, self.state.restorable.mode));
        }
        if let Some(touched) = self.touched.get_mut(&place) {
            for id in &ids {
                if let Some(touched) = touched.get_mut(id) {
                    touched.after = self.state.restorable.tasks.get(id).cloned();
                }
            }
        }
        if let Event::RepositoryPlaced { placing } = &envelope.event {
            self.all.iter_mut().for_each(|transaction| placing.journaled_changes(&mut transaction.changes));
        }
        let transaction = &mut self.all[place];
        // What is put away afterwards comes after a checkpoint of what it made.
        if !transaction.nature.operates || transaction.progress == OperationRecordState::Open {
            transaction.events.last = envelope.seq;
        }
        note(transaction, &envelope.event, &self.state);
        self.note_request(place, &envelope.event);
        if let Some(OperationKind::Undo { of }) = open.map(|open| open.operation.kind) {
            self.link_undo(place, of);
        }
        Ok(())
    }

    /// What a session refused was not done: nobody asked for it, as the log tells it.
    fn note_request(&mut self, place: usize, event: &Event) {
        if let Event::Requested { id, .. } = event {
            self.asked.insert(id.clone(), place);
        }
        if let Event::RequestHandled { id, done, .. } = event
            && let Some(asked) = self.asked.remove(id)
        {
            let nature = &mut self.all[asked].nature;
            (nature.was_done, nature.was_refused) = (*done, !done);
            nature.asked = nature.asked.take().filter(|_| *done);
        }
    }

    /// An undo undoes its target. The undo of an undo makes the first one's target effective again.
    fn link_undo(&mut self, place: usize, of: OperationId) {
        let id = self.all[place].id.clone();
        if let Some(target) = self.places.get(&of).copied() {
            self.all[target].undo.by = Some(id);
            let revived = self.all[target].undo.of.as_ref().and_then(|first| self.places.get(first).copied());
            if let Some(revived) = revived {
                self.all[revived].undo.by = None;
                // The files that were put back were in the way again, and are in another folder of the trash now.
                self.all[revived].changes.asides = self.all[place].changes.asides.clone();
            }
        }
        self.all[place].undo.of = Some(of);
    }

    /// The newest transactions, oldest first: those of which it is certain that they, and all that follow them, began within
    /// these events. They are the end of what [`OperationFold::finish`] returns for the whole log.
    pub fn finish_known(self) -> Vec<OperationRecord> {
        let from = self.from;
        let mut all = self.finish();
        // A transaction may have begun before: then its place in the order is unknown, too, and at most that of its first event here.
        let doubtful = all.iter().rposition(|one| !one.id.is_begun_within(from, one.events.first));
        all.drain(..doubtful.map_or(0, |place| place + 1));
        all
    }

    /// All transactions, oldest first.
    pub fn finish(mut self) -> Vec<OperationRecord> {
        for (place, transaction) in self.all.iter_mut().enumerate() {
            for (id, TaskBeforeAfter { before, after }) in self.touched.remove(&place).unwrap_or_default() {
                match (before, after) {
                    (Some(mut then), Some(now)) => {
                        let left = then.status == TaskStatus::Active && now.status != TaskStatus::Active;
                        if transaction.nature.operates && left {
                            // An undo makes the task pending: no agent works on it any more.
                            then.status = TaskStatus::Pending;
                        }
                        let changes = TaskFieldChange::between(&then, &now);
                        if !changes.is_empty() {
                            transaction.tasks.edits.push(TaskChangeSet { id, changes });
                        }
                    }
                    (None, Some(Task { status, merged, .. })) => {
                        transaction.tasks.added.insert(id, TaskAsAdded { status, merged });
                    }
                    (Some(_) | None, None) => {}
                }
            }
        }
        self.all
    }
}

/// The part of a state that says what was reported of tasks, and where they wait.
fn standing(now: &RestorableState) -> RestorableState {
    RestorableState { reports: now.reports.clone(), gates: now.gates.clone(), ..RestorableState::default() }
}

/// Whether what was reported of tasks, and where they wait, changes with an operation: it brings back what it was.
fn restores_standing(operation: &JournaledOperation) -> bool {
    operation.changes.is_some() || !operation.standing.is_empty()
}

/// The gates at which tasks waited that an event blocks or archives.
fn left_gates(now: &RestorableState, event: &Event, ended: Option<&JournaledOperation>) -> TaskStandingChanges {
    let changed = if let Event::TasksChanged { edits } = event { edits.as_slice() } else { &[] };
    TaskStandingChanges::of_left_gates(now, ended.map_or(changed, |operation| &operation.edits))
}

/// A task before and after a transaction; `None` where it did not exist.
#[derive(Debug, Default)]
struct TaskBeforeAfter {
    before: Option<Task>,
    after: Option<Task>,
}

/// Adds to the transaction what is shown of an event. The event with the highest rank gives the title.
fn note(transaction: &mut OperationRecord, event: &Event, state: &State) {
    if let Event::OperationBegan { operation } = event {
        transaction.progress = OperationRecordState::Open;
        if let OperationKind::RollbackCheckpoint { checkpoint, partly: false } = &operation.kind {
            transaction.brought_back.checkpoint = Some(checkpoint.clone());
        }
    }
    if let Event::OperationEnded { end, moved, .. } = event {
        transaction.changes.asides.extend(moved.iter().cloned());
        transaction.progress = match end {
            OperationEnd::Done => OperationRecordState::Done,
            OperationEnd::Aborted => OperationRecordState::Aborted,
        };
    }
    if let Event::MergedBranchesLeave { refs } = event {
        transaction.nature.only_tidies = !transaction.moves();
        transaction.changes.refs.extend(refs.iter().cloned());
    }
    if let Event::MergedBranchesLeft { gone: _, stay } = event {
        transaction.changes.refs.retain(|change| !stay.contains(&change.name));
    }
    if let Event::SessionStarted { .. } = event {
        transaction.nature.bounds_session = true;
    }
    if let Event::SessionChanged { state, .. } = event {
        transaction.nature.bounds_session |= !state.is_open();
    }
    if let Event::Requested { request, for_operation, .. } = event {
        let ended = || "an operation asked for it: git axiom resume    ends a pause that it has left".to_owned();
        transaction.nature.asked_to_block |= matches!(request, SupervisorRequest::Block { .. });
        transaction.nature.asked = Some(if *for_operation { ended() } else { taken_back_by(request) });
    }
    transaction.nature.begins_anew |= matches!(event, Event::StateAdopted { .. });
    transaction.nature.changes_mode |= matches!(event, Event::ModeChanged { .. });
    if let Event::CheckpointCreated { checkpoint } = event
        && !checkpoint.trigger.is_attached()
    {
        transaction.checkpoints.push(checkpoint.name.clone());
    }
    let (rank, what) = audit::describe(event, state);
    if let Some(title) = audit::with_further(&transaction.what, event) {
        transaction.what = title;
    } else if rank > transaction.nature.rank {
        transaction.nature.rank = rank;
        transaction.what = what;
    }
}

/// How what a human asked the session for is taken back: it is done in other transactions, or is an agent's work.
fn taken_back_by(request: &SupervisorRequest) -> String {
    let listed = |tasks: &[TaskId]| {
        let names: Vec<&str> = tasks.iter().take(NAMED).map(TaskId::as_str).collect();
        if tasks.len() > NAMED { format!("{} …", names.join(" ")) } else { names.join(" ") }
    };
    match request {
        SupervisorRequest::Block { tasks, .. } => {
            format!("an agent worked on what it blocked: git axiom task unblock {}    takes that back", listed(tasks))
        }
        SupervisorRequest::Stop { .. } | SupervisorRequest::Kill { .. } | SupervisorRequest::Redirect { .. } => {
            "it took tasks from their agents: git axiom gate list    shows where they wait to be started again".to_owned()
        }
        SupervisorRequest::Pause { .. } => "it asked for a pause: git axiom resume    ends that".to_owned(),
        SupervisorRequest::Resume => "it ended a pause: git axiom pause    begins another one".to_owned(),
        SupervisorRequest::Merge { task } => {
            format!("it asked for the merge of {task}, which is undone by itself: see 'git axiom log'")
        }
        SupervisorRequest::Quit => "it asked for the end of the session: git axiom run    begins another one".to_owned(),
    }
}

/// Whether an edit is only an agent's work on a task: a claim or a release.
pub(super) fn is_work(edit: &TaskChangeSet) -> bool {
    let active = |change: &TaskFieldChange| matches!(change, TaskFieldChange::Status(s) if s.old == TaskStatus::Active || s.new == TaskStatus::Active);
    edit.changes.iter().any(active)
}
