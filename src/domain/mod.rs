//! The rules of git axiom, as types and pure functions: ids and names (`base`), tasks, agents and gates (`work`), agent
//! programs and what their output says (`agent`), agents that a human runs (`attach`), checkpoints, operations, hooks (`hook`), how
//! a goal becomes tasks (`planning`), our hooks in the files of programs that a human runs (`program_hooks`), what follows from a
//! crash (`recovery`), the state that events change (`state`), and the table of verbs (`verbs`).
//!
//! Nothing here reads a file, a clock, a process or a repository: callers pass in what they have read. Begin reading with
//! `state` and `work`.

pub mod agent;
pub mod attach;
pub mod base;
pub mod checkpoint;
pub mod hook;
pub mod journal;
pub mod operation;
pub mod picture;
pub mod planning;
pub mod program_hooks;
pub mod prompt;
pub mod queries;
pub mod recovery;
pub mod state;
pub mod verbs;
pub mod work;
