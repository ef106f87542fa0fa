//! The gate at which a merge waits that was undone: a session has it show the guarded files, which an undo does not look for.

use super::seen_tips::{SeenTips, tips};
use crate::merge;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::setup::SessionSetup;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::work::gates::gate::{Gate, GateKind};

/// The tips at which the gate of an undone merge had nothing to show.
#[derive(Debug, Default)]
pub(crate) struct SeenUndone(SeenTips);

impl SeenUndone {
    /// The gate of a task as it shows the guarded files that its merge changes, where it is that of an undone merge and shows none yet.
    pub(crate) fn shows(&mut self, desk: &SessionDesk<'_>, setup: &SessionSetup, task: &TaskId) -> Result<Option<Gate>> {
        let asks = |gate: &&Gate| gate.is_of_undone_merge() && gate.decision.is_none() && gate.guarded.is_none();
        let Some(gate) = desk.gate(GateKind::Merge, task).filter(asks) else { return Ok(None) };
        let Some(tips) = tips(desk.ctx, setup, task)?.filter(|tips| !self.0.knows(task, tips)) else { return Ok(None) };
        // What fails here fails when it is merged too, and is told then.
        let shows = merge::undone_showing(desk.ctx, gate).unwrap_or_default();
        if shows.is_none() {
            self.0.note(task, tips);
        }
        Ok(shows)
    }
}
