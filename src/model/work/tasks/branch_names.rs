//! The names of the branches of tasks.

use crate::base::ids::TaskId;
use crate::base::names::RefName;
use crate::base::own_names::BRANCHES;

/// The name of a task's branch.
pub fn branch_of(task: &TaskId) -> RefName {
    RefName::branch(&format!("axiom/{task}"))
}

/// The task with this branch, if the name is one of a task's branch.
pub fn task_of(branch: &RefName) -> Option<TaskId> {
    branch.as_str().strip_prefix(BRANCHES).and_then(|id| TaskId::new(id).ok())
}
