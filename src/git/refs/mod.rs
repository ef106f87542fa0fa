//! Refs: reading and listing them, and changing them by compare-and-swap.
//!
//! Which refs a checkpoint holds is in `checkpoint`.
//!
//! Begin reading with `read` and `edits`, which every change goes through; `own_refs` is a faster way for refs of git axiom.

pub(super) mod bundle;
pub(super) mod concurrent_gc;
pub(super) mod edits;
pub(super) mod head;
pub(super) mod listing;
pub(super) mod local;
pub(super) mod other_roots;
pub(super) mod own_refs;
pub(super) mod packed;
pub(super) mod packed_lines;
pub(super) mod read;
pub(super) mod ref_folders;
mod rehearsed;
pub(super) mod stash;
pub(super) mod submodule_transfer;
pub(super) mod tips;
