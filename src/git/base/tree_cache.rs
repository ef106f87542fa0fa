//! Trees that were read, in memory: one operation compares, counts and edits the same folders several times, and most of the
//! cost is inflating them. That a tree is kept here does not mean that the repository still has it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::tree_change::TreeDiffCache;

/// How many bytes of trees are kept.
const ROOM: usize = 16 * 1024 * 1024;

/// What a `Repository` remembers of trees.
#[derive(Debug, Default)]
pub(crate) struct RememberedTrees {
    pub(crate) contents: TreeCache,
    pub(crate) diffs: TreeDiffCache,
}

/// The trees that were read last.
#[derive(Debug, Default)]
pub(crate) struct TreeCache(Mutex<CachedTrees>);

#[derive(Debug, Default)]
struct CachedTrees {
    trees: HashMap<gix::ObjectId, Arc<[u8]>>,
    bytes: usize,
}

impl TreeCache {
    pub(crate) fn get(&self, id: &gix::oid) -> Option<Arc<[u8]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).trees.get(id).cloned()
    }

    /// Where there is no more room, all others go.
    pub(crate) fn keep(&self, id: gix::ObjectId, content: Arc<[u8]>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + content.len() > ROOM {
            *kept = CachedTrees::default();
        }
        if content.len() <= ROOM {
            kept.bytes += content.len();
            if let Some(known) = kept.trees.insert(id, content) {
                kept.bytes -= known.len();
            }
        }
    }
}
