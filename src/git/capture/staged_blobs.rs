//! Checks staged contents that a capture takes over from the user's index without having read them: the index holds only
//! their ids. A power loss can leave empty objects under such ids.

use std::collections::BTreeSet;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RepoPath};

use crate::base::tree_change::TreeChange;
use crate::capture::captured::WorktreeCapture;
use crate::objects::database::gix_id;
use crate::repo::handles::Index;

/// Up to this many staged files are read completely. Of more files only the beginning of each is read, which shows the
/// damage of a power loss.
const WHOLE: usize = 1000;

impl Index<'_> {
    /// The paths of staged contents that a capture refers to and that cannot be read. Only loose objects are looked into, because a pack
    /// is written completely or not at all. The cost depends on how much is staged compared with the checked-out commit.
    pub(crate) fn unreadable_staged(&self, capture: &WorktreeCapture) -> Result<BTreeSet<RepoPath>> {
        let base = match capture.head.commit() {
            Some(commit) => self.repo.objects().read_commit(commit)?.tree,
            None => self.repo.trees().empty_tree()?,
        };
        if base == capture.index_tree {
            return Ok(BTreeSet::new());
        }
        let staged = self.repo.history().diff_trees(&base, &capture.index_tree)?;
        let whole = staged.len() <= WHOLE;
        Ok(staged.into_iter().filter(|change| !self.is_readable(change, whole)).map(|change| change.path).collect())
    }

    /// Proves that nothing is lost of what a capture holds, where objects are known to be lost.
    pub fn nothing_lost_is_held(&self, capture: &WorktreeCapture) -> Result<()> {
        if self.repo.power_losses().lost_objects()?.is_empty() {
            return Ok(());
        }
        let trees = [capture.index_tree.clone(), capture.tree.clone()];
        let Some(words) = self.repo.connectivity().missing_below(&trees)? else { return Ok(()) };
        let what = format!("something that files or index of '{}' name is lost", self.worktree.path().display());
        Err(Error::new(Code::CheckpointDamaged, what)
            .why(words)
            .hint("git axiom recover    shows what is damaged, and the way out"))
    }

    fn is_readable(&self, change: &TreeChange, whole: bool) -> bool {
        let Some(file) = change.new.as_ref().filter(|file| !file.is_submodule()) else { return true };
        match self.loose(&file.oid) {
            Some(true) if whole => self.is_whole(&file.oid),
            Some(true) => self.repo.gix().is_ok_and(|gix| gix_id(&file.oid).is_ok_and(|id| gix.find_header(id).is_ok())),
            // In a pack, or lost.
            Some(false) => self.repo.connectivity().holds(&file.oid) || self.repo.connectivity().is_partial(),
            None => true,
        }
    }

    /// Whether an object is a loose file of this repository; `None` if this cannot be determined.
    fn loose(&self, oid: &Oid) -> Option<bool> {
        let (folder, rest) = oid.as_str().split_at_checked(2)?;
        Some(self.repo.common_dir().join("objects").join(folder).join(rest).symlink_metadata().is_ok())
    }

    /// Whether an object is there, and what its name says. One in a pack is not read.
    pub(crate) fn is_there_whole(&self, oid: &Oid) -> bool {
        match self.loose(oid) {
            Some(true) => self.is_whole(oid),
            Some(false) | None => self.repo.objects().has_object(oid),
        }
    }

    fn is_whole(&self, oid: &Oid) -> bool {
        let read = || -> Option<bool> {
            let (gix, id) = (self.repo.gix().ok()?, gix_id(oid).ok()?);
            let object = gix.find_object(id).ok()?;
            Some(gix::objs::compute_hash(gix.object_hash(), object.kind, &object.data).ok()? == id)
        };
        read().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::CaptureOptions;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn staged_content_that_a_power_loss_emptied_or_cut_short_is_found() {
        for (kind, bytes) in [(&[][..], 0_u64), (&[], 20), (&["--object-format=sha256"], 0)] {
            let scratch = ScratchRepository::new(kind);
            let repo = scratch.repo();
            scratch.write("a.txt", &[7; 5000]);
            scratch.write("new", b"fine");
            scratch.git(&["add", "."]);
            let staged = scratch.git(&["rev-parse", ":a.txt"]);
            scratch.write("a.txt", b"edited since");
            let options = CaptureOptions { max_file_size: 1_000_000, ..Default::default() };
            let take = || repo.captures().capture_worktree(&scratch.main(), &options).unwrap();
            assert!(take().coverage.is_complete());
            let place = scratch.path().join(".git/objects").join(&staged[..2]).join(&staged[2..]);
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o644)).unwrap();
            std::fs::OpenOptions::new().write(true).open(&place).unwrap().set_len(bytes).unwrap();
            let taken = take();
            repo.durability().sync_objects().unwrap();
            assert_eq!(taken.coverage.staged_not_held.paths, [RepoPath::new("a.txt")]);
            let at = |tree: &Oid, path: &str| scratch.git(&["rev-parse", &format!("{tree}:{path}")]);
            assert_eq!(at(&taken.index_tree, "a.txt"), scratch.git(&["rev-parse", "HEAD:a.txt"]), "HEAD's stands for it");
            assert_eq!(at(&taken.index_tree, "new"), scratch.git(&["hash-object", "new"]));
            assert_eq!(at(&taken.tree, "a.txt"), scratch.git(&["hash-object", "a.txt"]));
            // What the file has again is written again, in the place of what is damaged.
            scratch.write("a.txt", &[7; 5000]);
            let taken = take();
            repo.durability().sync_objects().unwrap();
            assert!(taken.coverage.is_complete());
            assert_eq!((at(&taken.tree, "a.txt"), at(&taken.index_tree, "a.txt")), (staged.clone(), staged.clone()));
            assert_eq!(scratch.git(&["cat-file", "blob", &staged]).len(), 5000);
            scratch.write("a.txt", b"edited since");
            scratch.git(&["restore", "--staged", "a.txt"]);
            assert!(take().coverage.is_complete());
        }
    }
}
