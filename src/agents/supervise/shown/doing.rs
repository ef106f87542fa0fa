//! What is being done in a repository besides the programs of agents, for `status` and the panel. A session writes it in `activity`.

use crate::plan;
use axiom_base::error::Result;
use axiom_model::work::sessions::supervisor_activity::SupervisorActivity;
use axiom_process::os::foreground;
use axiom_safety::context::handle::Context;

/// What is being done now in this repository, by its session, its planner, and verbs.
pub fn now(ctx: &Context) -> Result<Vec<SupervisorActivity>> {
    let mut all = axiom_store::beside::doing::read(ctx.layout(), foreground::is_alive);
    all.extend(plan::planner_doing(ctx)?);
    Ok(all)
}
