//! Transactions, computed from events: a transaction is one user command or supervisor step, with the recorded old and new
//! value of everything it changed.
//!
//! The fold replays the state, so it knows exactly how a transaction changed cases, whichever events did it.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::Serialize;

use super::journaled::{
    AsideChange, BranchAdvance, GateChange, OperationKind, RefChange, StashChange, SubmoduleChange, WorkspaceChange,
    WorktreeChange,
};
use super::touched::touched_cases;
use crate::domain::base::ids::{CaseId, CheckpointName, TxnId};
use crate::domain::base::text::Change;
use crate::domain::checkpoint::branch_config::BranchConfigChange;
use crate::domain::state::audit;
use crate::domain::state::event::{By, Envelope, Event, OperationEnd};
use crate::domain::state::whole::State;
use crate::domain::work::case::{Case, CaseChange, CaseEdit, Merged, Status};
use crate::domain::work::session::{Mode, Request};
use crate::error::Result;

/// How many tasks are named in how a request is taken back.
const NAMED: usize = 10;

/// The progress of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Progress {
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
pub struct Transaction {
    /// Its id.
    pub id: TxnId,
    /// When it began.
    pub at: Timestamp,
    /// Who did it.
    pub by: By,
    /// One line on what it did.
    pub what: String,
    /// How far it has come.
    pub progress: Progress,
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
    pub asides: Vec<AsideChange>,
    /// Gates on tasks that it opened or closed.
    pub gates: Vec<GateChange>,
    /// Cases that it added.
    pub added: Vec<CaseId>,
    /// The status and merge of those cases when the transaction had ended.
    pub added_as: BTreeMap<CaseId, AddedAs>,
    /// Fields that it changed in cases that existed before.
    pub edits: Vec<CaseEdit>,
    /// The change of the mode, where it changed the mode.
    pub mode: Option<Change<Mode>>,
    /// The change of the mode, where the mode changed as part of a rollback, or of the undo of one. An undo inverts that
    /// too.
    pub mode_restored: Option<Change<Mode>>,
    /// Checkpoints that it made.
    pub checkpoints: Vec<CheckpointName>,
    /// The transaction that it undid, where it is an undo.
    pub undo_of: Option<TxnId>,
    /// The transaction that undid it, where that was not undone itself.
    pub undone_by: Option<TxnId>,
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

/// A case as it was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedAs {
    /// Its status.
    pub status: Status,
    /// Where its work is, for a case that was imported as done.
    pub merged: Option<Merged>,
}

impl Transaction {
    fn begin(envelope: &Envelope) -> Self {
        Self {
            id: envelope.txn.clone(),
            at: envelope.at,
            by: envelope.by.clone(),
            what: String::new(),
            progress: Progress::Done,
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
            Progress::Open => return Some("it is not finished: see 'git axiom recover'"),
            Progress::Aborted => return Some("it was reversed already"),
            Progress::Done => {}
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
            return Some("it changed no ref, file or case");
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

    /// Whether it changed refs, files or cases permanently, and because a user asked for it. Claims, iterations, gates,
    /// captures and automatic retention do not count.
    pub fn changes_for_good(&self) -> bool {
        let cases = !self.added.is_empty() || self.edits.iter().any(|edit| !is_work(edit));
        let moves = self.moves() && !self.only_tidies;
        self.progress == Progress::Done && !self.is_housekeeping && (moves || cases || self.mode_restored.is_some())
    }

    /// Whether it can be undone, as far as the log shows.
    pub fn undoable(&self) -> bool {
        self.obstacle().is_none()
    }

    /// Whether it is more than an intermediate step: a user, agent or recovery did it, a session began or ended, a
    /// checkpoint was made, or it changed refs, files or cases. What only takes away what has had its time is no more, though it can be
    /// undone.
    pub fn matters(&self) -> bool {
        let asked = match &self.by {
            By::User | By::Agent(_) | By::Recovery => true,
            By::Supervisor => false,
        };
        // A task that has nothing to merge counts as merged in the step that tidies up after it.
        let only_tidies = self.only_tidies && self.added.is_empty() && self.edits.iter().all(is_work);
        let tidies = self.is_retention || only_tidies;
        let changes = !tidies && (self.operates || self.moves() || self.undoable());
        asked || changes || self.progress != Progress::Done || self.bounds_session || !self.checkpoints.is_empty()
    }
}

/// How what a human asked the session for is taken back: it is done in other transactions, or is an agent's work.
fn taken_back_by(request: &Request) -> String {
    let listed = |tasks: &[CaseId]| {
        let names: Vec<&str> = tasks.iter().take(NAMED).map(CaseId::as_str).collect();
        if tasks.len() > NAMED { format!("{} …", names.join(" ")) } else { names.join(" ") }
    };
    match request {
        Request::Block { tasks, .. } => {
            format!("an agent worked on what it blocked: git axiom task unblock {}    takes that back", listed(tasks))
        }
        Request::Stop { .. } | Request::Kill { .. } | Request::Redirect { .. } => {
            "it took tasks from their agents: git axiom gate list    shows where they wait to be started again".to_owned()
        }
        Request::Pause { .. } => "it asked for a pause: git axiom resume    ends that".to_owned(),
        Request::Resume => "it ended a pause: git axiom pause    begins another one".to_owned(),
        Request::Merge { task } => format!("it asked for the merge of {task}, which is undone by itself: see 'git axiom log'"),
        Request::Quit => "it asked for the end of the session: git axiom run    begins another one".to_owned(),
    }
}

/// Whether an edit is only an agent's work on a task: a claim or a release.
fn is_work(edit: &CaseEdit) -> bool {
    let active =
        |change: &CaseChange| matches!(change, CaseChange::Status(s) if s.old == Status::Active || s.new == Status::Active);
    edit.changes.iter().any(active)
}

/// A case before and after a transaction; `None` where it did not exist.
#[derive(Debug, Default)]
struct Touched {
    before: Option<Case>,
    after: Option<Case>,
}

/// Folds events into transactions. See the module.
#[derive(Debug, Default)]
pub struct Fold {
    /// The number of the event after which it began: 0 for all events.
    from: u64,
    state: State,
    all: Vec<Transaction>,
    places: HashMap<TxnId, usize>,
    /// For each transaction, the cases it touched: before its first event that touched them, and after the last one.
    /// Transactions overlap: events of the supervisor can come between the events of a command that waits for it.
    touched: HashMap<usize, BTreeMap<CaseId, Touched>>,
}

impl Fold {
    /// A fold of the events after `state` only. Finish it with [`Fold::finish_known`].
    pub fn of_events_after(state: State) -> Self {
        Self { from: state.seq, state, ..Self::default() }
    }

    /// Adds the next event.
    ///
    /// # Errors
    /// Where the event does not fit the state before it.
    pub fn push(&mut self, envelope: &Envelope) -> Result<()> {
        let place = *self.places.entry(envelope.txn.clone()).or_insert_with(|| {
            self.all.push(Transaction::begin(envelope));
            self.all.len() - 1
        });
        let ids = touched_cases(&self.state, &envelope.event);
        let touched = self.touched.entry(place).or_default();
        for id in &ids {
            if !touched.contains_key(id) {
                let before = self.state.restorable.cases.get(id).cloned();
                touched.insert(id.clone(), Touched { before, after: None });
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
            transaction.is_housekeeping = of_ours && envelope.by == By::Supervisor;
            let deletes = matches!(open.operation.kind, OperationKind::DeleteCheckpoints { .. });
            transaction.is_retention = deletes && envelope.by == By::Supervisor;
        }
        let mode = self.state.restorable.mode;
        self.state.apply(envelope)?;
        if open.is_some() && self.state.restorable.mode != mode {
            self.all[place].mode_restored = Some(Change::new(mode, self.state.restorable.mode));
        }
        if let Some(touched) = self.touched.get_mut(&place) {
            for id in &ids {
                if let Some(touched) = touched.get_mut(id) {
                    touched.after = self.state.restorable.cases.get(id).cloned();
                }
            }
        }
        if let Event::RepositoryPlaced { placing } = &envelope.event {
            self.all.iter_mut().for_each(|transaction| placing.transaction(transaction));
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
    fn link_undo(&mut self, place: usize, of: TxnId) {
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
    /// these events. They are the end of what [`Fold::finish`] returns for the whole log.
    pub fn finish_known(self) -> Vec<Transaction> {
        let from = self.from;
        let mut all = self.finish();
        // A transaction may have begun before: then its place in the order is unknown, too, and at most that of its first event here.
        let doubtful = all.iter().rposition(|one| !one.id.is_begun_within(from, one.first_seq));
        all.drain(..doubtful.map_or(0, |place| place + 1));
        all
    }

    /// All transactions, oldest first.
    pub fn finish(mut self) -> Vec<Transaction> {
        for (place, transaction) in self.all.iter_mut().enumerate() {
            for (id, Touched { before, after }) in self.touched.remove(&place).unwrap_or_default() {
                match (before, after) {
                    (Some(mut then), Some(now)) => {
                        if transaction.operates && then.status == Status::Active {
                            // An undo makes the task pending: no agent works on it any more.
                            then.status = Status::Pending;
                        }
                        let changes = CaseChange::between(&then, &now);
                        if !changes.is_empty() {
                            transaction.edits.push(CaseEdit { id, changes });
                        }
                    }
                    (None, Some(Case { status, merged, .. })) => {
                        transaction.added.push(id.clone());
                        transaction.added_as.insert(id, AddedAs { status, merged });
                    }
                    (Some(_) | None, None) => {}
                }
            }
        }
        self.all
    }
}

/// Adds to the transaction what is shown of an event. The event with the highest rank gives the title.
fn note(transaction: &mut Transaction, event: &Event, state: &State) {
    if let Event::OperationBegan { .. } = event {
        transaction.progress = Progress::Open;
    }
    if let Event::OperationEnded { end, moved, .. } = event {
        transaction.asides.extend(moved.iter().cloned());
        transaction.progress = match end {
            OperationEnd::Done => Progress::Done,
            OperationEnd::Aborted => Progress::Aborted,
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
        transaction.mode = Some(Change::new(old, mode.new));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::base::ids::RequestId;
    use crate::domain::base::names::{Oid, RefName};
    use crate::domain::operation::journaled::Operation;
    use crate::domain::work::case::Kind;

    fn id(text: &str) -> CaseId {
        CaseId::new(text).unwrap()
    }

    fn case(text: &str) -> Case {
        Case {
            id: id(text),
            kind: Kind::Task,
            title: format!("title of {text}"),
            body: None,
            parent: None,
            after: vec![],
            needs: vec![],
            start_early: false,
            persona: None,
            verify: vec![],
            limits: crate::domain::work::budget::Limits::default(),
            status: Status::Pending,
            merged: None,
            reason: None,
            created_at: Timestamp::UNIX_EPOCH,
        }
    }

    fn title(of: &str, old: &str, new: &str) -> Event {
        let changes = vec![CaseChange::Title(Change::new(old.into(), new.into()))];
        Event::CasesChanged { edits: vec![CaseEdit { id: id(of), changes }] }
    }

    fn operation(kind: OperationKind) -> Event {
        let change = RefChange { name: RefName::branch("main"), value: Change::new(None, Some(oid('a'))) };
        let mut operation = Operation::new(kind, "move main");
        operation.refs.push(change);
        Event::OperationBegan { operation: Box::new(operation) }
    }

    fn oid(digit: char) -> Oid {
        Oid::new(digit.to_string().repeat(40)).unwrap()
    }

    fn ended(end: OperationEnd, edits: Vec<CaseEdit>) -> Event {
        Event::OperationEnded { end, edits, changes: None, mode: None, moved: vec![] }
    }

    fn fold(events: Vec<(&str, Event)>) -> Vec<Transaction> {
        fold_of(&By::User, events)
    }

    fn fold_of(by: &By, events: Vec<(&str, Event)>) -> Vec<Transaction> {
        let mut fold = Fold::default();
        for (seq, (txn, event)) in (1..).zip(events) {
            let (txn, by) = (TxnId::new(txn).unwrap(), by.clone());
            fold.push(&Envelope { seq, at: Timestamp::UNIX_EPOCH, txn, by, event }).unwrap();
        }
        fold.finish()
    }

    fn undo(of: &str) -> OperationKind {
        OperationKind::Undo { of: TxnId::new(of).unwrap() }
    }

    #[test]
    fn each_transaction_has_its_own_old_and_new() {
        let all = fold(vec![
            ("t1", Event::CasesAdded { cases: vec![case("a"), case("b")] }),
            ("t2", title("a", "title of a", "x")),
            ("t2", title("a", "x", "y")),
            ("t3", title("a", "y", "z")),
        ]);
        assert_eq!(all[0].added, [id("a"), id("b")]);
        assert_eq!((all[0].what.as_str(), all[0].edits.len()), ("import 2 cases", 0));
        let change = |n: usize| all[n].edits[0].changes.clone();
        assert_eq!(change(1), [CaseChange::Title(Change::new("title of a".into(), "y".into()))], "two events, one change");
        assert_eq!(change(2), [CaseChange::Title(Change::new("y".into(), "z".into()))]);
        assert!(all.iter().all(Transaction::undoable));
    }

    #[test]
    fn what_another_transaction_did_in_between_is_its_own() {
        let all = fold(vec![
            ("t1", Event::CasesAdded { cases: vec![case("a"), case("b")] }),
            ("t2", title("b", "title of b", "begins")),
            ("t3", title("a", "title of a", "x")),
            ("t2", title("a", "x", "y")),
        ]);
        let of_a = |n: usize| all[n].edits.iter().find(|edit| edit.id == id("a")).map(|edit| edit.changes.clone());
        assert_eq!(of_a(1), Some(vec![CaseChange::Title(Change::new("x".into(), "y".into()))]));
        assert_eq!(of_a(2), Some(vec![CaseChange::Title(Change::new("title of a".into(), "x".into()))]));
    }

    #[test]
    fn an_operation_names_its_transaction_and_brings_its_changes() {
        let merged = Some(Merged { commit: oid('a'), target: RefName::branch("main") });
        let edit = CaseEdit { id: id("a"), changes: vec![CaseChange::Merged(Change::new(None, merged))] };
        let merge = || operation(OperationKind::Merge { task: id("a") });
        let added = ("t1", Event::CasesAdded { cases: vec![case("a")] });
        let open = fold(vec![added.clone(), ("t2", merge())]);
        assert_eq!((open[1].progress, open[1].undoable()), (Progress::Open, false));
        let aborted = fold(vec![added.clone(), ("t2", merge()), ("t2", ended(OperationEnd::Aborted, vec![]))]);
        assert_eq!((aborted[1].progress, aborted[1].undoable(), aborted[1].refs.len()), (Progress::Aborted, false, 0));
        let done = fold(vec![added, ("t2", merge()), ("t2", ended(OperationEnd::Done, vec![edit.clone()]))]);
        assert_eq!((done[1].what.as_str(), done[1].refs.len()), ("move main", 1));
        assert_eq!(done[1].edits, [edit]);
        assert!(done[1].undoable());
    }

    #[test]
    fn retention_can_be_undone_and_is_only_a_step_while_a_human_s_deletion_matters() {
        let kind = || OperationKind::DeleteCheckpoints { until: Timestamp::UNIX_EPOCH };
        let events = |end| vec![("t1", operation(kind())), ("t1", ended(end, vec![]))];
        let of = |by: &By, end| fold_of(by, events(end)).pop().unwrap();
        let seen = |one: Transaction| (one.matters(), one.undoable());
        assert_eq!(seen(of(&By::Supervisor, OperationEnd::Done)), (false, true));
        assert_eq!(seen(of(&By::User, OperationEnd::Done)), (true, true));
        assert!(of(&By::Supervisor, OperationEnd::Aborted).matters(), "one that failed is shown");
        assert!(fold_of(&By::Supervisor, vec![("t1", operation(kind()))])[0].matters(), "one that is open is shown");
        let merge = || operation(OperationKind::Merge { task: id("a") });
        assert!(fold_of(&By::Supervisor, vec![("t1", merge()), ("t1", ended(OperationEnd::Done, vec![]))])[0].matters());
    }

    #[test]
    fn an_undo_takes_back_and_an_undo_of_it_brings_to_life_again() {
        let can = |events: usize| fold(operations(events)).iter().map(Transaction::undoable).collect::<Vec<_>>();
        assert_eq!(can(4), [false, true]);
        assert_eq!(can(6), [true, false, true], "undone, then brought back");
    }

    /// A merge, its undo, and the undo of that: two events each.
    fn operations(count: usize) -> Vec<(&'static str, Event)> {
        let kinds = [("t1", OperationKind::Merge { task: id("a") }), ("t2", undo("t1")), ("t3", undo("t2"))];
        let pairs = kinds.into_iter().flat_map(|(txn, kind)| [(txn, operation(kind)), (txn, ended(OperationEnd::Done, vec![]))]);
        pairs.take(count).collect()
    }

    fn fold_by(events: Vec<(&str, By, Event)>) -> Vec<Transaction> {
        let mut fold = Fold::default();
        for (seq, (txn, by, event)) in (1..).zip(events) {
            let txn = TxnId::new(txn).unwrap();
            fold.push(&Envelope { seq, at: Timestamp::UNIX_EPOCH, txn, by, event }).unwrap();
        }
        fold.finish()
    }

    /// What plain undo may mean: what somebody did, and no step on the way.
    #[test]
    fn what_changes_things_for_good() {
        let agent = || crate::domain::base::ids::AgentId::new("ed-001").unwrap();
        let delete = || OperationKind::DeleteCheckpoints { until: Timestamp::UNIX_EPOCH };
        let released = Event::WorkReleased {
            agent: agent(),
            status: Status::Blocked,
            reason: "x".into(),
            retry: false,
            complete: None,
            gate: None,
            discarded: false,
        };
        let mode = Event::ModeChanged { mode: Change::new(Mode::SemiAuto, Mode::Autopilot) };
        let adopted = Event::StateAdopted { source: "backup".into(), state: Box::default() };
        let all = fold_by(vec![
            ("added", By::User, Event::CasesAdded { cases: vec![case("a")] }),
            ("claim", By::Supervisor, Event::TaskClaimed { agent: agent(), task: id("a"), complete: false }),
            ("release", By::Supervisor, released),
            ("mode", By::User, mode),
            ("deleted", By::User, operation(delete())),
            ("deleted", By::User, ended(OperationEnd::Done, vec![])),
            ("retention", By::Supervisor, operation(delete())),
            ("retention", By::Supervisor, ended(OperationEnd::Done, vec![])),
            ("merge", By::Supervisor, operation(OperationKind::Merge { task: id("a") })),
            ("merge", By::Supervisor, ended(OperationEnd::Done, vec![])),
            ("aborted", By::User, operation(undo("merge"))),
            ("aborted", By::User, ended(OperationEnd::Aborted, vec![])),
            ("edit", By::Supervisor, title("a", "title of a", "x")),
        ]);
        let for_good: Vec<&str> = all.iter().filter(|one| one.changes_for_good()).map(|one| one.id.as_str()).collect();
        assert_eq!(for_good, ["added", "deleted", "merge", "edit"]);
        let anew = fold_by(vec![("anew", By::Recovery, adopted)]);
        assert!(anew[0].obstacle().unwrap().contains("restarted here"));
    }

    /// With a session the request is a transaction without changes; without one the agent's end is a part of it.
    #[test]
    fn what_blocked_a_task_under_work_says_how_that_is_taken_back() {
        let agent = || crate::domain::base::ids::AgentId::new("ed-001").unwrap();
        let asked = |number: u64| Event::Requested {
            id: RequestId::after(number, "00010001").unwrap(),
            request: Request::Block { tasks: vec![id("a")], reason: "no longer wanted".into() },
        };
        let workspace = crate::domain::work::agent::Workspace {
            agent: agent(),
            path: "/w".into(),
            branch: RefName::branch("axiom/a"),
            base: oid('a'),
        };
        let released = Event::WorkReleased {
            agent: agent(),
            status: Status::Blocked,
            reason: "no longer wanted".into(),
            retry: false,
            complete: None,
            gate: None,
            discarded: false,
        };
        let all = fold(vec![
            ("t1", Event::CasesAdded { cases: vec![case("a")] }),
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
        let merged = Some(Merged { commit: oid('a'), target: RefName::branch("main") });
        let edit = CaseEdit { id: id("a"), changes: vec![CaseChange::Merged(Change::new(None, merged))] };
        let change = RefChange { name: RefName::branch("axiom/a"), value: Change::new(Some(oid('a')), None) };
        let leave = || Event::MergedBranchesLeave { refs: vec![change.clone()] };
        let all = fold_of(
            &By::Supervisor,
            vec![
                ("t1", Event::CasesAdded { cases: vec![case("a")] }),
                ("t2", Event::CasesChanged { edits: vec![edit] }),
                ("t2", leave()),
                ("t3", leave()),
            ],
        );
        assert_eq!((all[1].what.as_str(), all[1].matters(), all[2].matters()), ("a has nothing to merge", true, false));
    }

    #[test]
    fn what_changed_nothing_cannot_be_undone() {
        let all = fold(vec![
            ("t1", Event::CasesAdded { cases: vec![case("a")] }),
            ("t2", Event::Audited { id: id("a"), text: "seen".into() }),
            (
                "t3",
                Event::TaskClaimed {
                    agent: crate::domain::base::ids::AgentId::new("ed-001").unwrap(),
                    task: id("a"),
                    complete: false,
                },
            ),
        ]);
        assert_eq!(all.iter().map(Transaction::undoable).collect::<Vec<_>>(), [true, false, false]);
        assert!(all[2].obstacle().unwrap().contains("an agent's work"));
        assert_eq!(all[1].what, "a: seen");
    }
}
