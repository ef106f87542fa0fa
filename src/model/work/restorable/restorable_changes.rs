//! What differs between two restorable states: what a rollback records instead of a whole state, so that the log grows with
//! what changed and not with what there is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::ids::{AgentId, GateId, TaskId};
use crate::work::agent::{Agent, Workspace};
use crate::work::gates::gate::Gate;
use crate::work::restorable::restorable_state::RestorableState;
use crate::work::sessions::session::SessionMode;
use crate::work::signals::reports::TaskReports;
use crate::work::tasks::task::Task;

/// New values; `None` for what is gone.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RestorableChanges {
    /// Tasks.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tasks: BTreeMap<TaskId, Option<Task>>,
    /// Agents.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<AgentId, Option<Agent>>,
    /// Workspaces, by task.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub workspaces: BTreeMap<TaskId, Option<Workspace>>,
    /// Gates.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gates: BTreeMap<GateId, Option<Gate>>,
    /// What was reported of tasks.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reports: BTreeMap<TaskId, Option<TaskReports>>,
    /// The mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<SessionMode>,
}

impl RestorableChanges {
    /// What makes `now` into `then`.
    pub fn between(now: &RestorableState, then: &RestorableState) -> Self {
        // Every field is listed, so that a new one has to be considered.
        let RestorableState { tasks, agents, workspaces, mode, gates, reports } = then;
        Self {
            tasks: changed(&now.tasks, tasks),
            agents: changed(&now.agents, agents),
            workspaces: changed(&now.workspaces, workspaces),
            gates: changed(&now.gates, gates),
            reports: changed(&now.reports, reports),
            mode: (now.mode != *mode).then_some(*mode),
        }
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Makes the changes.
    pub fn apply(&self, to: &mut RestorableState) {
        let Self { tasks, agents, workspaces, gates, reports, mode } = self;
        change(&mut to.tasks, tasks);
        change(&mut to.agents, agents);
        change(&mut to.workspaces, workspaces);
        change(&mut to.gates, gates);
        change(&mut to.reports, reports);
        to.mode = mode.unwrap_or(to.mode);
    }
}

fn changed<K: Ord + Clone, V: PartialEq + Clone>(now: &BTreeMap<K, V>, then: &BTreeMap<K, V>) -> BTreeMap<K, Option<V>> {
    let new = then.iter().filter(|(key, value)| now.get(key) != Some(value));
    let gone = now.keys().filter(|key| !then.contains_key(key));
    new.map(|(key, value)| (key.clone(), Some(value.clone()))).chain(gone.map(|key| (key.clone(), None))).collect()
}

fn change<K: Ord + Clone, V: Clone>(map: &mut BTreeMap<K, V>, changes: &BTreeMap<K, Option<V>>) {
    for (key, value) in changes {
        match value {
            Some(value) => drop(map.insert(key.clone(), value.clone())),
            None => drop(map.remove(key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_makes_one_state_into_the_other_and_nothing_else_is_recorded() {
        let id = |text: &str| AgentId::new(text).unwrap();
        let agent = |text: &str| (id(text), Agent { id: id(text), work: None });
        let of = |agents: &[&str], mode| RestorableState {
            agents: agents.iter().map(|a| agent(a)).collect(),
            mode,
            ..RestorableState::default()
        };
        let (now, then) = (of(&["a-001", "b-001"], SessionMode::SemiAuto), of(&["b-001", "c-001"], SessionMode::Autopilot));
        let changes = RestorableChanges::between(&now, &then);
        assert_eq!(changes.agents.keys().map(AgentId::as_str).collect::<Vec<_>>(), ["a-001", "c-001"]);
        let mut made = now.clone();
        changes.apply(&mut made);
        assert_eq!(made, then);
        assert!(RestorableChanges::between(&now, &now).is_empty() && !changes.is_empty());
        let json = serde_json::to_string(&changes).unwrap();
        assert_eq!(serde_json::from_str::<RestorableChanges>(&json).unwrap(), changes);
    }
}
