//! The check of what was planned, and the cases that it becomes.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::base::ids::TaskId;
use crate::domain::base::plural::count;
use crate::domain::planning::plan::GoalPlan;
use crate::domain::state::current_state::State;
use crate::domain::state::graph;
use crate::domain::work::task::{Task, TaskKind, TaskStatus};
use crate::error::{Error, some_of};

/// How many cases a problem names at most.
const NAMED: usize = 20;

/// What is wrong with the cases of a plan; nothing where it can be finished.
pub fn problems(state: &State, plan: &GoalPlan) -> Vec<String> {
    let mut found = Vec::new();
    if !plan.cases.iter().any(|case| case.kind == TaskKind::Task) {
        found.push("it has no task".to_owned());
    }
    let pending: Vec<String> = plan.pending.iter().map(ToString::to_string).collect();
    if !pending.is_empty() {
        found.push(format!("{} only outlined: {}", count(pending.len(), "case"), some_of(&pending, NAMED)));
    }
    found.extend(of_cases(state, &outcome(plan)));
    found
}

/// What is wrong with cases that are to be added together.
pub fn of_cases(state: &State, cases: &[Task]) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let known: BTreeMap<&TaskId, TaskKind> = cases.iter().map(|case| (&case.id, case.kind)).collect();
    for case in cases {
        if !seen.insert(case.id.folded()) {
            found.push(format!("two cases have the id '{}'", case.id));
        }
        if state.restorable.cases.contains_key(&case.id) {
            found.push(format!("the id '{}' is taken", case.id));
        }
        let unknown = |id: &&TaskId| !known.contains_key(*id) && !state.restorable.cases.contains_key(*id);
        for other in case.after.iter().chain(&case.parent).filter(unknown) {
            found.push(format!("'{}' refers to '{other}', which does not exist", case.id));
        }
        let parent = case.parent.as_ref();
        let kind = parent.and_then(|id| known.get(id).copied().or_else(|| state.restorable.cases.get(id).map(|one| one.kind)));
        if let (Some(parent), Some(TaskKind::Task)) = (parent, kind) {
            found.push(format!("'{}' is a part of '{parent}', which is a task", case.id));
        }
    }
    if found.is_empty()
        && let Err(error) = graph::check_changed(state, cases)
    {
        found.push(words(&error));
    }
    found
}

fn words(error: &Error) -> String {
    error.to_string()
}

/// The cases that a plan becomes: the goal, and all others as parts of it.
pub fn outcome(plan: &GoalPlan) -> Vec<Task> {
    let goal = &plan.directive_case;
    let part = |case: &Task| Task { parent: Some(case.parent.clone().unwrap_or_else(|| goal.id.clone())), ..case.clone() };
    std::iter::once(directive(plan)).chain(plan.cases.iter().map(part)).collect()
}

/// As [`outcome`], of the cases that are made only. References to those that are not are left out.
pub fn kept(plan: &GoalPlan) -> Vec<Task> {
    let made: Vec<Task> = plan.created().cloned().collect();
    let gone = |id: &TaskId| plan.pending.contains(id);
    let whole = |case: &Task| Task {
        after: case.after.iter().filter(|id| !gone(id)).cloned().collect(),
        needs: case.needs.iter().filter(|need| !gone(&need.task)).cloned().collect(),
        parent: case.parent.clone().filter(|id| !gone(id)),
        ..case.clone()
    };
    outcome(&GoalPlan { cases: made.iter().map(whole).collect(), ..plan.clone() })
}

fn directive(plan: &GoalPlan) -> Task {
    let goal = &plan.directive_case;
    Task {
        id: goal.id.clone(),
        kind: TaskKind::Directive,
        title: goal.jtbd.clone(),
        body: goal.body.clone(),
        parent: None,
        after: Vec::new(),
        needs: Vec::new(),
        start_early: false,
        persona: None,
        verify: Vec::new(),
        limits: crate::domain::work::budget::BudgetLimits::default(),
        status: TaskStatus::Pending,
        merged: None,
        reason: None,
        created_at: plan.last_checkpoint,
    }
}
