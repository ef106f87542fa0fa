//! What the end of an operation does to the state. Pure.

use crate::base::ref_change::ChangeDirection;
use crate::base::text::ValueChange;
use crate::journal::journaled::JournaledOperation;
use crate::journal::journaled_changes::WorkspaceChange;
use crate::state::current_state::State;
use crate::state::graph;
use crate::work::gates::gate::{Gate, GateKind};
use crate::work::restorable::restorable_changes::RestorableChanges;
use crate::work::restorable::restorable_state::RestorableState;
use crate::work::sessions::session::SessionMode;
use crate::work::tasks::task::{Task, TaskChangeSet, TaskFieldChange, TaskStatus};

/// What the end of an operation does to the state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OperationSettlement {
    /// Fields of tasks that change.
    pub edits: Vec<TaskChangeSet>,
    /// What changes in the restorable state.
    pub changes: Option<Box<RestorableChanges>>,
    /// The change of the mode.
    pub mode: Option<ValueChange<SessionMode>>,
}

impl JournaledOperation {
    /// What the end of the operation does to the current state. A field that was changed since the operation began keeps
    /// that change. A rollback ends the work of all agents, archives the tasks that were added after its checkpoint and
    /// before it began, and forgets none.
    pub fn settle(&self, now: &State) -> OperationSettlement {
        if let Some(mut then) = self.restores(&now.restorable) {
            // Since the operation began, tasks may have been claimed, and wired in another way.
            then.put_to_rest();
            keep_acyclic(&mut then, now);
            keep_held(&mut then, &now.restorable);
            let changes = RestorableChanges::between(&now.restorable, &archived_since(then, &now.restorable));
            return OperationSettlement { changes: Some(Box::new(changes)), ..OperationSettlement::default() };
        }
        let fits = |edit: &TaskChangeSet| now.restorable.tasks.get(&edit.id).is_some_and(|task| edit_fits(edit, task));
        let mode = self.mode.filter(|mode| mode.old == now.restorable.mode);
        OperationSettlement { edits: self.edits.iter().filter(|edit| fits(edit)).cloned().collect(), changes: None, mode }
    }

    /// The restorable state after it, for whoever says what it changes: what others change meanwhile is not in it.
    pub fn leads_to(&self, now: &RestorableState) -> RestorableState {
        let mut then = self.restores(now).unwrap_or_else(|| now.clone());
        for edit in &self.edits {
            if let Some(task) = then.tasks.get_mut(&edit.id) {
                for change in &edit.changes {
                    let _fits = change.apply(task);
                }
            }
        }
        self.standing.clone().apply(&mut then);
        move_workspaces(&mut then, &self.workspaces);
        then.follow_branches(&self.refs);
        then
    }

    /// The restorable state that it restores, where it does.
    pub fn restores(&self, now: &RestorableState) -> Option<RestorableState> {
        self.changes.as_deref().map(|changes| {
            let mut then = now.clone();
            changes.apply(&mut then);
            then
        })
    }
}

/// Takes out the workspaces that an operation puts aside, and puts in those that it brings back.
pub fn move_workspaces(to: &mut RestorableState, changes: &[WorkspaceChange]) {
    for change in changes {
        match change.way {
            ChangeDirection::PutAside => drop(to.workspaces.remove(&change.task)),
            ChangeDirection::BringBack => drop(to.workspaces.insert(change.task.clone(), change.workspace.clone())),
        }
    }
}

/// A restored state with the tasks that were added since: they are archived, never forgotten, and merged into nothing that is there now.
/// So is what was reported of work that goes: it counts only while that work is there, and an undo brings it back.
pub fn archived_since(mut then: RestorableState, now: &RestorableState) -> RestorableState {
    for (id, task) in &now.tasks {
        then.tasks.entry(id.clone()).or_insert_with(|| Task { status: TaskStatus::Archived, merged: None, ..task.clone() });
    }
    for (id, reports) in now.reports.iter().filter(|(id, _)| !then.workspaces.contains_key(*id)) {
        if then.tasks.get(id).is_none_or(|task| task.status != TaskStatus::Done) {
            then.reports.entry(id.clone()).or_insert_with(|| reports.clone());
        }
    }
    then
}

/// Whether all changes of an edit find the values they expect, and none changes a status from or to active. What was done is another thing
/// once it is merged: it is not to be done, or blocked, by an edit that does not take the merge back.
pub fn edit_fits(edit: &TaskChangeSet, task: &Task) -> bool {
    let takes_back = edit.changes.iter().any(|change| matches!(change, TaskFieldChange::Merged(_)));
    let leaves_done = |status: &ValueChange<TaskStatus>| {
        status.old == TaskStatus::Done && !matches!(status.new, TaskStatus::Done | TaskStatus::Archived)
    };
    if task.merged.is_some() && !takes_back && edit.status().is_some_and(leaves_done) {
        return false;
    }
    let mut task = task.clone();
    let active = |change: &TaskFieldChange| match change {
        TaskFieldChange::Status(status) => status.old == TaskStatus::Active || status.new == TaskStatus::Active,
        TaskFieldChange::Title(_)
        | TaskFieldChange::Body(_)
        | TaskFieldChange::Parent(_)
        | TaskFieldChange::After(_)
        | TaskFieldChange::Needs(_)
        | TaskFieldChange::StartEarly(_)
        | TaskFieldChange::Persona(_)
        | TaskFieldChange::Verify(_)
        | TaskFieldChange::Limits(_)
        | TaskFieldChange::Merged(_)
        | TaskFieldChange::Reason(_) => false,
    };
    edit.changes.iter().all(|change| !active(change) && change.apply(&mut task))
}

/// Where the restored dependencies and parents would close a cycle with present ones, those of the restored tasks stay as
/// they are now.
fn keep_acyclic(then: &mut RestorableState, now: &State) {
    let is_other = |task: &&Task| now.restorable.tasks.get(&task.id) != Some(task);
    let restored: Vec<Task> = then.tasks.values().filter(is_other).cloned().collect();
    if graph::check_changed(now, &restored).is_ok() {
        return;
    }
    for task in restored {
        if let (Some(task), Some(now)) = (then.tasks.get_mut(&task.id), now.restorable.tasks.get(&task.id)) {
            task.after.clone_from(&now.after);
            task.parent.clone_from(&now.parent);
        }
    }
}

/// A rollback does not override what a human decided about a task: the gates that hold tasks stay as they are now, whatever
/// the checkpoint has; so do those of a plan, which no rollback changes. The gates that the operation itself opens and closes are not handled here.
fn keep_held(restored: &mut RestorableState, now: &RestorableState) {
    let of_plan = |gate: &Gate| gate.kind == GateKind::Planning;
    restored.gates.retain(|_, gate| gate.held.is_none() && !of_plan(gate));
    let pending = |gate: &&Gate| {
        let case = gate.task_id.as_ref().and_then(|task| restored.tasks.get(task));
        of_plan(gate) || gate.held.is_some() && case.is_some_and(|case| case.status == TaskStatus::Pending)
    };
    let held: Vec<Gate> = now.gates.values().filter(pending).cloned().collect();
    restored.gates.extend(held.into_iter().map(|gate| (gate.id.clone(), gate)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::{AgentId, CheckpointName, TaskId};
    use crate::journal::journaled::OperationKind;
    use crate::work::agent::{Agent, AgentWork};
    use jiff::Timestamp;

    fn id(text: &str) -> TaskId {
        TaskId::new(text).unwrap()
    }

    fn task(text: &str, after: &[&str]) -> Task {
        let json = serde_json::json!({
            "id": text, "kind": "task", "title": text, "status": "pending", "after": after, "createdAt": "2026-01-01T00:00:00Z",
        });
        serde_json::from_value(json).unwrap()
    }

    fn with(tasks: &[Task]) -> State {
        let mut state = State::default();
        state.restorable.tasks = tasks.iter().map(|task| (task.id.clone(), task.clone())).collect();
        state
    }

    /// A rollback from one state to another that was interrupted.
    fn rollback(from: &State, to: &State) -> JournaledOperation {
        let kind = OperationKind::RollbackCheckpoint { partly: false, checkpoint: CheckpointName::new("c").unwrap() };
        let then = archived_since(to.restorable.clone(), &from.restorable);
        let mut operation = JournaledOperation::new(kind, "x");
        operation.changes = Some(Box::new(RestorableChanges::between(&from.restorable, &then)));
        operation
    }

    fn settled(operation: &JournaledOperation, now: &State) -> RestorableState {
        let mut after = now.restorable.clone();
        operation.settle(now).changes.unwrap().apply(&mut after);
        after
    }

    #[test]
    fn a_task_that_was_claimed_since_it_began_has_no_agent_afterwards() {
        let (then, from) = (with(&[task("t", &[])]), with(&[Task { title: "edited".into(), ..task("t", &[]) }]));
        let mut now = from.clone();
        let agent = AgentId::new("ed-001").unwrap();
        let work = Some(AgentWork::claimed(id("t"), None, Timestamp::UNIX_EPOCH));
        now.restorable.agents.insert(agent.clone(), Agent { id: agent.clone(), work });
        now.restorable.tasks.get_mut("t").unwrap().status = TaskStatus::Active;
        let after = settled(&rollback(&from, &then), &now);
        assert_eq!((after.tasks["t"].status, after.tasks["t"].title.as_str()), (TaskStatus::Pending, "t"));
        assert!(after.agents[&agent].work.is_none());
    }

    #[test]
    fn dependencies_that_would_close_a_cycle_with_present_ones_are_not_restored() {
        let (then, from) = (with(&[task("x", &[]), task("y", &["x"])]), with(&[task("x", &[]), task("y", &[])]));
        let operation = rollback(&from, &then);
        assert_eq!(settled(&operation, &from).tasks["y"].after, [id("x")]);
        let now = with(&[task("x", &["y"]), task("y", &[])]);
        let after = settled(&operation, &now);
        assert!(after.tasks["y"].after.is_empty() && after.tasks["x"].after == [id("y")]);
    }

    #[test]
    fn what_was_added_before_it_began_is_archived_and_what_came_later_stays() {
        let (then, from) = (with(&[task("t", &[])]), with(&[task("t", &[]), task("new", &[])]));
        let now = with(&[task("t", &[]), task("new", &[]), task("newer", &[])]);
        let after = settled(&rollback(&from, &then), &now);
        assert_eq!(
            ["t", "new", "newer"].map(|id| after.tasks[id].status),
            [TaskStatus::Pending, TaskStatus::Archived, TaskStatus::Pending]
        );
    }
}
