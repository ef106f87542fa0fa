//! What knows no repository: plain types, what is at one path, how git wants things to be written, and what a `Repository`
//! remembers. All other rooms of `git` stand on it.

pub(super) mod conflict_stage;
pub(super) mod flat_name;
pub(super) mod formats;
pub(super) mod head;
pub(super) mod known_packs;
pub mod limits;
pub(super) mod long_hash;
pub(super) mod loose;
pub(super) mod marked_merge;
pub(super) mod merge_cache;
pub(super) mod modes;
pub(super) mod object_kind;
pub(super) mod path_inspection;
pub(super) mod quoted_paths;
pub(super) mod readable;
pub(super) mod signing_state;
pub(super) mod tree_cache;
pub(super) mod tree_change;
pub(super) mod tries;
pub(super) mod waiting_objects;
