//! The part of a state that a rollback restores: tasks, agents, workspaces, gates.

use crate::base::ids::{AgentId, GateId, TaskId};
use crate::base::names::RefName;
use crate::base::ref_change::RefChange;
use crate::work::agent::{Agent, Workspace};
use crate::work::gates::gate::Gate;
use crate::work::sessions::session::SessionMode;
use crate::work::signals::reports::TaskReports;
use crate::work::tasks::branch_names::task_of;
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
    /// What was reported of the work in each workspace, by task. Use [`RestorableState::reports_of`]: what is here may be of a workspace that
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

    /// What was reported of the work on a task, as long as that work is there: in its workspace, on its branch, or done.
    pub fn reports_of(&self, task: &TaskId) -> Option<&TaskReports> {
        let is_there = self.workspaces.contains_key(task) || self.is_done(task);
        self.reports.get(task).filter(|reports| is_there || reports.on_branch)
    }

    /// How far a task is in percent, as every view says it: one that is done is at the end, whatever was reported last.
    pub fn progress_of(&self, task: &TaskId) -> u8 {
        if self.is_done(task) { 100 } else { self.reports_of(task).and_then(|reports| reports.progress).unwrap_or(0) }
    }

    fn is_done(&self, task: &TaskId) -> bool {
        self.tasks.get(task).is_some_and(|task| task.status == TaskStatus::Done)
    }

    /// As [`RestorableState::follow_branches`], for branches that are gone.
    pub fn forget_branches(&mut self, names: &[RefName]) {
        for task in names.iter().filter_map(task_of) {
            if let Some(reports) = self.reports.get_mut(&task) {
                reports.on_branch = false;
            }
        }
    }

    /// What was reported of work that is on a branch alone goes and comes back with the branch.
    pub fn follow_branches(&mut self, refs: &[RefChange]) {
        for change in refs {
            let Some(task) = task_of(&change.name) else { continue };
            let has_workspace = self.workspaces.contains_key(&task);
            let Some(reports) = self.reports.get_mut(&task) else { continue };
            match (&change.value.old, &change.value.new) {
                (_, None) => reports.on_branch = false,
                (None, Some(_)) if !has_workspace => reports.on_branch = true,
                (_, Some(_)) => {}
            }
        }
    }

    /// Stops all work: active tasks become pending, without a retry counted.
    pub fn put_to_rest(&mut self) {
        for task in self.tasks.values_mut().filter(|task| task.status == TaskStatus::Active) {
            task.status = TaskStatus::Pending;
        }
        self.agents.values_mut().for_each(|agent| agent.work = None);
    }
}
