//! The rules of git axiom, as types and pure functions. Nothing here reads a file, a clock, a process or a repository: callers pass
//! in what they have read. The rooms are floors: each knows only those below it in this table, and a test holds them to it.
//!
//! | folder | what lives there |
//! | --- | --- |
//! | `picture`, `hook` | the picture of a history; which hooks are due, and what they are given |
//! | `permission` | what an agent may do without a question |
//! | `attach`, `program_hooks` | agents that a human runs; our hooks in the files of their programs |
//! | `operation` | what rollback, undo and the rollback of a task change, and how that is shown |
//! | `prompt` | what agents and validators are given to read |
//! | `queries` | questions over a whole state: what is ready, what a group amounts to, what may expire |
//! | `state` | the events, and the state that they change |
//! | `recovery`, `planning` | what follows from a crash; how a goal becomes tasks |
//! | `journal` | what events say of an operation before it changes anything |
//! | `checkpoint`, `verbs` | what a checkpoint records; the table of verbs |
//! | `acp` | lines of the Agent Client Protocol |
//! | `work` | tasks, agents, gates, sessions, what was reported and verified |
//! | `agent` | agent programs, and what their output says |
//! | `base` | ids, names, texts, times |
//!
//! Begin reading with `work` and `state`.

pub mod acp;
pub mod agent;
pub mod attach;
pub mod base;
pub mod checkpoint;
pub mod hook;
pub mod journal;
pub mod operation;
pub mod permission;
pub mod picture;
pub mod planning;
pub mod program_hooks;
pub mod prompt;
pub mod queries;
pub mod recovery;
pub mod state;
pub mod verbs;
pub mod work;
