//! What a `Repository` remembers of merges in which programs ran. What fills it is in `history::merge_cache`.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use super::marked_merge::{MarkedMerge, MergeToRun};

/// A merge, and what came of it.
#[derive(Debug, Clone)]
pub struct CachedMerge {
    pub(in crate::git) asked: MergeToRun,
    pub(in crate::git) merge: MarkedMerge,
}

/// What a repository knows of such merges.
#[derive(Debug, Default)]
pub(in crate::git) struct MergeCache {
    pub(in crate::git) known: Mutex<Vec<CachedMerge>>,
    pub(in crate::git) runs_aside: AtomicBool,
    pub(in crate::git) to_run: Mutex<Option<MergeToRun>>,
    pub(in crate::git) given_up: Mutex<Option<Arc<AtomicBool>>>,
}
