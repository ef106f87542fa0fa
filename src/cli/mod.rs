//! The terminal: output, prompts, error reports.
//!
//! What a verb is called and does is in `commands`.

pub mod document;
pub mod prompt;
pub mod report;
pub mod screen;
pub mod visible;
pub mod words;
