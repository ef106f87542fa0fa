//! What every Unix has. Built and tested on Linux with `AXIOM_SYSTEM=portable`; the other systems fall back to parts of it.

#![cfg_attr(not(axiom_system = "portable"), allow(dead_code))]

pub(super) mod attributes;
pub(super) mod folders;
pub(super) mod machine;
pub(super) mod processes;
pub(super) mod syncing;
pub(super) mod watching;
