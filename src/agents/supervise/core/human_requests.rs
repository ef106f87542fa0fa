//! Requests of verbs to a session, as far as they are under way.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use super::running_hooks::RunningHooks;
use axiom_model::base::ids::{RequestId, TaskId};
use axiom_safety::context::handle::Context;

/// What is known of requests while a session lasts.
#[derive(Debug)]
pub(crate) struct HumanRequests {
    /// Requests to send an agent elsewhere, about which hooks are asked first.
    pub(crate) redirects: HashMap<RequestId, RunningHooks>,
    /// Tasks that hooks have let start when they were asked before an agent was sent there.
    pub(crate) may_start: HashSet<TaskId>,
    /// When it was last looked whether a human asks for something.
    pub(crate) looked_at_log: Instant,
}

impl HumanRequests {
    pub(crate) fn new() -> Self {
        Self { redirects: HashMap::new(), may_start: HashSet::new(), looked_at_log: Instant::now() }
    }

    /// Whether there is a request that was not looked at, or that waits for nothing: one about which a hook is asked waits.
    pub(crate) fn are_open(&self, ctx: &Context) -> bool {
        ctx.state().record.requests.keys().any(|id| !self.redirects.contains_key(id))
    }
}
