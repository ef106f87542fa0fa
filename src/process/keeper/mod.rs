//! The keeper's side: it owns one agent program from its start to the record of its end, and writes the files of the run.
//!
//! The processes that send it requests are in `client`.
//!
//! Begin reading with `owner`, then `run`.

mod acp;
pub(super) mod agent;
mod finding_us;
pub mod output;
pub mod owner;
pub mod record_files;
mod recorded_keeper;
pub mod records;
pub(super) mod run;
pub mod spec;
pub mod spool;
pub mod step_keeper;
pub mod stream;
