//! The parts of a session without a session: what each does, and a human's command between a look at the state and what is recorded.
#![allow(clippy::unwrap_used)]

use super::core::SessionCore;
use super::core::agent_runs::{AgentRun, AgentRuns};
use super::core::desk::SessionDesk;
use super::core::work_ends::{HaltedTaskFate, IterationHalt, WorkEnd};
use super::merges::merge_queue::MergeQueue;
use super::merges::merging::NextMerge;
use super::setup::SessionSetup;
use super::setup::options::SupervisorOptions;
use super::shown::notice::{SessionNotice, SessionWatcher};
use crate::scratch::ScratchRepository;
use axiom_base::env;
use axiom_base::error::{Code, Error};
use axiom_model::base::ids::{AgentId, TaskId, Token};
use axiom_model::base::names::RefName;
use axiom_model::base::text::ValueChange;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::endings::failures::{MOST_TRIES, SessionStep, SharedSessionStep};
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind, TaskHoldReason};
use axiom_model::work::tasks::task::{Task, TaskChangeSet, TaskFieldChange, TaskKind, TaskStatus};
use axiom_process::os::bell::WakeListener;
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::opening;

struct Told(Vec<SessionNotice>);

impl SessionWatcher for Told {
    fn notice(&mut self, notice: SessionNotice) {
        self.0.push(notice);
    }
}

pub(crate) fn task(id: &str) -> TaskId {
    TaskId::new(id).unwrap()
}

fn agent() -> AgentId {
    AgentId::new("agent-001").unwrap()
}

fn case(id: &str) -> Task {
    Task {
        id: task(id),
        kind: TaskKind::Task,
        title: id.to_owned(),
        body: None,
        parent: None,
        after: Vec::new(),
        needs: vec![],
        start_early: false,
        persona: None,
        verify: Vec::new(),
        limits: axiom_model::work::money::budget::BudgetLimits::default(),
        status: TaskStatus::Pending,
        merged: None,
        reason: None,
        created_at: env::now(),
    }
}

/// The core of a session that has seen the pending tasks `t`, `u` and `v`, and a human who has seen them too.
pub(crate) fn with_a_human(work: impl FnOnce(&mut SessionCore<'_>, &mut Context)) {
    let scratch = ScratchRepository::new(&[]);
    let open = || opening::open(&scratch.path(), VerbPurpose::Write).unwrap();
    let (mut ctx, mut human) = (open(), open());
    ctx.layout().ensure().unwrap();
    human.append(Event::TasksAdded { tasks: ["t", "u", "v"].map(case).into() }).unwrap();
    ctx.store.refresh().unwrap();
    let mut told = Told(Vec::new());
    let desk = SessionDesk { ctx: &mut ctx, watcher: &mut told, by: EventAuthor::Supervisor, within: None };
    let setup = SessionSetup {
        options: SupervisorOptions::attending(),
        target: Some(RefName::new("refs/heads/main")),
        in_linked_worktree: false,
        lock: None,
    };
    work(&mut SessionCore::new(desk, setup, WakeListener::new().unwrap()), &mut human);
}

fn block(human: &mut Context, id: &str) {
    let changes = vec![
        TaskFieldChange::Status(ValueChange::new(TaskStatus::Pending, TaskStatus::Blocked)),
        TaskFieldChange::Reason(ValueChange::new(None, Some("mine".to_owned()))),
    ];
    human.append(Event::TasksChanged { edits: vec![TaskChangeSet { id: task(id), changes }] }).unwrap();
}

#[test]
fn a_task_that_a_human_blocked_first_stays_as_the_human_said() {
    with_a_human(|core, human| {
        block(human, "t");
        core.desk.block(&task("t"), TaskStatus::Pending, "no workspace").unwrap();
        assert_eq!(core.desk.ctx.state().task(&task("t")).unwrap().reason.as_deref(), Some("mine"));
    });
}

#[test]
fn a_failed_claim_of_a_task_that_a_human_blocked_first_ends_nothing_and_leaves_no_delay() {
    for code in [Code::DiskFull, Code::GitFailed, Code::WorkspaceInTheWay] {
        with_a_human(|core, human| {
            block(human, "t");
            core.failures.claim_failed(&mut core.desk, &task("t"), Error::new(code, "x")).unwrap();
            assert!(core.desk.ctx.state().record.delays.is_empty(), "{code}");
            assert_eq!(core.desk.ctx.state().task(&task("t")).unwrap().reason.as_deref(), Some("mine"), "{code}");
        });
    }
}

#[test]
fn a_gate_that_a_human_opened_or_decided_first_stands() {
    with_a_human(|core, human| {
        let held = Gate::holding(&task("t"), TaskHoldReason::RolledBack, env::now()).unwrap();
        human.append(Event::GateOpened { gate: Box::new(held.clone()) }).unwrap();
        core.desk.open_gate(GateKind::Claim, &task("t"), "start t".to_owned(), Vec::new()).unwrap();
        assert_eq!(core.desk.ctx.state().restorable.gates.get(&held.id), Some(&held));
        let decision = GateDecision::Approved;
        human.append(Event::GateDecided { id: held.id.clone(), decision, complete: None }).unwrap();
        core.desk.open_gate(GateKind::Claim, &task("t"), "start t".to_owned(), Vec::new()).unwrap();
        assert_eq!(core.desk.ctx.state().restorable.gates[&held.id].decision, Some(GateDecision::Approved));
    });
}

#[test]
fn work_that_was_taken_from_an_agent_meanwhile_is_not_released_again_and_fails_nothing() {
    with_a_human(|core, human| {
        core.desk.step(Event::TaskClaimed { agent: agent(), task: task("t"), complete: false }).unwrap();
        human.store.refresh().unwrap();
        let (status, reason) = (TaskStatus::Pending, String::new());
        let taken =
            Event::WorkReleased { agent: agent(), status, reason, retry: false, complete: None, gate: None, discarded: false };
        human.append(taken).unwrap();
        core.release(&agent(), TaskStatus::Blocked, "x").unwrap();
        assert_eq!(core.desk.ctx.state().task(&task("t")).unwrap().status, TaskStatus::Pending);
        core.agent_failed(&agent(), SessionStep::Start, Error::new(Code::InvalidTransition, "x")).unwrap();
    });
}

#[test]
fn a_race_is_looked_at_again_and_only_one_that_never_ends_ends_the_session() {
    with_a_human(|core, _| {
        let moved = || Error::new(Code::ChangedMeanwhile, "x");
        for _ in 0..3 {
            for _ in 1..MOST_TRIES {
                core.failures.log_failed(&mut core.desk, moved()).unwrap();
            }
            core.failures.log_is_well();
        }
        for _ in 1..MOST_TRIES {
            core.failures.log_failed(&mut core.desk, moved()).unwrap();
            // Something is recorded all the same.
            core.desk.step(Event::Audited { id: task("t"), text: "x".to_owned() }).unwrap();
        }
        assert_eq!(core.failures.log_failed(&mut core.desk, moved()).unwrap_err().code(), Code::ChangedMeanwhile);
    });
}

/// One is tried in each pause, each in its turn, and one is recorded.
#[test]
fn with_a_full_disk_all_claims_stand_still_together() {
    with_a_human(|core, _| {
        let full = || Error::new(Code::DiskFull, "x");
        let tasks = [task("t"), task("u"), task("v")];
        let mut tried = Vec::new();
        for _ in 0..6 {
            let next = core.failures.next_to_try(tasks.iter(), |task| task).unwrap().clone();
            core.failures.claim_failed(&mut core.desk, &next, full()).unwrap();
            assert!(
                core.failures.stands_still(SharedSessionStep::Claims) && !core.failures.stands_still(SharedSessionStep::Merges)
            );
            tried.push(next);
        }
        assert_eq!(tried, [&tasks[..], &tasks[..]].concat());
        assert_eq!(core.desk.ctx.state().record.delays.keys().collect::<Vec<_>>(), [&tasks[0]]);
        // The one that stood for all does not wait any more: the next stands for the others.
        core.failures.passed(&mut core.desk, &tasks[0]).unwrap();
        core.failures.claim_failed(&mut core.desk, &tasks[1], full()).unwrap();
        core.failures.claim_failed(&mut core.desk, &tasks[2], full()).unwrap();
        assert_eq!(core.desk.ctx.state().record.delays.keys().collect::<Vec<_>>(), [&tasks[1]]);
        core.failures.passed(&mut core.desk, &tasks[1]).unwrap();
        core.failures.no_standstill(SharedSessionStep::Claims);
        assert!(core.desk.ctx.state().record.delays.is_empty() && !core.failures.stands_still(SharedSessionStep::Claims));
        // What is one task's own stops no other.
        core.failures.claim_failed(&mut core.desk, &tasks[1], Error::new(Code::GitLocked, "x")).unwrap();
        assert!(!core.failures.stands_still(SharedSessionStep::Claims) && core.failures.is_held_up(&tasks[1]));
        assert!(core.desk.ctx.state().record.delays.contains_key(&tasks[1]));
    });
}

#[test]
fn a_step_that_was_possible_is_no_longer_shown_as_waiting() {
    with_a_human(|core, _| {
        core.desk.step(Event::TaskClaimed { agent: agent(), task: task("t"), complete: false }).unwrap();
        core.failures.decide(&mut core.desk, SessionStep::Settle, &task("t"), &Error::new(Code::Busy, "x"));
        core.failures
            .delay(&mut core.desk, SessionStep::Settle, &task("t"), &Error::new(Code::Busy, "x"), std::time::Duration::ZERO)
            .unwrap();
        assert!(core.desk.ctx.state().record.delays.contains_key(&task("t")));
        core.failures.waits_no_longer(&mut core.desk, &task("t"), SessionStep::Start).unwrap();
        assert!(core.desk.ctx.state().record.delays.contains_key(&task("t")), "another step");
        core.failures.waits_no_longer(&mut core.desk, &task("t"), SessionStep::Settle).unwrap();
        assert!(core.desk.ctx.state().record.delays.is_empty());
    });
}

/// What is decided of the end of one iteration says nothing of another one of the same agent.
#[test]
fn a_halt_is_that_of_one_iteration() {
    let (mut runs, agent) = (AgentRuns::default(), agent());
    let [first, second] =
        ["00000000000000000000000000000001", "00000000000000000000000000000002"].map(|text| Token::new(text).unwrap());
    let halt = IterationHalt {
        how: TaskHalt::Kill,
        then: HaltedTaskFate::Free,
        asked: false,
        since: env::now(),
        begun: std::time::Instant::now(),
    };
    runs.at(&agent).halt = Some((first.clone(), halt));
    assert!(runs.halt_of(&agent, &first).is_some() && runs.halt_of(&agent, &second).is_none());
    assert!(runs.any(AgentRun::is_to_be_asked));
    runs.at(&agent).ends_with(&second, None);
    assert!(runs.halt_of(&agent, &first).is_some(), "the end of another iteration");
    runs.at(&agent).ends_with(&first, Some(WorkEnd::Broken("x".to_owned())));
    assert!(runs.halt_of(&agent, &first).is_none() && !runs.any(AgentRun::is_to_be_asked));
    runs.at(&agent).ends_with(&first, None);
    assert!(matches!(&runs.at(&agent).end, Some(WorkEnd::Broken(why)) if why == "x"), "until it is done, it is wanted");
}

/// The token of the next iteration is the same until its intent is recorded, and a pause gets longer.
#[test]
fn an_agent_tries_again_with_the_same_token_after_a_pause() {
    let (mut runs, agent) = (AgentRuns::default(), agent());
    let token = runs.next_token(&agent).unwrap();
    assert_eq!(runs.next_token(&agent).unwrap(), token);
    runs.at(&agent).prepared = None;
    assert_ne!(runs.next_token(&agent).unwrap(), token);
    assert!(!runs.must_wait(&agent) && runs.first_pause().is_none());
    for _ in 0..8 {
        runs.back_off(&agent);
    }
    assert!(runs.must_wait(&agent) && runs.first_pause().is_some());
    runs.no_back_off(&agent);
    assert!(!runs.must_wait(&agent));
}

#[test]
fn a_merge_is_asked_for_once_and_made_when_a_human_approves_it() {
    with_a_human(|core, human| {
        let mut merges = MergeQueue::default();
        assert!(matches!(merges.next_merge(core).unwrap(), NextMerge::Nothing));
        let done = vec![TaskFieldChange::Status(ValueChange::new(TaskStatus::Pending, TaskStatus::Done))];
        core.desk.step(Event::TasksChanged { edits: vec![TaskChangeSet { id: task("t"), changes: done }] }).unwrap();
        assert!(matches!(merges.next_merge(core).unwrap(), NextMerge::Done), "it is asked");
        assert!(matches!(merges.next_merge(core).unwrap(), NextMerge::Nothing), "it waits");
        let id = core.desk.gate(GateKind::Merge, &task("t")).unwrap().id.clone();
        human.store.refresh().unwrap();
        human.append(Event::GateDecided { id, decision: GateDecision::Approved, complete: None }).unwrap();
        core.desk.ctx.store.refresh().unwrap();
        assert!(matches!(merges.next_merge(core).unwrap(), NextMerge::Make(next, _) if next == task("t")));
        merges.is_merged(core, &task("t")).unwrap();
        assert!(core.desk.gate(GateKind::Merge, &task("t")).is_none());
    });
}
