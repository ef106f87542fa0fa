//! The stage of a repository with its folder: made at first need, and ready for git and gix.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::object_stage::{ObjectStage, locked};
use super::opened_by_gix::SLOTS;
use super::repository::Repository;
use super::stage_folder::{StageFolder, StageFolderState};
use crate::base::loose;
use crate::base::quoted_paths::quoted;
use axiom_base::error::{Error, Result};
use axiom_base::files;

impl ObjectStage {
    /// The folder, with the layout of an object database and all objects in it.
    pub fn open_folder(&self, repo: &Repository) -> Result<&StageFolder> {
        let folder = self.folder(repo)?;
        folder.open(repo)?;
        let mut waiting = locked(&self.waiting);
        for (id, (kind, content)) in waiting.objects().iter() {
            loose::write(folder.path(), id, &loose::encoded(*kind, content)?)?;
        }
        waiting.all_are_elsewhere();
        Ok(folder)
    }

    pub(crate) fn folder(&self, repo: &Repository) -> Result<&StageFolder> {
        match self.folder.get() {
            Some(folder) => Ok(folder),
            // If another thread was first, this folder is dropped at once.
            None => {
                let made = StageFolder::make(repo)?;
                Ok(self.folder.get_or_init(|| made))
            }
        }
    }
}

impl StageFolder {
    /// Makes one.
    pub fn make(repo: &Repository) -> Result<Self> {
        let mut folder = repo.scratch_folders().make()?;
        let owned = folder.take_lock();
        Ok(Self { folder, state: Mutex::new(StageFolderState { is_there: true, owned, is_open: false }), gix: OnceLock::new() })
    }

    /// Makes the folder ready for git and gix.
    pub fn open(&self, repo: &Repository) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.claim_as(&mut state)?;
        if state.is_open {
            return Ok(());
        }
        files::create_dirs_unsynced(&self.path().join("info"))?;
        let mut line = quoted(&repo.common_dir().join("objects"));
        line.push(b'\n');
        files::write_scratch(&self.path().join("info/alternates"), &line)?;
        if self.gix.get().is_none() {
            let made = self.with_gix(repo)?;
            self.gix.get_or_init(|| made);
        }
        state.is_open = true;
        Ok(())
    }

    fn with_gix(&self, repo: &Repository) -> Result<gix::ThreadSafeRepository> {
        let mut gix = repo.opened()?.clone();
        let options = gix::odb::store::init::Options { slots: SLOTS, ..Default::default() };
        let store = gix::odb::Store::at_opts(self.path().to_owned(), repo.hash().gix(), &mut std::iter::empty(), options);
        gix.objects = store.map_err(|e| Error::io("open the folder", self.path(), e))?.into();
        Ok(gix)
    }
}
