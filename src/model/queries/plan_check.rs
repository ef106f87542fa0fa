//! The check of what was planned, and the tasks that it becomes.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::forms::plural::count;
use crate::base::ids::TaskId;
use crate::planning::plan::GoalPlan;
use crate::state::current_state::State;
use crate::state::graph;
use crate::work::tasks::task::{Task, TaskKind, TaskStatus};
use axiom_base::error::{Error, some_of};

/// How many tasks a problem names at most.
const NAMED: usize = 20;

/// What is wrong with the tasks of a plan; nothing where it can be finished.
pub fn problems(state: &State, plan: &GoalPlan) -> Vec<String> {
    let mut found = Vec::new();
    if !plan.tasks.iter().any(|task| task.kind == TaskKind::Task) {
        found.push("it has no task".to_owned());
    }
    let pending: Vec<String> = plan.pending.iter().map(ToString::to_string).collect();
    if !pending.is_empty() {
        found.push(format!("{} only outlined: {}", count(pending.len(), "task"), some_of(&pending, NAMED)));
    }
    found.extend(of_tasks(state, &outcome(plan)));
    found
}

/// What is wrong with tasks that are to be added together.
pub fn of_tasks(state: &State, tasks: &[Task]) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let known: BTreeMap<&TaskId, TaskKind> = tasks.iter().map(|task| (&task.id, task.kind)).collect();
    for task in tasks {
        if !seen.insert(task.id.folded()) {
            found.push(format!("two tasks have the id '{}'", task.id));
        }
        if state.restorable.tasks.contains_key(&task.id) {
            found.push(format!("the id '{}' is taken", task.id));
        }
        let unknown = |id: &&TaskId| !known.contains_key(*id) && !state.restorable.tasks.contains_key(*id);
        for other in task.after.iter().chain(&task.parent).filter(unknown) {
            found.push(format!("'{}' refers to '{other}', which does not exist", task.id));
        }
        let parent = task.parent.as_ref();
        let kind = parent.and_then(|id| known.get(id).copied().or_else(|| state.restorable.tasks.get(id).map(|one| one.kind)));
        if let (Some(parent), Some(TaskKind::Task)) = (parent, kind) {
            found.push(format!("'{}' is a part of '{parent}', which is a task", task.id));
        }
    }
    if found.is_empty()
        && let Err(error) = graph::check_changed(state, tasks)
    {
        found.push(words(&error));
    }
    found
}

fn words(error: &Error) -> String {
    error.to_string()
}

/// The tasks that a plan becomes: the goal, and all others as parts of it.
pub fn outcome(plan: &GoalPlan) -> Vec<Task> {
    let goal = &plan.goal;
    let part = |task: &Task| Task { parent: Some(task.parent.clone().unwrap_or_else(|| goal.id.clone())), ..task.clone() };
    std::iter::once(goal_task(plan)).chain(plan.tasks.iter().map(part)).collect()
}

/// As [`outcome`], of the tasks that are made only. References to those that are not are left out.
pub fn kept(plan: &GoalPlan) -> Vec<Task> {
    let made: Vec<Task> = plan.created().cloned().collect();
    let gone = |id: &TaskId| plan.pending.contains(id);
    let whole = |task: &Task| Task {
        after: task.after.iter().filter(|id| !gone(id)).cloned().collect(),
        needs: task.needs.iter().filter(|need| !gone(&need.task)).cloned().collect(),
        parent: task.parent.clone().filter(|id| !gone(id)),
        ..task.clone()
    };
    outcome(&GoalPlan { tasks: made.iter().map(whole).collect(), ..plan.clone() })
}

fn goal_task(plan: &GoalPlan) -> Task {
    let goal = &plan.goal;
    Task {
        id: goal.id.clone(),
        kind: TaskKind::Goal,
        title: goal.jtbd.clone(),
        body: goal.body.clone(),
        parent: None,
        after: Vec::new(),
        needs: Vec::new(),
        start_early: false,
        persona: None,
        verify: Vec::new(),
        limits: crate::work::money::budget::BudgetLimits::default(),
        status: TaskStatus::Pending,
        merged: None,
        reason: None,
        created_at: plan.last_checkpoint,
    }
}
