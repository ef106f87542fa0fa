//! Which objects need not be written, since the stage or the repository has them.

use crate::repo::opened_by_gix::for_this_thread;
use crate::repo::repository::Repository;
use axiom_base::error::Result;

use crate::repo::object_stage::ObjectStage;

/// The stage, and the objects of the repository as they were when this was made.
pub(crate) struct StagedObjects<'r> {
    repository: &'r Repository,
    /// Where new objects wait.
    pub stage: &'r ObjectStage,
    /// The repository, with what is in the folder of the stage.
    gix: gix::Repository,
}

impl<'r> StagedObjects<'r> {
    /// `None` in a repository where git has to write objects.
    pub fn of(repository: &'r Repository) -> Result<Option<Self>> {
        let Some(stage) = repository.durability().stage()? else { return Ok(None) };
        let gix = for_this_thread(stage.opened().map_or_else(|| repository.opened(), Ok)?);
        Ok(Some(Self { repository, stage, gix }))
    }

    /// Whether an object is in the stage, or exists and could be given a new time, so that `git gc` keeps it.
    pub fn keeps(&self, id: &gix::oid) -> bool {
        // gix always reports the empty tree as present, even when the repository has no such object. Packs that appeared
        // just now are not looked for: nearly all objects written here are new, and at worst the object is there twice.
        self.stage.has(id) || self.gix.objects.exists_without_refresh(id) && self.repository.durability().freshen(id)
    }
}
