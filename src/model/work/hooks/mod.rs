//! Events of the user's hooks, and their runs.

pub mod hook_event;
pub mod hook_run;
