//! Tests of the state as events change it, and states that other tests begin with.

use super::current_state::State;
use crate::base::ids::{AgentId, OperationId, SessionId, TaskId, Token};
use crate::base::names::{Oid, RefName};
use crate::state::event::Event;
use crate::state::event_envelope::{EventAuthor, EventEnvelope};
use crate::work::agent::Workspace;
use crate::work::money::budget::BudgetLimits;
use crate::work::sessions::session::{Session, SessionState};
use crate::work::signals::signal::AgentSignal;
use crate::work::tasks::task::{Task, TaskKind, TaskStatus};
use jiff::Timestamp;

pub fn id() -> TaskId {
    TaskId::new("t").unwrap()
}

pub fn applied(state: &mut State, event: Event) {
    applied_by(state, EventAuthor::Supervisor, event);
}

pub fn applied_by(state: &mut State, by: EventAuthor, event: Event) {
    let at = Timestamp::from_second(i64::try_from(state.seq).unwrap()).unwrap();
    let envelope = EventEnvelope { seq: state.seq + 1, at, txn: OperationId::new("x").unwrap(), by, event };
    state.apply(&envelope).unwrap();
}

pub fn opened() -> Event {
    let branch = RefName::branch("axiom/t");
    let base = Oid::new("1".repeat(40)).unwrap();
    let workspace = Workspace { agent: AgentId::new("a-001").unwrap(), path: "/w".into(), branch, base };
    Event::WorkspaceOpened { task: id(), workspace, goes_on: false }
}

pub fn with_progress() -> State {
    let mut state = State::default();
    let task = Task {
        id: id(),
        kind: TaskKind::Task,
        title: "T".into(),
        body: None,
        parent: None,
        after: vec![],
        needs: vec![],
        start_early: false,
        persona: None,
        verify: vec![],
        limits: BudgetLimits::default(),
        status: TaskStatus::Pending,
        merged: None,
        reason: None,
        created_at: Timestamp::UNIX_EPOCH,
    };
    let (agent, token) = (AgentId::new("a-001").unwrap(), Token::new("k").unwrap());
    let from = Oid::new("1".repeat(40)).unwrap();
    for event in [
        Event::TasksAdded { tasks: vec![task] },
        opened(),
        Event::TaskClaimed { agent: agent.clone(), task: id(), complete: false },
        Event::IterationIntended {
            agent: agent.clone(),
            iteration: 1,
            token: token.clone(),
            from,
            exit_completes: true,
            program: String::new(),
            resumes: None,
        },
        Event::Signalled { agent, token, signal: AgentSignal::Progress { percent: 80 }, said_at: Some(Timestamp::UNIX_EPOCH) },
    ] {
        applied(&mut state, event);
    }
    state
}

fn session(started_at: Timestamp) -> Event {
    let session = Session {
        id: SessionId::new("s1").unwrap(),
        started_at,
        pid: 1,
        target: RefName::branch("main"),
        slots: 1,
        max_iterations: 1,
        limits: BudgetLimits::default(),
        task_limits: BudgetLimits::default(),
        state: SessionState::Running,
        paused_at: None,
        start_checkpoint: None,
        in_linked_worktree: false,
    };
    Event::SessionStarted { session }
}

#[test]
fn work_is_set_aside_where_its_session_ends_paused_until_it_goes_on() {
    use SessionState::{Crashed, Ended, Ending, Paused, Pausing, Running};
    for (states, is_set_aside) in [
        (&[Ending, Ended][..], false),
        (&[Crashed], false),
        (&[Pausing, Paused], false),
        (&[Pausing, Paused, Running, Ended], false),
        (&[Pausing, Crashed], true),
        (&[Pausing, Paused, Crashed], true),
        (&[Pausing, Running, Pausing, Paused, Ending, Ended], true),
    ] {
        let mut state = with_progress();
        applied(&mut state, session(Timestamp::UNIX_EPOCH));
        let changed = |state: &SessionState| Event::SessionChanged { state: *state, reason: "because".into() };
        states.iter().map(changed).for_each(|event| applied(&mut state, event));
        let set_aside = |state: &State| state.record.tasks.get(&id()).is_some_and(|record| record.set_aside.is_some());
        assert_eq!(set_aside(&state), is_set_aside, "{states:?}");
        // The next session does not forget it.
        applied(&mut state, session(Timestamp::UNIX_EPOCH));
        assert_eq!(set_aside(&state), is_set_aside, "{states:?}");
        applied(&mut state, opened());
        assert!(!set_aside(&state), "{states:?}");
    }
}

#[test]
fn what_was_reported_lasts_as_long_as_the_workspace() {
    let mut state = with_progress();
    let progress = |state: &State| state.reports(&id()).and_then(|reports| reports.progress);
    assert_eq!(progress(&state), Some(80));
    let started = state.reports(&id()).and_then(|reports| reports.started_at);
    assert_eq!(started, Some(Timestamp::from_second(2).unwrap()));
    let released = |status| Event::WorkReleased {
        agent: AgentId::new("a-001").unwrap(),
        status,
        reason: String::new(),
        retry: true,
        complete: None,
        gate: None,
        discarded: false,
    };
    applied(&mut state, released(TaskStatus::Pending));
    assert_eq!(progress(&state), Some(80), "it is interrupted, and its work is there");
    applied(&mut state, Event::WorkspaceClosed { task: id(), trash: None, handed_on: false });
    assert_eq!(progress(&state), None);
    applied(&mut state, opened());
    assert_eq!(progress(&state), None, "a new workspace begins anew");
    let mut done = with_progress();
    applied(&mut done, released(TaskStatus::Done));
    applied(&mut done, Event::WorkspaceClosed { task: id(), trash: None, handed_on: false });
    assert_eq!(progress(&done), Some(80));
}
