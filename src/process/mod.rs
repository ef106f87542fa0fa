//! Programs: starting them, owning them (the keeper), ending them with all their descendants.
//!
//! What is started, and what its outcome means, is decided in `ops`, `git` and `hook`.
//!
//! A keeper is a process of its own between the supervisor and one agent program. The supervisor writes a
//! [`KeeperSpec`], calls [`start_keeper`], and from then on looks at files ([`keeper_state`],
//! [`read_signals`]) and asks through a socket ([`client::control`]). If it dies, nothing changes for the keeper. If the
//! keeper dies, [`end_leftovers`] ends what it owned.

pub mod client;
pub mod keeper;
pub mod os;

pub use client::launch::start_keeper;
pub use client::leftovers::end_leftovers;
pub use client::state::{keeper_state, read_signals};
pub use keeper::spec::{EndCause, ExitRecord, KeeperRecord, KeeperSpec, KeeperState};
