//! What all systems have, and what the functions of each speak of.

pub(super) mod folders;
pub(super) mod machine;
pub(super) mod processes;
pub(super) mod watching;
