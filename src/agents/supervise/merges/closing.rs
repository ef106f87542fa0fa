//! Putting aside the workspaces of merged tasks, and deleting their branches, where that could not be done right after their merge: a
//! keeper that was just ending still held one, for example. The merge stands meanwhile, and nothing waits for it, except the end of
//! the session for a while.

use crate::merge;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::core::failures::StepFailures;
use axiom_base::error::Result;
use axiom_model::work::endings::failures::{MOST_TRIES, SessionStep, SharedSessionStep};

impl StepFailures {
    /// Puts aside what is left of merged tasks; returns whether anything was done. What cannot be put aside is tried again a few
    /// times, and then left for the next merge, or the start of the next session.
    pub(crate) fn put_merged_aside(&mut self, desk: &mut SessionDesk<'_>) -> Result<bool> {
        let left = merge::cleanup::with_workspace(desk.ctx);
        if left.is_empty() {
            self.no_standstill(SharedSessionStep::Workspaces);
            return Ok(false);
        }
        if self.stands_still(SharedSessionStep::Workspaces) || self.failures_of(SharedSessionStep::Workspaces) >= MOST_TRIES {
            return Ok(false);
        }
        let mut did = false;
        for task in left {
            match desk.ctx.with_change_lock(|ctx| merge::cleanup::clean_up(ctx, &task)) {
                Ok(()) => did = true,
                Err(error) => {
                    self.stand_still(SharedSessionStep::Workspaces);
                    self.goes_on_without(
                        desk,
                        SessionStep::PutAside,
                        &format!("the workspace of {task} is not put aside yet"),
                        error,
                    )?;
                }
            }
        }
        Ok(did)
    }
}
