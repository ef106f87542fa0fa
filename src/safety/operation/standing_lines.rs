//! What an operation changes of the standing of tasks, as plans and results name it: gates that open or close, and their progress.

use serde::Serialize;

use axiom_model::base::ids::{GateId, TaskId};
use axiom_model::base::ref_change::ChangeDirection;
use axiom_model::base::text::ValueChange;
use axiom_model::journal::journaled_changes::GateChange;
use axiom_model::work::gates::gate::Gate;
use axiom_model::work::restorable::restorable_state::RestorableState;
use axiom_model::work::restorable::standing_changes::TaskStandingChanges;
use axiom_model::work::signals::reports::TaskReports;
use axiom_model::work::tasks::task::{TaskChangeSet, TaskStatus};

use super::planned_changes::PlannedChanges;

/// Whether gates are named that keep a task from being started from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenedGates {
    /// Yes.
    Named,
    /// What follows names them.
    SaidElsewhere,
}

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
    /// Adds what changes of the standing of tasks. Of the gates that keep a task from being started, those that close now, and those that
    /// open where nothing else says so.
    pub(crate) fn add_standing(
        &mut self,
        now: &RestorableState,
        standing: &TaskStandingChanges,
        held: &[GateChange],
        opened: OpenedGates,
    ) {
        let is_open = |gate: &Gate| now.gates.values().any(|open| open.is_same_wait(gate));
        let opens = |id: &GateId| held.iter().any(|change| change.way == ChangeDirection::BringBack && change.gate.id == *id);
        for GateChange { gate, way } in held {
            match way {
                ChangeDirection::PutAside if is_open(gate) && !gate.goes_on() => {
                    self.gates.push(ChangedGateLine::of(gate, GateFate::Closed))
                }
                ChangeDirection::BringBack if opened == OpenedGates::Named => {
                    self.gates.push(ChangedGateLine::of(gate, GateFate::Opened))
                }
                ChangeDirection::PutAside | ChangeDirection::BringBack => {}
            }
        }
        for change in standing.gates.iter().filter(|(id, _)| !opens(id)).map(|(_, change)| change) {
            let shown = |gate: &Option<Gate>, fate| {
                gate.as_ref().filter(|gate| !gate.goes_on()).map(|gate| ChangedGateLine::of(gate, fate))
            };
            self.gates.extend(shown(&change.old, GateFate::Closed));
            self.gates.extend(shown(&change.new, GateFate::Opened));
        }
        let lines = standing.reports.iter().map(|(task, change)| ChangedProgressLine {
            task_id: task.clone(),
            old: self.percent(task, &change.old, |status| status.old),
            new: self.percent(task, &change.new, |status| status.new),
        });
        let lines: Vec<ChangedProgressLine> = lines.filter(|line| line.old != line.new).collect();
        self.progress.extend(lines);
    }

    /// How far a task is, as every view says it: one that is done is at the end, whatever was reported last.
    fn percent(&self, task: &TaskId, reports: &Option<TaskReports>, side: impl Fn(&ValueChange<TaskStatus>) -> TaskStatus) -> u8 {
        let status = self.tasks.iter().find(|edit| edit.id == *task).and_then(TaskChangeSet::status);
        match status.map(|status| side(&status)) {
            Some(TaskStatus::Done) => 100,
            Some(_) | None => reports.as_ref().and_then(|reports| reports.progress).unwrap_or(0),
        }
    }
}
