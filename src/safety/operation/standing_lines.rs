//! What an operation changes of the standing of tasks, as plans and results name it: gates that open or close, and their progress.

use serde::Serialize;

use axiom_model::base::ids::{GateId, TaskId};
use axiom_model::base::ref_change::ChangeDirection;
use axiom_model::journal::journaled_changes::GateChange;
use axiom_model::work::gates::gate::Gate;
use axiom_model::work::restorable::restorable_state::RestorableState;
use axiom_model::work::restorable::standing_changes::TaskStandingChanges;
use axiom_model::work::signals::reports::TaskReports;

use super::planned_changes::PlannedChanges;

/// What becomes of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum GateFate {
    /// It closes.
    Closed,
    /// It is open again.
    Opened,
}

/// A gate that closes, or is open again.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedGateLine {
    /// Its id.
    pub id: GateId,
    /// The task that waits at it.
    pub task_id: Option<TaskId>,
    /// What waits there.
    pub reason: String,
    /// What becomes of it.
    pub action: GateFate,
}

impl ChangedGateLine {
    fn of(gate: &Gate, action: GateFate) -> Self {
        Self { id: gate.id.clone(), task_id: gate.task_id.clone(), reason: gate.reason.clone(), action }
    }
}

/// The progress of a task that becomes another one.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedProgressLine {
    /// The task.
    pub task_id: TaskId,
    /// Its progress in percent before.
    pub old: u8,
    /// Its progress in percent afterwards.
    pub new: u8,
}

impl PlannedChanges {
    /// Adds what changes of the standing of tasks. Of the gates that keep a task from being started, those that close now.
    pub(crate) fn add_standing(&mut self, now: &RestorableState, standing: &TaskStandingChanges, held: &[GateChange]) {
        let is_open = |gate: &Gate| now.gates.values().any(|open| open.is_same_wait(gate));
        let closing = held.iter().filter(|change| change.way == ChangeDirection::PutAside && is_open(&change.gate));
        self.gates.extend(closing.map(|change| ChangedGateLine::of(&change.gate, GateFate::Closed)));
        for change in standing.gates.values() {
            self.gates.extend(change.old.as_ref().map(|gate| ChangedGateLine::of(gate, GateFate::Closed)));
            self.gates.extend(change.new.as_ref().map(|gate| ChangedGateLine::of(gate, GateFate::Opened)));
        }
        let percent = |reports: &Option<TaskReports>| reports.as_ref().and_then(|reports| reports.progress).unwrap_or(0);
        let lines = standing.reports.iter().map(|(task, change)| ChangedProgressLine {
            task_id: task.clone(),
            old: percent(&change.old),
            new: percent(&change.new),
        });
        self.progress.extend(lines.filter(|line| line.old != line.new));
    }
}
