//! Tasks: adding, changing, importing and archiving them, and storing their texts.
//!
//! Not here: the rules on what may be changed; they are in `model::work`.
//!
//! Begin reading with `edit`.

pub mod edit;
pub mod import;
pub mod in_editor;
pub mod limits;
pub mod seen_state;
pub mod usage;
