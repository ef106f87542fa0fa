//! Objects that a power loss took: found once after each boot, put apart, and written again where something still has what was in
//! them.
//!
//! Begin reading with `loose_check`.

pub(super) mod loose_check;
mod lost_tree_search;
pub(super) mod lost_trees;
mod unneeded_objects;
