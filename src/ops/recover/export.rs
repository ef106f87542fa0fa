//! What a crash left, as one document: for `recover inspect` and `export`. Without environments and without what agents printed.

use jiff::Timestamp;
use serde::Serialize;

use super::parts::CutGroup;
use super::survey::{Orphan, View};
use crate::domain::base::ids::CaseId;
use crate::domain::recovery::context::RecoveryContext;
use crate::domain::recovery::estimate::Crash;
use crate::domain::work::groups::Groups;
use crate::domain::work::view::Shown;
use crate::error::Result;
use crate::ops::context::handle::Context;
use crate::ops::recover::resume::tasks_of;
use crate::ops::recover::told;

/// A crash and the tasks that are concerned.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CrashState {
    /// The crash, where one cut tasks off that are not taken up yet.
    pub crash: Option<Crash>,
    /// The groups that they are in.
    pub groups: Vec<CutGroup>,
    /// The tasks.
    pub tasks: Vec<TaskState>,
}

/// A task.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // as in a case and its reports
pub struct TaskState {
    pub id: CaseId,
    pub parent: Option<CaseId>,
    pub status: &'static str,
    pub progress: u8,
    pub files_completed: Vec<String>,
    pub files_in_progress: Vec<String>,
    pub last_checkpoint: Option<LastCheckpoint>,
    pub started_at: Option<Timestamp>,
    pub saved_at: Option<Timestamp>,
    pub waits_for: Vec<CaseId>,
    pub branch: Option<String>,
    pub workspace: Option<String>,
    pub cut_off: Option<Orphan>,
    pub recovery_context: Option<RecoveryContext>,
}

/// Where the work on a file is.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct LastCheckpoint {
    pub file: String,
    pub function: Option<String>,
    pub next: Option<String>,
    pub line: Option<u64>,
    pub confidence: Option<f64>,
}

/// The state of these tasks; of those that a crash cut off or had cut off before, where none is named.
///
/// # Errors
/// `UNKNOWN_TASK`; those of a damaged log.
pub fn state(ctx: &Context, view: &View, ids: &[CaseId]) -> Result<CrashState> {
    let state = ctx.state();
    let tasks: Vec<CaseId> = if ids.is_empty() {
        let is_cut_off = |task: &CaseId| view.cut_off().any(|orphan| orphan.task_id == *task);
        state.restorable.cases.keys().filter(|task| is_cut_off(task) || state.is_interrupted(task)).cloned().collect()
    } else {
        tasks_of(state, ids)?.into_iter().collect()
    };
    let is_meant = |group: &&CutGroup| group.parts.iter().any(|part| tasks.contains(&part.task_id));
    let groups = view.groups.iter().filter(is_meant).cloned().collect();
    let tree = Groups::of(state);
    let tasks = tasks.iter().map(|task| one(ctx, &tree, view, task)).collect::<Result<Vec<_>>>()?;
    Ok(CrashState { crash: view.crash.clone(), groups, tasks })
}

fn one(ctx: &Context, groups: &Groups<'_>, view: &View, task: &CaseId) -> Result<TaskState> {
    let state = ctx.state();
    let case = state.case(task)?;
    let reports = state.reports(task);
    let files = |done: bool| -> Vec<String> {
        let all = reports.map_or(&[][..], |reports| &reports.files).iter();
        all.filter(|file| file.role.is_none() && file.done == done).map(|file| file.path.clone()).collect()
    };
    let cut_off = view.cut_off().find(|orphan| orphan.task_id == *task).cloned();
    let last = reports.and_then(|reports| reports.files.iter().rev().find(|file| file.role.is_none() && !file.done));
    let workspace = state.restorable.workspaces.get(task);
    Ok(TaskState {
        id: task.clone(),
        parent: case.parent.clone(),
        status: if cut_off.is_some() { Shown::Interrupted.as_str() } else { Shown::of(groups, case).as_str() },
        progress: groups.progress(case),
        files_completed: files(true),
        files_in_progress: files(false),
        last_checkpoint: last.map(|file| LastCheckpoint {
            file: file.path.clone(),
            function: file.section.clone(),
            next: file.next.clone(),
            line: file.line,
            confidence: file.confidence,
        }),
        started_at: reports.and_then(|reports| reports.started_at),
        saved_at: cut_off.as_ref().and_then(|orphan| orphan.saved_at).or(reports.and_then(|reports| reports.recorded_at)),
        waits_for: groups.waits_for(case).cloned().collect(),
        branch: workspace.map(|workspace| workspace.branch.short().to_owned()),
        workspace: workspace.map(|workspace| workspace.path.clone()),
        cut_off,
        recovery_context: told::attempts(ctx, task, None)?.map(|told| told.context),
    })
}
