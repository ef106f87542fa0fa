//! macOS. Type-checked with the standard library of that target, and not yet tried on a Mac: what it cannot do better than the
//! portable modules it has from them.

pub(super) mod attributes;
pub(super) mod folders;
pub(super) mod machine;
mod of_kernel;
pub(super) mod processes;
pub(super) mod syncing;

pub(super) use super::portable::watching;
