//! Which branches of tasks go with git axiom, and which stay.

use crate::base::names::RefName;

/// A branch below `axiom/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskBranch {
    /// Its name.
    pub name: RefName,
    /// Whether git axiom made it.
    pub made_by_us: bool,
    /// Whether the target has all its commits.
    pub is_merged: bool,
    /// Whether a worktree that stays uses it.
    pub is_used: bool,
}

/// What becomes of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskBranchFate {
    /// It is deleted: the target has its commits.
    Goes,
    /// It has commits that no other branch has.
    HasCommits,
    /// A worktree uses it.
    IsUsed,
    /// It is the user's.
    IsUsers,
}

impl TaskBranch {
    /// What becomes of it. Only a branch that we made, that nobody uses and whose commits the target has is deleted.
    pub const fn fate(&self) -> TaskBranchFate {
        match (self.made_by_us, self.is_merged, self.is_used) {
            (false, _, _) => TaskBranchFate::IsUsers,
            (true, false, _) => TaskBranchFate::HasCommits,
            (true, true, true) => TaskBranchFate::IsUsed,
            (true, true, false) => TaskBranchFate::Goes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_merged_branch_of_ours_that_nobody_uses_goes() {
        let fate = |made_by_us, is_merged, is_used| {
            TaskBranch { name: RefName::branch("axiom/t"), made_by_us, is_merged, is_used }.fate()
        };
        assert_eq!(fate(true, true, false), TaskBranchFate::Goes);
        assert_eq!(fate(true, true, true), TaskBranchFate::IsUsed);
        for is_used in [false, true] {
            assert_eq!(fate(true, false, is_used), TaskBranchFate::HasCommits);
            assert_eq!(
                (fate(false, true, is_used), fate(false, false, is_used)),
                (TaskBranchFate::IsUsers, TaskBranchFate::IsUsers)
            );
        }
    }
}
