//! Work that a human merged with git itself, while its merge still waited for an answer: then nothing is left to ask.

use super::seen_tips::{SeenTips, tips};
use crate::supervise::setup::SessionSetup;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::work::gates::gate::Gate;
use axiom_safety::context::handle::Context;

/// The tips at which a task's branch was last seen not to be in the target: a look may walk the whole history.
#[derive(Debug, Default)]
pub(crate) struct SeenApart(SeenTips);

impl SeenApart {
    /// Whether the target has all of a task's commits by now, which waits at this gate. Without any commit there is nothing that could have
    /// been merged; and what the target had when the merge was undone is not there again.
    pub(crate) fn is_merged_by_hand(
        &mut self,
        ctx: &Context,
        setup: &SessionSetup,
        (task, gate): (&TaskId, Option<&Gate>),
    ) -> Result<bool> {
        let Some(tips) = tips(ctx, setup, task)? else { return Ok(false) };
        let undone = gate.filter(|gate| gate.is_of_undone_merge()).map(|gate| gate.undone_at.as_ref());
        let base = ctx.state().restorable.workspaces.get(task).map(|place| &place.base);
        if base == Some(&tips.0) || undone == Some(None) || self.0.knows(task, &tips) {
            return Ok(false);
        }
        let history = ctx.repo.history();
        let had = undone.flatten().map_or(Ok(false), |at| history.is_ancestor(&tips.0, at))?;
        let is_in = !had && history.is_ancestor(&tips.0, &tips.1)?;
        if !is_in {
            self.0.note(task, tips);
        }
        Ok(is_in)
    }
}
