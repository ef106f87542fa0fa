//! Tasks for display: the stored status or one derived from the rest of the state, counts, and the next commands.

use std::cell::LazyCell;

use serde::Serialize;

use super::displayed_status::DisplayedTaskStatus;
use super::ready::session_gate;
use crate::base::ids::TaskId;
use crate::queries::gate_use::is_of_use;
use crate::queries::groups::TaskGroupTree;
use crate::queries::task_standing;
use crate::state::current_state::State;
use crate::work::gates::gate::{Gate, GateKind, is_for_trust, to_settle_first};
use crate::work::tasks::task::{Task, TaskKind, TaskStatus};

impl DisplayedTaskStatus {
    /// The status to show for a task.
    pub fn of<'a>(groups: &TaskGroupTree<'a>, task: &'a Task) -> Self {
        match task.kind {
            TaskKind::Task => Self::of_task(groups, task),
            TaskKind::Group | TaskKind::Goal => task_standing::group_shown(groups, task),
        }
    }

    fn of_task<'a>(groups: &TaskGroupTree<'a>, task: &'a Task) -> Self {
        match task.status {
            TaskStatus::Pending if !groups.dependencies_met(task) => Self::Waiting,
            TaskStatus::Pending => Self::Pending,
            TaskStatus::Active if groups.is_cut_off(task) => Self::Interrupted,
            TaskStatus::Active => Self::Active,
            TaskStatus::Done => Self::Done,
            TaskStatus::Blocked => Self::Blocked,
            TaskStatus::Failed => Self::Failed,
            TaskStatus::Archived => Self::Archived,
        }
    }
}

/// How many tasks have which stored status. Groups are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // the fields are the stored statuses
pub struct TaskStatusCounts {
    pub pending: u32,
    pub active: u32,
    pub done: u32,
    pub blocked: u32,
    pub failed: u32,
    pub archived: u32,
}

/// Counts that do not follow from the stored status alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskProgress {
    /// All tasks that are not archived.
    pub total: u32,
    /// Tasks whose work is in the target branch.
    pub merged: u32,
    /// Pending tasks that can be started.
    pub ready: u32,
    /// Pending tasks that wait for nothing but a human, at a gate.
    pub at_gates: u32,
    /// Done tasks that wait for a human, at a gate.
    pub done_at_gates: u32,
    /// Pending, and wait for others: what `task list --status waiting` shows.
    pub waiting: u32,
}

/// The gates that are of use, decided ones too.
pub fn open_gates(state: &State) -> Vec<&Gate> {
    let groups = LazyCell::new(|| TaskGroupTree::of(state));
    let gates = state.restorable.gates.values();
    gates.filter(|gate| is_of_use(state, gate, |id| groups.may_start(id))).collect()
}

/// Those of them at which nobody has decided.
pub fn undecided_gates(state: &State) -> Vec<&Gate> {
    open_gates(state).into_iter().filter(|gate| gate.decision.is_none()).collect()
}

/// How many commands of one kind [`next_commands`] lists at most.
const MOST_COMMANDS: usize = 5;

/// The commands by which the user can continue where the session cannot: for open gates, then for failed and blocked tasks.
pub fn next_commands(state: &State) -> Vec<String> {
    let mut commands = Vec::new();
    let waiting: Vec<&Gate> = undecided_gates(state);
    if waiting.iter().any(|gate| is_for_trust(&gate.reason)) {
        // Approved before, such a gate opens again.
        commands.push("git axiom trust    shows the project's files, and asks".to_owned());
    }
    // Where the mode merges by itself, such a merge goes on once the files are approved.
    let goes_on_by_itself =
        |gate: &Gate| gate.kind == GateKind::Merge && is_for_trust(&gate.reason) && state.restorable.mode.merges();
    let together = waiting.iter().filter(|gate| gate.goes_with_all() && !goes_on_by_itself(gate)).count();
    if together > 1 {
        commands.push(format!("git axiom gate approve --all    approves {together} of them"));
    }
    for gate in waiting.iter().take(MOST_COMMANDS).filter(|gate| !goes_on_by_itself(gate)) {
        commands.extend(to_settle_first(&gate.reason));
        commands.push(gate.kind.command(gate.id.as_str()));
    }
    if waiting.len() > MOST_COMMANDS {
        commands.push("git axiom gate list    shows everything that waits".to_owned());
    }
    if !waiting.is_empty() {
        commands.push("git axiom run --until-idle    goes on then".to_owned());
    }
    if waiting.iter().filter(|gate| gate.kind == GateKind::Claim && gate.held.is_none()).count() > 1 {
        commands.push("git axiom run --until-idle --mode review    waits for you at merges only".to_owned());
    }
    let stuck = stuck(state);
    for task in stuck.iter().take(MOST_COMMANDS) {
        commands.extend(commands_of_stuck(state, &task.id));
    }
    if commands.is_empty() || stuck.len() > MOST_COMMANDS {
        commands.push("git axiom task list    shows them".to_owned());
    }
    commands
}

/// What does not go on unless a human does something: tasks that failed, tasks and groups that are blocked.
pub fn stuck(state: &State) -> Vec<&Task> {
    let is_stuck = |task: &&Task| match task.status {
        TaskStatus::Blocked => true,
        TaskStatus::Failed => task.kind == TaskKind::Task,
        TaskStatus::Pending | TaskStatus::Active | TaskStatus::Done | TaskStatus::Archived => false,
    };
    state.restorable.tasks.values().filter(is_stuck).collect()
}

/// The commands for one of them.
pub fn commands_of_stuck(state: &State, id: &TaskId) -> Vec<String> {
    let has_run = state.record.tasks.get(id).is_some_and(|record| record.last_run.is_some());
    let output = has_run.then(|| format!("git axiom output {id}    shows what its agent printed"));
    output.into_iter().chain([format!("git axiom task unblock {id}    makes it pending again")]).collect()
}

/// Counts all tasks.
pub fn count_tasks(state: &State) -> (TaskStatusCounts, TaskProgress) {
    let groups = TaskGroupTree::of(state);
    let session_waits = session_gate(state).is_some_and(|gate| gate.decision.is_none());
    let (mut counts, mut progress) = (TaskStatusCounts::default(), TaskProgress::default());
    for task in state.restorable.tasks.values().filter(|task| task.kind == TaskKind::Task) {
        let counter = match task.status {
            TaskStatus::Pending => &mut counts.pending,
            TaskStatus::Active => &mut counts.active,
            TaskStatus::Done => &mut counts.done,
            TaskStatus::Blocked => &mut counts.blocked,
            TaskStatus::Failed => &mut counts.failed,
            TaskStatus::Archived => &mut counts.archived,
        };
        *counter += 1;
        progress.total += u32::from(task.status != TaskStatus::Archived);
        progress.merged += u32::from(task.merged.is_some() && task.status == TaskStatus::Done);
        progress.done_at_gates += u32::from(task.status == TaskStatus::Done && groups.waits_at_gate(&task.id));
        if task.status == TaskStatus::Pending {
            let counter = match groups.waiting_since(task) {
                None if session_waits => &mut progress.at_gates,
                None => &mut progress.ready,
                Some(_) if DisplayedTaskStatus::of(&groups, task) == DisplayedTaskStatus::Waiting => &mut progress.waiting,
                Some(_) => &mut progress.at_gates,
            };
            *counter += 1;
        }
    }
    (counts, progress)
}
