//! Modes of entries of a tree.

/// Mode of a submodule's entry.
pub const GITLINK: u32 = 0o160_000;

/// Mode of a folder's entry.
pub const TREE: u32 = 0o040_000;

/// Mode of a symbolic link's entry.
pub const SYMLINK: u32 = 0o120_000;
