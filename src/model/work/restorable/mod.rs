//! The part of the state that a rollback restores.

pub mod restorable_changes;
pub mod restorable_state;
pub mod standing_changes;
