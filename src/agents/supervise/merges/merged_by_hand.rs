//! Work that a human merged with git itself, while its merge still waited for an answer: then nothing is left to ask.

use super::seen_tips::{SeenTips, tips};
use crate::supervise::setup::SessionSetup;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_safety::context::handle::Context;

/// The tips at which a task's branch was last seen not to be in the target: a look may walk the whole history.
#[derive(Debug, Default)]
pub(crate) struct SeenApart(SeenTips);

impl SeenApart {
    /// Whether the target has all of a task's commits by now. Without any commit there is nothing that could have been merged.
    pub(crate) fn is_merged_by_hand(&mut self, ctx: &Context, setup: &SessionSetup, task: &TaskId) -> Result<bool> {
        let Some(tips) = tips(ctx, setup, task)? else { return Ok(false) };
        let base = ctx.state().restorable.workspaces.get(task).map(|place| &place.base);
        if base == Some(&tips.0) || self.0.knows(task, &tips) {
            return Ok(false);
        }
        let is_in = ctx.repo.history().is_ancestor(&tips.0, &tips.1)?;
        if !is_in {
            self.0.note(task, tips);
        }
        Ok(is_in)
    }
}
