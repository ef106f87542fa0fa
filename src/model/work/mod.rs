//! Tasks and the agents that work on them: groups, sessions, gates, signals, outcomes, verification, guarded files, and what a rollback
//! restores of them. Pure. What is asked of a whole state (which task is next) is in `queries`, how events change it in `state`.
//!
//! Begin reading with `task`, then `agent` and `outcome`.

pub mod agent;
pub mod endings;
pub mod gates;
pub mod guarded;
pub mod hooks;
pub mod iteration;
pub mod iteration_marker;
pub mod money;
pub mod permissions;
pub mod restorable;
pub mod sessions;
pub mod signals;
pub mod tasks;
pub mod usd;
pub mod verifying;
