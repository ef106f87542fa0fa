//! Programs: starting them, owning them (the keeper), ending them with all their descendants.
//!
//! What is started, and what its outcome means, is decided in `ops`, `git` and `hook`.
//!
//! A keeper is a process of its own between the supervisor and one agent program. The supervisor writes a
//! [`spec::KeeperSpec`], calls [`launch::start_keeper`], and from then on looks at files ([`state::keeper_state`],
//! [`state::read_signals`]) and asks through a socket ([`control`]). If it dies, nothing changes for the keeper. If the
//! keeper dies, [`leftovers::end_leftovers`] ends what it owned.

mod agent;
pub mod command;
pub mod control;
pub mod detached;
mod family;
pub mod finish_first;
mod hold;
pub mod keeper;
pub mod kept;
pub mod launch;
pub mod leftovers;
pub mod limits;
pub mod marked;
pub mod output;
mod run;
pub mod spec;
pub mod spool;
pub mod state;
pub mod step;
pub mod step_keeper;
mod sys;
mod wire;

pub use launch::start_keeper;
pub use leftovers::end_leftovers;
pub use spec::{EndCause, ExitRecord, KeeperRecord, KeeperSpec, KeeperState};
pub use state::{keeper_state, read_signals};
