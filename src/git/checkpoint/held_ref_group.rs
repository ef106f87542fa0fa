//! Refs that a checkpoint holds: as they were written, and where those of the packed file are remembered.

use crate::refs::local::PackedRefsStat;
use axiom_model::base::names::{Oid, RefName};

/// The local refs as objects; nothing refers to them yet.
#[derive(Debug, Clone)]
pub struct HeldRefs {
    /// The folder `refs`.
    pub(crate) tree: Oid,
    /// Commits that keep the targets of the refs reachable.
    pub(crate) commits: Vec<Oid>,
    /// Refs that are not held, because an object is missing or the ref is not valid.
    pub not_held: Vec<RefName>,
    /// What may be cached of the packed refs.
    pub(crate) packed: Option<(PackedRefsStat, CachedPackedRefs)>,
}

/// Some refs, as objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HeldRefGroup {
    /// A tree with a folder for each bucket; `None` where there is no ref.
    pub tree: Option<Oid>,
    /// Commits that keep the targets of the refs reachable.
    pub commits: Vec<Oid>,
    /// Refs of which an object is missing.
    pub missing: Vec<RefName>,
}

/// The objects that hold the packed refs, and the digest of the names of loose refs, which may hide some of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct CachedPackedRefs {
    pub group: HeldRefGroup,
    pub hiding: String,
    pub source: PackedRefsSource,
}

/// The capture of a checkpoint that holds the objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackedRefsHolder {
    pub(super) name: RefName,
    pub(super) capture: Oid,
}

/// Where the objects that hold the packed refs come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum PackedRefsSource {
    /// From the cache: an earlier checkpoint holds them.
    Memory(PackedRefsHolder),
    /// Written just now, from a packed-refs file whose times distinguish it from any later version.
    File,
    /// Written just now, from a packed-refs file that may change again without its times changing; or there is no such file.
    #[default]
    NewFile,
}
