//! A task, the names and marks that it has in git, and what is said of it. Begin reading with `task`.

pub mod branch_names;
pub mod commit_marks;
pub mod learnings;
pub mod masked;
pub mod task;
pub mod wip;
