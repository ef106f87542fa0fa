//! The words of DESIGN made types, and every decision as a pure function.
//!
//! Nothing here reads a file, a clock, a process or a repository.

pub mod adapter;
pub mod agent;
pub mod apply;
pub mod audit;
pub mod branch_config;
pub mod case;
pub mod checkpoint;
pub mod commit_marks;
pub mod event;
pub mod gate;
pub mod gate_line;
pub mod graph;
pub mod ids;
pub mod known_paths;
pub mod line_ends;
pub mod listed;
pub mod local_refs;
pub mod names;
pub mod natural;
pub mod nearest;
pub mod operation;
pub mod outcome;
pub mod path_set;
pub mod place;
pub mod plural;
pub mod project;
pub mod prompt;
pub mod ready;
pub mod retention;
pub mod rollback;
pub mod session;
pub mod signal;
mod signal_json;
pub mod state;
pub mod task_branches;
pub mod task_rollback;
pub mod text;
pub mod times;
pub mod touched;
pub mod transaction;
pub mod undo;
pub mod verification;
pub mod view;
pub mod wedge;
