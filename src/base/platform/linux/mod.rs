//! Linux. Where a kernel is too old for a call, or a sandbox forbids it, the portable way is taken.

pub(super) mod folders;
pub(super) mod machine;
pub(super) mod processes;
pub(super) mod syncing;
pub(super) mod watching;

pub(super) use super::portable::attributes;
