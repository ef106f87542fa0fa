//! Checks before the first change whether a restore can give all the permissions that it has to give.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use axiom_base::error::{Code, Error, Result, some_of};
use axiom_base::files;
use axiom_model::base::names::RepoPath;

use super::types::WorktreeRestore;
use crate::base::path_inspection::{PathOccupant, WorktreeInspector};
use crate::base::tree_change::TreeChange;
use crate::capture::permissions::UsualPermissions;
use crate::repo::handles::Restores;
use crate::repo::worktrees::Worktree;

/// How many paths an error names.
const NAMED: usize = 10;

impl Restores<'_> {
    /// Checks that the file system supports the attributes and ACLs that a restore brings back, that this user may change
    /// the permissions of files that stay in place, and that no group gets rights that another group had. Sets nothing.
    pub fn check_permissions(&self, restore: &WorktreeRestore<'_>) -> Result<()> {
        let Some(beside) = restore.beside else { return Ok(()) };
        let (old, new) = (&beside.old.modes[..], &beside.new.modes[..]);
        let root = restore.worktree.path();
        let changes = self.repo.restore().changes_of(restore)?;
        let written = |change: &TreeChange| change.new.is_some();
        let written: BTreeSet<RepoPath> = changes.into_iter().filter(written).map(|change| change.path).collect();
        let stays: Vec<RepoPath> =
            self.repo
                .captured_permissions()
                .permissions_that_change(restore.worktree, (old, new), |path| written.contains(path))?;
        let mut lost = self.of_groups_of_others(restore.worktree, &written)?;
        for one in new.iter().filter(|one| written.contains(&one.path) || stays.contains(&one.path)) {
            let known = self.repo.captured_permissions().known(one)?;
            if let Some(name) = known.attributes.keys().find(|name| !files::knows_attribute(root, name)) {
                lost.push(format!("'{}' (the file system has no '{}')", one.path, String::from_utf8_lossy(name)));
            } else if stays.contains(&one.path) && !is_ours_to_change(&root.join(one.path.to_path()))? {
                lost.push(format!("'{}' (it belongs to another user)", one.path));
            }
        }
        if lost.is_empty() {
            return Ok(());
        }
        Err(Error::new(
            Code::PermissionsLost,
            format!("permissions, ACLs or attributes in '{}' cannot be put back", root.display()),
        )
        .why(some_of(&lost, NAMED))
        .hint("nothing was changed; use a file system that supports them, or run it as the owner"))
    }
}

impl Restores<'_> {
    /// Files whose replacement would be open to another group, because this user may not give it the group of the replaced
    /// file.
    fn of_groups_of_others(&self, worktree: &Worktree, written: &BTreeSet<RepoPath>) -> Result<Vec<String>> {
        let usual = UsualPermissions::of(worktree).mode();
        let (mut lost, mut looks) = (Vec::new(), WorktreeInspector::below(worktree.path()));
        for path in written {
            let PathOccupant::File(meta) = looks.look(path)? else { continue };
            let mode = meta.mode() & (usual | ((usual & 0o444) >> 2));
            if files::opens_for_another_group(mode) && !files::may_give_to_group(meta.gid()) {
                lost.push(format!("'{path}' (this user is not in its group {})", meta.gid()));
            }
        }
        Ok(lost)
    }
}

/// Whether this user may change the permissions of the file or folder at `place`.
fn is_ours_to_change(place: &Path) -> Result<bool> {
    let us = rustix::process::geteuid();
    Ok(us.is_root() || files::metadata(place)?.is_none_or(|meta| meta.uid() == us.as_raw()))
}
