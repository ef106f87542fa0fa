//! The texts of agent programs' own configuration files, and our hooks in them: put in, found again, cut out, by edits of spans, so
//! that everything else stays byte for byte. Pure. `recipe` is the table of programs, `edit` the changes, `spans` how JSON is read;
//! `skill` is what agents are told; `switches` says what keeps hooks that are there from being called; `plugins` are the files of
//! `hooks/plugins`.
//!
//! Begin reading with `edit`.

pub mod command;
pub mod edit;
pub mod plugin_commands;
pub mod plugins;
pub mod recipe;
pub mod skill;
pub mod spans;
pub mod switches;
