//! The formats of a repository: the hash of its ids, and how refs are stored.

use axiom_base::error::{Code, Error, Result};

/// The hash function of object ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashKind {
    /// 40 hex digits.
    Sha1,
    /// 64 hex digits.
    Sha256,
}

impl HashKind {
    /// The length of an id in bytes; it has twice as many hex digits.
    pub(crate) fn bytes(self) -> usize {
        self.gix().len_in_bytes()
    }

    /// The hash in gix's type.
    pub(crate) fn gix(self) -> gix::hash::Kind {
        match self {
            Self::Sha1 => gix::hash::Kind::Sha1,
            Self::Sha256 => gix::hash::Kind::Sha256,
        }
    }

    /// The hash of these bytes by themselves: what git writes at the end of its own files.
    pub(crate) fn digest(self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut hasher = gix::hash::hasher(self.gix());
        hasher.update(bytes);
        let failed = |e| Error::new(Code::GitFailed, "cannot make a digest").because(e);
        Ok(hasher.try_finalize().map_err(failed)?.as_slice().to_vec())
    }
}

/// The storage format of refs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefFormat {
    /// Loose files and `packed-refs`.
    Files,
    /// Reftable: only git itself may touch it.
    Reftable,
}
