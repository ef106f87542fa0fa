//! The folder of the stage: for landing, and for objects that git has to see or that do not fit into memory.

use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::FileLock;

use crate::base::quoted_paths::quoted;
use crate::repo::own_scratch::{OWNED, ScratchFolder, claim};

/// The folder of the stage.
#[derive(Debug)]
pub(crate) struct StageFolder {
    pub(super) folder: ScratchFolder,
    pub(super) state: Mutex<StageFolderState>,
    pub(super) gix: OnceLock<gix::ThreadSafeRepository>,
}

/// What the folder is ready for.
#[derive(Debug)]
pub(super) struct StageFolderState {
    /// Whether the folder is there.
    pub is_there: bool,
    /// Held as long as it is there, where the file system has locks.
    pub owned: Option<FileLock>,
    /// Whether it has the layout of an object database, for git and gix. Else only what lands from memory is written here.
    pub is_open: bool,
}

impl StageFolder {
    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The path in the form that git accepts in a list of object folders.
    pub fn quoted(&self) -> Vec<u8> {
        quoted(self.path())
    }

    /// The repository with the folder as its object database, with the real one as its alternate; `None` unless it is open.
    pub fn opened(&self) -> Option<&gix::ThreadSafeRepository> {
        let is_open = self.state.lock().unwrap_or_else(PoisonError::into_inner).is_open;
        if is_open { self.gix.get() } else { None }
    }

    /// Makes the folder again if it was put away, or removed by a cleanup after a day without use.
    pub fn claim(&self) -> Result<()> {
        self.claim_as(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn claim_as(&self, state: &mut StageFolderState) -> Result<()> {
        if !state.is_there || !self.path().is_dir() {
            *state = StageFolderState { is_there: false, owned: None, is_open: false };
            files::create_dirs_unsynced(self.path())?;
            state.owned = claim(self.path())?;
            state.is_there = true;
        }
        Ok(())
    }

    /// Removes the folder.
    pub fn put_away(&self) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let StageFolderState { is_there: true, owned: _until_it_is_gone, .. } =
            std::mem::replace(&mut *state, StageFolderState { is_there: false, owned: None, is_open: false })
        else {
            return Ok(());
        };
        files::remove_file(&self.path().join(OWNED))?;
        if files::remove_empty_dir(self.path()).unwrap_or_default() { Ok(()) } else { files::remove_trashed(self.path()) }
    }
}
