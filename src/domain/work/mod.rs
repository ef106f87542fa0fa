//! Tasks and the agents that work on them: groups, sessions, gates, signals, outcomes, verification, guarded files, and what a rollback
//! restores of them. Pure. What is asked of a whole state (which task is next) is in `queries`, how events change it in `state`.
//!
//! Begin reading with `task`, then `agent` and `outcome`.

pub mod agent;
pub mod agent_check;
pub mod amounts;
pub mod branch_names;
pub mod budget;
pub mod checks;
pub mod commit_marks;
pub mod conflict;
pub mod conflict_markers;
pub mod crash_answer;
pub mod delay;
pub mod disk;
pub mod failures;
pub mod gate;
pub mod guarded;
pub mod hook_event;
pub mod hook_run;
pub mod iteration;
pub mod iteration_marker;
pub mod last_run;
pub mod learnings;
pub mod ledger;
pub mod lock;
pub mod masked;
pub mod outcome;
pub mod pending_answer;
pub mod reports;
pub mod restorable_changes;
pub mod restorable_state;
pub mod resuming;
pub mod session;
pub mod session_time;
pub mod signal;
pub(super) mod signal_json;
pub mod signal_queue;
pub mod signal_summary;
pub mod spending;
pub mod supervisor_activity;
pub mod task;
pub mod usd;
pub mod verification;
pub mod wip;
