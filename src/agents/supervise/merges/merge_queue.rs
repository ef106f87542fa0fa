//! The merges of a session, and what is known of each while it waits.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use super::conflict_gone::SeenInConflict;
use super::merged_by_hand::SeenApart;
use super::undone_gate::SeenUndone;
use crate::merge::merge_verification::RunningMergeCheck;
use crate::supervise::core::SessionCore;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::work::endings::failures::SharedSessionStep;
use axiom_model::work::gates::gate::GateKind;

/// The merges of a session: one is verified at a time, since each changes the others.
#[derive(Debug, Default)]
pub(crate) struct MergeQueue {
    /// The merge whose result is being verified.
    pub(crate) merge_check: Option<RunningMergeCheck>,
    /// How many times in a row the merge of a task had changed when its verification ended.
    pub(crate) verified_again: HashMap<TaskId, u32>,
    /// Tasks that a human lets be merged although stash entries went.
    pub(crate) stash_accepted: HashSet<TaskId>,
    /// Tasks whose merge was tried again since the project's files are approved by now: once each.
    pub(crate) tried_since_approved: HashSet<TaskId>,
    /// Branches of tasks that are not in the target.
    pub(crate) seen_apart: SeenApart,
    /// Conflicts that a human was asked to settle.
    pub(crate) seen_in_conflict: SeenInConflict,
    /// Gates of undone merges that were looked at.
    pub(crate) seen_undone: SeenUndone,
    /// The last look at what is in the way of the merge of a task.
    pub(crate) way_looked_at: HashMap<TaskId, LookAtTheWay>,
}

/// A look at what is in the way of a merge.
#[derive(Debug)]
pub(crate) struct LookAtTheWay {
    /// When it was looked.
    pub at: Instant,
    /// What the gate said, where nothing was in the way any more and the merge was tried again.
    pub tried: Option<String>,
}

impl MergeQueue {
    /// What waited for the merge of a task waits no longer.
    pub(crate) fn is_merged(&mut self, core: &mut SessionCore<'_>, task: &TaskId) -> Result<()> {
        core.desk.close_gate(GateKind::Merge, task, "merged")?;
        core.desk.close_gate(GateKind::HumanReview, task, "merged")?;
        self.verified_again.remove(task);
        self.stash_accepted.remove(task);
        // What could not be put aside before is tried again with it.
        core.failures.no_standstill(SharedSessionStep::Workspaces);
        Ok(())
    }
}
