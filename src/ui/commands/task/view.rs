//! The form of a task in JSON: the keys of `task list --json` and `task show --json`. Also common texts about tasks.

use jiff::Timestamp;
use serde::Serialize;

use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::base::text::TextOrBlob;
use axiom_model::queries::displayed_status::DisplayedTaskStatus;
use axiom_model::queries::groups::TaskGroupTree;
use axiom_model::queries::task_standing::TaskStanding;
use axiom_model::work::money::budget::BudgetLimits;
use axiom_model::work::tasks::task::{MergedTaskWork, Task, TaskKind, TaskStatus};

/// A task. `task import` takes the same keys.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskJson<'a> {
    id: &'a TaskId,
    title: &'a str,
    kind: TaskKind,
    status: TaskStatus,
    /// The status that people see; of a group: pending, waiting (for what it comes after), starting (no further than 5%),
    /// inProgress, interrupted, completed, blocked, failed or archived.
    shown: DisplayedTaskStatus,
    /// Percent.
    progress: u8,
    parent: Option<&'a TaskId>,
    after: &'a [TaskId],
    /// What of these has to be ready before it begins, in place of their merged work: `ID:NAME`.
    needs: Vec<String>,
    /// Whether it begins once before that is ready.
    start_early: bool,
    /// What it still waits for.
    waits_for: Vec<&'a TaskId>,
    persona: Option<&'a str>,
    verify: &'a [String],
    /// Its own.
    limits: &'a BudgetLimits,
    /// Why it is blocked or failed.
    reason: Option<&'a str>,
    merged: Option<&'a MergedTaskWork>,
    /// The agent that works on it, or knew it last.
    agent_id: Option<&'a AgentId>,
    retry_count: u32,
    iterations: u32,
    tokens_used: Option<u64>,
    cost_usd: Option<f64>,
    /// Seconds of wall time, over all iterations.
    duration: u64,
    /// For how many of them it may have been more: nobody recorded when they ended.
    time_unknown: u64,
    created_at: Timestamp,
    body_size: u64,
    #[serde(flatten)]
    standing: TaskStanding<'a>,
}

impl<'a> TaskJson<'a> {
    /// The task as it is in `state`.
    pub fn of(groups: &TaskGroupTree<'a>, task: &'a Task) -> Self {
        let state = groups.state();
        let record = state.record.tasks.get(&task.id);
        let agent = state.agent_on(&task.id).map(|agent| &agent.id);
        Self {
            id: &task.id,
            title: &task.title,
            kind: task.kind,
            status: task.status,
            shown: DisplayedTaskStatus::of(groups, task),
            progress: groups.progress(task),
            parent: task.parent.as_ref(),
            after: &task.after,
            needs: task.needs.iter().map(ToString::to_string).collect(),
            start_early: task.start_early,
            waits_for: if task.status == TaskStatus::Pending { groups.waits_for(task).collect() } else { Vec::new() },
            persona: task.persona.as_deref(),
            verify: &task.verify,
            limits: &task.limits,
            reason: task.reason.as_deref(),
            merged: task.merged.as_ref(),
            agent_id: agent.or_else(|| record.and_then(|record| record.last_agent.as_ref())),
            retry_count: record.map_or(0, |record| record.retry_count),
            iterations: record.map_or(0, |record| record.iterations),
            tokens_used: record.and_then(|record| record.tokens_used),
            cost_usd: record.and_then(|record| record.cost_usd),
            duration: record.map_or(0, |record| record.duration_ms / 1000),
            time_unknown: record.map_or(0, |record| record.time_doubt),
            created_at: task.created_at,
            body_size: match &task.body {
                None => 0,
                Some(TextOrBlob::Inline(text)) => text.len() as u64,
                Some(TextOrBlob::Stored { size, .. }) => *size,
            },
            standing: TaskStanding::of(groups, task),
        }
    }
}

/// The status in words. For `done` it shows whether the work is merged, and whether that `is_lost`: its target has it
/// no longer, or not all of a group.
pub fn status_words<'a>(groups: &TaskGroupTree<'a>, task: &'a Task, is_lost: bool) -> String {
    let shown = DisplayedTaskStatus::of(groups, task).unless_lost(is_lost).in_words();
    match &task.merged {
        Some(_) if task.status == TaskStatus::Done && is_lost => format!("{shown}, was merged"),
        Some(_) if task.status == TaskStatus::Done => format!("{shown}, merged"),
        Some(_) | None => shown.to_owned(),
    }
}

/// Ids separated by commas; the text `none` where there are none.
pub fn joined(ids: &[TaskId], none: &str) -> String {
    if ids.is_empty() { none.to_owned() } else { ids.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ") }
}
