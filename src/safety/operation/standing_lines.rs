//! What an operation changes of the standing of tasks, as plans and results name it: gates that open or close, and their progress.

use serde::Serialize;

use axiom_model::base::ids::{GateId, TaskId};
use axiom_model::work::gates::gate::Gate;

/// What becomes of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum GateFate {
    /// It closes.
    Closed,
    /// It opens, or is open again.
    Opened,
}

/// A gate that closes or opens.
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
    /// What becomes of this gate.
    pub fn of(gate: &Gate, action: GateFate) -> Self {
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
