//! A human's command between a look of the supervisor at the state and what it records.
#![allow(clippy::unwrap_used)]

use super::notice::{SessionNotice, SessionWatcher};
use super::{InterruptCounter, Supervisor, SupervisorOptions};
use crate::scratch::ScratchRepository;
use axiom_base::env;
use axiom_base::error::{Code, Error};
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::base::text::ValueChange;
use axiom_model::state::event::Event;
use axiom_model::work::endings::failures::{MOST_TRIES, SessionStep, SharedSessionStep};
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind, TaskHoldReason};
use axiom_model::work::tasks::task::{Task, TaskChangeSet, TaskFieldChange, TaskKind, TaskStatus};
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::opening;

struct Told(Vec<SessionNotice>);

impl SessionWatcher for Told {
    fn notice(&mut self, notice: SessionNotice) {
        self.0.push(notice);
    }
}

fn task(id: &str) -> TaskId {
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

/// A supervisor that has seen the pending tasks `t`, `u` and `v`, and a human who has seen them too.
fn with_a_human(work: impl FnOnce(&mut Supervisor<'_>, &mut Context)) {
    let scratch = ScratchRepository::new(&[]);
    let open = || opening::open(&scratch.path(), VerbPurpose::Write).unwrap();
    let (mut ctx, mut human) = (open(), open());
    ctx.layout().ensure().unwrap();
    human.append(Event::TasksAdded { tasks: ["t", "u", "v"].map(case).into() }).unwrap();
    ctx.store.refresh().unwrap();
    let (mut told, interrupts) = (Told(Vec::new()), InterruptCounter::default());
    let options = SupervisorOptions::attending();
    work(&mut Supervisor::new(&mut ctx, &mut told, &interrupts, options, None).unwrap(), &mut human);
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
    with_a_human(|supervisor, human| {
        block(human, "t");
        supervisor.block(&task("t"), TaskStatus::Pending, "no workspace").unwrap();
        assert_eq!(supervisor.ctx.state().task(&task("t")).unwrap().reason.as_deref(), Some("mine"));
    });
}

#[test]
fn a_failed_claim_of_a_task_that_a_human_blocked_first_ends_nothing_and_leaves_no_delay() {
    for code in [Code::DiskFull, Code::GitFailed, Code::WorkspaceInTheWay] {
        with_a_human(|supervisor, human| {
            block(human, "t");
            supervisor.claim_failed(&task("t"), Error::new(code, "x")).unwrap();
            assert!(supervisor.ctx.state().record.delays.is_empty(), "{code}");
            assert_eq!(supervisor.ctx.state().task(&task("t")).unwrap().reason.as_deref(), Some("mine"), "{code}");
        });
    }
}

#[test]
fn a_gate_that_a_human_opened_or_decided_first_stands() {
    with_a_human(|supervisor, human| {
        let held = Gate::holding(&task("t"), TaskHoldReason::RolledBack, env::now()).unwrap();
        human.append(Event::GateOpened { gate: Box::new(held.clone()) }).unwrap();
        supervisor.open_gate(GateKind::Claim, &task("t"), "start t".to_owned(), Vec::new()).unwrap();
        assert_eq!(supervisor.ctx.state().restorable.gates.get(&held.id), Some(&held));
        let decision = GateDecision::Approved;
        human.append(Event::GateDecided { id: held.id.clone(), decision, complete: None }).unwrap();
        supervisor.open_gate(GateKind::Claim, &task("t"), "start t".to_owned(), Vec::new()).unwrap();
        assert_eq!(supervisor.ctx.state().restorable.gates[&held.id].decision, Some(GateDecision::Approved));
    });
}

#[test]
fn work_that_was_taken_from_an_agent_meanwhile_is_not_released_again_and_fails_nothing() {
    with_a_human(|supervisor, human| {
        supervisor.step(Event::TaskClaimed { agent: agent(), task: task("t"), complete: false }).unwrap();
        human.store.refresh().unwrap();
        let (status, reason) = (TaskStatus::Pending, String::new());
        let taken =
            Event::WorkReleased { agent: agent(), status, reason, retry: false, complete: None, gate: None, discarded: false };
        human.append(taken).unwrap();
        supervisor.release(&agent(), TaskStatus::Blocked, "x", false).unwrap();
        assert_eq!(supervisor.ctx.state().task(&task("t")).unwrap().status, TaskStatus::Pending);
        supervisor.agent_failed(&agent(), SessionStep::Start, Error::new(Code::InvalidTransition, "x")).unwrap();
    });
}

#[test]
fn a_race_is_looked_at_again_and_only_one_that_never_ends_ends_the_session() {
    with_a_human(|supervisor, _| {
        let moved = || Error::new(Code::ChangedMeanwhile, "x");
        for _ in 0..3 {
            for _ in 1..MOST_TRIES {
                supervisor.log_failed(moved()).unwrap();
            }
            supervisor.log_is_well();
        }
        for _ in 1..MOST_TRIES {
            supervisor.log_failed(moved()).unwrap();
            // Something is recorded all the same.
            supervisor.step(Event::Audited { id: task("t"), text: "x".to_owned() }).unwrap();
        }
        assert_eq!(supervisor.log_failed(moved()).unwrap_err().code(), Code::ChangedMeanwhile);
    });
}

/// One is tried in each pause, each in its turn, and one is recorded.
#[test]
fn with_a_full_disk_all_claims_stand_still_together() {
    with_a_human(|supervisor, _| {
        let full = || Error::new(Code::DiskFull, "x");
        let tasks = [task("t"), task("u"), task("v")];
        let mut tried = Vec::new();
        for _ in 0..6 {
            let next = supervisor.next_to_try(tasks.iter(), |task| task).unwrap().clone();
            supervisor.claim_failed(&next, full()).unwrap();
            assert!(supervisor.stands_still(SharedSessionStep::Claims) && !supervisor.stands_still(SharedSessionStep::Merges));
            tried.push(next);
        }
        assert_eq!(tried, [&tasks[..], &tasks[..]].concat());
        assert_eq!(supervisor.ctx.state().record.delays.keys().collect::<Vec<_>>(), [&tasks[0]]);
        // The one that stood for all does not wait any more: the next stands for the others.
        supervisor.passed(&tasks[0]).unwrap();
        supervisor.claim_failed(&tasks[1], full()).unwrap();
        supervisor.claim_failed(&tasks[2], full()).unwrap();
        assert_eq!(supervisor.ctx.state().record.delays.keys().collect::<Vec<_>>(), [&tasks[1]]);
        supervisor.passed(&tasks[1]).unwrap();
        supervisor.no_standstill(SharedSessionStep::Claims);
        assert!(supervisor.ctx.state().record.delays.is_empty() && !supervisor.stands_still(SharedSessionStep::Claims));
        // What is one task's own stops no other.
        supervisor.claim_failed(&tasks[1], Error::new(Code::GitLocked, "x")).unwrap();
        assert!(!supervisor.stands_still(SharedSessionStep::Claims) && supervisor.is_held_up(&tasks[1]));
        assert!(supervisor.ctx.state().record.delays.contains_key(&tasks[1]));
    });
}

#[test]
fn a_step_that_was_possible_is_no_longer_shown_as_waiting() {
    with_a_human(|supervisor, _| {
        supervisor.step(Event::TaskClaimed { agent: agent(), task: task("t"), complete: false }).unwrap();
        supervisor.decide(SessionStep::Settle, &task("t"), &Error::new(Code::Busy, "x"));
        supervisor.delay(SessionStep::Settle, &task("t"), &Error::new(Code::Busy, "x"), std::time::Duration::ZERO).unwrap();
        assert!(supervisor.ctx.state().record.delays.contains_key(&task("t")));
        supervisor.waits_no_longer(&task("t"), SessionStep::Start).unwrap();
        assert!(supervisor.ctx.state().record.delays.contains_key(&task("t")), "another step");
        supervisor.waits_no_longer(&task("t"), SessionStep::Settle).unwrap();
        assert!(supervisor.ctx.state().record.delays.is_empty());
    });
}
