//! Which version of the log's format an event or a state needs: the oldest whose readers understand all that is in it. An older
//! program would ignore a field that it does not know, and call a line damaged that has a word that it does not know.

use super::event::Event;
use super::whole::{AttachedCounts, Restorable, State};
use crate::domain::checkpoint::document::Trigger;
use crate::domain::checkpoint::marks::Marks;
use crate::domain::operation::journaled::{Operation, OperationKind};
use crate::domain::recovery::marker::CutOff;
use crate::domain::state::changes::RestorableChanges;
use crate::domain::work::agent::{IterationReport, Outcome, Stage};
use crate::domain::work::case::{Case, CaseChange};
use crate::domain::work::checks::named::NamedStep;
use crate::domain::work::gate::{Cause, Gate, GateKind, Held};
use crate::domain::work::last_run::LastRun;
use crate::domain::work::session::{Mode, Request, Session, SessionState};
use crate::domain::work::signal::Signal;
use crate::domain::work::verification::{StepResult, Verification};

/// The version of the log's format that this program writes, and the newest that it reads.
pub const LOG_VERSION: u32 = 8;

/// The version that every program can read.
const FIRST: u32 = 1;
/// The version with delays, answers that wait, and operations that say what they change.
const SECOND: u32 = 2;
/// The version with hooks.
const THIRD: u32 = 3;
/// The version with what agents report of parts, files, libraries and time, with captures while they work, and with what they
/// learnt, and with sessions that programs go on with.
const FOURTH: u32 = 4;
/// The version with named verify steps, the results of single steps, and decisions after a crash, with agents that are sent to another
/// task, tasks that are blocked while an agent works on them, the mode `review`, sessions that are asked to end, and limits on what
/// tasks and sessions may use.
const FIFTH: u32 = 5;
/// The version with personas that look at the work as a verify step, what their programs used, the ids and hashes of requests and
/// answers, ends of waits for a model, branches of merged tasks that are deleted, merges that are begun in workspaces, files that
/// come back from a capture, gates of a disk that is too full, decisions when a paused session is taken up
/// again, rounds of a conflict that an iteration leaves open, and plans.
const SIXTH: u32 = 6;
/// The version with checkpoints of attached sessions, which have no tag.
const SEVENTH: u32 = 7;
/// The version with checkpoints whose note is on their capture, and with operations in submodules.
const EIGHTH: u32 = 8;
/// The version with checkpoints of which something was taken out.
pub const PURGED: u32 = EIGHTH;

const fn since(version: u32, is_needed: bool) -> u32 {
    if is_needed { version } else { FIRST }
}

fn newest(of: impl IntoIterator<Item = u32>) -> u32 {
    of.into_iter().max().unwrap_or(FIRST)
}

impl Event {
    /// The oldest version of the log whose readers understand the event.
    pub fn version(&self) -> u32 {
        if let Self::Delayed { delay, .. } = self {
            since(SIXTH, delay.as_ref().is_some_and(|delay| delay.until.is_some())).max(SECOND)
        } else if let Self::WorkspaceCaptured { .. } | Self::LearningEdited { .. } | Self::LearningForgotten { .. } = self {
            FOURTH
        } else if let Self::RecoveryDecided { paused, .. } = self {
            since(SIXTH, *paused).max(FIFTH)
        } else if let Self::ConfigBackupRestored { .. } = self {
            EIGHTH
        } else if let Self::MergedBranchesLeave { .. } | Self::MergedBranchesLeft { .. } | Self::Planned { .. } = self {
            SIXTH
        } else if let Self::Purged { .. } = self {
            EIGHTH
        } else if let Self::HookRan { .. } = self {
            THIRD
        } else if let Self::CheckpointCreated { checkpoint } = self {
            checkpoint.trigger.version().max(of_marks(checkpoint.marked))
        } else if let Self::StepVerified { result, .. } = self {
            of_result(result).max(FIFTH)
        } else if let Self::ConflictGivenBack { .. } = self {
            FIFTH
        } else if let Self::VerificationFailed { round, .. } = self {
            since(FIFTH, *round > 0)
        } else if let Self::Signalled { signal, .. } = self {
            of_signal(signal)
        } else if let Self::CasesAdded { cases } = self {
            newest(cases.iter().map(of_case))
        } else if let Self::CasesChanged { edits } = self {
            newest(edits.iter().flat_map(|edit| &edit.changes).map(of_change))
        } else if let Self::SessionStarted { session } = self {
            since(FIFTH, has_limits(session))
        } else if let Self::IterationIntended { program, resumes, .. } = self {
            since(FOURTH, !program.is_empty() || resumes.is_some())
        } else if let Self::IterationEnded { report, .. } = self {
            of_report(report)
        } else if let Self::MergeVerified { verification, .. } = self {
            of_verification(verification)
        } else if let Self::GateOpened { gate } = self {
            of_gate(gate)
        } else if let Self::Requested { request, .. } = self {
            of_request(request)
        } else if let Self::SessionChanged { state, .. } = self {
            since(FIFTH, *state == SessionState::Ending)
        } else if let Self::ModeChanged { mode } = self {
            of_mode(mode.old).max(of_mode(mode.new))
        } else if let Self::WorkReleased { gate, .. } = self {
            newest(gate.as_deref().map(of_gate))
        } else if let Self::OperationBegan { operation } = self {
            of_operation(operation)
        } else if let Self::OperationEnded { changes, restored, mode, .. } = self {
            let restored = restored.as_deref().map(of_restorable);
            let mode = mode.iter().flat_map(|mode| [of_mode(mode.old), of_mode(mode.new)]);
            newest(restored.into_iter().chain(changes.as_deref().map(of_changes)).chain(mode))
        } else if let Self::StateAdopted { state, .. } = self {
            of_state(state)
        } else {
            FIRST
        }
    }
}

impl Marks {
    /// The oldest version of the log whose readers know what is recorded.
    pub fn version(recorded: Option<Self>) -> u32 {
        of_marks(recorded)
    }
}

/// An older program would make the missing tag.
fn of_marks(recorded: Option<Marks>) -> u32 {
    since(EIGHTH, recorded.is_some())
}

impl Trigger {
    /// The oldest version of the log whose readers know the word.
    pub fn version(self) -> u32 {
        since(SEVENTH, self.is_attached())
    }
}

impl Restorable {
    /// The oldest version of the log whose readers understand this part of the state.
    pub fn version(&self) -> u32 {
        of_restorable(self)
    }
}

impl State {
    /// The oldest version of the log whose readers understand the state.
    pub fn version(&self) -> u32 {
        of_state(self)
    }
}

fn of_state(state: &State) -> u32 {
    let record = &state.record;
    let is_second = !record.delays.is_empty() || record.cases.values().any(|case| case.answer.is_some());
    let verified = record.cases.values().filter_map(|case| case.merge_verified.as_deref()).map(of_verification);
    let checked = record.cases.values().flat_map(|case| &case.verified).map(|kept| of_result(&kept.result));
    let open = record.open.as_ref().map(|open| of_operation(&open.operation));
    let tells_runs = record.cases.values().filter_map(|case| case.last_run.as_deref()).any(tells_more);
    let is_fifth = record.session.as_ref().is_some_and(has_limits)
        || record.cases.values().any(|case| {
            let is_cut_off = case.last_run.as_deref().is_some_and(|run| run.cut.is_some());
            let is_told = case.recovery.is_some() || case.conflict.is_some();
            !case.verified.is_empty() || case.failed_rounds > 0 || is_told || is_cut_off
        });
    let is_fourth = !record.learnings.is_empty() || tells_runs;
    let mut runs = record.cases.values().filter_map(|case| case.last_run.as_deref());
    let is_sixth = record.delays.values().any(|delay| delay.until.is_some())
        || record.plan.is_some()
        || runs.any(|run| names_request(run.cut.as_deref()))
        || record.cases.values().any(|case| case.set_aside.is_some());
    let by_age = [since(SECOND, is_second), since(FOURTH, is_fourth), since(FIFTH, is_fifth), since(SIXTH, is_sixth)];
    let deleted = record.deleted_checkpoints.values().map(|gone| &gone.record);
    let marked = newest(record.checkpoints.recent().chain(deleted).map(|one| of_marks(one.marked)));
    let is_seventh = since(SEVENTH, record.attached != AttachedCounts::default()).max(marked);
    let own = by_age.into_iter().chain([is_seventh]).chain([of_restorable(&state.restorable)]);
    let requests = record.requests.values().map(of_request);
    let is_ending = record.session.as_ref().is_some_and(|session| session.state == SessionState::Ending);
    newest(own.chain(verified).chain(checked).chain(open).chain(requests).chain([since(FIFTH, is_ending)]))
}

fn of_operation(operation: &Operation) -> u32 {
    // The first version does not find files in the trash by the names that they have now.
    let moves_files = !(operation.worktrees.is_empty() && operation.advances.is_empty() && operation.workspaces.is_empty());
    let gates = operation.gates.iter().map(|change| of_gate(&change.gate));
    let restored = operation.restored.as_deref().map(of_restorable);
    let changes = operation.changes.as_deref().map(of_changes);
    let mode = operation.mode.iter().flat_map(|mode| [of_mode(mode.old), of_mode(mode.new)]);
    let is_sixth = matches!(operation.kind, OperationKind::BeginMerge { .. } | OperationKind::RecoverFiles { .. });
    // An older program would leave the submodules as they are, and knows no stash that an agent takes from.
    let of_stash = matches!(operation.kind, OperationKind::StashTaken { .. });
    let in_submodules = since(EIGHTH, !operation.submodules.is_empty() || of_stash);
    let by_age = [since(SECOND, moves_files), since(SIXTH, is_sixth), in_submodules];
    newest(gates.chain(restored).chain(changes).chain(mode).chain(by_age))
}

fn of_restorable(restorable: &Restorable) -> u32 {
    let work = restorable.agents.values().filter_map(|agent| agent.work.as_ref());
    let last = work.filter_map(|work| match &work.stage {
        Stage::Between { last } => last.as_ref(),
        Stage::Intended { .. } | Stage::Running { .. } => None,
    });
    let gates = restorable.gates.values().map(of_gate);
    let resumes = restorable.agents.values().filter_map(|agent| agent.work.as_ref()).any(|work| work.resumes.is_some());
    newest(gates.chain(last.map(of_outcome)))
        .max(of_mode(restorable.mode))
        .max(newest(restorable.cases.values().map(of_case)))
        .max(since(FOURTH, resumes || !restorable.reports.is_empty()))
}

fn of_changes(changes: &RestorableChanges) -> u32 {
    let mode = changes.mode.map_or(FIRST, of_mode);
    let cases = changes.cases.values().flatten().filter(|case| !case.limits.is_empty()).map(of_case);
    let gates = changes.gates.values().flatten().map(of_gate);
    newest(gates.chain(cases)).max(mode).max(SECOND).max(since(FOURTH, !changes.reports.is_empty()))
}

fn has_limits(session: &Session) -> bool {
    !session.limits.is_empty() || !session.task_limits.is_empty()
}

/// A case may begin before those that it comes after are merged. An older program takes the name of a step for a variable, and ignores
/// limits.
fn of_case(case: &Case) -> u32 {
    let begins_before = !case.needs.is_empty() || case.start_early;
    since(FOURTH, begins_before).max(of_steps(&case.verify)).max(since(FIFTH, !case.limits.is_empty()))
}

fn of_change(change: &CaseChange) -> u32 {
    match change {
        CaseChange::Limits(_) => FIFTH,
        CaseChange::Needs(_) | CaseChange::StartEarly(_) => FOURTH,
        CaseChange::Verify(steps) => of_steps(&steps.old).max(of_steps(&steps.new)),
        CaseChange::Title(_)
        | CaseChange::Body(_)
        | CaseChange::Parent(_)
        | CaseChange::After(_)
        | CaseChange::Persona(_)
        | CaseChange::Status(_)
        | CaseChange::Merged(_)
        | CaseChange::Reason(_) => FIRST,
    }
}

/// An older program would run the name of a persona as a command.
fn of_steps(steps: &[String]) -> u32 {
    let is_named = steps.iter().any(|step| NamedStep::of(step).name.is_some());
    since(FIFTH, is_named).max(since(SIXTH, names_persona(steps)))
}

fn names_persona(steps: &[String]) -> bool {
    steps.iter().any(|step| NamedStep::of(step).persona().is_some())
}

/// An older program would not count what the program of a persona used.
fn of_result(result: &StepResult) -> u32 {
    let run = result.run.as_deref();
    since(FIFTH, run.is_some()).max(since(SIXTH, run.is_some_and(|run| run.used.is_some())))
}

fn tells_more(run: &LastRun) -> bool {
    run.session.is_some() || !run.denied.is_empty() || !run.unfinished.is_empty()
}

fn names_request(cut: Option<&CutOff>) -> bool {
    cut.and_then(|cut| cut.marker.as_ref()).is_some_and(|marker| marker.request_id.is_some())
}

fn of_report(report: &IterationReport) -> u32 {
    let is_new = report.session.is_some() || report.resumed.is_some();
    let tells_more = is_new || !report.denied.is_empty() || !report.unfinished.is_empty();
    let cut = since(FIFTH, report.cut.is_some()).max(since(SIXTH, names_request(report.cut.as_deref())));
    newest([of_outcome(&report.outcome), since(FOURTH, tells_more), cut, since(SIXTH, report.conflict_round.is_some())])
}

fn of_outcome(outcome: &Outcome) -> u32 {
    match outcome {
        Outcome::Limited { .. } | Outcome::NeedsHuman { .. } => FOURTH,
        Outcome::Complete
        | Outcome::Blocked { .. }
        | Outcome::Waiting { .. }
        | Outcome::Unfinished { .. }
        | Outcome::Stopped
        | Outcome::Crashed => FIRST,
    }
}

fn of_signal(signal: &Signal) -> u32 {
    let is_new = match signal {
        Signal::Estimate { .. } | Signal::Depends { .. } | Signal::Session { .. } | Signal::Seen(_) => true,
        Signal::Subtask { planned, .. } => *planned,
        Signal::Phase { confidence, .. } => confidence.is_some(),
        Signal::File(file) => file.role.is_some(),
        Signal::RequestSent(told) | Signal::ResponseReceived(told) => return since(SIXTH, told.is_told()),
        Signal::Complete {}
        | Signal::Blocked { .. }
        | Signal::Waiting { .. }
        | Signal::Progress { .. }
        | Signal::Learning { .. }
        | Signal::Ready { .. }
        | Signal::ToolStarted(_)
        | Signal::ToolCompleted(_) => false,
    };
    since(FOURTH, is_new)
}

fn of_verification(verification: &Verification) -> u32 {
    let results = newest(verification.results.iter().map(of_result));
    since(THIRD, !verification.demands.hooks.is_empty())
        .max(results)
        .max(since(SIXTH, names_persona(&verification.demands.commands)))
}

fn of_gate(gate: &Gate) -> u32 {
    let held = gate.held.map_or(FIRST, |held| match held {
        Held::Stopped | Held::Killed | Held::Redirected | Held::RolledBack | Held::Broken => FIRST,
        Held::Failed => SECOND,
        Held::Masked => EIGHTH,
    });
    let cause = gate.cause.map_or(FIRST, |cause| match cause {
        Cause::VerifyFailed => FIRST,
        Cause::HookVeto => THIRD,
        Cause::SignIn | Cause::ToolDenied => FOURTH,
        Cause::Recovery => FIFTH,
    });
    // Older versions would go on in spite of the gate of a budget.
    let budget = since(FIFTH, gate.kind == GateKind::Budget);
    // Older versions do not know the word.
    let disk = since(SIXTH, gate.kind == GateKind::Disk);
    // Older versions would merge other guarded files than those that were approved.
    held.max(cause).max(budget).max(disk).max(since(THIRD, gate.guarded.is_some())).max(since(FIFTH, gate.sent.is_some()))
}

fn of_mode(mode: Mode) -> u32 {
    match mode {
        Mode::SemiAuto | Mode::Autopilot => FIRST,
        Mode::Review => FIFTH,
    }
}

fn of_request(request: &Request) -> u32 {
    match request {
        Request::Redirect { .. } | Request::Block { .. } => FIFTH,
        Request::Stop { .. }
        | Request::Kill { .. }
        | Request::Pause { .. }
        | Request::Resume
        | Request::Merge { .. }
        | Request::Quit => FIRST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::base::ids::{AgentId, CaseId};
    use crate::domain::operation::journaled::{GateChange, Way};
    use crate::domain::state::event::OperationEnd;
    use crate::domain::state::whole::OpenOperation;
    use crate::domain::work::case::Status;

    /// What version 1 knew; fixed for ever.
    const FIRST_KNEW: [&str; 5] = ["stopped", "killed", "redirected", "rolledBack", "broken"];

    fn adopted(state: State) -> Event {
        Event::StateAdopted { source: String::new(), state: Box::new(state) }
    }

    /// Every event and state that can hold a gate.
    fn versions_with(gate: &Gate) -> Vec<u32> {
        let task = CaseId::new("t").unwrap();
        let gates = [(gate.id.clone(), gate.clone())].into();
        let restorable = Restorable { gates, ..Restorable::default() };
        let kind = OperationKind::Merge { task };
        let of = |restored, gates| Operation { restored, gates, ..Operation::new(kind.clone(), String::new()) };
        let operations = [
            of(Some(Box::new(restorable.clone())), Vec::new()),
            of(None, vec![GateChange { gate: gate.clone(), way: Way::PutAside }]),
        ];
        let state = State { restorable: restorable.clone(), ..State::default() };
        let mut open = State::default();
        let txn = crate::domain::base::ids::TxnId::new("x").unwrap();
        open.record.open = Some(OpenOperation { txn, operation: operations[0].clone(), reversing: false });
        let mut versions = vec![state.version(), open.version()];
        let ended = Event::OperationEnded {
            end: OperationEnd::Done,
            edits: Vec::new(),
            restored: Some(Box::new(restorable)),
            changes: None,
            mode: None,
            moved: Vec::new(),
        };
        let released = Event::WorkReleased {
            agent: AgentId::new("a-001").unwrap(),
            status: Status::Pending,
            reason: String::new(),
            retry: false,
            complete: None,
            gate: Some(Box::new(gate.clone())),
            discarded: false,
        };
        let opened = Event::GateOpened { gate: Box::new(gate.clone()) };
        let events = [ended, released, opened, adopted(state), adopted(open)];
        versions.extend(events.iter().map(Event::version));
        versions.extend(operations.map(|operation| Event::OperationBegan { operation: Box::new(operation) }.version()));
        versions
    }

    #[test]
    fn a_word_that_version_1_did_not_know_is_in_no_line_of_version_1() {
        for held in Held::ALL {
            let word = serde_json::to_value(held).unwrap();
            let first = FIRST_KNEW.contains(&word.as_str().unwrap());
            let since = if first { FIRST } else { SECOND };
            let version = if held == Held::Masked { EIGHTH } else { since };
            let gate = Gate::holding(&CaseId::new("t").unwrap(), held, jiff::Timestamp::UNIX_EPOCH).unwrap();
            let versions = versions_with(&gate);
            assert!(versions.iter().all(|found| *found == version), "{held:?}: {versions:?}");
        }
    }

    #[test]
    fn a_gate_that_shows_guarded_files_needs_the_newest_version() {
        use crate::domain::work::guarded::{GuardedFile, GuardedFiles, Why};
        let path = crate::domain::base::names::RepoPath::new("x");
        let files = GuardedFiles::new(vec![GuardedFile { path, why: Why::Drivers, after: None }]).unwrap();
        let mut gate = Gate::for_undone_merge(&CaseId::new("t").unwrap(), jiff::Timestamp::UNIX_EPOCH).unwrap();
        assert!(versions_with(&gate).iter().all(|version| *version == FIRST));
        gate.guarded = Some(files.seen());
        assert!(versions_with(&gate).iter().all(|version| *version == THIRD));
    }

    #[test]
    fn what_a_human_may_do_since_then_needs_the_newest_version() {
        use crate::domain::base::ids::RequestId;
        use crate::domain::base::text::Change;
        use crate::domain::work::gate::{Afterwards, Place, Sent};
        let (agent, from, to) = (AgentId::new("a-001").unwrap(), CaseId::new("t").unwrap(), CaseId::new("u").unwrap());
        let (place, afterwards) = (Place::Same, Afterwards::Waits);
        let sent = Sent { agent: agent.clone(), from: from.clone(), place };
        let gate = Gate::sending(&to, sent, jiff::Timestamp::UNIX_EPOCH).unwrap();
        assert!(versions_with(&gate).iter().all(|version| *version == FIFTH));
        let redirect = Request::Redirect { agent, from: from.clone(), to, place, afterwards };
        let block = Request::Block { tasks: vec![from], reason: String::new() };
        for (request, version) in [(Request::Resume, FIRST), (redirect, FIFTH), (block, FIFTH)] {
            let id = RequestId::new("r").unwrap();
            let mut state = State::default();
            state.record.requests.insert(id.clone(), request.clone());
            assert_eq!((Event::Requested { id, request }.version(), state.version()), (version, version));
        }
        let mut state = State::default();
        state.restorable.mode = Mode::Review;
        let changed = Event::ModeChanged { mode: Change::new(Mode::Review, Mode::SemiAuto) };
        let ends = Event::SessionChanged { state: SessionState::Ending, reason: String::new() };
        assert_eq!((state.version(), changed.version(), ends.version()), (FIFTH, FIFTH, FIFTH));
    }

    #[test]
    fn an_operation_that_moves_files_needs_the_newest_version() {
        use crate::domain::base::names::{Oid, RefName};
        use crate::domain::base::text::Change;
        use crate::domain::operation::journaled::BranchAdvance;
        let mut operation = Operation::new(OperationKind::Merge { task: CaseId::new("t").unwrap() }, "x");
        let began = |operation: &Operation| Event::OperationBegan { operation: Box::new(operation.clone()) }.version();
        assert_eq!(began(&operation), FIRST);
        let commit = Change::new(Oid::new("1".repeat(40)).unwrap(), Oid::new("2".repeat(40)).unwrap());
        operation.advances.push(BranchAdvance { path: "/r".into(), branch: RefName::branch("b"), commit });
        assert_eq!(began(&operation), SECOND);
    }

    #[test]
    fn a_persona_that_looks_at_work_needs_the_newest_version() {
        use crate::domain::base::names::Oid;
        use crate::domain::work::checks::kept::KeptResult;
        use crate::domain::work::verification::{ProgramUse, StepRun};
        let mut case = crate::domain::work::wip::tests::case();
        case.verify = vec!["unit=make".into()];
        let added = |case: &Case| Event::CasesAdded { cases: vec![case.clone()] }.version();
        assert_eq!(added(&case), FIFTH);
        case.verify = vec!["@reviewer".into()];
        assert_eq!(added(&case), SIXTH);
        let result = |used| StepResult { run: Some(Box::new(StepRun { used, ..StepRun::default() })), ..StepResult::default() };
        let of = Oid::new("1".repeat(40)).unwrap();
        for (used, version) in [(None, FIFTH), (Some(ProgramUse::default()), SIXTH)] {
            let result = result(used);
            let mut state = State::default();
            let kept = KeptResult { of: of.clone(), result: result.clone() };
            state.record.cases.entry(case.id.clone()).or_default().verified.push(kept);
            let event = Event::StepVerified { id: case.id.clone(), of: of.clone(), result: Box::new(result) };
            assert_eq!((event.version(), state.version()), (version, version));
        }
    }

    #[test]
    fn a_case_that_begins_before_others_are_merged_needs_the_newest_version() {
        use crate::domain::work::needs::Need;
        let mut case = crate::domain::work::wip::tests::case();
        let versions = |case: &Case| {
            let mut state = State::default();
            state.restorable.cases.insert(case.id.clone(), case.clone());
            [Event::CasesAdded { cases: vec![case.clone()] }.version(), state.version(), adopted(state.clone()).version()]
        };
        assert_eq!(versions(&case), [FIRST; 3]);
        case.needs.push(Need { task: case.id.clone(), name: "x".into() });
        assert_eq!(versions(&case), [FOURTH; 3]);
    }

    #[test]
    fn a_gate_of_a_full_disk_needs_the_newest_version() {
        let gate = Gate::of_disk("x".into(), Vec::new(), jiff::Timestamp::UNIX_EPOCH).unwrap();
        assert!(versions_with(&gate).iter().all(|version| *version == SIXTH));
    }

    #[test]
    fn a_limit_and_its_gate_need_the_newest_version() {
        use crate::domain::base::text::Change;
        use crate::domain::work::budget::Limits;
        use crate::domain::work::case::CaseEdit;
        let mut case = crate::domain::work::wip::tests::case();
        let limits = Limits { max_tokens: Some(1), ..Limits::default() };
        let change = CaseChange::Limits(Change::new(Limits::default(), limits));
        let edits = vec![CaseEdit { id: case.id.clone(), changes: vec![change] }];
        assert_eq!(Event::CasesChanged { edits }.version(), FIFTH);
        let now = Restorable::default();
        let mut then = now.clone();
        then.cases.insert(case.id.clone(), case.clone());
        assert_eq!(of_changes(&RestorableChanges::between(&now, &then)), SECOND);
        case.limits = limits;
        then.cases.insert(case.id.clone(), case.clone());
        assert_eq!((of_changes(&RestorableChanges::between(&now, &then)), then.version()), (FIFTH, FIFTH));
        assert_eq!(Event::CasesAdded { cases: vec![case.clone()] }.version(), FIFTH);
        let gate = Gate::for_budget(Some(&case.id), Vec::new(), jiff::Timestamp::UNIX_EPOCH).unwrap();
        assert!(versions_with(&gate).iter().all(|version| *version == FIFTH));
    }

    #[test]
    fn a_session_that_is_gone_on_with_needs_the_newest_version() {
        use crate::domain::base::ids::Token;
        use crate::domain::base::names::Oid;
        use crate::domain::work::last_run::tests::last;
        let intended = |program: &str, resumes: Option<&str>| Event::IterationIntended {
            agent: AgentId::new("a-001").unwrap(),
            iteration: 1,
            token: Token::new("k").unwrap(),
            from: Oid::new("1".repeat(40)).unwrap(),
            exit_completes: true,
            program: program.into(),
            resumes: resumes.map(str::to_owned),
        };
        let versions = [intended("", None), intended("claude", None), intended("", Some("s"))].map(|event| event.version());
        assert_eq!(versions, [FIRST, FOURTH, FOURTH]);
        let mut state = State::default();
        let mut run = last(Outcome::Stopped);
        let mut with = |run: &LastRun| {
            let record = state.record.cases.entry(CaseId::new("t").unwrap()).or_default();
            record.last_run = Some(Box::new(run.clone()));
            state.version()
        };
        assert_eq!(with(&run), FIRST);
        run.denied.push("Bash".into());
        assert_eq!(with(&run), FOURTH);
    }

    #[test]
    fn a_checkpoint_of_an_attached_session_needs_the_newest_version() {
        use crate::domain::base::ids::CheckpointName;
        use crate::domain::base::names::Oid;
        use crate::domain::checkpoint::document::{CheckpointRecord, CheckpointType};
        let oid = Oid::new("1".repeat(40)).unwrap();
        let made = |trigger| CheckpointRecord {
            name: CheckpointName::new("prompt-0003").unwrap(),
            kind: CheckpointType::Auto,
            trigger,
            created_at: jiff::Timestamp::UNIX_EPOCH,
            git_commit: None,
            capture: oid.clone(),
            tag: oid.clone(),
            seq: 0,
            tasks_completed: 0,
            size: None,
            only: None,
            attached: None,
            marked: None,
        };
        for (trigger, version) in [(Trigger::Periodic, FIRST), (Trigger::Prompt, SEVENTH), (Trigger::Edits, SEVENTH)] {
            assert_eq!(Event::CheckpointCreated { checkpoint: made(trigger) }.version(), version);
        }
        let noted = CheckpointRecord { marked: Some(Marks::Noted), ..made(Trigger::Periodic) };
        assert_eq!(Event::CheckpointCreated { checkpoint: noted.clone() }.version(), EIGHTH);
        let mut state = State::default();
        state.record.checkpoints.insert(noted).unwrap();
        assert_eq!(state.version(), EIGHTH);
        let mut state = State::default();
        state.record.attached.checkpoints = 1;
        assert_eq!((state.version(), adopted(state.clone()).version()), (SEVENTH, SEVENTH));
    }

    #[test]
    fn a_state_with_a_delay_needs_the_newest_version() {
        use crate::domain::work::delay::Delay;
        use crate::domain::work::failures::Step;
        let mut state = State::default();
        assert_eq!((state.version(), adopted(state.clone()).version()), (FIRST, FIRST));
        let (code, why, failed_at) = ("DISK_FULL".to_owned(), String::new(), jiff::Timestamp::UNIX_EPOCH);
        let delay = Delay { step: Step::Claim, code, why, tried: 0, failed_at, until: None };
        let task = CaseId::new("t").unwrap();
        state.record.delays.insert(task.clone(), delay.clone());
        assert_eq!((state.version(), adopted(state.clone()).version()), (SECOND, SECOND));
        let delay = Delay { until: Some(failed_at), ..delay };
        state.record.delays.insert(task.clone(), delay.clone());
        assert_eq!((state.version(), Event::Delayed { id: task, delay: Some(Box::new(delay)) }.version()), (SIXTH, SIXTH));
    }

    #[test]
    fn what_older_versions_do_not_know_of_reports_needs_the_newest_version() {
        use crate::domain::work::reports::Reports;
        use crate::domain::work::signal::{FileReport, FileRole};
        let (agent, token) = (AgentId::new("a-001").unwrap(), crate::domain::base::ids::Token::new("t").unwrap());
        let version = |signal| Event::Signalled { agent: agent.clone(), token: token.clone(), signal }.version();
        let subtask = |planned| Signal::Subtask { name: "x".into(), done: false, planned };
        let phase = |confidence| Signal::Phase { name: "x".into(), confidence };
        let file = |role| Signal::File(Box::new(FileReport { path: "x".into(), role, ..FileReport::default() }));
        let old = [subtask(false), phase(None), file(None), Signal::Progress { percent: 1 }];
        assert_eq!(old.map(version), [FIRST; 4]);
        let new = [
            subtask(true),
            phase(Some(1.0)),
            file(Some(FileRole::Test)),
            Signal::Estimate { seconds: 1 },
            Signal::Depends { names: vec!["x".into()] },
        ];
        assert_eq!(new.map(version), [FOURTH; 5]);
        let mut state = State::default();
        state.restorable.reports.insert(CaseId::new("t").unwrap(), Reports::default());
        assert_eq!((state.version(), adopted(state.clone()).version()), (FOURTH, FOURTH));
        let changes = RestorableChanges::between(&Restorable::default(), &state.restorable);
        assert_eq!(of_changes(&changes), FOURTH);
    }

    #[test]
    fn a_state_with_an_answer_that_waits_needs_the_newest_version() {
        let mut state = State::default();
        let answer = Some(crate::domain::work::answer::Answer { question: "which?".to_owned(), text: "that".to_owned() });
        let record = crate::domain::state::whole::CaseRecord { answer, ..Default::default() };
        state.record.cases.insert(CaseId::new("t").unwrap(), record);
        assert_eq!((state.version(), adopted(state.clone()).version()), (SECOND, SECOND));
    }
}
