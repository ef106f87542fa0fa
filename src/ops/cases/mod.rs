//! Cases: added, changed, imported, put out of the way.
//!
//! What may be changed is decided in `domain::work`.
//!
//! Begin reading with `edit`.

pub mod edit;
pub mod import;
pub mod texts;
