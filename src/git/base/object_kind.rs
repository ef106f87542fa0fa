//! The types of objects.

use crate::base::limits;

/// The type of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// Content of a file.
    Blob,
    /// A folder.
    Tree,
    /// A commit.
    Commit,
    /// An annotated tag.
    Tag,
}

impl ObjectKind {
    /// git's word for the type.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
            Self::Commit => "commit",
            Self::Tag => "tag",
        }
    }

    /// The largest size that is read; for blobs and tags the caller sets the limit.
    pub(crate) const fn limit(self) -> Option<u64> {
        match self {
            Self::Blob | Self::Tag => None,
            Self::Tree | Self::Commit => Some(limits::STRUCTURE),
        }
    }

    pub(crate) const fn in_gix(self) -> gix::objs::Kind {
        match self {
            Self::Blob => gix::objs::Kind::Blob,
            Self::Tree => gix::objs::Kind::Tree,
            Self::Commit => gix::objs::Kind::Commit,
            Self::Tag => gix::objs::Kind::Tag,
        }
    }
}
