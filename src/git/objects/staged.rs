//! Which objects need not be written, since the stage or the repository has them.

use crate::error::Result;
use crate::git::repo::repository::{Repository, for_this_thread};

use super::stage::Stage;

/// The stage, and the objects of the repository as they were when this was made.
pub(in crate::git) struct Staged<'r> {
    repository: &'r Repository,
    /// Where new objects go.
    pub stage: &'r Stage,
    /// The repository with the stage as its object database.
    pub gix: gix::Repository,
}

impl<'r> Staged<'r> {
    /// `None` in a repository where git has to write objects.
    ///
    /// # Errors
    /// `IO_FAILED`, `DISK_FULL`.
    pub fn of(repository: &'r Repository) -> Result<Option<Self>> {
        let stage = repository.durability().waiting_room()?;
        Ok(stage.map(|stage| Self { repository, stage, gix: for_this_thread(&stage.gix) }))
    }

    /// Whether an object is in the stage, or exists and could be given a new time, so that `git gc` keeps it.
    pub fn keeps(&self, id: &gix::oid) -> bool {
        // gix always reports the empty tree as present, even when the repository has no such object. Packs that appeared
        // just now are not looked for: nearly all objects written here are new, and at worst the object is there twice.
        self.stage.has(id) || self.gix.objects.exists_without_refresh(id) && self.repository.durability().freshen(id)
    }
}
