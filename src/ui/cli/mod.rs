//! The terminal: output, prompts, error reports.
//!
//! The verbs' names, arguments and effects are not here but in `commands`. Begin reading with `screen`.

pub mod document;
pub mod keys;
pub mod prompt;
pub mod report;
pub mod screen;
pub mod visible;
pub mod words;
