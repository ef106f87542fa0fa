//! What a rollback changes of tasks beside their fields and their files: what was reported of them, and the gates at which they wait for an
//! answer. An undo takes exactly that back, where nothing has changed since. Pure.
//!
//! Not here: gates that keep a task from being started, which a rollback opens and closes itself (but for those that an edit of their task
//! leaves), and those of plans, which none changes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::base::ids::{GateId, TaskId};
use crate::base::text::ValueChange;
use crate::work::gates::gate::{Gate, GateKind};
use crate::work::restorable::restorable_changes::RestorableChanges;
use crate::work::restorable::restorable_state::RestorableState;
use crate::work::signals::reports::TaskReports;
use crate::work::tasks::task::{TaskChangeSet, TaskStatus};

/// Old and new values; `None` where there is none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskStandingChanges {
    /// What was reported of tasks.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reports: BTreeMap<TaskId, ValueChange<Option<TaskReports>>>,
    /// Gates at which tasks wait.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gates: BTreeMap<GateId, ValueChange<Option<Gate>>>,
}

impl TaskStandingChanges {
    /// What makes `old` into `new`.
    pub fn between(old: &RestorableState, new: &RestorableState) -> Self {
        let waits = |gate: &Gate| gate.held.is_none() && gate.kind != GateKind::Planning && gate.task_id.is_some();
        let mut gates = differences(&old.gates, &new.gates);
        gates.retain(|_, change| [&change.old, &change.new].into_iter().flatten().all(waits));
        Self { reports: differences(&old.reports, &new.reports), gates }
    }

    /// The gates that these edits leave without a task that waits there, since it is blocked or archived: whoever undoes them opens
    /// them again, undecided, so that nothing begins or is merged that a human had stopped or taken back.
    pub fn of_left_gates(now: &RestorableState, edits: &[TaskChangeSet]) -> Self {
        let is_left =
            |edit: &&TaskChangeSet| edit.status().is_some_and(|status| !is_put_away(status.old) && is_put_away(status.new));
        let left: BTreeSet<&TaskId> = edits.iter().filter(is_left).map(|edit| &edit.id).collect();
        if left.is_empty() {
            return Self::default();
        }
        let gates = now.gates.values().filter(|gate| gate.task_id.as_ref().is_some_and(|task| left.contains(task)));
        let stops = |gate: &Gate| match gate.kind {
            GateKind::Claim => gate.held.is_some(),
            // A question of an agent that was stopped waits for its answer all the same.
            GateKind::Merge | GateKind::HumanReview | GateKind::Question => true,
            GateKind::Permission | GateKind::Recovery | GateKind::Planning | GateKind::Budget | GateKind::Disk => false,
        };
        let stopped = gates.filter(|gate| !gate.is_approved() && stops(gate));
        let gone = |gate: &Gate| ValueChange::new(Some(Gate { decision: None, ..gate.clone() }), None);
        Self { reports: BTreeMap::new(), gates: stopped.map(|gate| (gate.id.clone(), gone(gate))).collect() }
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.reports.is_empty() && self.gates.is_empty()
    }

    /// The changes that undo these.
    #[must_use]
    pub fn inverse(self) -> Self {
        let reports = self.reports.into_iter().map(|(task, change)| (task, change.inverse()));
        Self {
            reports: reports.collect(),
            gates: self.gates.into_iter().map(|(gate, change)| (gate, change.inverse())).collect(),
        }
    }

    /// Without what is not as it is expected: it was changed since.
    pub fn retain_fitting(&mut self, now: &RestorableState) {
        self.reports.retain(|task, change| now.reports.get(task) == change.old.as_ref());
        self.gates.retain(|gate, change| now.gates.get(gate) == change.old.as_ref());
    }

    /// Makes those that find what they expect.
    pub fn apply(mut self, to: &mut RestorableState) {
        self.retain_fitting(to);
        let reports = self.reports.into_iter().map(|(task, change)| (task, change.new)).collect();
        let gates = self.gates.into_iter().map(|(gate, change)| (gate, change.new)).collect();
        RestorableChanges { reports, gates, ..RestorableChanges::default() }.apply(to);
    }
}

/// Whether nothing is done for a task of this status, nor for what is in such a group, as a human or an agent wanted it.
pub fn is_put_away(status: TaskStatus) -> bool {
    match status {
        TaskStatus::Blocked | TaskStatus::Archived => true,
        TaskStatus::Pending | TaskStatus::Active | TaskStatus::Done | TaskStatus::Failed => false,
    }
}

fn differences<K: Ord + Clone, V: PartialEq + Clone>(
    old: &BTreeMap<K, V>,
    new: &BTreeMap<K, V>,
) -> BTreeMap<K, ValueChange<Option<V>>> {
    let gone = old.keys().filter(|key| !new.contains_key(key));
    let change = |key: &K| (key.clone(), ValueChange::new(old.get(key).cloned(), new.get(key).cloned()));
    gone.chain(new.keys()).map(change).filter(|(_, change)| change.old != change.new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::gates::gate::TaskHoldReason;
    use crate::work::tasks::task::TaskFieldChange;
    use jiff::Timestamp;

    fn state(progress: u8, gates: &[(&str, GateKind)]) -> RestorableState {
        let task = TaskId::new("t").unwrap();
        let gate = |(reason, kind): &(&str, GateKind)| Gate {
            reason: (*reason).to_owned(),
            ..Gate::holding(&task, TaskHoldReason::RolledBack, Timestamp::UNIX_EPOCH)
                .map(|gate| Gate { held: None, kind: *kind, ..gate })
                .unwrap()
        };
        let gates = gates.iter().map(|one| (Gate::id_for(one.1, &task).unwrap(), gate(one)));
        RestorableState {
            reports: [(task.clone(), TaskReports { progress: Some(progress), ..TaskReports::default() })].into(),
            gates: gates.collect(),
            ..RestorableState::default()
        }
    }

    #[test]
    fn what_was_reported_and_what_waits_comes_back_where_nothing_changed_since() {
        let before = state(40, &[("which 1?", GateKind::Question), ("plan", GateKind::Planning)]);
        let after = state(20, &[("which 0?", GateKind::Question)]);
        let back = TaskStandingChanges::between(&before, &after).inverse();
        let mut now = after.clone();
        back.clone().apply(&mut now);
        assert_eq!((&now.reports, now.gates.len()), (&before.reports, 1), "a plan's gate is left alone");
        assert_eq!(now.gates.values().next().map(|gate| gate.reason.as_str()), Some("which 1?"));

        let mut now = state(60, &[("which 0?", GateKind::Question)]);
        back.apply(&mut now);
        let reported = now.reports.values().next().and_then(|reports| reports.progress);
        assert_eq!((reported, now.gates.values().next().unwrap().reason.as_str()), (Some(60), "which 1?"), "each for itself");
    }

    #[test]
    fn a_gate_that_keeps_a_task_from_starting_is_not_a_part_of_it() {
        let task = TaskId::new("t").unwrap();
        let held = Gate::holding(&task, TaskHoldReason::RolledBack, Timestamp::UNIX_EPOCH).unwrap();
        let with = RestorableState { gates: [(held.id.clone(), held)].into(), ..RestorableState::default() };
        assert!(TaskStandingChanges::between(&RestorableState::default(), &with).is_empty());
    }

    #[test]
    fn the_gate_of_a_stopped_task_that_is_blocked_or_archived_comes_back_undecided() {
        use crate::work::gates::gate::GateDecision;
        use TaskStatus::{Active, Archived, Blocked, Done, Pending};
        let task = TaskId::new("t").unwrap();
        let held = Gate::holding(&task, TaskHoldReason::Stopped, Timestamp::UNIX_EPOCH).unwrap();
        let rejected = Gate { decision: Some(GateDecision::Rejected { reason: "no".into() }), ..held.clone() };
        let approved = Gate { decision: Some(GateDecision::Approved), ..held.clone() };
        let merge = Gate::for_undone_merge(&task, None, None, Timestamp::UNIX_EPOCH).unwrap();
        let asked = Gate::of_task(GateKind::Merge, &task, "ready".into(), Timestamp::UNIX_EPOCH).unwrap();
        let table = [
            (&held, Pending, Blocked, true),
            (&held, Pending, Archived, true),
            (&rejected, Pending, Blocked, true),
            (&merge, Done, Archived, true),
            (&approved, Pending, Blocked, false),
            (&asked, Done, Archived, true),
            (&held, Pending, Active, false),
        ];
        for (gate, old, new, comes_back) in table {
            let now = RestorableState { gates: [(gate.id.clone(), gate.clone())].into(), ..RestorableState::default() };
            let status = TaskFieldChange::Status(ValueChange::new(old, new));
            let edit = TaskChangeSet { id: task.clone(), changes: vec![status] };
            let mut undone = RestorableState::default();
            TaskStandingChanges::of_left_gates(&now, &[edit]).inverse().apply(&mut undone);
            let open = undone.gates.get(&gate.id).map(|gate| gate.decision.is_none());
            assert_eq!(open, comes_back.then_some(true), "{} {old:?} {new:?}", gate.id);
        }
    }
}
