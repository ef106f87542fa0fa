//! What plans and outcomes say in words, for people: before it is asked whether something is to be done, and after it was done.
//! The verbs, their questions and the panel take their words from here, so that the same thing is said in one way. Not here: JSON,
//! where the words are shown, and whether something is done.
//!
//! Begin reading with [`rollback`].

pub mod changes;
pub mod checkpoints;
pub mod counted_sections;
pub mod diff;
pub mod gates;
pub mod intervention_preview;
pub mod interventions;
pub mod learnings;
pub mod recovery;
pub mod reported;
pub mod rollback;
pub mod task_rollback;
pub mod trust;
pub mod undo;
pub mod verify_steps;
