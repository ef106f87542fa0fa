//! Events that fit a state, made from random choices: what the tests of the state engine share.
#![allow(dead_code, clippy::disallowed_methods, clippy::unwrap_used, clippy::panic)]

pub mod fixtures;

use std::collections::BTreeMap;

use git_axiom::model::base::ids::{AgentId, CheckpointName, GateId, OperationId, RequestId, SessionId, TaskId, Token};
use git_axiom::model::base::names::{Oid, RefName};
use git_axiom::model::base::ref_change::{ChangeDirection, RefChange};
use git_axiom::model::base::text::{TextOrBlob, ValueChange};
use git_axiom::model::checkpoint::record::CheckpointRecord;
use git_axiom::model::checkpoint::trigger::{CheckpointTrigger, CheckpointType};
use git_axiom::model::journal::journaled::OperationEnd;
use git_axiom::model::journal::journaled::{JournaledOperation, OperationKind};
use git_axiom::model::journal::journaled_changes::GateChange;
use git_axiom::model::state::current_state::State;
use git_axiom::model::state::event::Event;
use git_axiom::model::state::event_envelope::{EventAuthor, EventEnvelope};
use git_axiom::model::work::agent::Workspace;
use git_axiom::model::work::gates::gate::{AfterHalt, Gate, GateDecision, GateKind, TaskHoldReason};
use git_axiom::model::work::iteration::{IterationOutcome, IterationReport, SilentProgramEnd};
use git_axiom::model::work::restorable::restorable_changes::RestorableChanges;
use git_axiom::model::work::sessions::session::{Session, SessionMode, SessionState, SupervisorRequest};
use git_axiom::model::work::signals::signal::{AgentSignal, FileReport};
use git_axiom::model::work::tasks::task::{MergedTaskWork, Task, TaskChangeSet, TaskFieldChange, TaskKind, TaskStatus};
use git_axiom::store::states::handle::AppendAuthor;

/// How many kinds of events [`propose`] knows.
pub const KINDS: u8 = 28;

/// Random choices: which kind of event, and a number that settles the rest.
pub type Choice = (u8, u32);

pub fn author() -> AppendAuthor {
    AppendAuthor { txn: OperationId::new("t1").unwrap(), by: EventAuthor::User }
}

pub fn oid(salt: u32) -> Oid {
    Oid::new(format!("{salt:040x}")).unwrap()
}

pub fn task_id(salt: u32) -> TaskId {
    TaskId::new(format!("task-{salt}")).unwrap()
}

pub fn task(id: &str) -> Task {
    Task {
        id: TaskId::new(id).unwrap(),
        kind: TaskKind::Task,
        title: format!("Task \"{id}\" \u{1F600}\nwith two lines"),
        body: None,
        parent: None,
        after: vec![],
        needs: vec![],
        start_early: false,
        persona: None,
        verify: vec![],
        limits: git_axiom::model::work::money::budget::BudgetLimits::default(),
        status: TaskStatus::Pending,
        merged: None,
        reason: None,
        created_at: "2026-01-13T10:00:00Z".parse().unwrap(),
    }
}

fn pick<K: Ord, V>(map: &BTreeMap<K, V>, salt: u32) -> Option<(&K, &V)> {
    map.iter().nth(salt as usize % map.len().max(1))
}

fn any_checkpoint(state: &State, salt: u32) -> Option<CheckpointName> {
    let all = state.record.checkpoints.all().unwrap();
    all.get(salt as usize % all.len().max(1)).map(|record| record.name.clone())
}

fn agent(salt: u32) -> AgentId {
    AgentId::new(format!("ed-00{}", 1 + salt % 3)).unwrap()
}

fn new_task(state: &State, salt: u32) -> Task {
    let other = || pick(&state.restorable.tasks, salt / 7).map(|(id, _)| id.clone());
    let kind = [TaskKind::Task, TaskKind::Task, TaskKind::Group, TaskKind::Goal][(salt % 4) as usize];
    let text = match salt % 3 {
        0 => None,
        1 => Some(TextOrBlob::Inline("echo 'a' > b\n".repeat((salt % 9) as usize))),
        _ => Some(TextOrBlob::Stored { blob: oid(salt), size: 4096 }),
    };
    Task {
        kind,
        body: text,
        parent: if salt.is_multiple_of(5) { other() } else { None },
        after: if salt.is_multiple_of(6) { other().into_iter().collect() } else { vec![] },
        ..task(task_id(salt % 500).as_str())
    }
}

/// The edit of one task that gives it another title, status, body or dependency.
fn edit(state: &State, salt: u32) -> Option<TaskChangeSet> {
    let (id, old) = pick(&state.restorable.tasks, salt)?;
    let mut new = old.clone();
    match salt / 11 % 5 {
        0 => new.title = format!("title {salt}"),
        1 => {
            new.status =
                [TaskStatus::Pending, TaskStatus::Blocked, TaskStatus::Archived, TaskStatus::Done][(salt / 60 % 4) as usize]
        }
        2 => new.after = pick(&state.restorable.tasks, salt / 3).map(|(id, _)| id.clone()).into_iter().collect(),
        3 => new.merged = Some(MergedTaskWork { commit: oid(salt), target: RefName::branch("main") }),
        _ => new.parent = pick(&state.restorable.tasks, salt / 5).map(|(id, _)| id.clone()),
    }
    Some(TaskChangeSet { id: id.clone(), changes: TaskFieldChange::between(old, &new) })
}

fn report(salt: u32) -> IterationReport {
    let outcomes = [
        IterationOutcome::Complete,
        IterationOutcome::Blocked { reason: "no \\ way".into() },
        IterationOutcome::Waiting { question: "which?".into() },
        IterationOutcome::Unfinished { why: "exit 1".into() },
        IterationOutcome::Stopped,
        IterationOutcome::Crashed,
    ];
    IterationReport {
        outcome: outcomes[(salt % 6) as usize].clone(),
        exit_code: salt.is_multiple_of(2).then_some(salt as i32 % 3),
        signal: None,
        from: oid(salt),
        to: oid(salt + 1),
        files: vec![format!("src/{salt}.rs")],
        left_out: vec![],
        duration_ms: u64::from(salt),
        ended_at: None,
        tokens: salt.is_multiple_of(3).then_some(u64::from(salt)),
        cost_usd: salt.is_multiple_of(4).then(|| f64::from(salt % 1000) / 7.0),
        not_started: is_later(salt) && salt.is_multiple_of(7),
        silent_end: is_later(salt).then(|| SilentProgramEnd { exit: 1, tree: oid(salt % 2), lines: vec![format!("no {salt}")] }),
        denied: vec![],
        unfinished: vec![],
        cut: None,
        session: None,
        resumed: None,
        ran: String::new(),
        cut_off: false,
        conflict_round: None,
        discarded: false,
        end_unseen: false,
    }
}

fn later_signal(salt: u32) -> AgentSignal {
    let name = format!("part {}", salt % 7);
    match salt / 5 % 5 {
        0 => AgentSignal::Subtask { name, done: false, planned: true },
        1 => AgentSignal::Estimate { seconds: u64::from(salt) },
        2 => AgentSignal::Depends { names: vec![name, "serde".into()] },
        3 => AgentSignal::Phase { name, confidence: Some(f64::from(salt % 101) / 100.0) },
        _ => {
            AgentSignal::File(Box::new(FileReport { path: name, line: Some(3), confidence: Some(0.5), ..FileReport::default() }))
        }
    }
}

fn signal(salt: u32) -> AgentSignal {
    if is_later(salt) && salt.is_multiple_of(5) {
        return later_signal(salt);
    }
    match salt % 6 {
        0 => AgentSignal::Complete {},
        1 => AgentSignal::Blocked { reason: "stuck".into() },
        2 => AgentSignal::Progress { percent: (salt % 101) as u8 },
        3 => AgentSignal::Phase { name: "testing".into(), confidence: None },
        4 => AgentSignal::Learning { text: "cargo needs --offline".into(), scope: None },
        _ => AgentSignal::Subtask { name: "part".into(), done: true, planned: false },
    }
}

pub fn checkpoint(name: CheckpointName, state: &State, salt: u32) -> CheckpointRecord {
    CheckpointRecord {
        name,
        kind: CheckpointType::Auto,
        trigger: if salt.is_multiple_of(3) { CheckpointTrigger::SessionStart } else { CheckpointTrigger::Periodic },
        created_at: "2026-01-13T10:00:00Z".parse().unwrap(),
        git_commit: Some(oid(salt)),
        capture: oid(salt + 1),
        tag: oid(salt + 2),
        seq: state.seq,
        tasks_completed: state.record.tasks_completed,
        size: None,
        only: None,
        attached: None,
        marked: None,
    }
}

fn a_request(state: &State, salt: u32) -> Option<Event> {
    Some(Event::Requested {
        id: RequestId::new(format!("r{salt}")).ok()?,
        request: SupervisorRequest::Stop {
            agents: vec![agent(salt)],
            tasks: pick(&state.restorable.tasks, salt).filter(|_| is_later(salt)).map(|(id, _)| id.clone()).into_iter().collect(),
            afterwards: AfterHalt::with_retry(is_later(salt) && salt.is_multiple_of(2)),
        },
        for_operation: is_later(salt),
    })
}

/// An event that probably fits `state`; `None` where there is nothing to make it from.
pub fn propose(state: &State, (kind, salt): Choice) -> Option<Event> {
    let work = || {
        let busy: Vec<_> = state.busy_agents().collect();
        busy.get(salt as usize % busy.len().max(1)).map(|agent| (agent.id.clone(), agent.work.clone().unwrap()))
    };
    let token = || work().and_then(|(agent, work)| work.stage.token().cloned().map(|token| (agent, token)));
    let name = || CheckpointName::new(format!("cp-{}", salt % 300)).ok();
    Some(match kind % KINDS {
        0 | 1 => Event::TasksAdded { tasks: vec![new_task(state, salt)] },
        2 => Event::TasksAdded { tasks: (0..salt % 4).map(|i| new_task(state, salt.wrapping_mul(31).wrapping_add(i))).collect() },
        3 => Event::TasksChanged { edits: vec![edit(state, salt)?] },
        4 => Event::TasksChanged { edits: vec![edit(state, salt)?, edit(state, salt / 2)?] },
        5 => Event::Audited { id: pick(&state.restorable.tasks, salt)?.0.clone(), text: format!("note {salt}") },
        6 => Event::SessionStarted { session: session(salt) },
        7 => Event::SessionChanged { state: SessionState::Paused, reason: "paused".into() },
        8 => Event::ModeChanged { mode: ValueChange::new(state.restorable.mode, SessionMode::Autopilot) },
        9 => a_request(state, salt)?,
        10 => Event::RequestHandled { id: pick(&state.record.requests, salt)?.0.clone(), done: true, message: String::new() },
        11 => Event::WorkspaceOpened {
            task: pick(&state.restorable.tasks, salt)?.0.clone(),
            workspace: workspace(salt),
            goes_on: salt.is_multiple_of(2),
        },
        12 => Event::WorkspaceClosed {
            task: pick(&state.restorable.workspaces, salt)?.0.clone(),
            trash: None,
            handed_on: salt.is_multiple_of(2),
        },
        13 => {
            Event::TaskClaimed { agent: agent(salt), task: pick(&state.restorable.tasks, salt / 3)?.0.clone(), complete: false }
        }
        14 => {
            let (agent, work) = work()?;
            Event::IterationIntended {
                agent,
                iteration: work.iteration + 1,
                token: Token::new(format!("k{salt}")).ok()?,
                from: oid(salt),
                exit_completes: true,
                program: String::new(),
                resumes: None,
            }
        }
        15 => token().map(|(agent, token)| Event::IterationStarted { agent, token, pid: salt })?,
        16 => token().map(|(agent, token)| Event::Signalled { agent, token, signal: signal(salt), said_at: None })?,
        17 => token().map(|(agent, token)| Event::IterationEnded { agent, token, report: Box::new(report(salt)) })?,
        18 => {
            let (agent, work) = work()?;
            released(agent, &work.task, salt)
        }
        19 => Event::GateOpened { gate: Box::new(gate(salt)) },
        20 => Event::GateDecided {
            id: pick(&state.restorable.gates, salt)?.0.clone(),
            decision: GateDecision::Approved,
            complete: None,
        },
        21 => Event::GateClosed { id: pick(&state.restorable.gates, salt)?.0.clone(), reason: "done".into() },
        22 => Event::CheckpointIntended { name: name()? },
        23 => Event::CheckpointCreated { checkpoint: checkpoint(name()?, state, salt) },
        24 if salt.is_multiple_of(2) => Event::CheckpointAbandoned { name: name()?, reason: "gone".into() },
        24 => Event::CheckpointsDeleted { names: vec![any_checkpoint(state, salt)?] },
        25 => Event::OperationBegan { operation: Box::new(operation(salt)) },
        26 => Event::OperationReversed { reason: "conflict".into() },
        _ => ended(state, salt),
    })
}

fn released(agent: AgentId, task: &TaskId, salt: u32) -> Event {
    let status = [TaskStatus::Done, TaskStatus::Pending, TaskStatus::Blocked, TaskStatus::Failed][(salt % 4) as usize];
    let held = if is_later(salt) && salt.is_multiple_of(3) { Gate::holding(task, TaskHoldReason::Stopped, at()) } else { None };
    Event::WorkReleased {
        agent,
        status,
        reason: "because".into(),
        retry: salt.is_multiple_of(2),
        complete: None,
        gate: held.map(Box::new),
        discarded: false,
    }
}

fn ended(state: &State, salt: u32) -> Event {
    match salt % 4 {
        0 => Event::OperationEnded { end: OperationEnd::Aborted, edits: vec![], changes: None, mode: None, moved: vec![] },
        1 => Event::OperationEnded {
            end: OperationEnd::Done,
            edits: edit(state, salt).into_iter().collect(),
            changes: None,
            mode: None,
            moved: vec![],
        },
        2 => {
            let (end, changes) = (OperationEnd::Done, Some(Box::new(changed(state, salt))));
            Event::OperationEnded { end, edits: vec![], changes, mode: None, moved: vec![] }
        }
        _ => Event::LogRepaired { bytes: u64::from(salt), kept: "damaged/x".into() },
    }
}

/// The state without some of its tasks, agents, workspaces and gates, and in another mode.
fn changed(state: &State, salt: u32) -> RestorableChanges {
    let mut then = state.restorable.clone();
    let mut number = salt;
    let mut stays = || {
        number = number.wrapping_mul(31).wrapping_add(7);
        !number.is_multiple_of(4)
    };
    then.agents.retain(|_, _| stays());
    then.workspaces.retain(|_, _| stays());
    then.gates.retain(|_, _| stays());
    then.mode = if state.restorable.mode == SessionMode::SemiAuto { SessionMode::Autopilot } else { SessionMode::SemiAuto };
    for task in then.tasks.values_mut().filter(|task| task.status != TaskStatus::Active) {
        task.title = if stays() { task.title.clone() } else { format!("as of {salt}") };
    }
    RestorableChanges::between(&state.restorable, &then)
}

fn session(salt: u32) -> Session {
    Session {
        id: SessionId::new(format!("s{salt}")).unwrap(),
        started_at: "2026-01-13T10:00:00.25Z".parse().unwrap(),
        pid: salt,
        target: RefName::branch("main"),
        slots: 2,
        max_iterations: 50,
        limits: git_axiom::model::work::money::budget::BudgetLimits::default(),
        task_limits: git_axiom::model::work::money::budget::BudgetLimits::default(),
        state: SessionState::Running,
        paused_at: None,
        start_checkpoint: None,
        in_linked_worktree: false,
    }
}

fn workspace(salt: u32) -> Workspace {
    Workspace { agent: agent(salt), path: format!("/w/{salt}"), branch: RefName::branch("axiom/x"), base: oid(salt) }
}

/// Whether fields are given that the fixtures' format, which is made with small numbers, did not have.
fn is_later(salt: u32) -> bool {
    salt > 1000
}

fn at() -> jiff::Timestamp {
    "2026-01-13T10:00:00.001Z".parse().unwrap()
}

fn gate(salt: u32) -> Gate {
    Gate {
        id: GateId::new(format!("merge-{}", salt % 20)).unwrap(),
        kind: GateKind::Merge,
        task_id: None,
        reason: "conflict".into(),
        target: None,
        details: vec!["a.txt".into()],
        more: 0,
        conflict_of: None,
        undone_at: None,
        guarded: None,
        cause: None,
        used: Vec::new(),
        opened_at: at(),
        decision: None,
        held: (is_later(salt) && salt.is_multiple_of(5)).then_some(TaskHoldReason::RolledBack),
        sent: None,
        always: None,
    }
}

fn operation(salt: u32) -> JournaledOperation {
    let mut operation = JournaledOperation::new(OperationKind::Merge { task: task_id(salt % 50) }, format!("merge {salt}"));
    operation.refs = vec![RefChange { name: RefName::branch("main"), value: ValueChange::new(Some(oid(1)), Some(oid(2))) }];
    if is_later(salt) {
        let way = if salt.is_multiple_of(2) { ChangeDirection::BringBack } else { ChangeDirection::PutAside };
        let gate = Gate::holding(&task_id(salt % 50), TaskHoldReason::RolledBack, at());
        operation.gates = gate.map(|gate| GateChange { gate, way }).into_iter().collect();
    }
    operation
}

/// All events of the choices that fit one after another, and the states after each.
pub fn run(choices: &[Choice]) -> (Vec<Event>, State) {
    let mut state = State::default();
    let mut events = Vec::new();
    for choice in choices {
        let Some(event) = propose(&state, *choice) else { continue };
        if state.apply(&envelope(&state, event.clone())).is_ok() {
            events.push(event);
        }
    }
    (events, state)
}

pub fn envelope(state: &State, event: Event) -> EventEnvelope {
    let at = "2026-01-13T10:00:00Z".parse().unwrap();
    EventEnvelope { seq: state.seq + 1, at, txn: OperationId::new("t1").unwrap(), by: EventAuthor::Supervisor, event }
}
