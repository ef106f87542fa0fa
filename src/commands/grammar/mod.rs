//! The grammar of the command line: the list of verbs, common options, the name of the called verb, manual pages,
//! completion.
//!
//! Each verb's own options and its code are in its file in the folder above.
//!
//! Begin reading with `arguments`.

pub mod alone;
pub mod arguments;

pub mod candidates;
pub mod complete;
pub mod consent;
pub mod later;
pub mod pages;
pub mod spoken;
