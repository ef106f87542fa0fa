//! What a task waits for before an agent begins with it.

use super::checks::check_length;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::queries::needs;
use axiom_model::work::tasks::task::{NeededReadyPoint, TaskDependency, TaskKind};

/// What a task waits for.
#[derive(Debug, Clone, Default)]
pub struct TaskPrerequisites {
    /// The tasks that must be done before it.
    pub after: Vec<TaskId>,
    /// What of them has to be ready, in place of their merged work.
    pub needs: Vec<NeededReadyPoint>,
    /// Whether an agent begins before that.
    pub start_early: bool,
}

impl TaskPrerequisites {
    /// What is named, as `TASK` or `TASK:NAME`.
    pub fn of(named: Vec<TaskDependency>, start_early: bool) -> Self {
        let (after, needs) = needs::split(named);
        Self { after, needs, start_early }
    }

    /// Checks that a task of this kind can wait for it.
    pub(super) fn check(&self, kind: TaskKind) -> Result<()> {
        if kind != TaskKind::Task && !self.needs.is_empty() {
            return Err(Error::new(Code::InvalidInput, format!("only a task waits for what is ready, not a {kind}"))
                .hint("--after ID    waits until all of it is merged"));
        }
        if self.start_early && self.needs.is_empty() {
            return Err(Error::new(Code::InvalidInput, "nothing says what the early start does not need")
                .hint("name it: --after TASK:NAME --start-early"));
        }
        check_length("needs", self.needs.len())
    }
}
