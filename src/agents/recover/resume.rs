//! `recover --resume`, `--reset` and the like: which tasks a human's words mean, and carrying them out.

use std::collections::BTreeSet;

use serde::Serialize;

use super::earlier_tasks::{EarlierRecoveredTask, tasks_of};
use super::interrupted_groups;
use super::survey::{self, OrphanTask, RecoverySurvey};
use crate::revert_task;
use crate::supervise::notice::{SessionNotice, SessionWatcher};
use crate::supervise::{CrashTaskDecisions, SupervisorOptions};
use crate::tasks::{edit, seen_state, usage};
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{GateId, TaskId};
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::recovery::decide::CrashAction;
use axiom_model::recovery::human_choice::RecoverySelection;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::gates::gate::{Gate, GateDecision};
use axiom_model::work::iteration::ReviewCause;
use axiom_model::work::money::budget::RunningIterationUsage;
use axiom_model::work::tasks::task::{Task, TaskKind, TaskStatus};
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::CheckpointRequest;
use axiom_safety::context::handle::Context;

/// What was done with a task.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecoveredTask {
    /// The task.
    pub task_id: TaskId,
    /// What, in words.
    pub what: String,
    /// How far it is, in percent, where that is known.
    pub progress: Option<u8>,
}

/// What came of a recovery.
#[derive(Debug)]
pub struct RecoveryOutcome {
    /// What was done with tasks.
    pub done: Vec<RecoveredTask>,
    /// What there was to recover, with what is left of other reasons for which verbs refuse.
    pub view: RecoverySurvey,
    /// Whether a session can go on with one of the tasks: the others have failed, or wait for a human.
    pub can_go_on: bool,
}

/// What there is to do with the tasks that a human means.
#[derive(Debug, Default)]
pub struct TaskRecoveryPlan {
    /// Those that are cut off and that are taken up now.
    pub now: Vec<OrphanTask>,
    /// Those that were taken up before: pending or failed since, or waiting at a gate of recovery.
    pub before: Vec<TaskId>,
}

/// Finds out what a human's words concern; changes nothing. `view` was made with the same words.
pub fn plan(ctx: &Context, view: &RecoverySurvey, wanted: &RecoverySelection) -> Result<TaskRecoveryPlan> {
    let state = ctx.state();
    let chosen = wanted.only.as_ref().map(|ids| tasks_of(state, ids)).transpose()?;
    let is_chosen = |task: &TaskId| chosen.as_ref().is_none_or(|chosen| chosen.contains(task));
    let cut_off = |task: &TaskId| view.cut_off().any(|orphan| orphan.task_id == *task);
    // The results of programs that ended by themselves, and programs that still run, are only told where a human chose.
    let now = view.concerned().filter(|orphan| orphan.decision.is_some() || wanted.is_limited()).cloned().collect();
    // Without an action the rules decide, and of those they have.
    let of_earlier = |case: &&Task| wanted.action.is_some() && is_chosen(&case.id) && !cut_off(&case.id);
    let earlier = state.restorable.tasks.values().filter(of_earlier).filter(|case| is_of_earlier(state, case));
    let failed = |case: &&Task| !wanted.failed_only || case.status == TaskStatus::Failed;
    let plan = TaskRecoveryPlan { now, before: earlier.filter(failed).map(|case| case.id.clone()).collect() };
    let is_task = |id: &&TaskId| state.task(id).is_ok_and(|case| case.kind == TaskKind::Task);
    for id in wanted.only.iter().flatten().filter(is_task) {
        let found = view.concerned().chain(&view.left).find(|orphan| orphan.task_id == *id);
        match found {
            Some(orphan) if orphan.decision.is_none() && wanted.action == Some(CrashAction::RestartTask) => {
                return Err(Error::new(Code::InvalidInput, format!("no crash cut '{id}' off: {}", orphan.reason))
                    .hint("git axiom recover --yes    uses results that are there; agents that run go on")
                    .hint(format!("git axiom rollback task {id}    then takes its work back")));
            }
            Some(_) => {}
            None if plan.before.contains(id) => {}
            None => {
                return Err(Error::new(Code::InvalidInput, format!("no crash cut '{id}' off"))
                    .hint("git axiom recover    shows what was cut off"));
            }
        }
    }
    Ok(plan)
}

/// Whether a crash ended the last attempt at a task that was taken up since.
fn is_of_earlier(state: &State, task: &Task) -> bool {
    state.is_interrupted(&task.id) && matches!(task.status, TaskStatus::Pending | TaskStatus::Failed)
        || gate_of(state, &task.id).is_some()
}

/// The gate of recovery at which a task waits.
fn gate_of(state: &State, task: &TaskId) -> Option<GateId> {
    let is_it = |gate: &&Gate| {
        gate.task_id.as_ref() == Some(task) && gate.cause == Some(ReviewCause::Recovery) && gate.decision.is_none()
    };
    state.restorable.gates.values().find(is_it).map(|gate| gate.id.clone())
}

/// Looks at what a crash left, with what a human wants of it, and how that is carried out.
pub fn look_and_plan(ctx: &mut Context, wanted: &RecoverySelection) -> Result<(RecoverySurvey, TaskRecoveryPlan)> {
    let mut view = survey::look_with(ctx, wanted)?;
    let plan = plan(ctx, &view, wanted)?;
    view.earlier = earlier(ctx, &plan, wanted)?;
    if let Some(only) = &wanted.only {
        view.keep_only(seen_state::with_what_was_said(ctx)?.as_ref(), &tasks_of(ctx.state(), only)?);
    }
    Ok((view, plan))
}

/// What becomes of the tasks that were taken up before; where nobody asked for anything, those are named that failed by crashes.
fn earlier(ctx: &Context, plan: &TaskRecoveryPlan, wanted: &RecoverySelection) -> Result<Vec<EarlierRecoveredTask>> {
    let state = ctx.state();
    let Some(action) = wanted.action else {
        let chosen = wanted.only.as_ref().map(|ids| tasks_of(state, ids)).transpose()?;
        let is_meant = |case: &&Task| case.status == TaskStatus::Failed && state.is_interrupted(&case.id);
        let failed = state.restorable.tasks.values().filter(is_meant);
        let named = failed.filter(|case| chosen.as_ref().is_none_or(|chosen| chosen.contains(&case.id)));
        let what = |case: &Task| {
            let why = case.reason.as_deref().unwrap_or("it crashed too often");
            format!("{why}; git axiom recover --reset {} begins it anew", case.id)
        };
        return Ok(named
            .map(|case| EarlierRecoveredTask { task_id: case.id.clone(), decision: None, what: what(case) })
            .collect());
    };
    let one = |task: &TaskId| EarlierRecoveredTask {
        task_id: task.clone(),
        decision: Some(action),
        what: would_become(ctx, task, action),
    };
    Ok(plan.before.iter().map(one).collect())
}

/// What [`take_up_again`] makes of a task, in words.
fn would_become(ctx: &Context, task: &TaskId, action: CrashAction) -> String {
    let state = ctx.state();
    let has_workspace = state.restorable.workspaces.contains_key(task);
    match (action, has_workspace) {
        (CrashAction::RestartTask, true) => "begins anew; what is there is kept aside".to_owned(),
        (CrashAction::RestartTask, false) => "begins anew".to_owned(),
        (CrashAction::ContinueTask | CrashAction::NextTask | CrashAction::HumanReview, _) => {
            let case = state.restorable.tasks.get(task);
            let waits = case.and_then(|case| usage::waits_for_budget(ctx, case, RunningIterationUsage::default()));
            waits.unwrap_or_else(|| "goes on".to_owned())
        }
    }
}

/// Carries out what a human wants: first of the tasks that are cut off, then of those that were taken up before.
fn run(
    ctx: &mut Context,
    plan: TaskRecoveryPlan,
    wanted: &RecoverySelection,
    watcher: &mut dyn SessionWatcher,
) -> Result<Vec<RecoveredTask>> {
    let touched: BTreeSet<TaskId> = plan.now.iter().map(|orphan| orphan.task_id.clone()).collect();
    let decided = plan.now.iter().filter_map(|orphan| Some((orphan.task_id.clone(), orphan.by_human?))).collect();
    let only = wanted.is_limited().then_some(touched);
    let after_crash = CrashTaskDecisions { decided, threshold: wanted.threshold, only, ..CrashTaskDecisions::default() };
    survey::recover(ctx, SupervisorOptions { after_crash, ..SupervisorOptions::attending() }, watcher)?;
    let mut done: Vec<RecoveredTask> = Vec::new();
    for orphan in plan.now {
        let what = became(ctx, &orphan)?;
        let begins_anew = orphan.decision == Some(CrashAction::RestartTask);
        let progress = orphan.progress.map(|percent| if begins_anew { 0 } else { percent });
        done.push(RecoveredTask { task_id: orphan.task_id, what, progress });
    }
    for task in plan.before {
        if let Some(action) = wanted.action {
            let what = take_up_again(ctx, &task, action)?;
            let progress = ctx.state().reports(&task).and_then(|reports| reports.progress);
            done.push(RecoveredTask { task_id: task, what, progress });
        }
    }
    done.extend(others(ctx.state(), &done));
    Ok(done)
}

/// As [`run`], and looks at what is left: that needs a human, and may be other things than before.
pub fn run_and_look(
    ctx: &mut Context,
    (plan, wanted): (TaskRecoveryPlan, &RecoverySelection),
    mut view: RecoverySurvey,
    watcher: &mut dyn SessionWatcher,
) -> Result<RecoveryOutcome> {
    let done = run(ctx, plan, wanted, watcher)?;
    let recovered = std::mem::take(&mut view.wedges).into_iter().filter(|wedge| wedge.recovers);
    let left = survey::look(ctx)?.wedges;
    view.wedges = recovered.filter(|one| !left.contains(one)).chain(left.clone()).collect();
    let can_go_on = done.iter().any(|one| can_go_on(ctx.state(), &one.task_id));
    Ok(RecoveryOutcome { done, view, can_go_on })
}

fn can_go_on(state: &State, task: &TaskId) -> bool {
    let waits = state.restorable.gates.values().any(|gate| gate.task_id.as_ref() == Some(task) && gate.decision.is_none());
    let has_failed = state.task(task).is_ok_and(|task| task.status == TaskStatus::Failed);
    !waits && !has_failed
}

/// What became of a task, in words.
fn became(ctx: &Context, orphan: &OrphanTask) -> Result<String> {
    let state = ctx.state();
    if orphan.decision.is_none() {
        return Ok("is taken up".to_owned());
    }
    let recovery = state.record.tasks.get(&orphan.task_id).and_then(|record| record.recovery.as_ref());
    let decision = recovery.map(|recovery| &recovery.decision);
    let task = state.task(&orphan.task_id)?;
    if task.status == TaskStatus::Failed {
        return Ok("failed: it has crashed too often".to_owned());
    }
    let waits = usage::waits_for_budget(ctx, task, RunningIterationUsage::default());
    if let Some(waits) = waits.filter(|_| task.status == TaskStatus::Pending) {
        return Ok(format!("{waits}; git axiom gate list"));
    }
    Ok(match decision.map(|decision| decision.action) {
        Some(CrashAction::ContinueTask) => {
            let at = orphan.progress.map_or_else(String::new, |percent| format!(" at {percent}%"));
            let from = orphan.last_file.as_ref().and_then(|file| file.next.clone().or_else(|| file.section.clone()));
            format!("goes on{at}{}", from.map_or_else(String::new, |from| format!(" from {from}")))
        }
        Some(CrashAction::RestartTask) => {
            let why = decision.map_or("", |decision| decision.reasoning.as_str());
            match recovery.is_some_and(|recovery| recovery.puts_aside) {
                true => format!("begins anew ({why}); what was there is kept aside: git axiom log"),
                false => format!("begins anew ({why})"),
            }
        }
        Some(CrashAction::NextTask) => "is complete".to_owned(),
        Some(CrashAction::HumanReview) => "waits at a gate: git axiom gate list".to_owned(),
        None => "is taken up".to_owned(),
    })
}

/// Lets a task begin anew that waits for a human after a crash.
pub fn begin_anew(ctx: &mut Context, task: &TaskId) -> Result<String> {
    take_up_again(ctx, task, CrashAction::RestartTask)
}

/// What becomes of a task that was taken up before.
fn take_up_again(ctx: &mut Context, task: &TaskId, action: CrashAction) -> Result<String> {
    ctx.act_as(EventAuthor::User)?;
    if ctx.state().task(task)?.status == TaskStatus::Failed {
        edit::unblock(ctx, std::slice::from_ref(task))?;
    }
    if let Some(id) = gate_of(ctx.state(), task) {
        ctx.append(Event::GateDecided { id, decision: GateDecision::Approved, complete: None })?;
    }
    if action != CrashAction::RestartTask || !ctx.state().restorable.workspaces.contains_key(task) {
        return Ok(would_become(ctx, task, action));
    }
    let undo = revert_task::put_aside(ctx, task)?;
    Ok(format!("begins anew; git axiom undo {undo} brings back what was there"))
}

/// What becomes of the other tasks of the same groups: skipped, or ready to begin.
fn others(state: &State, done: &[RecoveredTask]) -> Vec<RecoveredTask> {
    let tasks: Vec<&TaskId> = done.iter().map(|one| &one.task_id).collect();
    let parts = interrupted_groups::groups_of(state, &tasks).into_iter().flat_map(|group| group.parts);
    parts
        .filter(|part| !tasks.contains(&&part.task_id))
        .filter_map(|part| {
            let what = match state.restorable.tasks.get(&part.task_id)?.status {
                TaskStatus::Done => "skipped: it is done already",
                TaskStatus::Pending if part.waits_for.is_empty() && !part.resolved.is_empty() => {
                    "can begin: what it waited for is there"
                }
                TaskStatus::Pending | TaskStatus::Active | TaskStatus::Blocked | TaskStatus::Failed | TaskStatus::Archived => {
                    return None;
                }
            };
            Some(RecoveredTask { task_id: part.task_id, what: what.to_owned(), progress: Some(part.progress) })
        })
        .collect()
}

/// The tasks that abandoning these ids takes out of the plan: all that a crash cut off or had cut off before, where none is named.
pub fn to_abandon(ctx: &Context, view: &RecoverySurvey, ids: &[TaskId]) -> Result<Vec<TaskId>> {
    let state = ctx.state();
    let is_open =
        |case: &Task| matches!(case.status, TaskStatus::Pending | TaskStatus::Active | TaskStatus::Failed | TaskStatus::Blocked);
    let found: Vec<TaskId> = if ids.is_empty() {
        let tasks = state.restorable.tasks.values();
        let before =
            tasks.filter(|case| case.kind == TaskKind::Task && is_open(case)).filter(|case| state.is_interrupted(&case.id));
        let all: BTreeSet<TaskId> =
            before.map(|case| case.id.clone()).chain(view.cut_off().map(|orphan| orphan.task_id.clone())).collect();
        all.into_iter().collect()
    } else {
        tasks_of(state, ids)?.into_iter().filter(|task| state.task(task).is_ok_and(is_open)).collect()
    };
    if found.is_empty() {
        return Err(
            Error::new(Code::InvalidInput, "there is no task to abandon").hint("git axiom recover    shows what was cut off")
        );
    }
    Ok(found)
}

/// Takes tasks out of the plan. What they have in their workspaces is committed first; workspaces and branches stay. A checkpoint is
/// made before, as before anything that a human may regret.
pub fn abandon(ctx: &mut Context, tasks: &[TaskId], watcher: &mut dyn SessionWatcher) -> Result<Vec<TaskId>> {
    let only: BTreeSet<TaskId> = tasks.iter().cloned().collect();
    let decided = tasks.iter().map(|task| (task.clone(), CrashAction::ContinueTask)).collect();
    let after_crash = CrashTaskDecisions { decided, abandons: true, threshold: None, only: Some(only) };
    survey::recover(ctx, SupervisorOptions { after_crash, ..SupervisorOptions::attending() }, watcher)?;
    ctx.act_as(EventAuthor::User)?;
    let made = checkpoint::create(ctx, &CheckpointRequest::by(CheckpointTrigger::BeforeAbandon))?;
    watcher.notice(SessionNotice::Checkpoint { name: made.name });
    ctx.act_as(EventAuthor::User)?;
    edit::archive(ctx, tasks)
}
