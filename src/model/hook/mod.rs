//! Hooks: the events that a project's own programs are run at, what such a program is told, and the record of a run. Pure.
//!
//! Which files are hooks is in `safety::project_hooks`, running them in `safety::running::hooks`. Begin reading with `event`.

pub mod due;
pub mod facts;
