//! Attempts at a task: what counts of them, and for how long.

use jiff::Timestamp;

use super::current_state::State;
use super::current_state_tests::{applied, applied_by, id, opened, with_progress};
use super::event::Event;
use super::event_envelope::EventAuthor;
use crate::base::ids::{AgentId, Token};
use crate::base::names::Oid;
use crate::base::text::ValueChange;
use crate::work::iteration::{IterationOutcome, IterationReport};
use crate::work::signals::reports::TaskReports;
use crate::work::signals::signal::AgentSignal;
use crate::work::tasks::task::{TaskChangeSet, TaskFieldChange, TaskStatus};

fn agent() -> AgentId {
    AgentId::new("a-001").unwrap()
}

fn token() -> Token {
    Token::new("k").unwrap()
}

fn report(outcome: IterationOutcome) -> Box<IterationReport> {
    let oid = "1".repeat(40);
    let json = serde_json::json!({"outcome": outcome, "from": oid, "to": oid, "durationMs": 1});
    Box::new(serde_json::from_value(json).unwrap())
}

fn ends(state: &mut State, outcome: IterationOutcome) {
    applied(state, Event::IterationEnded { agent: agent(), token: token(), report: report(outcome) });
}

fn released(status: TaskStatus) -> Event {
    let reason = String::new();
    Event::WorkReleased { agent: agent(), status, reason, retry: false, complete: None, gate: None, discarded: false }
}

fn edited(old: TaskStatus, new: TaskStatus) -> Event {
    let changes = vec![TaskFieldChange::Status(ValueChange::new(old, new))];
    Event::TasksChanged { edits: vec![TaskChangeSet { id: id(), changes }] }
}

fn claims(state: &mut State) {
    applied(state, Event::TaskClaimed { agent: agent(), task: id(), complete: false });
}

fn intended(iteration: u32) -> Event {
    Event::IterationIntended {
        agent: agent(),
        iteration,
        token: token(),
        from: Oid::new("1".repeat(40)).unwrap(),
        exit_completes: true,
        program: String::new(),
        resumes: None,
    }
}

fn made(state: &State) -> u32 {
    state.restorable.agents[&agent()].work.as_ref().unwrap().iteration
}

fn reports(state: &State) -> TaskReports {
    state.reports(&id()).cloned().unwrap_or_default()
}

/// A task that is complete, with all that its agent said.
fn done() -> State {
    let mut state = with_progress();
    for signal in [
        AgentSignal::Progress { percent: 100 },
        AgentSignal::Subtask { name: "part".into(), done: true, planned: false },
        AgentSignal::Depends { names: vec!["library".into()] },
        AgentSignal::Ready { name: "api".into(), text: "there".into() },
    ] {
        applied(&mut state, Event::Signalled { agent: agent(), token: token(), signal, said_at: None });
    }
    ends(&mut state, IterationOutcome::Complete);
    applied(&mut state, released(TaskStatus::Done));
    state.restorable.reports.get_mut(&id()).unwrap().verified = Some(true);
    state
}

#[track_caller]
fn is_given_back(state: &State) {
    let now = reports(state);
    assert!(now.given_back && now.progress.is_none() && now.subtasks.is_empty() && now.verified != Some(true), "{now:?}");
    assert_eq!((now.dependencies.len(), now.ready.len(), now.iteration), (1, 1, now.iteration), "what others began with stays");
}

#[test]
fn what_is_given_back_is_not_complete_until_an_agent_says_so_again() {
    for (by, to) in [
        (EventAuthor::Supervisor, TaskStatus::Pending),
        (EventAuthor::Supervisor, TaskStatus::Blocked),
        (EventAuthor::User, TaskStatus::Pending),
    ] {
        let mut state = done();
        assert!(!reports(&state).given_back);
        applied_by(&mut state, by, edited(TaskStatus::Done, to));
        is_given_back(&state);
        if to == TaskStatus::Blocked {
            applied_by(&mut state, EventAuthor::User, edited(TaskStatus::Blocked, TaskStatus::Pending));
        }
        claims(&mut state);
        applied(&mut state, intended(1));
        is_given_back(&state);
        ends(&mut state, IterationOutcome::Complete);
        assert!(!reports(&state).given_back);
        applied(&mut state, Event::VerificationFailed { agent: agent(), why: "no".into(), round: 1 });
        is_given_back(&state);
        assert_eq!(reports(&state).verified, Some(false));
    }
    // What is only archived is as it was.
    let mut state = done();
    applied_by(&mut state, EventAuthor::User, edited(TaskStatus::Done, TaskStatus::Archived));
    applied_by(&mut state, EventAuthor::User, edited(TaskStatus::Archived, TaskStatus::Done));
    assert_eq!((reports(&state).progress, reports(&state).given_back), (Some(100), false));
}

#[test]
fn numbers_of_iterations_go_on_after_a_cut_and_begin_at_1_in_a_new_attempt() {
    for outcome in [IterationOutcome::Crashed, IterationOutcome::Stopped, IterationOutcome::Unfinished { why: "x".into() }] {
        let mut state = with_progress();
        ends(&mut state, outcome.clone());
        applied(&mut state, released(TaskStatus::Pending));
        claims(&mut state);
        assert_eq!(made(&state), 1, "{outcome:?}");
        let refused = |iteration| {
            let mut state = state.clone();
            let at = Timestamp::UNIX_EPOCH;
            let txn = crate::base::ids::OperationId::new("x").unwrap();
            let envelope = super::event_envelope::EventEnvelope {
                seq: state.seq + 1,
                at,
                txn,
                by: EventAuthor::Supervisor,
                event: intended(iteration),
            };
            state.apply(&envelope).is_err()
        };
        assert_eq!([0, 1, 2, 3].map(refused), [true, false, false, true]);
        applied(&mut state, intended(2));
        assert_eq!(made(&state), 2);
        applied(&mut state, opened());
        assert_eq!(made(&state), 0, "nothing of the work is left");
    }
    // A human wants it tried again.
    let mut state = with_progress();
    ends(&mut state, IterationOutcome::Unfinished { why: "x".into() });
    applied(&mut state, released(TaskStatus::Failed));
    applied_by(&mut state, EventAuthor::User, edited(TaskStatus::Failed, TaskStatus::Pending));
    claims(&mut state);
    assert_eq!((made(&state), reports(&state).progress), (0, Some(80)));
}

#[test]
fn what_a_killed_agent_said_in_its_iteration_is_taken_back() {
    let learning = |text: &str| AgentSignal::Learning { text: text.into(), scope: None };
    for at_the_end in [true, false] {
        let mut state = with_progress();
        applied(&mut state, Event::Signalled { agent: agent(), token: token(), signal: learning("stays"), said_at: None });
        ends(&mut state, IterationOutcome::Unfinished { why: "x".into() });
        applied(&mut state, intended(2));
        let part = AgentSignal::Subtask { name: "part".into(), done: true, planned: false };
        for signal in [AgentSignal::Progress { percent: 95 }, part, learning("goes")] {
            applied(&mut state, Event::Signalled { agent: agent(), token: token(), signal, said_at: None });
        }
        assert_eq!(state.record.learnings.len(), 2);
        let stopped = *report(IterationOutcome::Stopped);
        let killed = IterationReport { discarded: at_the_end, ..stopped };
        applied(&mut state, Event::IterationEnded { agent: agent(), token: token(), report: Box::new(killed) });
        // Or it had ended by itself when it was killed.
        let reason = String::new();
        let status = TaskStatus::Pending;
        let event = Event::WorkReleased {
            agent: agent(),
            status,
            reason,
            retry: false,
            complete: None,
            gate: None,
            discarded: !at_the_end,
        };
        applied(&mut state, event);
        let learnt: Vec<&str> = state.record.learnings.iter().map(|one| one.text.as_str()).collect();
        assert_eq!((learnt, reports(&state).progress), (vec!["stays"], Some(80)), "{at_the_end}");
        assert!(reports(&state).subtasks.is_empty());
        assert_eq!(reports(&state).iteration, 2, "it was made all the same");
    }
}
