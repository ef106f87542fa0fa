//! Which branches below `axiom/` git axiom made. A user's own branch may have the name of a task's branch: it is not merged,
//! moved or deleted.

use crate::work::tasks::branch_names::{branch_of, task_of};
use std::collections::BTreeSet;

use crate::base::names::RefName;
use crate::base::ref_change::RefChange;
use crate::state::current_state::State;
use crate::work::tasks::task::TaskKind;

impl State {
    /// Whether git axiom made this branch and has not deleted it since.
    pub fn made_branch(&self, name: &RefName) -> bool {
        let stands = |state: &Self| state.restorable.workspaces.values().any(|workspace| workspace.branch == *name);
        self.record.made_branches.as_ref().is_some_and(|made| made.contains(name)) || stands(self)
    }

    fn made_branches(&mut self) -> &mut BTreeSet<RefName> {
        self.record.made_branches.get_or_insert_default()
    }

    /// Records the branch of a new workspace.
    pub(crate) fn make_branch(&mut self, name: &RefName) {
        self.made_branches().insert(name.clone());
    }

    /// Branches of merged tasks are deleted.
    pub(crate) fn forget_branches(&mut self, names: &[RefName]) {
        self.made_branches().retain(|name| !names.contains(name));
        self.restorable.forget_branches(names);
    }

    /// Follows an operation that deleted branches, or brought back some of git axiom's.
    pub(crate) fn follow_branches(&mut self, refs: &[RefChange]) {
        self.restorable.follow_branches(refs);
        for change in refs {
            let Some(task) = task_of(&change.name) else { continue };
            let was_claimed = self.record.tasks.get(&task).is_some_and(|record| record.last_agent.is_some());
            match (&change.value.old, &change.value.new) {
                (_, None) => drop(self.made_branches().remove(&change.name)),
                (None, Some(_)) if was_claimed => self.make_branch(&change.name),
                (None | Some(_), Some(_)) => {}
            }
        }
    }

    /// For a new log from a source without a record of branches: treats all branches with names of known tasks as git
    /// axiom's. Otherwise recovered work would be ignored.
    pub(crate) fn take_branches_for_ours(&mut self) {
        if self.record.made_branches.is_none() {
            let tasks = self.restorable.tasks.values().filter(|task| task.kind == TaskKind::Task);
            self.record.made_branches = Some(tasks.map(|task| branch_of(&task.id)).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::TaskId;
    use crate::base::names::Oid;
    use crate::base::text::ValueChange;
    use crate::state::task_record::TaskRecord;

    #[test]
    fn a_branch_is_ours_from_the_moment_we_make_it_until_we_delete_it() {
        let (task, mut state) = (TaskId::new("t").unwrap(), State::default());
        let (branch, oid) = (branch_of(&task), Oid::new("1".repeat(40)).unwrap());
        assert!(!state.made_branch(&branch), "somebody else's, if there is one");
        state.make_branch(&branch);
        assert!(state.made_branch(&branch) && !state.made_branch(&RefName::branch("axiom/other")));
        let moved = |old: Option<&Oid>, new: Option<&Oid>| {
            vec![RefChange { name: branch.clone(), value: ValueChange::new(old.cloned(), new.cloned()) }]
        };
        state.follow_branches(&moved(Some(&oid), None));
        assert!(!state.made_branch(&branch), "who makes one of that name now is somebody else");
        state.follow_branches(&moved(None, Some(&oid)));
        assert!(!state.made_branch(&branch), "nobody ever worked on it");
        let record = TaskRecord { last_agent: Some(crate::base::ids::AgentId::new("ed-001").unwrap()), ..TaskRecord::default() };
        state.record.tasks.insert(task, record);
        state.follow_branches(&moved(None, Some(&oid)));
        assert!(state.made_branch(&branch), "an undo brought it back");
    }
}
