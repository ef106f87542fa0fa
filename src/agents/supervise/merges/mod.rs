//! Merges of a session: which task is merged next, its verification, and the gates where a merge waits.

pub(crate) mod closing;
pub(crate) mod conflict_gone;
pub(crate) mod conflicts;
pub(crate) mod merge_check;
pub(crate) mod merge_failing;
pub(crate) mod merge_gates;
pub(crate) mod merge_queue;
pub(crate) mod merged_by_hand;
pub(crate) mod merging;
pub(crate) mod seen_tips;
pub(crate) mod shared_stash;
pub(crate) mod undone_gate;
