//! The grammar of the command line: the list of verbs, common options, the name of the called verb, manual pages,
//! completion.
//!
//! Each verb's own options and its code are in its file in the folder above.
//!
//! Begin reading with `arguments`.

pub mod arguments;
pub mod single_verb;

pub mod candidates;
pub mod complete;
pub mod consent;
pub mod lazy_args;
pub mod man_pages;
pub mod overview;
pub mod usage_error;
pub mod verb_name;
