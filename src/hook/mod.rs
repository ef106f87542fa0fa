//! What a repository brings with it and what may run: the project's files below `.axiom/` and this clone's own hooks, and
//! which of them a human approved.
//!
//! When something is asked for or run is not decided here. Begin reading with `project_files`.

pub mod approvals;
pub mod difference;
pub mod project_files;
