//! Captures: the files, index and HEAD of a worktree as commits. None of the three is touched.
//!
//! Going back to a capture is in `restore`; the refs that keep captures are in `checkpoint`.
//!
//! Begin reading with `worktree`. `fast` captures an ordinary worktree with few calls of git.

pub(super) mod as_time_allows;
pub(super) mod capture_cache;
pub(super) mod captured;
pub(super) mod content_search;
pub(super) mod coverage;
pub(super) mod extras;
pub(super) mod extras_merge;
pub(super) mod fast;
pub(super) mod file_blob_cache;
pub(super) mod file_differences;
pub(super) mod file_stat;
pub(super) mod gaps;
pub(super) mod ignored_held;
pub(super) mod kept_files;
pub(super) mod lfs_store;
pub(super) mod lost_contents;
pub(super) mod named_ignored;
pub(super) mod named_objects;
pub(super) mod never_content;
pub(super) mod parts;
pub(super) mod permissions;
pub(super) mod present_hashes;
pub(super) mod private;
pub(super) mod raw;
pub(super) mod raw_file;
pub(super) mod rewrite;
pub(super) mod round_trip;
pub(super) mod round_trip_cache;
pub(super) mod sequencer;
pub(super) mod sequencer_refs;
pub(super) mod sorted_ignored;
pub(super) mod staged_blobs;
pub(super) mod staged_paths;
pub(super) mod stat_moment;
#[cfg(test)]
pub(super) mod tests;
pub(super) mod tree_ignores;
pub(super) mod worktree;
