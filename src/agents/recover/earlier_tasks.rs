//! Tasks of earlier sessions that a human names to be recovered.

use std::collections::BTreeSet;

use serde::Serialize;

use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::recovery::decide::CrashAction;
use axiom_model::state::current_state::State;
use axiom_model::work::tasks::task::{Task, TaskKind};

/// A task that was taken up before, and what becomes of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EarlierRecoveredTask {
    /// The task.
    pub task_id: TaskId,
    /// What becomes of it; `None` where nothing does, since nobody asked for it.
    pub decision: Option<CrashAction>,
    /// In words.
    pub what: String,
}

/// The tasks that these ids mean: a group means all tasks in it.
pub fn tasks_of(state: &State, ids: &[TaskId]) -> Result<BTreeSet<TaskId>> {
    let all = &state.restorable;
    for id in ids {
        state.task(id)?;
    }
    let is_meant = |task: &Task| std::iter::once(task).chain(all.groups_around(task)).any(|one| ids.contains(&one.id));
    Ok(all.tasks.values().filter(|task| task.kind == TaskKind::Task && is_meant(task)).map(|task| task.id.clone()).collect())
}
