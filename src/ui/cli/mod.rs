//! The terminal: output, prompts, error reports.
//!
//! The verbs' names, arguments and effects are not here but in `commands`. Begin reading with `screen`.

pub mod document;
pub mod grid;
pub mod keys;
pub mod patch;
pub mod prompt;
pub mod report;
pub mod screen;
pub mod screen_look;
pub mod styled;
pub mod table;
pub mod terminal_look;
pub mod visible;
pub mod words;
