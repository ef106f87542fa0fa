//! Refs: read, listed, and changed by compare-and-swap.
//!
//! What a checkpoint keeps of them is in `checkpoint`.
//!
//! Begin reading with `read` and `edits`, the way of every change; `own` is the fast way for refs of ours.

pub(super) mod edits;
pub(super) mod listing;
pub(super) mod local;
pub(super) mod own;
pub(super) mod packed;
pub(super) mod packed_lines;
pub(super) mod packed_memory;
pub(super) mod read;
pub(super) mod stash;
pub(super) mod tips;
