//! Which task is next, and which agent takes it. Pure.

use crate::work::tasks::task::{DEFAULT_PERSONA, Task, TaskKind, TaskStatus};
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::base::ids::{AgentId, TaskId};
use crate::queries::gate_use::is_of_use;
use crate::queries::groups::TaskGroupTree;
use crate::queries::needs;
use crate::queries::unblocking::unblocking_power;
use crate::state::current_state::State;
use crate::work::gates::gate::{Gate, GateKind};
use axiom_base::error::{Result, some_of};

/// How many tasks are named for which one waits.
const NAMED: usize = 3;

/// The persona of a task.
pub fn persona_of(task: &Task) -> &str {
    task.persona.as_deref().unwrap_or(DEFAULT_PERSONA)
}

/// The pending tasks whose dependencies are merged: highest unblocking power first, then oldest, then by id.
pub fn ready_tasks(state: &State) -> Vec<&Task> {
    let groups = TaskGroupTree::of(state);
    let mut ready: Vec<&Task> = state
        .restorable
        .tasks
        .values()
        .filter(|task| task.kind == TaskKind::Task && task.status == TaskStatus::Pending && groups.dependencies_met(task))
        .collect();
    if ready.len() > 1 {
        let power = unblocking_power(state);
        let of = |task: &Task| power.get(&task.id).copied().unwrap_or(0);
        ready.sort_by(|a, b| of(b).cmp(&of(a)).then(a.created_at.cmp(&b.created_at)).then(a.id.cmp(&b.id)));
    }
    ready
}

/// The ready tasks, looked up once for each event: finding and ordering them looks at every task.
#[derive(Debug, Default)]
pub struct ReadyQueue {
    seq: Option<u64>,
    order: Rc<[TaskId]>,
    all: BTreeSet<TaskId>,
}

impl ReadyQueue {
    /// The ready tasks of `state`, which has to be a later state of the same log at each call, in the order of
    /// [`ready_tasks`].
    pub fn order(&mut self, state: &State) -> Rc<[TaskId]> {
        if self.seq != Some(state.seq) {
            self.seq = Some(state.seq);
            self.order = ready_tasks(state).into_iter().map(|task| task.id.clone()).collect();
            self.all = self.order.iter().cloned().collect();
        }
        Rc::clone(&self.order)
    }

    /// Whether a task is ready in `state`.
    pub fn contains(&mut self, state: &State, task: &TaskId) -> bool {
        self.order(state);
        self.all.contains(task)
    }
}

/// The agent that takes a task: the one that worked on it last if it is free and has the task's persona, otherwise the free
/// one of its persona with the lowest number. `is_taken` says who is about to take another one.
pub fn agent_for(state: &State, task: &Task, is_taken: impl Fn(&AgentId) -> bool) -> Result<AgentId> {
    let persona = persona_of(task);
    let free = |id: &AgentId| !is_taken(id) && state.restorable.agents.get(id).is_none_or(|agent| agent.work.is_none());
    if let Some(known) = state.record.tasks.get(&task.id).and_then(|record| record.last_agent.as_ref())
        && free(known)
        && known.is_of(persona)
    {
        return Ok(known.clone());
    }
    let mut number = 1;
    loop {
        let id = AgentId::new(format!("{persona}-{number:03}"))?;
        if free(&id) {
            return Ok(id);
        }
        number += 1;
    }
}

/// What a pending task waits for; `None` where that is nothing. Why the one is blocked for which it waits is said too.
fn waits_for_in_words<'a>(groups: &TaskGroupTree<'a>, task: &'a Task) -> Option<String> {
    let mut others: Vec<&TaskId> = Vec::new();
    for other in groups.waits_for(task) {
        if !others.contains(&other) {
            others.push(other);
        }
    }
    let blocked = |other: &TaskId| {
        let other = groups.state().restorable.tasks.get(other)?;
        other.reason.as_ref().filter(|_| other.status == TaskStatus::Blocked)
    };
    match others.as_slice() {
        [] => None,
        [one] => Some(match blocked(one) {
            Some(why) => format!("waits for {one}, which is blocked: {why}"),
            None => format!("waits for {one}"),
        }),
        some => {
            let word =
                |other: &&TaskId| blocked(other).map_or_else(|| other.to_string(), |why| format!("{other} (blocked: {why})"));
            Some(format!("waits for {}", some_of(&some.iter().map(word).collect::<Vec<_>>(), NAMED)))
        }
    }
}

/// The gate at which all waits that has none of its own: of the session's budget or of its disk.
pub(crate) fn session_gate(state: &State) -> Option<&Gate> {
    let is_of_all = |gate: &&Gate| gate.task_id.is_none() && gate.kind != GateKind::Planning;
    state.restorable.gates.values().filter(is_of_all).find(|gate| is_of_use(state, gate, |_| true))
}

/// Why no more work is possible: one line for each task that is not merged, for `run --until-idle`.
pub fn reasons_for_rest(state: &State) -> Vec<String> {
    let groups = TaskGroupTree::of(state);
    let open = state.restorable.tasks.values().filter(|task| task.kind == TaskKind::Task && !task.is_settled());
    let session_gate = session_gate(state);
    open.map(|task| {
        let gate = state.restorable.gates.values().find(|gate| gate.task_id.as_ref() == Some(&task.id));
        let why = match (gate, task.status) {
            (Some(gate), _) => format!("waits at gate {}: {}", gate.id, gate.reason),
            (None, TaskStatus::Pending) => match (waits_for_in_words(&groups, task), session_gate) {
                (Some(others), _) => others,
                (None, Some(gate)) => format!("waits at gate {}: {}", gate.id, gate.reason),
                (None, None) => "is still pending".to_owned(),
            },
            (None, TaskStatus::Done) => match needs::to_merge_first(state, task).collect::<Vec<_>>().as_slice() {
                [] => "is done but not merged".to_owned(),
                others => format!("is done, and is merged after {}", some_of(others, NAMED)),
            },
            (None, status) => match &task.reason {
                Some(reason) => format!("is {status}: {reason}"),
                None => format!("is {status}"),
            },
        };
        format!("{} {why}", task.id)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::task_record::TaskRecord;

    fn state(tasks: &[(&str, &[&str], TaskStatus)]) -> State {
        let mut state = State::default();
        for (id, after, status) in tasks {
            let id = TaskId::new(*id).unwrap();
            let task = Task {
                id: id.clone(),
                kind: TaskKind::Task,
                title: id.to_string(),
                body: None,
                parent: None,
                after: after.iter().map(|a| TaskId::new(*a).unwrap()).collect(),
                needs: vec![],
                start_early: false,
                persona: None,
                verify: vec![],
                limits: crate::work::money::budget::BudgetLimits::default(),
                status: *status,
                merged: None,
                reason: None,
                created_at: jiff::Timestamp::UNIX_EPOCH,
            };
            state.restorable.tasks.insert(id, task);
        }
        state
    }

    #[test]
    fn everything_that_a_task_waits_for_is_named() {
        use TaskStatus::{Blocked, Failed, Pending};
        let names = ["a", "b", "c", "d"];
        let mut state =
            state(&[("a", &[], Failed), ("b", &[], Blocked), ("c", &[], Failed), ("d", &[], Failed), ("x", &[], Pending)]);
        state.restorable.tasks.get_mut("b").unwrap().reason = Some("not now".to_owned());
        let said = |state: &mut State, many: usize| {
            state.restorable.tasks.get_mut("x").unwrap().after =
                names[..many].iter().map(|of| TaskId::new(*of).unwrap()).collect();
            reasons_for_rest(state).pop().unwrap()
        };
        assert_eq!(said(&mut state, 1), "x waits for a");
        assert_eq!(said(&mut state, 2), "x waits for a, b (blocked: not now)");
        assert_eq!(said(&mut state, 4), "x waits for a, b (blocked: not now), c and 1 more");
    }

    #[test]
    fn the_task_that_unblocks_most_is_first_and_unmerged_dependencies_wait() {
        use TaskStatus::{Done, Pending};
        let state = state(&[
            ("a", &[], Pending),
            ("b", &[], Pending),
            ("c", &["b"], Pending),
            ("d", &["c"], Pending),
            ("e", &["done"], Pending),
            ("done", &[], Done),
        ]);
        let ids: Vec<&str> = ready_tasks(&state).iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["b", "a"], "'done' is not merged yet, so 'e' waits");
        assert_eq!(reasons_for_rest(&state).len(), 6);
    }

    #[test]
    fn tasks_of_a_blocked_or_archived_group_are_held_however_deep_they_are() {
        let mut state =
            state(&[("o", &[], TaskStatus::Blocked), ("p", &[], TaskStatus::Pending), ("a", &[], TaskStatus::Pending)]);
        let id = |id: &str| TaskId::new(id).unwrap();
        for (group, parent) in [("o", None), ("p", Some("o"))] {
            let task = state.restorable.tasks.get_mut(group).unwrap();
            (task.kind, task.parent, task.reason) = (TaskKind::Group, parent.map(id), Some("not now".to_owned()));
        }
        state.restorable.tasks.get_mut("a").unwrap().parent = Some(id("p"));
        assert!(ready_tasks(&state).is_empty());
        assert_eq!(reasons_for_rest(&state), ["a waits for o, which is blocked: not now"]);
        state.restorable.tasks.get_mut("o").unwrap().status = TaskStatus::Archived;
        assert!(ready_tasks(&state).is_empty());
        state.restorable.tasks.get_mut("o").unwrap().status = TaskStatus::Pending;
        assert_eq!(ready_tasks(&state).len(), 1);
    }

    #[test]
    fn what_is_ready_is_looked_up_anew_after_an_event() {
        let (b, c) = (TaskId::new("b").unwrap(), TaskId::new("c").unwrap());
        let mut state =
            state(&[("a", &[], TaskStatus::Pending), ("b", &["a"], TaskStatus::Pending), ("c", &[], TaskStatus::Pending)]);
        let mut queue = ReadyQueue::default();
        assert_eq!(queue.order(&state).iter().map(TaskId::as_str).collect::<Vec<_>>(), ["a", "c"]);
        state.restorable.tasks.get_mut("a").unwrap().status = TaskStatus::Archived;
        state.seq += 1;
        assert!(queue.contains(&state, &b) && queue.contains(&state, &c));
        assert_eq!(queue.order(&state).len(), 2);
    }

    #[test]
    fn the_agent_that_knew_the_task_takes_it() {
        let mut state = state(&[("a", &[], TaskStatus::Pending)]);
        let task = state.restorable.tasks.values().next().unwrap().clone();
        let nobody = |_: &AgentId| false;
        assert_eq!(agent_for(&state, &task, nobody).unwrap().as_str(), "agent-001");
        assert_eq!(agent_for(&state, &task, |id| id.as_str() == "agent-001").unwrap().as_str(), "agent-002");
        let record = TaskRecord { last_agent: Some(AgentId::new("agent-007").unwrap()), ..TaskRecord::default() };
        state.record.tasks.insert(task.id.clone(), record);
        assert_eq!(agent_for(&state, &task, nobody).unwrap().as_str(), "agent-007");
        assert_eq!(agent_for(&state, &task, |id| id.as_str() == "agent-007").unwrap().as_str(), "agent-001");
    }
}
