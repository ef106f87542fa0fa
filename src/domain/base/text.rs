//! Texts of cases and audit: short ones stand in the event, long ones are blobs below `refs/axiom/texts`.

use serde::{Deserialize, Serialize};

use super::names::Oid;

/// Texts longer than this many bytes are stored as blobs, so that snapshots and checkpoints stay small.
pub const INLINE_LIMIT: usize = 1024;

/// The longest text that is accepted, in bytes.
pub const MAX_TEXT: usize = 16 * 1024 * 1024;

/// A text, or where it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
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

/// An old and a new value: what undo inverts, and what each change expects to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change<T> {
    /// What it was; the change is refused where it is something else.
    pub old: T,
    /// What it becomes.
    pub new: T,
}

impl<T> Change<T> {
    /// A change from `old` to `new`.
    pub fn new(old: T, new: T) -> Self {
        Self { old, new }
    }

    /// The change that takes this one back.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { old: self.new, new: self.old }
    }
}
