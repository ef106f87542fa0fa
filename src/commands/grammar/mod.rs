//! The grammar of the command line: options of each verb, what a verb is called, manual pages, completion.
//!
//! What a verb does is in its own file beside this room.
//!
//! Begin reading with `arguments`.

pub mod arguments;
pub mod candidates;
pub mod complete;
pub mod consent;
pub mod later;
pub mod pages;
pub mod spoken;
