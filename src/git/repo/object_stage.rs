//! The objects of a `Repository` that are not yet in the object database. What brings them there is in `objects::stage`.

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use gix::odb::memory::Storage;

use super::stage_folder::StageFolder;
use crate::base::known_packs::FreshenState;
use crate::base::loose::loose_file;
use crate::base::waiting_objects::WaitingObjects;
use axiom_base::files;

/// The objects that this process writes or uses again.
#[derive(Debug, Default)]
pub(crate) struct WrittenObjects {
    /// The known packs, and the objects that were written.
    pub(crate) freshened: FreshenState,
    /// The new ones that are not yet in the object database.
    pub(crate) stage: OnceLock<ObjectStage>,
}

/// The objects that are not yet in the object database.
#[derive(Default)]
pub(crate) struct ObjectStage {
    pub(crate) waiting: Mutex<WaitingObjects>,
    /// Made when an object does not fit into memory, when git has to see one, or when they land.
    pub(crate) folder: OnceLock<StageFolder>,
    /// The objects that this process wrote, each after the objects that it refers to.
    pub(crate) written: Mutex<Vec<gix::ObjectId>>,
    /// The objects of packs that this process had git write.
    pub(crate) packed: Mutex<HashSet<gix::ObjectId>>,
    /// Whether the folder may hold objects that are not in `written`.
    pub(crate) by_git: AtomicBool,
    pub(crate) landing: Mutex<()>,
}

impl std::fmt::Debug for ObjectStage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").field("folder", &self.folder).finish_non_exhaustive()
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ObjectStage {
    /// Whether an object is in the stage.
    pub fn has(&self, id: &gix::oid) -> bool {
        let in_folder = |folder: &StageFolder| folder.opened().is_some() && loose_file(folder.path(), id).is_file();
        locked(&self.waiting).has(id) || self.folder.get().is_some_and(in_folder) || locked(&self.packed).contains(id)
    }

    /// Has an object wait in memory, where there is room for it, after all objects that it refers to; whoever gets `false` writes it
    /// into the folder, and notes it.
    pub fn take_in(&self, id: gix::ObjectId, kind: gix::objs::Kind, content: &[u8]) -> bool {
        let mut waiting = locked(&self.waiting);
        let is_in = waiting.take_in(id, kind, content);
        if is_in {
            // In one step: whoever finds it here lands it before what refers to it.
            locked(&self.written).push(id);
        }
        is_in
    }

    /// Notes an object that was written into the folder, after all objects that it refers to.
    pub fn note(&self, id: gix::ObjectId) {
        locked(&self.written).push(id);
    }

    /// Notes what is in a pack that was written into the folder.
    pub fn note_packed(&self, ids: HashSet<gix::ObjectId>) {
        locked(&self.packed).extend(ids);
    }

    /// Removes objects from the stage that are also in a pack.
    pub fn forget(&self, ids: &BTreeSet<gix::ObjectId>) {
        for id in ids {
            locked(&self.waiting).let_go(id);
            let file = self.folder.get().map(|folder| loose_file(folder.path(), id));
            if let Some(Err(error)) = file.map(|file| files::remove_file(&file)) {
                tracing::debug!(%error, "an object is there twice");
            }
        }
        locked(&self.written).retain(|written| !ids.contains(written));
    }

    /// Notes that a call of git may write to the folder.
    pub fn note_git(&self) {
        self.by_git.store(true, Ordering::Release);
    }

    /// Whether the stage is empty.
    pub fn is_empty(&self) -> bool {
        !self.by_git.load(Ordering::Acquire) && locked(&self.written).is_empty()
    }

    /// The repository with what is in the folder; `None` unless that has the layout of an object database.
    pub fn opened(&self) -> Option<&gix::ThreadSafeRepository> {
        self.folder.get()?.opened()
    }

    /// A copy of what waits in memory, if anything does.
    pub fn in_memory(&self) -> Option<Storage> {
        let waiting = locked(&self.waiting);
        (!waiting.objects().is_empty()).then(|| waiting.objects().clone())
    }

    /// Kind and content of an object that waits in memory or has just landed from there, and is perhaps gone again.
    pub fn content(&self, id: &gix::oid) -> Option<(gix::objs::Kind, Vec<u8>)> {
        locked(&self.waiting).content(id).map(|(kind, content)| (kind, content.to_vec()))
    }

    /// The bytes of the file of an object that has just landed.
    pub fn size_landed(&self, id: &gix::oid) -> Option<u64> {
        locked(&self.waiting).size_landed(id)
    }
}
