//! Checkpoints: their documents and records, which of them are kept, and what they hold in addition to files. Pure.
//!
//! Rolling back to a checkpoint is in `operation`.
//!
//! Begin reading with `document`.

pub mod availability;
pub mod branch_config;
pub mod catalog;
pub mod coverage;
pub mod document;
pub mod known_scope;
pub mod local_refs;
pub mod marks;
pub mod older_checkpoints;
pub mod purge;
pub mod reading_budget;
pub mod record;
pub mod stamp;
pub mod submodules;
pub mod trigger;
pub mod word_finder;
