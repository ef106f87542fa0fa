//! What a `Repository` remembers of merges in which programs ran. What fills it is in `history::merge_cache`.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use super::marked_merge::{MarkedMerge, MergeToRun};

/// A merge, and what came of it.
#[derive(Debug, Clone)]
pub struct CachedMerge {
    pub(crate) asked: MergeToRun,
    pub(crate) merge: MarkedMerge,
}

/// What a repository knows of such merges.
#[derive(Debug, Default)]
pub(crate) struct MergeCache {
    pub(crate) known: Mutex<Vec<CachedMerge>>,
    pub(crate) runs_aside: AtomicBool,
    pub(crate) to_run: Mutex<Option<MergeToRun>>,
    pub(crate) given_up: Mutex<Option<Arc<AtomicBool>>>,
}
