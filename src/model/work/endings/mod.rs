//! What follows from the end of an iteration, of a step of the session, of a merge. Begin reading with `outcome`.

pub mod after_iteration;
pub mod conflict;
pub mod conflict_markers;
pub mod delay;
pub mod failures;
pub mod last_run;
pub mod outcome;
pub mod resuming;
