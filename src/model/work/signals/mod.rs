//! What an agent reports of its own accord. Begin reading with `signal`.

pub mod learning_scope;
mod marker_after_signal;
pub mod markers;
pub mod report_parts;
pub mod reports;
pub mod signal;
pub(in crate::work) mod signal_json;
pub mod signal_queue;
pub mod signal_summary;
