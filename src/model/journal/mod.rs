//! What events say of an operation: the changes that it journals before it makes them. Pure data, with what follows from it alone;
//! how a state takes it is in `state`, what an undo or a rollback makes of it in `operation`.
pub mod journaled;
pub mod journaled_changes;
