//! The rules of planning, as stories of steps.

use jiff::Timestamp;

use super::gates::{decided, gates_of};
use super::next::{NextPlanStep, next};
use super::plan::{GoalPlan, LONGEST, MOST_ARCHIVED, MOST_TASKS, PlanGoal, PlanStatus, PlannerProgram, PlanningPhase};
use super::recover::{PlanRecoveryChoice, by_rule};
use super::step::{PlanEnding, PlanStep};
use super::tree::tree;
use crate::base::ids::{GateId, OperationId, TaskId};
use crate::queries::plan_check::{kept, outcome, problems};
use crate::state::current_state::State;
use crate::state::event::Event;
use crate::state::event_envelope::{EventAuthor, EventEnvelope};
use crate::work::gates::gate::GateDecision;
use crate::work::tasks::task::{Task, TaskKind};
use axiom_base::error::{Code, Result};

fn id(text: &str) -> TaskId {
    TaskId::new(text).unwrap()
}

pub(super) fn task(text: &str, parent: Option<&str>, after: &[&str]) -> Task {
    let task = crate::work::tasks::wip::tests::task();
    Task {
        id: id(text),
        title: format!("title of {text}"),
        kind: if text.starts_with("op") { TaskKind::Group } else { TaskKind::Task },
        status: crate::work::tasks::task::TaskStatus::Pending,
        merged: None,
        body: None,
        parent: parent.map(id),
        after: after.iter().map(|after| id(after)).collect(),
        ..task
    }
}

pub(super) fn plan(planner: Option<&str>) -> GoalPlan {
    let goal = PlanGoal { id: id("goal"), jtbd: "sign in".into(), body: None };
    GoalPlan::begin(goal, planner.map(|agent| PlannerProgram { agent: agent.into(), script: None }), Timestamp::UNIX_EPOCH)
}

fn after(plan: &GoalPlan, steps: impl IntoIterator<Item = PlanStep>) -> Result<GoalPlan> {
    steps.into_iter().try_fold(plan.clone(), |plan, step| plan.after(&step, Timestamp::UNIX_EPOCH))
}

fn made(tasks: &[Task]) -> PlanStep {
    PlanStep::TasksMade { tasks: tasks.to_vec(), approved: true }
}

fn proposed(tasks: &[Task]) -> PlanStep {
    PlanStep::Proposed { text: "so".into(), outline: tasks.to_vec() }
}

fn asked(questions: &[&str]) -> PlanStep {
    PlanStep::Asked { questions: questions.iter().map(|&text| text.to_owned()).collect() }
}

fn answered(number: u32) -> PlanStep {
    PlanStep::Answered { number, text: "yes".into() }
}

fn gate_ids(plan: &GoalPlan) -> Vec<String> {
    gates_of(plan).iter().map(|gate| gate.id.to_string()).collect()
}

#[test]
fn a_planner_goes_through_all_phases_and_waits_for_a_human_where_one_decides() {
    let mut at = plan(Some("shell"));
    let (a, b) = (task("a", None, &[]), task("b", None, &["a"]));
    let story = [
        (asked(&["which?", "when?"]), NextPlanStep::Answer, vec!["planning-question-1", "planning-question-2"]),
        (answered(2), NextPlanStep::Answer, vec!["planning-question-1"]),
        (answered(1), NextPlanStep::Plan(PlanningPhase::Understand), vec![]),
        (PlanStep::Understood {}, NextPlanStep::Plan(PlanningPhase::Analyze), vec![]),
        (PlanStep::Analyzed { text: "small".into() }, NextPlanStep::Plan(PlanningPhase::Propose), vec![]),
        (proposed(&[a.clone(), b.clone()]), NextPlanStep::Approve, vec!["planning-proposal-1"]),
        (PlanStep::Revised { feedback: "less".into() }, NextPlanStep::Plan(PlanningPhase::Propose), vec![]),
        (proposed(&[a.clone(), b.clone()]), NextPlanStep::Approve, vec!["planning-proposal-2"]),
        (PlanStep::Approved { version: 2 }, NextPlanStep::Plan(PlanningPhase::Decompose), vec![]),
        (made(std::slice::from_ref(&a)), NextPlanStep::Plan(PlanningPhase::Decompose), vec![]),
        (made(std::slice::from_ref(&b)), NextPlanStep::Check, vec![]),
        (PlanStep::Checked { problems: vec![] }, NextPlanStep::Finish, vec![]),
    ];
    assert_eq!(next(&at), NextPlanStep::Plan(PlanningPhase::Understand));
    for (step, then, gates) in story {
        at = after(&at, [step.clone()]).unwrap();
        assert_eq!((next(&at), gate_ids(&at)), (then, gates.into_iter().map(str::to_owned).collect()), "{step:?}");
    }
    let tasks = outcome(&at);
    let done = after(&at, [PlanStep::Finished { ending: PlanEnding::Finished, why: String::new(), tasks }]).unwrap();
    assert_eq!((done.status, next(&done)), (PlanStatus::Done, NextPlanStep::Nothing));
    assert_eq!(done.became, [id("goal"), id("a"), id("b")]);
    assert!(done.after(&answered(1), Timestamp::UNIX_EPOCH).is_err(), "it has ended");
}

#[test]
fn an_approval_is_for_the_tasks_that_a_human_has_seen() {
    let approved = after(&plan(None), [made(&[task("a", None, &[])]), PlanStep::Approved { version: 1 }]).unwrap();
    assert!(approved.is_approved() && approved.phase == PlanningPhase::Validate);
    let mine = after(&approved, [made(&[task("b", None, &[])])]).unwrap();
    assert!(mine.is_approved(), "what a human adds");
    let of_agent = PlanStep::TasksMade { tasks: vec![task("c", None, &[])], approved: false };
    let theirs = after(&mine, [of_agent]).unwrap();
    assert!(!theirs.is_approved() && next(&theirs) == NextPlanStep::Approve);
    let again = after(&theirs, [PlanStep::Approved { version: 2 }]).unwrap();
    assert!(again.is_approved());
    let stale = after(&again, [proposed(&[]), PlanStep::Approved { version: 2 }]);
    assert_eq!(stale.unwrap_err().code(), Code::ChangedMeanwhile);
    let revised = after(&again, [PlanStep::Revised { feedback: "no".into() }]).unwrap();
    assert!(!revised.is_approved(), "an approval that was taken back");
}

#[test]
fn steps_that_do_not_fit_are_refused() {
    let open = after(&plan(Some("shell")), [asked(&["which?"])]).unwrap();
    let long = "x".repeat(LONGEST + 1);
    for (step, code) in [
        (PlanStep::Started { plan: Box::new(open.clone()) }, Code::PlanOpen),
        (PlanStep::Understood {}, Code::InvalidTransition),
        (PlanStep::Analyzed { text: "x".into() }, Code::InvalidTransition),
        (PlanStep::Revised { feedback: "x".into() }, Code::InvalidTransition),
        (answered(7), Code::InvalidInput),
        (PlanStep::Answered { number: 1, text: " ".into() }, Code::InvalidInput),
        (PlanStep::Answered { number: 1, text: long.clone() }, Code::TooLarge),
        (PlanStep::Proposed { text: long, outline: vec![] }, Code::TooLarge),
        (asked(&["x"; 100]), Code::TooLarge),
        (made(&[task("a", None, &[])]), Code::Internal),
        (PlanStep::Approved { version: 7 }, Code::ChangedMeanwhile),
    ] {
        let code = (code != Code::Internal).then_some(code);
        assert_eq!(after(&open, [step.clone()]).err().map(|error| error.code()), code, "{step:?}");
    }
    let many: Vec<Task> = (0..=MOST_TASKS).map(|n| task(&format!("c{n}"), None, &[])).collect();
    assert_eq!(after(&open, [proposed(&many)]).unwrap_err().code(), Code::TooLarge);
    assert_eq!(after(&open, [made(&many)]).unwrap_err().code(), Code::TooLarge);
    assert_eq!(after(&open, [answered(1), answered(1)]).unwrap_err().code(), Code::InvalidTransition);
    let runs = [PlanStep::PlannerStarted {}, PlanStep::PlannerStarted {}];
    assert_eq!(after(&open, runs).unwrap_err().code(), Code::InvalidTransition);
}

#[test]
fn what_is_wrong_with_a_plan_is_listed() {
    let state = State::default();
    let found = |tasks: &[Task]| problems(&state, &after(&plan(None), [made(tasks)]).unwrap()).join("\n");
    assert_eq!(found(&[task("a", None, &[]), task("b", None, &["a"])]), "");
    assert_eq!(problems(&state, &plan(None)), ["it has no task"]);
    assert_eq!(found(&[task("op", None, &[])]), "it has no task");
    assert!(found(&[task("a", None, &["b"]), task("b", None, &["a"])]).contains("would wait for themselves"));
    assert!(found(&[task("a", None, &["x"])]).contains("'x', which does not exist"));
    assert!(found(&[task("a", Some("b"), &[]), task("b", None, &[])]).contains("'b', which is a task"));
    assert!(found(&[task("a", None, &[]), task("A", None, &[])]).contains("two tasks have the id"));
    assert!(found(&[task("a", None, &["goal"])]).contains("would wait for themselves"), "a part waits for the whole");
    let outlined = after(&plan(None), [proposed(&[task("a", None, &[])])]).unwrap();
    assert_eq!(problems(&state, &outlined), ["1 task only outlined: a"]);
}

fn half(created: usize, pending: usize) -> GoalPlan {
    let tasks: Vec<Task> = (0..created + pending).map(|n| task(&format!("c{n}"), None, &[])).collect();
    let steps = [proposed(&tasks), PlanStep::Approved { version: 1 }, made(&tasks[..created]), PlanStep::PlannerStarted {}];
    if tasks.is_empty() { plan(Some("shell")) } else { after(&plan(Some("shell")), steps).unwrap() }
}

#[test]
fn with_nobody_there_less_than_half_is_started_over_and_the_rest_is_kept() {
    for (created, pending, choice) in [
        (0, 0, PlanRecoveryChoice::StartOver),
        (0, 5, PlanRecoveryChoice::StartOver),
        (2, 3, PlanRecoveryChoice::StartOver),
        (49, 51, PlanRecoveryChoice::StartOver),
        (1, 1, PlanRecoveryChoice::Keep),
        (3, 2, PlanRecoveryChoice::Keep),
        (5, 0, PlanRecoveryChoice::Keep),
    ] {
        let decided = by_rule(&half(created, pending));
        assert_eq!(decided.choice, choice, "{created} {pending}");
        assert!(decided.why.contains(&format!("{created} of {} task", created + pending)), "{}", decided.why);
    }
}

#[test]
fn starting_over_archives_and_keeping_leaves_out_what_is_pending() {
    let cut = half(3, 2);
    let over = after(&cut, [PlanStep::StartedOver { why: "so".into() }]).unwrap();
    assert_eq!((over.phase, over.attempt, over.tasks.len(), over.running), (PlanningPhase::Understand, 2, 0, None));
    let archived = &over.archived[0];
    assert_eq!((archived.created.len(), archived.pending.len(), archived.phase), (3, 2, PlanningPhase::Decompose));
    let many = (0..MOST_ARCHIVED * 2).map(|_| PlanStep::StartedOver { why: "so".into() });
    assert_eq!(after(&over, many).unwrap().archived.len(), MOST_ARCHIVED);
    let tasks = [task("a", None, &["b"]), task("b", None, &[]), task("op", None, &[]), task("c", Some("op"), &["a"])];
    let steps = [proposed(&tasks), PlanStep::Approved { version: 1 }, made(&[tasks[0].clone(), tasks[3].clone()])];
    let kept = kept(&after(&plan(Some("shell")), steps).unwrap());
    let shown: Vec<_> = kept.iter().map(|task| (task.id.as_str(), task.parent.clone(), task.after.len())).collect();
    assert_eq!(shown, [("goal", None, 0), ("a", Some(id("goal")), 0), ("c", Some(id("goal")), 1)]);
}

#[test]
fn tasks_are_a_tree_also_where_they_are_parts_of_each_other() {
    let tasks = [task("op", None, &[]), task("a", Some("op"), &[]), task("b", Some("op"), &[]), task("c", Some("x"), &[])];
    let drawn = |tasks: &[Task]| tree(tasks).iter().map(|line| format!("{}{}", line.drawn, line.task.id)).collect::<Vec<_>>();
    assert_eq!(drawn(&tasks), ["op", "├── a", "└── b", "c"]);
    assert_eq!(drawn(&[task("a", Some("b"), &[]), task("b", Some("a"), &[])]), ["a", "└── b"]);
    let chain: Vec<Task> = (0..MOST_TASKS).map(|n| task(&format!("c{n}"), Some(&format!("c{}", n + 1)), &[])).collect();
    assert_eq!(drawn(&chain).len(), MOST_TASKS);
}

#[test]
fn a_decision_at_a_gate_is_a_step() {
    let gate = |text: &str| GateId::new(text).unwrap();
    let yes = GateDecision::Answered { text: "yes".into() };
    assert_eq!(decided(&gate("planning-question-3"), &yes).unwrap(), answered(3));
    assert!(decided(&gate("planning-question-3"), &GateDecision::Approved).is_err());
    let version = |decision: &GateDecision| decided(&gate("planning-proposal-2"), decision).unwrap();
    assert_eq!(version(&GateDecision::Approved), PlanStep::Approved { version: 2 });
    assert_eq!(version(&GateDecision::Rejected { reason: "no".into() }), PlanStep::Revised { feedback: "no".into() });
}

#[test]
fn the_state_takes_a_step_with_its_gates_and_its_tasks_or_not_at_all() {
    let mut state = State::default();
    let mut take = |step: PlanStep| {
        let event = Event::Planned { step: Box::new(step) };
        let (txn, at) = (OperationId::new("x").unwrap(), Timestamp::UNIX_EPOCH);
        let envelope = EventEnvelope { seq: state.seq + 1, at, txn, by: EventAuthor::User, event };
        let line = serde_json::to_string(&envelope.event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), envelope.event);
        state.apply(&envelope).map(|()| state.clone()).map_err(|error| error.code())
    };
    assert_eq!(take(answered(1)).unwrap_err(), Code::NoPlan);
    take(PlanStep::Started { plan: Box::new(plan(None)) }).unwrap();
    let planned = take(made(&[task("a", None, &[])])).unwrap();
    assert!(planned.is_taken("A") && planned.is_taken("goal"), "its ids are promised");
    let waits = take(proposed(&[])).unwrap();
    assert_eq!(waits.restorable.gates.keys().map(GateId::as_str).collect::<Vec<_>>(), ["planning-proposal-1"]);
    let tasks = vec![task("a", Some("nobody"), &[])];
    let finished = |tasks| PlanStep::Finished { ending: PlanEnding::Finished, why: String::new(), tasks };
    assert_eq!(take(finished(tasks)).unwrap_err(), Code::UnknownDependency);
    let done = take(finished(outcome(waits.open_plan().unwrap()))).unwrap();
    assert!(done.restorable.gates.is_empty() && done.restorable.tasks.len() == 2 && done.open_plan().is_none());
}
