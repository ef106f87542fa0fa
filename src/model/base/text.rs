//! Texts of tasks and of the audit: short ones are in the event, long ones are blobs kept by `refs/axiom/texts`.

use serde::{Deserialize, Serialize};

use super::names::Oid;

/// Texts longer than this many bytes are stored as blobs, so that snapshots and checkpoints stay small.
pub const INLINE_LIMIT: usize = 1024;

/// The longest text that is accepted, in bytes.
pub const MAX_TEXT: usize = 16 * 1024 * 1024;

/// A text, or the blob that holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TextOrBlob {
    /// The text itself, at most [`INLINE_LIMIT`] bytes.
    Inline(String),
    /// A blob that `refs/axiom/texts` keeps alive.
    Stored {
        /// The blob.
        blob: Oid,
        /// Its length in bytes.
        size: u64,
    },
}

/// An old and a new value. A change expects to find the old one, and undo swaps the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueChange<T> {
    /// The old value; the change is refused where the value is another one.
    pub old: T,
    /// The new value.
    pub new: T,
}

impl<T> ValueChange<T> {
    /// A change from `old` to `new`.
    pub fn new(old: T, new: T) -> Self {
        Self { old, new }
    }

    /// The change that undoes this one.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { old: self.new, new: self.old }
    }
}
