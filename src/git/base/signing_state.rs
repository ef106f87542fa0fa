//! What a `Repository` remembers of commits that are signed, or have to be signed. What fills it is in `history::signing`.

use std::collections::HashMap;

use super::object_kind::ObjectKind;
use crate::domain::base::names::Oid;

/// The content of a commit, without author, committer and time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::git) struct UnsignedCommit {
    pub(in crate::git) tree: Oid,
    pub(in crate::git) parents: Vec<Oid>,
    pub(in crate::git) message: String,
}

/// A commit that has to be signed, with the objects that it refers to: they may not be in the object database yet.
#[derive(Debug)]
pub struct PendingSignature {
    pub(in crate::git) said: UnsignedCommit,
    pub(in crate::git) objects: Vec<(ObjectKind, Vec<u8>)>,
}

/// The state of signing in this process.
#[derive(Debug, Default)]
pub struct SigningState {
    /// Whether the caller can have commits signed.
    pub(in crate::git) wanted: bool,
    pub(in crate::git) signed: HashMap<UnsignedCommit, Vec<u8>>,
    pub(in crate::git) to_sign: Option<PendingSignature>,
}
