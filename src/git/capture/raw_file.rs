//! A file of which a capture keeps the bytes beside its blob.

use serde::{Deserialize, Serialize};

use axiom_model::base::lfs_pointer::LfsPointer;
use axiom_model::base::names::{Oid, RepoPath};

/// The largest file whose bytes are kept: a restore holds them in memory.
pub(crate) const RAW_LIMIT: u64 = 256 * 1024 * 1024;

/// A file whose bytes are kept in addition to its blob in the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawFile {
    /// Its path.
    pub path: RepoPath,
    /// Its blob in the tree.
    pub held_as: Oid,
    /// The blob with its bytes.
    pub oid: Oid,
    /// Of a Git LFS file: what its pointer names. Then the blob is the pointer, and the bytes are in our own store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lfs: Option<LfsPointer>,
}

impl RawFile {
    /// How many bytes it may have. Where they are the only form in which the file is held, there is no limit.
    pub(crate) fn largest(&self) -> u64 {
        if self.held_as == self.oid { u64::MAX } else { RAW_LIMIT }
    }
}
