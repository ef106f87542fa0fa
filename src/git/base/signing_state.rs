//! What a `Repository` remembers of commits that are signed, or have to be signed. What fills it is in `history::signing`.

use std::collections::HashMap;

use super::object_kind::ObjectKind;
use axiom_model::base::names::Oid;

/// The content of a commit, without author, committer and time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct UnsignedCommit {
    pub(crate) tree: Oid,
    pub(crate) parents: Vec<Oid>,
    pub(crate) message: String,
}

/// A commit that has to be signed, with the objects that it refers to: they may not be in the object database yet.
#[derive(Debug)]
pub struct PendingSignature {
    pub(crate) said: UnsignedCommit,
    pub(crate) objects: Vec<(ObjectKind, Vec<u8>)>,
}

/// The state of signing in this process.
#[derive(Debug, Default)]
pub struct SigningState {
    /// Whether the caller can have commits signed.
    pub(crate) wanted: bool,
    pub(crate) signed: HashMap<UnsignedCommit, Vec<u8>>,
    pub(crate) to_sign: Option<PendingSignature>,
}
