//! What every operation works with, and where: the repository, the store, the configuration, who is asking.
//!
//! What is then done is in the rooms of the verbs.
//!
//! Begin reading with `handle`.

pub mod configure;
pub mod handle;
pub mod ownership;
pub mod placement;

pub use crate::git::Repository;
