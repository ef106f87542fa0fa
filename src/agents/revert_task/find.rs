//! Finding what belongs to a task: the branch into which it was merged, and the commits of its iterations.

use std::collections::{BTreeMap, BTreeSet};

use axiom_base::error::{Code, Error, Result};
use axiom_git::Head;
use axiom_model::base::forms::nearest;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::operation::task_rollback::{self, RolledBackTask};
use axiom_model::state::event::Event;
use axiom_model::work::tasks::task::TaskKind;
use axiom_safety::context::handle::Context;
use axiom_safety::context::target::target_branch;
use axiom_safety::history;

use super::TaskRollbackRequest;

/// The tasks to roll back: the requested one first.
pub(super) fn tasks(ctx: &Context, wanted: &TaskRollbackRequest) -> Result<Vec<TaskId>> {
    let state = ctx.state();
    let id = &wanted.task;
    // An id that differs only in case is a mistake. Without this check it would go unnoticed where commits name that id.
    if let Some(known) = state.restorable.tasks.keys().find(|known| *known != id && known.folded() == id.folded()) {
        let error = Error::new(Code::UnknownTask, format!("there is no task '{id}'"));
        return Err(nearest::hinted(error, id.as_str(), [known.as_str()], "see 'git axiom task list'"));
    }
    if let Some(task) = state.restorable.tasks.get(id).filter(|task| task.kind != TaskKind::Task) {
        return Err(Error::new(Code::InvalidTransition, format!("'{id}' is a {}: only tasks can be taken back", task.kind))
            .hint("name its tasks one by one; see 'git axiom task list'"));
    }
    let dependents = task_rollback::dependents(state, std::slice::from_ref(id));
    if !dependents.is_empty() && !wanted.cascade {
        let names: Vec<&str> = dependents.iter().map(TaskId::as_str).collect();
        return Err(Error::new(Code::HasDependents, format!("tasks that build on '{id}' have been started"))
            .why(names.join(", "))
            .hint(format!("git axiom rollback task {id} --cascade    takes them back too")));
    }
    Ok(std::iter::once(id.clone()).chain(dependents).collect())
}

/// The branch on which the commits are reverted, and its current commit.
pub(super) fn target(ctx: &Context, wanted: &TaskRollbackRequest, tasks: &[TaskId]) -> Result<(RefName, Oid)> {
    let merged = |task: &TaskId| Some(&ctx.state().restorable.tasks.get(task)?.merged.as_ref()?.target);
    let went_into: BTreeSet<&RefName> = tasks.iter().filter_map(merged).collect();
    let name = match (&wanted.target, went_into.iter().next()) {
        (Some(short), _) => RefName::branch_named(short),
        (None, Some(_)) if went_into.len() > 1 => {
            let names: Vec<&str> = went_into.iter().map(|name| name.short()).collect();
            return Err(Error::new(Code::InvalidTransition, "the tasks were merged into different branches")
                .why(names.join(", "))
                .hint("take them back one by one, the last one first"));
        }
        (None, Some(target)) => (*target).clone(),
        (None, None) => default_target(ctx)?,
    };
    match ctx.repo.refs().read_ref(&name)? {
        Some(commit) => Ok((name, commit)),
        None => {
            Err(Error::new(Code::TargetMissing, format!("the branch {} does not exist", name.short()))
                .hint("name one with --target"))
        }
    }
}

fn default_target(ctx: &Context) -> Result<RefName> {
    let found = target_branch(ctx);
    let detached =
        || Ok::<_, Error>(matches!(ctx.repo.refs().head(&ctx.repo.worktrees().main_worktree()?)?, Head::Detached { .. }));
    match found {
        Err(error) if error.code() == Code::TargetMissing && detached()? => {
            Err(Error::new(Code::DetachedHead, "HEAD is on no branch, so it is not clear where to take the task back")
                .hint("name the branch with --target, or 'git switch' to it"))
        }
        found => found,
    }
}

/// The tasks with the commits that the log records for their iterations.
pub(super) fn with_recorded(ctx: &Context, tasks: &[TaskId]) -> Result<Vec<RolledBackTask>> {
    let worked_on = |task: &&TaskId| ctx.state().record.tasks.get(*task).is_some_and(|record| record.iterations > 0);
    let mut ranges: BTreeMap<TaskId, Vec<(Oid, Oid)>> = BTreeMap::new();
    if tasks.iter().any(|task| worked_on(&task)) {
        ranges = iterations(ctx)?;
    }
    let mut found = Vec::new();
    for task in tasks {
        let mut recorded = BTreeSet::new();
        for (from, to) in ranges.get(task).map_or(&[][..], Vec::as_slice) {
            recorded.extend(ctx.repo.task_commits().own_line(from, to)?);
        }
        found.push(RolledBackTask { task: task.clone(), recorded });
    }
    Ok(found)
}

/// The commits of each task's branch before and after its iterations; consecutive ranges are joined.
fn iterations(ctx: &Context) -> Result<BTreeMap<TaskId, Vec<(Oid, Oid)>>> {
    let mut works_on: BTreeMap<AgentId, TaskId> = BTreeMap::new();
    let mut ranges: BTreeMap<TaskId, Vec<(Oid, Oid)>> = BTreeMap::new();
    history::each_event(ctx.layout(), |envelope| {
        if let Event::TaskClaimed { agent, task, .. } = &envelope.event {
            works_on.insert(agent.clone(), task.clone());
        }
        if let Event::StateAdopted { state, .. } = &envelope.event {
            let working = state.busy_agents().filter_map(|agent| Some((agent.id.clone(), agent.work.as_ref()?.task.clone())));
            works_on.extend(working);
        }
        if let Event::IterationEnded { agent, report, .. } = envelope.event
            && let Some(task) = works_on.get(&agent)
            && report.from != report.to
        {
            let ranges = ranges.entry(task.clone()).or_default();
            match ranges.last_mut() {
                Some(last) if last.1 == report.from => last.1 = report.to,
                Some(_) | None => ranges.push((report.from, report.to)),
            }
        }
        Ok(())
    })?;
    Ok(ranges)
}
