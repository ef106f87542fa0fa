//! Programs: starting them, owning them (the keeper), ending them with all their descendants.
//!
//! Which program is started, and what its outcome means, is decided by whoever starts it.
//!
//! A keeper is a separate process between the supervisor and one agent program. The supervisor writes a [`KeeperSpec`] and
//! calls [`start_keeper`]. From then on it reads files ([`keeper_state`], [`read_signals`]) and sends requests through a
//! socket ([`client::control`]). If the supervisor dies, the keeper goes on. If the keeper dies, [`end_leftovers`] ends the
//! processes that it owned. Begin reading with `client`, then `keeper`.

pub mod client;
pub mod keeper;
pub mod os;
pub mod run_folder;

pub use client::launch::start_keeper;
pub use client::leftovers::end_leftovers;
pub use client::state::{IterationState, iteration_state, keeper_state, read_signals};
pub use run_folder::records::{EndCause, ExitRecord, KeeperRecord, KeeperState};
pub use run_folder::spec::KeeperSpec;

#[cfg(test)]
#[path = "../../tests/support/bound.rs"]
mod bound;
