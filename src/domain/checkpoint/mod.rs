//! Checkpoints: what is recorded of them, which are kept, what they hold beside files. Pure.
//!
//! Going back to one is in `operation`.
//!
//! Begin reading with `document`.

pub mod branch_config;
pub mod document;
pub mod known_paths;
pub mod local_refs;
pub mod retention;
