//! What knows no repository: plain types, what is at one path, how git wants things to be written, and what a `Repository`
//! remembers. All other rooms of `git` stand on it.

pub(super) mod flat;
pub mod limits;
pub(super) mod loose;
pub(super) mod waiting_objects;
