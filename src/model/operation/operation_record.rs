//! Transactions, computed from events: a transaction is one user command or supervisor step, with the recorded old and new
//! value of everything it changed.
//!
//! The fold replays the state, so it knows exactly how a transaction changed tasks, whichever events did it.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::Serialize;

use super::touched::touched_tasks;
use crate::base::ids::{CheckpointName, OperationId, TaskId};
use crate::base::ref_change::RefChange;
use crate::base::text::ValueChange;
use crate::checkpoint::branch_config::BranchConfigChange;
use crate::journal::journaled::{
    BranchAdvance, GateChange, OperationKind, StashChange, SubmoduleChange, TrashChange, WorkspaceChange, WorktreeChange,
};
use crate::state::audit;
use crate::state::current_state::State;
use crate::state::event::{Event, EventAuthor, EventEnvelope, OperationEnd};
use crate::state::repository_location::RepositoryRelocation;
use crate::work::sessions::session::{SessionMode, SupervisorRequest};
use crate::work::tasks::task::{MergedTaskWork, Task, TaskChangeSet, TaskFieldChange, TaskStatus};
use axiom_base::error::Result;

/// How many tasks are named in how a request is taken back.
const NAMED: usize = 10;

/// The progress of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum OperationRecordState {
    /// It is finished.
    Done,
    /// Its operation has begun and has not ended.
    Open,
    /// Its operation was reversed.
    #[serde(rename = "reversed")]
    Aborted,
}

/// One user command or supervisor step.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationRecord {
    /// Its id.
    pub id: OperationId,
    /// When it began.
    pub at: Timestamp,
    /// Who did it.
    pub by: EventAuthor,
    /// One line on what it did.
    pub what: String,
    /// How far it has come.
    pub progress: OperationRecordState,
    /// Refs that it moved.
    pub refs: Vec<RefChange>,
    /// Configuration of branches that it removed or brought back.
    pub branch_configs: Vec<BranchConfigChange>,
    /// Stash entries that it removed or brought back.
    pub stash: Vec<StashChange>,
    /// Branches that it moved together with the worktree in which they are checked out.
    pub advances: Vec<BranchAdvance>,
    /// Worktrees that it changed.
    pub worktrees: Vec<WorktreeChange>,
    /// Submodules that it changed.
    pub submodules: Vec<SubmoduleChange>,
    /// Workspaces that it moved to the trash or brought back.
    pub workspaces: Vec<WorkspaceChange>,
    /// Files that were in its way and are in the trash.
    pub asides: Vec<TrashChange>,
    /// Gates on tasks that it opened or closed.
    pub gates: Vec<GateChange>,
    /// Tasks that it added.
    pub added: Vec<TaskId>,
    /// The status and merge of those tasks when the transaction had ended.
    pub added_as: BTreeMap<TaskId, TaskAsAdded>,
    /// Fields that it changed in tasks that existed before.
    pub edits: Vec<TaskChangeSet>,
    /// The change of the mode, where it changed the mode.
    pub mode: Option<ValueChange<SessionMode>>,
    /// The change of the mode, where the mode changed as part of a rollback, or of the undo of one. An undo inverts that
    /// too.
    pub mode_restored: Option<ValueChange<SessionMode>>,
    /// The checkpoint to which it went back with all files of its worktrees.
    pub went_back_to: Option<CheckpointName>,
    /// Checkpoints that it made.
    pub checkpoints: Vec<CheckpointName>,
    /// The transaction that it undid, where it is an undo.
    pub undo_of: Option<OperationId>,
    /// The transaction that undid it, where that was not undone itself.
    pub undone_by: Option<OperationId>,
    /// The number of its first event.
    pub first_seq: u64,
    /// The number of its last event.
    pub last_seq: u64,
    /// Whether it carried out an operation. Before an operation, the agents concerned are stopped.
    operates: bool,
    /// Whether a session began or ended in it.
    bounds_session: bool,
    /// Whether it is automatic retention, or prepares the work of an agent: no user asked for it.
    is_housekeeping: bool,
    /// Whether it is automatic retention: it deleted checkpoints that had expired.
    is_retention: bool,
    /// Whether the only refs that it moved are branches of tasks that were merged before.
    only_tidies: bool,
    /// Whether a new log begins with it.
    begins_anew: bool,
    /// What a human asked the session for in it, as how that is taken back.
    asked: Option<String>,
    rank: u8,
}

/// A task as it was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskAsAdded {
    /// Its status.
    pub status: TaskStatus,
    /// Where its work is, for a task that was imported as done.
    pub merged: Option<MergedTaskWork>,
}

impl OperationRecord {
    fn begin(envelope: &EventEnvelope) -> Self {
        Self {
            id: envelope.txn.clone(),
            at: envelope.at,
            by: envelope.by.clone(),
            what: String::new(),
            progress: OperationRecordState::Done,
            refs: Vec::new(),
            branch_configs: Vec::new(),
            stash: Vec::new(),
            advances: Vec::new(),
            worktrees: Vec::new(),
            submodules: Vec::new(),
            workspaces: Vec::new(),
            asides: Vec::new(),
            gates: Vec::new(),
            added: Vec::new(),
            added_as: BTreeMap::new(),
            edits: Vec::new(),
            mode: None,
            mode_restored: None,
            checkpoints: Vec::new(),
            undo_of: None,
            undone_by: None,
            went_back_to: None,
            first_seq: envelope.seq,
            last_seq: envelope.seq,
            operates: false,
            bounds_session: false,
            is_housekeeping: false,
            is_retention: false,
            only_tidies: false,
            begins_anew: false,
            asked: None,
            rank: 0,
        }
    }

    /// Why the transaction cannot be undone, as far as the log shows; `None` where it can. Whether anything has changed
    /// since is checked by undo.
    pub fn obstacle(&self) -> Option<&str> {
        match self.progress {
            OperationRecordState::Open => return Some("it is not finished: see 'git axiom recover'"),
            OperationRecordState::Aborted => return Some("it was reversed already"),
            OperationRecordState::Done => {}
        }
        if self.undone_by.is_some() {
            return Some("it was undone already");
        }
        if self.begins_anew {
            return Some("the log was restarted here: the older log is kept as a file, see 'git axiom recover'");
        }
        let is_work = self.edits.iter().any(is_work);
        let nothing = !self.moves() && self.added.is_empty() && self.edits.is_empty() && self.mode_restored.is_none();
        if nothing && self.mode.is_some() {
            return Some("it changed the mode: change that back with 'git axiom mode'");
        }
        if let Some(asked) = self.asked.as_deref().filter(|_| nothing || is_work) {
            return Some(asked);
        }
        if nothing {
            return Some("it changed no ref, file or task");
        }
        if is_work {
            return Some("it is an agent's work on a task: stop the agent, or roll the task back");
        }
        None
    }

    /// Whether it moved refs, stash entries, files or workspaces.
    pub fn moves(&self) -> bool {
        !(self.refs.is_empty()
            && self.stash.is_empty()
            && self.advances.is_empty()
            && self.worktrees.is_empty()
            && self.submodules.is_empty()
            && self.workspaces.is_empty())
    }

    /// Whether it changed refs, files or tasks permanently, and because a user asked for it. Claims, iterations, gates,
    /// captures and automatic retention do not count.
    pub fn changes_for_good(&self) -> bool {
        let tasks = !self.added.is_empty() || self.edits.iter().any(|edit| !is_work(edit));
        let moves = self.moves() && !self.only_tidies;
        self.progress == OperationRecordState::Done && !self.is_housekeeping && (moves || tasks || self.mode_restored.is_some())
    }

    /// Whether it can be undone, as far as the log shows.
    pub fn undoable(&self) -> bool {
        self.obstacle().is_none()
    }

    /// Whether it is more than an intermediate step: a user, agent or recovery did it, a session began or ended, a
    /// checkpoint was made, or it changed refs, files or tasks. What only takes away what has had its time is no more, though it can be
    /// undone.
    pub fn matters(&self) -> bool {
        let asked = match &self.by {
            EventAuthor::User | EventAuthor::Agent(_) | EventAuthor::Recovery => true,
            EventAuthor::Supervisor => false,
        };
        // A task that has nothing to merge counts as merged in the step that tidies up after it.
        let only_tidies = self.only_tidies && self.added.is_empty() && self.edits.iter().all(is_work);
        let tidies = self.is_retention || only_tidies;
        let changes = !tidies && (self.operates || self.moves() || self.undoable());
        asked || changes || self.progress != OperationRecordState::Done || self.bounds_session || !self.checkpoints.is_empty()
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
fn is_work(edit: &TaskChangeSet) -> bool {
    let active = |change: &TaskFieldChange| matches!(change, TaskFieldChange::Status(s) if s.old == TaskStatus::Active || s.new == TaskStatus::Active);
    edit.changes.iter().any(active)
}

/// A task before and after a transaction; `None` where it did not exist.
#[derive(Debug, Default)]
struct TaskBeforeAfter {
    before: Option<Task>,
    after: Option<Task>,
}

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
            transaction.refs.extend(open.operation.refs.iter().cloned());
            transaction.branch_configs.extend(open.operation.branch_configs.iter().cloned());
            transaction.stash.extend(open.operation.stash.iter().cloned());
            transaction.advances.extend(open.operation.advances.iter().cloned());
            transaction.operates = true;
            transaction.worktrees.extend(open.operation.worktrees.iter().cloned());
            transaction.submodules.extend(open.operation.submodules.iter().cloned());
            transaction.workspaces.extend(open.operation.workspaces.iter().cloned());
            transaction.gates.extend(open.operation.gates.iter().cloned());
            let of_ours =
                matches!(open.operation.kind, OperationKind::DeleteCheckpoints { .. } | OperationKind::BeginMerge { .. });
            transaction.is_housekeeping = of_ours && envelope.by == EventAuthor::Supervisor;
            let deletes = matches!(open.operation.kind, OperationKind::DeleteCheckpoints { .. });
            transaction.is_retention = deletes && envelope.by == EventAuthor::Supervisor;
        }
        let mode = self.state.restorable.mode;
        self.state.apply(envelope)?;
        if open.is_some() && self.state.restorable.mode != mode {
            self.all[place].mode_restored = Some(ValueChange::new(mode, self.state.restorable.mode));
        }
        if let Some(touched) = self.touched.get_mut(&place) {
            for id in &ids {
                if let Some(touched) = touched.get_mut(id) {
                    touched.after = self.state.restorable.tasks.get(id).cloned();
                }
            }
        }
        if let Event::RepositoryPlaced { placing } = &envelope.event {
            self.all.iter_mut().for_each(|transaction| placing.operation_record(transaction));
        }
        let transaction = &mut self.all[place];
        transaction.last_seq = envelope.seq;
        note(transaction, &envelope.event, &self.state);
        if let Some(OperationKind::Undo { of }) = open.map(|open| open.operation.kind) {
            self.link_undo(place, of);
        }
        Ok(())
    }

    /// An undo undoes its target. The undo of an undo makes the first one's target effective again.
    fn link_undo(&mut self, place: usize, of: OperationId) {
        let id = self.all[place].id.clone();
        if let Some(target) = self.places.get(&of).copied() {
            self.all[target].undone_by = Some(id);
            let revived = self.all[target].undo_of.as_ref().and_then(|first| self.places.get(first).copied());
            if let Some(revived) = revived {
                self.all[revived].undone_by = None;
                // The files that were put back were in the way again, and are in another folder of the trash now.
                self.all[revived].asides = self.all[place].asides.clone();
            }
        }
        self.all[place].undo_of = Some(of);
    }

    /// The newest transactions, oldest first: those of which it is certain that they, and all that follow them, began within
    /// these events. They are the end of what [`OperationFold::finish`] returns for the whole log.
    pub fn finish_known(self) -> Vec<OperationRecord> {
        let from = self.from;
        let mut all = self.finish();
        // A transaction may have begun before: then its place in the order is unknown, too, and at most that of its first event here.
        let doubtful = all.iter().rposition(|one| !one.id.is_begun_within(from, one.first_seq));
        all.drain(..doubtful.map_or(0, |place| place + 1));
        all
    }

    /// All transactions, oldest first.
    pub fn finish(mut self) -> Vec<OperationRecord> {
        for (place, transaction) in self.all.iter_mut().enumerate() {
            for (id, TaskBeforeAfter { before, after }) in self.touched.remove(&place).unwrap_or_default() {
                match (before, after) {
                    (Some(mut then), Some(now)) => {
                        if transaction.operates && then.status == TaskStatus::Active {
                            // An undo makes the task pending: no agent works on it any more.
                            then.status = TaskStatus::Pending;
                        }
                        let changes = TaskFieldChange::between(&then, &now);
                        if !changes.is_empty() {
                            transaction.edits.push(TaskChangeSet { id, changes });
                        }
                    }
                    (None, Some(Task { status, merged, .. })) => {
                        transaction.added.push(id.clone());
                        transaction.added_as.insert(id, TaskAsAdded { status, merged });
                    }
                    (Some(_) | None, None) => {}
                }
            }
        }
        self.all
    }
}

/// Adds to the transaction what is shown of an event. The event with the highest rank gives the title.
fn note(transaction: &mut OperationRecord, event: &Event, state: &State) {
    if let Event::OperationBegan { operation } = event {
        transaction.progress = OperationRecordState::Open;
        if let OperationKind::RollbackCheckpoint { checkpoint, partly: false } = &operation.kind {
            transaction.went_back_to = Some(checkpoint.clone());
        }
    }
    if let Event::OperationEnded { end, moved, .. } = event {
        transaction.asides.extend(moved.iter().cloned());
        transaction.progress = match end {
            OperationEnd::Done => OperationRecordState::Done,
            OperationEnd::Aborted => OperationRecordState::Aborted,
        };
    }
    if let Event::MergedBranchesLeave { refs } = event {
        transaction.only_tidies = !transaction.moves();
        transaction.refs.extend(refs.iter().cloned());
    }
    if let Event::MergedBranchesLeft { gone: _, stay } = event {
        transaction.refs.retain(|change| !stay.contains(&change.name));
    }
    if let Event::SessionStarted { .. } = event {
        transaction.bounds_session = true;
    }
    if let Event::SessionChanged { state, .. } = event {
        transaction.bounds_session |= !state.is_open();
    }
    if let Event::Requested { request, .. } = event {
        transaction.asked = Some(taken_back_by(request));
    }
    transaction.begins_anew |= matches!(event, Event::StateAdopted { .. });
    if let Event::ModeChanged { mode } = event {
        let old = transaction.mode.as_ref().map_or(mode.old, |first| first.old);
        transaction.mode = Some(ValueChange::new(old, mode.new));
    }
    if let Event::CheckpointCreated { checkpoint } = event
        && !checkpoint.trigger.is_attached()
    {
        transaction.checkpoints.push(checkpoint.name.clone());
    }
    let (rank, what) = audit::describe(event, state);
    if let Some(title) = audit::with_further(&transaction.what, event) {
        transaction.what = title;
    } else if rank > transaction.rank {
        transaction.rank = rank;
        transaction.what = what;
    }
}

impl RepositoryRelocation {
    /// Translates all paths of a transaction.
    pub fn operation_record(&self, transaction: &mut OperationRecord) {
        transaction.advances.iter_mut().for_each(|one| self.change(&mut one.path));
        transaction.worktrees.iter_mut().for_each(|one| self.change(&mut one.path));
        transaction.submodules.iter_mut().for_each(|one| self.submodule(one));
        transaction.workspaces.iter_mut().for_each(|one| self.workspace(one));
        for one in &mut transaction.asides {
            self.change(&mut one.worktree);
            self.change_trash(&mut one.trash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::RequestId;
    use crate::base::names::{Oid, RefName};
    use crate::journal::journaled::JournaledOperation;
    use crate::work::tasks::task::TaskKind;

    fn id(text: &str) -> TaskId {
        TaskId::new(text).unwrap()
    }

    fn task(text: &str) -> Task {
        Task {
            id: id(text),
            kind: TaskKind::Task,
            title: format!("title of {text}"),
            body: None,
            parent: None,
            after: vec![],
            needs: vec![],
            start_early: false,
            persona: None,
            verify: vec![],
            limits: crate::work::money::budget::BudgetLimits::default(),
            status: TaskStatus::Pending,
            merged: None,
            reason: None,
            created_at: Timestamp::UNIX_EPOCH,
        }
    }

    fn title(of: &str, old: &str, new: &str) -> Event {
        let changes = vec![TaskFieldChange::Title(ValueChange::new(old.into(), new.into()))];
        Event::TasksChanged { edits: vec![TaskChangeSet { id: id(of), changes }] }
    }

    fn operation(kind: OperationKind) -> Event {
        let change = RefChange { name: RefName::branch("main"), value: ValueChange::new(None, Some(oid('a'))) };
        let mut operation = JournaledOperation::new(kind, "move main");
        operation.refs.push(change);
        Event::OperationBegan { operation: Box::new(operation) }
    }

    fn oid(digit: char) -> Oid {
        Oid::new(digit.to_string().repeat(40)).unwrap()
    }

    fn ended(end: OperationEnd, edits: Vec<TaskChangeSet>) -> Event {
        Event::OperationEnded { end, edits, changes: None, mode: None, moved: vec![] }
    }

    fn fold(events: Vec<(&str, Event)>) -> Vec<OperationRecord> {
        fold_of(&EventAuthor::User, events)
    }

    fn fold_of(by: &EventAuthor, events: Vec<(&str, Event)>) -> Vec<OperationRecord> {
        let mut fold = OperationFold::default();
        for (seq, (txn, event)) in (1..).zip(events) {
            let (txn, by) = (OperationId::new(txn).unwrap(), by.clone());
            fold.push(&EventEnvelope { seq, at: Timestamp::UNIX_EPOCH, txn, by, event }).unwrap();
        }
        fold.finish()
    }

    fn undo(of: &str) -> OperationKind {
        OperationKind::Undo { of: OperationId::new(of).unwrap() }
    }

    #[test]
    fn each_transaction_has_its_own_old_and_new() {
        let all = fold(vec![
            ("t1", Event::TasksAdded { tasks: vec![task("a"), task("b")] }),
            ("t2", title("a", "title of a", "x")),
            ("t2", title("a", "x", "y")),
            ("t3", title("a", "y", "z")),
        ]);
        assert_eq!(all[0].added, [id("a"), id("b")]);
        assert_eq!((all[0].what.as_str(), all[0].edits.len()), ("import 2 tasks", 0));
        let change = |n: usize| all[n].edits[0].changes.clone();
        assert_eq!(
            change(1),
            [TaskFieldChange::Title(ValueChange::new("title of a".into(), "y".into()))],
            "two events, one change"
        );
        assert_eq!(change(2), [TaskFieldChange::Title(ValueChange::new("y".into(), "z".into()))]);
        assert!(all.iter().all(OperationRecord::undoable));
    }

    #[test]
    fn what_another_transaction_did_in_between_is_its_own() {
        let all = fold(vec![
            ("t1", Event::TasksAdded { tasks: vec![task("a"), task("b")] }),
            ("t2", title("b", "title of b", "begins")),
            ("t3", title("a", "title of a", "x")),
            ("t2", title("a", "x", "y")),
        ]);
        let of_a = |n: usize| all[n].edits.iter().find(|edit| edit.id == id("a")).map(|edit| edit.changes.clone());
        assert_eq!(of_a(1), Some(vec![TaskFieldChange::Title(ValueChange::new("x".into(), "y".into()))]));
        assert_eq!(of_a(2), Some(vec![TaskFieldChange::Title(ValueChange::new("title of a".into(), "x".into()))]));
    }

    #[test]
    fn an_operation_names_its_transaction_and_brings_its_changes() {
        let merged = Some(MergedTaskWork { commit: oid('a'), target: RefName::branch("main") });
        let edit = TaskChangeSet { id: id("a"), changes: vec![TaskFieldChange::Merged(ValueChange::new(None, merged))] };
        let merge = || operation(OperationKind::Merge { task: id("a") });
        let added = ("t1", Event::TasksAdded { tasks: vec![task("a")] });
        let open = fold(vec![added.clone(), ("t2", merge())]);
        assert_eq!((open[1].progress, open[1].undoable()), (OperationRecordState::Open, false));
        let aborted = fold(vec![added.clone(), ("t2", merge()), ("t2", ended(OperationEnd::Aborted, vec![]))]);
        assert_eq!(
            (aborted[1].progress, aborted[1].undoable(), aborted[1].refs.len()),
            (OperationRecordState::Aborted, false, 0)
        );
        let done = fold(vec![added, ("t2", merge()), ("t2", ended(OperationEnd::Done, vec![edit.clone()]))]);
        assert_eq!((done[1].what.as_str(), done[1].refs.len()), ("move main", 1));
        assert_eq!(done[1].edits, [edit]);
        assert!(done[1].undoable());
    }

    #[test]
    fn retention_can_be_undone_and_is_only_a_step_while_a_human_s_deletion_matters() {
        let kind = || OperationKind::DeleteCheckpoints { until: Timestamp::UNIX_EPOCH };
        let events = |end| vec![("t1", operation(kind())), ("t1", ended(end, vec![]))];
        let of = |by: &EventAuthor, end| fold_of(by, events(end)).pop().unwrap();
        let seen = |one: OperationRecord| (one.matters(), one.undoable());
        assert_eq!(seen(of(&EventAuthor::Supervisor, OperationEnd::Done)), (false, true));
        assert_eq!(seen(of(&EventAuthor::User, OperationEnd::Done)), (true, true));
        assert!(of(&EventAuthor::Supervisor, OperationEnd::Aborted).matters(), "one that failed is shown");
        assert!(fold_of(&EventAuthor::Supervisor, vec![("t1", operation(kind()))])[0].matters(), "one that is open is shown");
        let merge = || operation(OperationKind::Merge { task: id("a") });
        assert!(fold_of(&EventAuthor::Supervisor, vec![("t1", merge()), ("t1", ended(OperationEnd::Done, vec![]))])[0].matters());
    }

    #[test]
    fn an_undo_takes_back_and_an_undo_of_it_brings_to_life_again() {
        let can = |events: usize| fold(operations(events)).iter().map(OperationRecord::undoable).collect::<Vec<_>>();
        assert_eq!(can(4), [false, true]);
        assert_eq!(can(6), [true, false, true], "undone, then brought back");
    }

    /// A merge, its undo, and the undo of that: two events each.
    fn operations(count: usize) -> Vec<(&'static str, Event)> {
        let kinds = [("t1", OperationKind::Merge { task: id("a") }), ("t2", undo("t1")), ("t3", undo("t2"))];
        let pairs = kinds.into_iter().flat_map(|(txn, kind)| [(txn, operation(kind)), (txn, ended(OperationEnd::Done, vec![]))]);
        pairs.take(count).collect()
    }

    fn fold_by(events: Vec<(&str, EventAuthor, Event)>) -> Vec<OperationRecord> {
        let mut fold = OperationFold::default();
        for (seq, (txn, by, event)) in (1..).zip(events) {
            let txn = OperationId::new(txn).unwrap();
            fold.push(&EventEnvelope { seq, at: Timestamp::UNIX_EPOCH, txn, by, event }).unwrap();
        }
        fold.finish()
    }

    /// What plain undo may mean: what somebody did, and no step on the way.
    #[test]
    fn what_changes_things_for_good() {
        let agent = || crate::base::ids::AgentId::new("ed-001").unwrap();
        let delete = || OperationKind::DeleteCheckpoints { until: Timestamp::UNIX_EPOCH };
        let released = Event::WorkReleased {
            agent: agent(),
            status: TaskStatus::Blocked,
            reason: "x".into(),
            retry: false,
            complete: None,
            gate: None,
            discarded: false,
        };
        let mode = Event::ModeChanged { mode: ValueChange::new(SessionMode::SemiAuto, SessionMode::Autopilot) };
        let adopted = Event::StateAdopted { source: "backup".into(), state: Box::default() };
        let all = fold_by(vec![
            ("added", EventAuthor::User, Event::TasksAdded { tasks: vec![task("a")] }),
            ("claim", EventAuthor::Supervisor, Event::TaskClaimed { agent: agent(), task: id("a"), complete: false }),
            ("release", EventAuthor::Supervisor, released),
            ("mode", EventAuthor::User, mode),
            ("deleted", EventAuthor::User, operation(delete())),
            ("deleted", EventAuthor::User, ended(OperationEnd::Done, vec![])),
            ("retention", EventAuthor::Supervisor, operation(delete())),
            ("retention", EventAuthor::Supervisor, ended(OperationEnd::Done, vec![])),
            ("merge", EventAuthor::Supervisor, operation(OperationKind::Merge { task: id("a") })),
            ("merge", EventAuthor::Supervisor, ended(OperationEnd::Done, vec![])),
            ("aborted", EventAuthor::User, operation(undo("merge"))),
            ("aborted", EventAuthor::User, ended(OperationEnd::Aborted, vec![])),
            ("edit", EventAuthor::Supervisor, title("a", "title of a", "x")),
        ]);
        let for_good: Vec<&str> = all.iter().filter(|one| one.changes_for_good()).map(|one| one.id.as_str()).collect();
        assert_eq!(for_good, ["added", "deleted", "merge", "edit"]);
        let anew = fold_by(vec![("anew", EventAuthor::Recovery, adopted)]);
        assert!(anew[0].obstacle().unwrap().contains("restarted here"));
    }

    /// With a session the request is a transaction without changes; without one the agent's end is a part of it.
    #[test]
    fn what_blocked_a_task_under_work_says_how_that_is_taken_back() {
        let agent = || crate::base::ids::AgentId::new("ed-001").unwrap();
        let asked = |number: u64| Event::Requested {
            id: RequestId::after(number, "00010001").unwrap(),
            request: SupervisorRequest::Block { tasks: vec![id("a")], reason: "no longer wanted".into() },
        };
        let workspace = crate::work::agent::Workspace {
            agent: agent(),
            path: "/w".into(),
            branch: RefName::branch("axiom/a"),
            base: oid('a'),
        };
        let released = Event::WorkReleased {
            agent: agent(),
            status: TaskStatus::Blocked,
            reason: "no longer wanted".into(),
            retry: false,
            complete: None,
            gate: None,
            discarded: false,
        };
        let all = fold(vec![
            ("t1", Event::TasksAdded { tasks: vec![task("a")] }),
            ("t2", Event::WorkspaceOpened { task: id("a"), workspace }),
            ("t2", Event::TaskClaimed { agent: agent(), task: id("a"), complete: false }),
            ("t3", asked(3)),
            ("t4", asked(4)),
            ("t4", released),
        ]);
        for one in &all[2..] {
            assert_eq!(one.what, "block a: no longer wanted");
            assert!(one.obstacle().unwrap().contains("git axiom task unblock a "), "{:?}", one.obstacle());
        }
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn a_task_that_has_nothing_to_merge_is_more_than_tidying() {
        let merged = Some(MergedTaskWork { commit: oid('a'), target: RefName::branch("main") });
        let edit = TaskChangeSet { id: id("a"), changes: vec![TaskFieldChange::Merged(ValueChange::new(None, merged))] };
        let change = RefChange { name: RefName::branch("axiom/a"), value: ValueChange::new(Some(oid('a')), None) };
        let leave = || Event::MergedBranchesLeave { refs: vec![change.clone()] };
        let all = fold_of(
            &EventAuthor::Supervisor,
            vec![
                ("t1", Event::TasksAdded { tasks: vec![task("a")] }),
                ("t2", Event::TasksChanged { edits: vec![edit] }),
                ("t2", leave()),
                ("t3", leave()),
            ],
        );
        assert_eq!((all[1].what.as_str(), all[1].matters(), all[2].matters()), ("a has nothing to merge", true, false));
    }

    #[test]
    fn what_changed_nothing_cannot_be_undone() {
        let all = fold(vec![
            ("t1", Event::TasksAdded { tasks: vec![task("a")] }),
            ("t2", Event::Audited { id: id("a"), text: "seen".into() }),
            (
                "t3",
                Event::TaskClaimed { agent: crate::base::ids::AgentId::new("ed-001").unwrap(), task: id("a"), complete: false },
            ),
        ]);
        assert_eq!(all.iter().map(OperationRecord::undoable).collect::<Vec<_>>(), [true, false, false]);
        assert!(all[2].obstacle().unwrap().contains("an agent's work"));
        assert_eq!(all[1].what, "a: seen");
    }
}
