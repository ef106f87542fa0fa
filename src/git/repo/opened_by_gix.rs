//! The repository as gix opens it: with our settings, and with what is in the stage.

use std::sync::OnceLock;

use super::repository::Repository;
use super::worktrees::Worktree;
use crate::repo::object_stage::ObjectStage;
use axiom_base::error::{Code, Error, Result};

impl Repository {
    /// gix's handle, opened at first use; it sees the objects that are in the stage now. It reads objects, history, configuration and
    /// refs; refs are never changed through it.
    pub(crate) fn gix(&self) -> Result<gix::Repository> {
        let stage = self.objects.stage.get().filter(|stage| !stage.is_empty());
        // In this order: what leaves the memory meanwhile is then in the folder.
        let in_memory = stage.and_then(ObjectStage::in_memory);
        let opened = stage.and_then(ObjectStage::opened);
        let mut gix = for_this_thread(opened.map_or_else(|| self.opened(), Ok)?);
        if let Some(objects) = in_memory {
            gix.objects.set_object_memory(objects);
        }
        Ok(gix)
    }

    /// Opens it again for gix, with other settings.
    pub(crate) fn forget_gix(&mut self) {
        self.gix = OnceLock::new();
        self.settings.forbidden = OnceLock::new();
    }

    /// The settings that count for gix in place of those in files.
    fn forced_in_gix(&self) -> Vec<String> {
        let mut forced = vec!["core.useReplaceRefs=false".to_owned()];
        // No hook runs where git is not called.
        forced.extend(self.given.forced.iter().filter(|one| !one.starts_with("core.hooksPath=")).cloned());
        forced
    }

    /// The repository as gix opened it, without the stage.
    pub(crate) fn opened(&self) -> Result<&gix::ThreadSafeRepository> {
        if let Some(open) = self.gix.get() {
            return Ok(open);
        }
        // The git program is called with GIT_NO_REPLACE_OBJECTS.
        let options = gix::open::Options::default().config_overrides(self.forced_in_gix());
        // gix judges a submodule by its folder, which may be deleted; its owner was looked at before.
        let options = options.bail_if_untrusted(!self.main.worktree.get().is_some_and(Worktree::is_submodule));
        let options = options.object_store_slots(SLOTS);
        #[cfg(test)]
        let options = match self.given.callers.iter().any(|(name, _)| name == "GIT_CONFIG_NOSYSTEM") {
            true => options.permissions(gix::open::Permissions::isolated()),
            false => options,
        };
        let opened = gix::ThreadSafeRepository::open_opts(self.common_dir(), options).map_err(|e| {
            Error::new(Code::RepositoryUnsupported, format!("cannot open '{}'", self.common_dir().display())).because(e)
        })?;
        Ok(self.gix.get_or_init(|| opened))
    }
}

/// For how many packs gix has room. It counts the packs when it opens a repository, and takes a tenth more and at least 32: a session
/// that runs for hours while `git gc` comes and goes has more after a while, of which gix knows none; and once there is no room, it
/// panics when one pack takes the place of another.
pub(crate) const SLOTS: gix::odb::store::init::Slots =
    gix::odb::store::init::Slots::AsNeededByDiskState { multiplier: 2.0, minimum: 512 };

/// A gix handle for the current thread.
pub(crate) fn for_this_thread(opened: &gix::ThreadSafeRepository) -> gix::Repository {
    let mut gix = opened.to_thread_local();
    // gix looks up every ref in the namespace of `GIT_NAMESPACE`; git does so only in its server programs.
    gix.clear_namespace();
    gix
}
