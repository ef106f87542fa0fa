//! How a checkpoint is stored in git: its refs, its tag, its notes, long texts, and the local refs that it holds.
//!
//! The captures themselves are in `capture`.
//!
//! Begin reading with `refs`.

pub(super) mod held_packed;
pub(super) mod held_ref_group;
pub(super) mod held_refs;
pub(super) mod held_refs_back;
pub(super) mod notes;
pub(super) mod notes_history;
pub(super) mod packed_cache;
pub(super) mod record;
pub(super) mod refs;
pub(super) mod rewrite;
pub(super) mod tag;
pub(super) mod tag_notes;
pub(super) mod texts;
