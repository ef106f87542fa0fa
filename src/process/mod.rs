//! Programs: starting them, owning them (the keeper), ending them with all their descendants.
//!
//! What is started, and what its outcome means, is decided in `ops`, `git` and `hook`.

pub mod command;
