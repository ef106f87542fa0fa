//! States made from the log: kept beside it, rebuilt, checked. Begin reading with `handle`.

pub mod adopt;
pub mod anchors;
pub mod checkpoints;
pub mod handle;
pub mod inspect;
pub mod rebuild;
pub mod snapshot;
