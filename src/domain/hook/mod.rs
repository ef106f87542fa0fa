//! Hooks: the events that a project's own programs are run at, what such a program is told, and the record of a run. Pure.
//!
//! Which files are hooks is in `crate::hook`, running them in `ops::hooks`. Begin reading with `event`.

pub mod due;
pub mod facts;
