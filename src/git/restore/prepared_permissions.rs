//! What prepared files were given, and what decided it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::ExtendedAttributes;

/// A prepared file that was given its permissions.
#[derive(Debug, Clone)]
pub(crate) struct PreparedPermissions {
    pub(super) given: PermissionSource,
    /// The file that it replaces, as it was then.
    pub(super) replaced: Option<ReplacedFile>,
}

/// A file that is replaced: what decides which permissions the new file gets.
#[derive(Debug, Clone)]
pub(super) struct ReplacedFile {
    pub place: PathBuf,
    pub meta: Metadata,
    pub attributes: ExtendedAttributes,
}

impl ReplacedFile {
    pub fn of(place: PathBuf, meta: Metadata) -> Result<Self> {
        let attributes = files::attributes(&place)?;
        Ok(Self { place, meta, attributes })
    }
}

impl PartialEq for ReplacedFile {
    fn eq(&self, other: &Self) -> bool {
        let of = |meta: &Metadata| (meta.dev(), meta.ino(), meta.mode(), meta.uid(), meta.gid());
        self.place == other.place && of(&self.meta) == of(&other.meta) && self.attributes == other.attributes
    }
}

/// Which permissions a prepared file was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermissionSource {
    /// None: a link has no permissions.
    Nothing,
    /// Those that the capture recorded.
    Recorded,
    /// Those of the file that it replaces.
    Replaced,
    /// Those that git gives: it replaces no file.
    New,
}
