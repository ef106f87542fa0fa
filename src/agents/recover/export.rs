//! What a crash left, as one document: for `recover inspect` and `export`. Without environments and without what agents printed.

use jiff::Timestamp;
use serde::Serialize;

use super::interrupted_groups::{self, InterruptedGroup};
use super::survey::{OrphanTask, RecoverySurvey};
use crate::crashed_tasks::earlier_attempts;
use crate::crashed_tasks::orphans::last_sign;
use crate::recover::earlier_tasks::tasks_of;
use crate::tasks::seen_state;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::prompt::context::RecoveryContext;
use axiom_model::queries::displayed_status::DisplayedTaskStatus;
use axiom_model::queries::groups::TaskGroupTree;
use axiom_model::queries::reported_work::ReportedWork;
use axiom_model::queries::task_checks::{TaskCheck, TaskCheckState, TaskCheckSubject, checks};
use axiom_model::recovery::estimate::CrashEstimate;
use axiom_model::work::signals::reports::TaskReports;
use axiom_safety::context::handle::Context;

/// All that is known of the tasks that a crash cut off.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CrashExport {
    /// The crash, where one cut tasks off that are not taken up yet.
    pub crash: Option<CrashEstimate>,
    /// Their goals, with all groups in them.
    pub groups: Vec<InterruptedGroup>,
    /// The tasks.
    pub tasks: Vec<CrashExportTask>,
}

/// A task that a crash cut off.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // as in a task and its reports
pub struct CrashExportTask {
    pub id: TaskId,
    pub title: String,
    pub parent: Option<TaskId>,
    /// As shown.
    pub status: &'static str,
    /// Percent.
    pub progress: u8,
    /// The one that was cut off.
    pub iteration: Option<u32>,
    pub retry_count: u32,
    /// As far as that is known.
    pub tokens_used: Option<u64>,
    /// As far as that is known.
    pub cost_usd: Option<f64>,
    pub files_completed: Vec<String>,
    pub files_in_progress: Vec<String>,
    pub last_checkpoint: Option<CrashExportPosition>,
    pub started_at: Option<Timestamp>,
    pub saved_at: Option<Timestamp>,
    pub waits_for: Vec<TaskId>,
    /// Its short name.
    pub branch: Option<String>,
    pub workspace: Option<String>,
    /// All that its agents reported.
    pub reported: Option<serde_json::Value>,
    #[serde(skip)]
    pub reports: Option<TaskReports>,
    /// Its verify steps, and how each ended last.
    pub verification: Vec<CrashExportStep>,
    /// Where it is not taken up yet.
    pub cut_off: Option<OrphanTask>,
    pub recovery_context: Option<RecoveryContext>,
}

/// A verify step, and how it ended last.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // as in `task show`
pub struct CrashExportStep {
    pub of: TaskCheckSubject,
    pub name: Option<String>,
    pub command: String,
    pub state: TaskCheckState,
    /// Why it failed.
    pub failure: Option<String>,
    #[serde(skip)]
    pub words: String,
}

/// Where the work on a file is.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct CrashExportPosition {
    pub file: String,
    /// The section that was done last.
    pub function: Option<String>,
    /// The next one.
    pub next: Option<String>,
    pub line: Option<u64>,
    pub confidence: Option<f64>,
}

/// The state of these tasks; where none is named, of those that a recovery is about and of those that a crash had cut off before.
pub fn state(ctx: &Context, view: &RecoverySurvey, ids: &[TaskId]) -> Result<CrashExport> {
    let state = ctx.state();
    let tasks: Vec<TaskId> = if ids.is_empty() {
        let is_cut_off = |task: &TaskId| view.concerned().any(|orphan| orphan.task_id == *task && !orphan.rests);
        state.restorable.tasks.keys().filter(|task| is_cut_off(task) || state.is_interrupted(task)).cloned().collect()
    } else {
        tasks_of(state, ids)?.into_iter().collect()
    };
    let named: Vec<&TaskId> = tasks.iter().collect();
    let cut_off: Vec<&TaskId> = view.all_cut_off().into_iter().chain(named.iter().copied()).collect();
    let groups = interrupted_groups::groups_around(seen_state::with_what_was_said(ctx)?.as_ref(), &named, &cut_off);
    let tree = TaskGroupTree::of(state);
    let tasks = tasks.iter().map(|task| one(ctx, &tree, view, task)).collect::<Result<Vec<_>>>()?;
    Ok(CrashExport { crash: view.crash.clone(), groups, tasks })
}

fn one(ctx: &Context, groups: &TaskGroupTree<'_>, view: &RecoverySurvey, task: &TaskId) -> Result<CrashExportTask> {
    let state = ctx.state();
    let case = state.task(task)?;
    let found = view.concerned().find(|orphan| orphan.task_id == *task).cloned();
    let heard = found.as_ref().and_then(|orphan| orphan.reports.as_ref());
    let reports = heard.or_else(|| state.reports(task));
    let record = state.record.tasks.get(task);
    let is_cut_off = found.as_ref().is_some_and(|orphan| orphan.decision.is_some());
    // What runs on without a session says more, and is seen at work.
    let sign = last_sign_of(ctx, task);
    let saved = found.as_ref().and_then(|orphan| orphan.saved_at).max(heard.and_then(|reports| reports.recorded_at));
    let saved_at = if is_cut_off { saved.or(sign) } else { saved.max(sign) };
    let files = |done: bool| -> Vec<String> {
        let all = reports.map_or(&[][..], |reports| &reports.files).iter();
        all.filter(|file| file.role.is_none() && file.done == done).map(|file| file.path.clone()).collect()
    };
    let last = reports.and_then(|reports| reports.files.iter().rev().find(|file| file.role.is_none() && !file.done));
    let workspace = state.restorable.workspaces.get(task);
    Ok(CrashExportTask {
        id: task.clone(),
        title: case.title.clone(),
        iteration: found.as_ref().map(|orphan| orphan.iteration),
        retry_count: record.map_or(0, |record| record.retry_count),
        tokens_used: record.and_then(|record| record.tokens_used),
        cost_usd: record.and_then(|record| record.cost_usd),
        parent: case.parent.clone(),
        status: if is_cut_off {
            DisplayedTaskStatus::Interrupted.as_str()
        } else {
            DisplayedTaskStatus::of(groups, case).as_str()
        },
        progress: reports
            .and_then(|reports| reports.progress)
            .filter(|_| is_cut_off || heard.is_some())
            .unwrap_or_else(|| groups.progress(case)),
        files_completed: files(true),
        files_in_progress: files(false),
        last_checkpoint: last.map(|file| CrashExportPosition {
            file: file.path.clone(),
            function: file.section.clone(),
            next: file.next.clone(),
            line: file.line,
            confidence: file.confidence,
        }),
        started_at: reports.and_then(|reports| reports.started_at),
        saved_at,
        waits_for: groups.waits_for(case).cloned().collect(),
        branch: workspace.map(|workspace| workspace.branch.short().to_owned()),
        workspace: workspace.map(|workspace| workspace.path.clone()),
        reported: reports.and_then(|reports| serde_json::to_value(ReportedWork::of(reports)).ok()),
        reports: reports.cloned(),
        verification: checks(case, record).iter().map(check_line).collect(),
        cut_off: found,
        recovery_context: earlier_attempts::attempts(ctx, task, None)?.map(|told| told.context),
    })
}

/// The last sign of life of a task: what was recorded, or is seen of the agent that works on it.
fn last_sign_of(ctx: &Context, task: &TaskId) -> Option<Timestamp> {
    let reports = ctx.state().reports(task);
    let agent = ctx.state().agent_on(task);
    let seen = agent.and_then(|agent| Some(last_sign(ctx, (&agent.id, agent.work.as_ref()?), None)));
    reports.and_then(|reports| reports.recorded_at).max(seen)
}

fn check_line(check: &TaskCheck<'_>) -> CrashExportStep {
    CrashExportStep {
        of: check.of,
        name: check.name.map(str::to_owned),
        command: check.command.to_owned(),
        state: check.state,
        failure: check.failure.map(str::to_owned),
        words: check.in_words(),
    }
}
