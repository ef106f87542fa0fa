//! What is run for a project: verify steps, personas, hooks; and what they print. Begin reading with `steps`.

pub mod acp_settings;
pub mod hooks;
pub mod output;
pub mod programs;
pub mod run_end;
pub mod steps;
pub mod telling;
pub mod wait_observer;
