//! The part of a state that a rollback restores: tasks, agents, workspaces, gates.

use crate::base::ids::{AgentId, GateId, TaskId};
use crate::work::agent::{Agent, Workspace};
use crate::work::gates::gate::Gate;
use crate::work::sessions::session::SessionMode;
use crate::work::signals::reports::TaskReports;
use crate::work::tasks::task::{Task, TaskStatus};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The part of the state that a rollback restores.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RestorableState {
    /// All tasks.
    pub tasks: BTreeMap<TaskId, Task>,
    /// All agents that ever worked.
    pub agents: BTreeMap<AgentId, Agent>,
    /// The workspaces that exist, by task.
    pub workspaces: BTreeMap<TaskId, Workspace>,
    /// The mode.
    pub mode: SessionMode,
    /// The gates that wait for a human.
    pub gates: BTreeMap<GateId, Gate>,
    /// What was reported of the work in each workspace, by task. Use [`State::reports`]: what is here may be of a workspace that
    /// is gone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reports: BTreeMap<TaskId, TaskReports>,
}

impl RestorableState {
    /// The group that a task is directly in.
    pub fn group_of(&self, task: &Task) -> Option<&Task> {
        self.tasks.get(task.parent.as_ref()?)
    }

    /// The groups that a task is in, the innermost first and its goal last. There is an end also where a damaged state has a circle.
    pub fn groups_around(&self, task: &Task) -> impl Iterator<Item = &Task> + use<'_> {
        std::iter::successors(self.group_of(task), |group| self.group_of(group)).take(self.tasks.len())
    }

    /// Stops all work: active tasks become pending, without a retry counted.
    pub fn put_to_rest(&mut self) {
        for task in self.tasks.values_mut().filter(|task| task.status == TaskStatus::Active) {
            task.status = TaskStatus::Pending;
        }
        self.agents.values_mut().for_each(|agent| agent.work = None);
    }
}
