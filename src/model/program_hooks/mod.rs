//! The texts of agent programs' own configuration files, and our hooks in them: put in, found again, cut out, by edits of spans, so
//! that everything else stays byte for byte. Pure. `recipe` is the table of programs, `edit` the changes, `spans` how JSON is read;
//! `skill` is what agents are told; `switches` says what keeps hooks that are there from being called; `plugins` are the files of
//! `hooks/plugins`. Editors that start agents through us: `acp_client`, and `agent_servers` in their files.
//!
//! Begin reading with `edit`.

pub mod acp_client;
pub mod agent_servers;
pub mod command;
pub mod edit;
pub mod plugin_commands;
pub mod plugins;
pub mod recipe;
pub mod skill;
pub mod spans;
pub mod switches;
