//! What every operation needs: the context (`handle`), the configuration, the place of the repository, who may write in it.
//!
//! Not here: the operations; they are in the other folders of this crate, and in `agents`.
//!
//! Begin reading with `handle`.

pub mod about;
pub mod approved_hooks;
pub mod config_files;
pub mod configure;
pub mod conflict_notes;
pub mod event_waiter;
pub mod handle;
pub mod kept_hooks;
pub mod ownership;
pub mod placement;
pub mod recorded_place;
pub mod session_hooks;
pub mod stand_in;
pub mod target;
pub mod trust;

pub use axiom_git::Repository;
