//! What a session was begun with.

pub mod last_options;
pub(crate) mod options;
pub mod target;

use options::SupervisorOptions;

use axiom_base::error::{Code, Error, Result};
use axiom_base::files::FileLock;
use axiom_model::base::names::RefName;
use axiom_safety::context::handle::Context;

/// What a session was begun with. Nothing of it changes while it lasts.
pub(crate) struct SessionSetup {
    pub(crate) options: SupervisorOptions,
    /// The branch that work is merged into; `None` without a session, when no task is begun or merged.
    pub(crate) target: Option<RefName>,
    /// Whether that is the branch of the linked worktree in which the session was begun.
    pub(crate) in_linked_worktree: bool,
    /// The lock of the session; `None` without one.
    pub(crate) lock: Option<FileLock>,
}

impl SessionSetup {
    /// The branch that work is merged into.
    pub(crate) fn target(&self) -> Result<&RefName> {
        self.target.as_ref().ok_or_else(|| Error::new(Code::Internal, "work without a session has no target"))
    }

    /// Whether the repository is not at its path any more: it was deleted, moved, or another one is there.
    pub(crate) fn is_gone(&self, ctx: &Context) -> bool {
        self.lock.as_ref().is_some_and(|lock| lock.is_off(&ctx.layout().locks().supervisor()))
    }
}
