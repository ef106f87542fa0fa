//! Moving files and folders without replacing anything. Begin reading with `moves`.

pub(in crate::files) mod move_constraints;
pub(in crate::files) mod moves;
pub(in crate::files) mod piecewise_move;
pub(in crate::files) mod whole_move;
