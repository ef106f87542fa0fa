//! The words of DESIGN made types, and every decision as a pure function.
//!
//! Nothing here reads a file, a clock, a process or a repository.

pub mod base;
pub mod checkpoint;
pub mod operation;
pub mod state;
pub mod work;
