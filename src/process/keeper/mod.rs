//! The keeper's side: it owns one agent program from its start to the record of its end, and writes the files of the run
//! (`run_folder`).
//!
//! The processes that send it requests are in `client`.
//!
//! Begin reading with `owner`, then `run`.

mod acp;
pub(super) mod agent;
mod finding_us;
pub mod output;
pub mod owner;
mod recorded_keeper;
pub(super) mod run;
pub mod spool;
pub mod step_keeper;
pub mod stream;
