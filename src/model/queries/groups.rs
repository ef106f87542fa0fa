//! What depends on a task's place in the tree of groups: its parts, what it waits for, its progress. The tree is read in one
//! pass. Valid for one state. Whether the tree is sound is checked in `graph`.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use crate::base::ids::TaskId;
use crate::queries::gate_use::{is_of_use, is_rejected};
use crate::queries::needs;
use crate::queries::task_work_facts::TaskWorkFacts;
use crate::state::current_state::State;
use crate::work::agent::AgentWork;
use crate::work::gates::gate::{Gate, GateKind};
use crate::work::restorable::standing_changes::is_put_away;
use crate::work::tasks::task::{Task, TaskKind, TaskStatus};

/// What is known of a group from its parts.
#[derive(Debug, Clone, Copy)]
struct GroupTotals {
    /// Whether all of it is merged or settled.
    is_in_target: bool,
    progress: u8,
    facts: TaskWorkFacts,
}

/// The tree of groups of one state.
#[derive(Debug)]
pub struct TaskGroupTree<'a> {
    state: &'a State,
    parts: HashMap<&'a TaskId, Vec<&'a Task>>,
    /// What agents report of their tasks.
    reported: HashMap<&'a TaskId, u8>,
    groups: HashMap<&'a TaskId, GroupTotals>,
    /// Since when a gate is open for a task.
    gates: HashMap<&'a TaskId, Timestamp>,
    /// Active tasks on which nobody works any more: that is seen of processes, and the state does not have it.
    cut_off: HashSet<TaskId>,
}

impl<'a> TaskGroupTree<'a> {
    /// Reads the tree.
    pub fn of(state: &'a State) -> Self {
        Self::with_cut_off(state, HashSet::new())
    }

    /// As [`TaskGroupTree::of`], where nobody works any more on these active tasks.
    pub fn with_cut_off(state: &'a State, cut_off: HashSet<TaskId>) -> Self {
        let tasks = &state.restorable.tasks;
        let mut parts: HashMap<&TaskId, Vec<&Task>> = HashMap::new();
        let mut topmost_first = Vec::new();
        for case in tasks.values() {
            match state.restorable.group_of(case) {
                Some(group) => parts.entry(&group.id).or_default().push(case),
                None => topmost_first.push(case),
            }
        }
        let busy = state.busy_agents().filter_map(|agent| agent.work.as_ref());
        let heard = busy.filter_map(|work| Some((&work.task, progress_of(state, work)?)));
        let left = state.restorable.reports.keys().filter_map(|task| Some((task, state.reports(task)?.progress?)));
        let reported = left.chain(heard).collect();
        let mut tree = Self { state, parts, reported, groups: HashMap::new(), gates: HashMap::new(), cut_off };
        // Nested groups may be deeper than a stack is.
        let mut at = 0;
        while let Some(case) = topmost_first.get(at) {
            topmost_first.extend(tree.parts(&case.id));
            at += 1;
        }
        for group in topmost_first.into_iter().rev().filter(|case| case.kind != TaskKind::Task) {
            let answer = tree.answer(group);
            tree.groups.insert(&group.id, answer);
        }
        tree.gates = tree.waits_at_gates();
        tree
    }

    /// Since when tasks wait for a human.
    fn waits_at_gates(&self) -> HashMap<&'a TaskId, Timestamp> {
        let mut since = HashMap::new();
        // Whose start was rejected waits there until a session has blocked it.
        let rejected = |gate: &Gate| (gate.kind == GateKind::Claim || gate.is_about_start()) && is_rejected(gate);
        let gates = self.state.restorable.gates.values().filter(|gate| gate.decision.is_none() || rejected(gate));
        for gate in gates.filter(|gate| is_of_use(self.state, gate, |id| self.may_start(id))) {
            if let Some(task) = &gate.task_id {
                let first = since.entry(task).or_insert(gate.opened_at);
                *first = gate.opened_at.min(*first);
            }
        }
        since
    }

    /// The state that was read.
    pub fn state(&self) -> &'a State {
        self.state
    }

    /// From the answers of its parts.
    fn answer(&self, group: &Task) -> GroupTotals {
        let parts = self.parts(&group.id);
        // What is archived is no part of the plan any more.
        let counted = parts.iter().filter(|part| part.status != TaskStatus::Archived);
        let sum: usize = counted.clone().map(|part| usize::from(self.progress(part))).sum();
        let mean = sum.checked_div(counted.clone().count()).and_then(|mean| u8::try_from(mean).ok()).unwrap_or(0);
        let facts = counted.map(|part| self.facts(part)).fold(TaskWorkFacts::default(), TaskWorkFacts::and);
        GroupTotals { is_in_target: parts.iter().all(|part| self.is_in_target(&part.id)), progress: mean, facts }
    }

    /// What is known of the work on a task.
    pub(crate) fn facts(&self, task: &Task) -> TaskWorkFacts {
        match task.kind {
            TaskKind::Task => {
                let facts = TaskWorkFacts::of_task(task, self.state.reports(&task.id));
                if self.is_cut_off(task) { facts.of_nobody() } else { facts }
            }
            TaskKind::Group | TaskKind::Goal => {
                self.groups.get(&task.id).map_or_else(TaskWorkFacts::default, |whole| whole.facts)
            }
        }
    }

    /// Whether nobody works on an active task any more.
    pub(crate) fn is_cut_off(&self, task: &Task) -> bool {
        task.status == TaskStatus::Active && self.cut_off.contains(&task.id)
    }

    /// Whether a task waits for a human at a gate.
    pub(crate) fn waits_at_gate(&self, id: &TaskId) -> bool {
        self.gates.contains_key(id)
    }

    /// Since when a task waits: for a human, or since it was added for other tasks.
    pub fn waiting_since(&self, task: &'a Task) -> Option<Timestamp> {
        let for_others = || task.status == TaskStatus::Pending && !self.dependencies_met(task);
        self.gates.get(&task.id).copied().or_else(|| for_others().then_some(task.created_at))
    }

    /// The direct parts of a group.
    pub fn parts(&self, id: &TaskId) -> &[&'a Task] {
        self.parts.get(id).map_or(&[], Vec::as_slice)
    }

    /// The tasks that `task` still waits for: groups around it that are blocked or archived; its own dependencies and those of its groups
    /// that are not merged yet, and of which what is needed is not ready.
    pub fn waits_for(&self, task: &'a Task) -> impl Iterator<Item = &'a TaskId> {
        let around = || self.state.restorable.groups_around(task);
        let held_by = around().filter(|group| is_put_away(group.status)).map(|group| &group.id);
        let waits = std::iter::once(task).chain(around()).flat_map(|task| task.after.iter().map(move |id| (task, id)));
        let is_waited_for = |(task, id): &(&Task, &TaskId)| !self.is_in_target(id) && !needs::lets_begin(self.state, task, id);
        held_by.chain(waits.filter(is_waited_for).map(|(_, id)| id))
    }

    /// Whether all dependencies of `task` are merged (or, for groups, settled).
    pub fn dependencies_met(&self, task: &'a Task) -> bool {
        self.waits_for(task).next().is_none()
    }

    /// As [`Self::dependencies_met`], of the task of this id.
    pub(crate) fn may_start(&self, id: &TaskId) -> bool {
        self.state.restorable.tasks.get(id).is_some_and(|task| self.dependencies_met(task))
    }

    /// Whether nobody waits for it any more: it is merged or settled, or all parts of the group are.
    pub fn is_in_target(&self, id: &TaskId) -> bool {
        let Some(task) = self.state.restorable.tasks.get(id) else { return false };
        task.is_settled() || self.groups.get(id).is_some_and(|whole| whole.is_in_target)
    }

    /// Progress in percent: of a task, as its agent reports it; of a group, the mean of its parts. What is archived keeps what it had.
    pub fn progress(&self, task: &Task) -> u8 {
        match task.kind {
            _ if task.status == TaskStatus::Done || task.merged.is_some() => 100,
            TaskKind::Task => self.reported.get(&task.id).copied().unwrap_or(0),
            TaskKind::Group | TaskKind::Goal => self.groups.get(&task.id).map_or(0, |whole| whole.progress),
        }
    }
}

/// How far a task is that an agent works on. What is left of earlier agents' work counts until this one says otherwise.
pub fn progress_of(state: &State, work: &AgentWork) -> Option<u8> {
    work.progress.or_else(|| state.reports(&work.task)?.progress)
}
