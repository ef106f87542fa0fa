//! Programs: starting them, owning them (the keeper), ending them with all their descendants.
//!
//! What is started, and what its outcome means, is decided in `ops`, `git` and `hook`.
//!
//! A keeper is a process of its own between the supervisor and one agent program. The supervisor writes a
//! [`spec::KeeperSpec`], calls [`launch::start_keeper`], and from then on looks at files ([`state::keeper_state`],
//! [`state::read_signals`]) and asks through a socket ([`control`]). If it dies, nothing changes for the keeper.

pub mod command;
pub mod spec;
pub mod state;
mod wire;

pub use spec::{EndCause, ExitRecord, KeeperRecord, KeeperSpec, KeeperState};
pub use state::keeper_state;
