//! The ready tasks from which a human chooses where an agent goes, the best first. Pure.

use crate::base::ids::{AgentId, TaskId};
use crate::queries::ready::{persona_of, ready_tasks};
use crate::queries::unblocking::unblocking_power;
use crate::state::current_state::State;
use crate::work::gates::gate::{Gate, GateKind};
use crate::work::tasks::task::Task;

/// A ready task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyTaskChoice {
    /// Its id.
    pub id: TaskId,
    /// Its title.
    pub title: String,
    /// The groups that it is a part of, the innermost first, and the goal of all last.
    pub groups: Vec<TaskId>,
    /// How many open tasks wait for it, directly or not.
    pub unblocks: usize,
}

impl ReadyTaskChoice {
    /// What depends on it, in words.
    pub fn what_waits(&self) -> String {
        if self.unblocks == 0 { "atomic".to_owned() } else { format!("unblocks {}", self.unblocks) }
    }
}

/// The ready tasks of an agent's persona, in the order in which they would be claimed: not those that wait for a human's answer or budget.
pub fn choices(state: &State, agent: &AgentId) -> Vec<ReadyTaskChoice> {
    let power = unblocking_power(state);
    let is_open = |task: &&Task| agent.is_of(persona_of(task)) && gate_before_start(state, &task.id).is_none();
    let of_persona = ready_tasks(state).into_iter().filter(is_open);
    of_persona
        .map(|task| ReadyTaskChoice {
            id: task.id.clone(),
            title: task.title.clone(),
            groups: state.restorable.groups_around(task).map(|group| group.id.clone()).collect(),
            unblocks: power.get(&task.id).copied().unwrap_or(0),
        })
        .collect()
}

/// The gate at which a ready task waits whoever is sent to it: for an answer, for more of its budget, or because of a hook.
pub fn gate_before_start<'s>(state: &'s State, task: &TaskId) -> Option<&'s Gate> {
    let keeps = |gate: &&Gate| matches!(gate.kind, GateKind::Budget | GateKind::Question | GateKind::HumanReview);
    let mut gates = state.restorable.gates.values().filter(keeps);
    gates.find(|gate| gate.task_id.as_ref() == Some(task) && gate.decision.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::tasks::task::TaskKind;

    #[test]
    fn ready_tasks_of_the_persona_are_offered_and_what_unblocks_most_is_first() {
        let mut state = State::default();
        let mut add = |id: &str, persona: Option<&str>, after: &[&str]| {
            let mut task = crate::work::tasks::wip::tests::task();
            task.id = TaskId::new(id).unwrap();
            task.persona = persona.map(str::to_owned);
            task.after = after.iter().map(|id| TaskId::new(*id).unwrap()).collect();
            task.status = crate::work::tasks::task::TaskStatus::Pending;
            task.merged = None;
            state.restorable.tasks.insert(task.id.clone(), task);
        };
        add("a", None, &[]);
        add("b", None, &[]);
        add("c", None, &["b"]);
        add("d", Some("ed"), &[]);
        add("goal", None, &[]);
        add("milestone", None, &[]);
        for (id, parent, kind) in
            [("milestone", "goal", TaskKind::Group), ("goal", "", TaskKind::Goal), ("b", "milestone", TaskKind::Task)]
        {
            let task = state.restorable.tasks.get_mut(&TaskId::new(id).unwrap()).unwrap();
            (task.kind, task.parent) = (kind, TaskId::new(parent).ok());
        }
        let of = |agent: &str| {
            let all = choices(&state, &AgentId::new(agent).unwrap());
            all.iter().map(|choice| format!("{} {}", choice.id, choice.what_waits())).collect::<Vec<_>>()
        };
        assert_eq!(of("agent-001"), ["b unblocks 1", "a atomic"]);
        assert_eq!(of("ed-001"), ["d atomic"]);
        let around = &choices(&state, &AgentId::new("agent-001").unwrap())[0].groups;
        assert_eq!(around.iter().map(TaskId::as_str).collect::<Vec<_>>(), ["milestone", "goal"]);
    }
}
