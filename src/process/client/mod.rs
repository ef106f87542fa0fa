//! The supervisor's side: starting keepers and steps, sending them requests, reading their records.
//!
//! What an outcome means is in `model`.
//!
//! Begin reading with `launch` and `state`.

pub mod ask;
pub mod control;
pub mod keeper_ancestry;
pub mod launch;
pub mod leftovers;
pub mod proof_of_life;
pub mod state;
pub mod step;
