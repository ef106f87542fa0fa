//! How the event `repositoryPlaced` changes the state.

use crate::state::current_state::State;
use crate::state::repository_location::{self, RelocationCause, RelocationRecord, RepositoryRelocation};
use crate::work::sessions::session::SessionState;

impl State {
    /// Translates all recorded paths to the new place. A copy keeps no workspaces, no work of agents and no requests: those
    /// belong to the original.
    pub fn place(&mut self, placing: &RepositoryRelocation, seq: u64) {
        placing.restorable(&mut self.restorable);
        if let Some(open) = &mut self.record.open {
            placing.operation(&mut open.operation);
        }
        if placing.how == RelocationCause::Copied {
            belong_to_nobody(self, placing);
        }
        self.record.last_action = Some(placing.words());
        self.record.placings.push(RelocationRecord { seq, placing: placing.clone() });
    }
}

fn belong_to_nobody(state: &mut State, placing: &RepositoryRelocation) {
    state.restorable.put_to_rest();
    state.restorable.workspaces.clear();
    state.record.requests.clear();
    if let Some(open) = &mut state.record.open {
        repository_location::own_part(&mut open.operation, &placing.to);
    }
    if let Some(session) = state.record.session.as_mut().filter(|session| session.state.is_open()) {
        session.state = SessionState::Ended;
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::base::ids::{AgentId, OperationId, TaskId};
    use crate::base::names::{Oid, RefName};
    use crate::base::text::ValueChange;
    use crate::journal::journaled::{JournaledOperation, OperationKind};
    use crate::journal::journaled_changes::BranchAdvance;
    use crate::state::current_state::OpenOperation;
    use crate::state::repository_location::RepositoryLocation;
    use crate::work::agent::{Agent, AgentWork, Workspace};
    use crate::work::tasks::task::{Task, TaskKind, TaskStatus};

    fn oid() -> Oid {
        Oid::new("1".repeat(40)).unwrap()
    }

    /// One task that is worked on, and an operation that moves a branch in two worktrees.
    fn busy() -> State {
        let (task, agent) = (TaskId::new("t").unwrap(), AgentId::new("ed-001").unwrap());
        let mut state = State::default();
        let case = Task {
            id: task.clone(),
            kind: TaskKind::Task,
            title: "t".into(),
            body: None,
            parent: None,
            after: vec![],
            needs: vec![],
            start_early: false,
            persona: None,
            verify: vec![],
            limits: crate::work::money::budget::BudgetLimits::default(),
            status: TaskStatus::Active,
            merged: None,
            reason: None,
            created_at: Timestamp::UNIX_EPOCH,
        };
        state.restorable.tasks.insert(task.clone(), case);
        let work = AgentWork { iteration: 1, ..AgentWork::claimed(task.clone(), None, Timestamp::UNIX_EPOCH) };
        state.restorable.agents.insert(agent.clone(), Agent { id: agent.clone(), work: Some(work) });
        let (path, branch) = ("/a/.worktrees/ed-001-t".into(), RefName::branch("axiom/t"));
        state.restorable.workspaces.insert(task.clone(), Workspace { agent, path, branch: branch.clone(), base: oid() });
        let mut operation = JournaledOperation::new(OperationKind::Merge { task }, "merge t");
        for path in ["/a", "/a/.worktrees/ed-001-t"] {
            let commit = ValueChange::new(oid(), oid());
            operation.advances.push(BranchAdvance { path: path.into(), branch: branch.clone(), commit });
        }
        state.record.open = Some(OpenOperation { txn: OperationId::new("t1").unwrap(), operation, reversing: false });
        state
    }

    fn placed(how: RelocationCause) -> State {
        let at = |folder: &str| RepositoryLocation { common_dir: format!("{folder}/.git"), worktree: Some(folder.into()) };
        let mut state = busy();
        state.place(&RepositoryRelocation { how, from: at("/a"), to: at("/b") }, 7);
        state
    }

    fn advances(state: &State) -> Vec<&str> {
        state.record.open.as_ref().unwrap().operation.advances.iter().map(|one| one.path.as_str()).collect()
    }

    #[test]
    fn what_was_moved_goes_on_where_it_is() {
        for how in [RelocationCause::Moved, RelocationCause::Restored] {
            let state = placed(how);
            assert_eq!(state.restorable.workspaces["t"].path, "/b/.worktrees/ed-001-t");
            assert_eq!(state.restorable.tasks["t"].status, TaskStatus::Active);
            assert!(state.busy_agents().next().is_some());
            assert_eq!(advances(&state), ["/b", "/b/.worktrees/ed-001-t"]);
            assert_eq!(state.record.placings[0].seq, 7);
        }
    }

    #[test]
    fn a_copy_has_the_plan_and_none_of_the_work_under_way() {
        let state = placed(RelocationCause::Copied);
        assert!(state.restorable.workspaces.is_empty() && state.busy_agents().next().is_none());
        assert_eq!(state.restorable.tasks["t"].status, TaskStatus::Pending);
        assert_eq!(advances(&state), ["/b"], "what is finished or reversed is the copy's own main worktree");
    }
}
