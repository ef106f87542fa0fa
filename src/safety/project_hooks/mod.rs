//! What a repository brings with it and what may run: the project's files below `.axiom/` and this clone's own hooks, and
//! which of them a human approved, which are hooks, and the folder that approved ones run from.
//!
//! When something is asked for or run is not decided here. Begin reading with `project_files`.

pub mod approvals;
pub mod approved_tree;
pub mod difference;
pub mod project_files;
pub mod samples;
pub mod selection;
