//! Mounts within worktrees: an operation does not move, replace or delete what is mounted there.

use std::path::{Path, PathBuf};

use crate::context::handle::Context;
use axiom_base::error::{Error, Result};
use axiom_base::files;
use axiom_git::{ChangeAttempt, Repository, TreeChange, Worktree, WorktreeRestore};
use axiom_model::base::names::RepoPath;
use axiom_model::base::ref_change::ChangeDirection;
use axiom_model::base::text::ValueChange;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::WorktreeChange;

use super::bytes::files_of;
use crate::operation::step_parts::submodule_folders::opened;
use crate::operation::step_parts::worktree_step::{extras_of, worktree};

/// Checks that an operation touches no mount: no workspace and no file in the way that contains a mount moves, and no file
/// changes at a mount or in one. Where there are no mounts, it only reads the list of mounts once for each worktree.
pub(super) fn are_left_alone(ctx: &Context, operation: &JournaledOperation) -> Result<()> {
    for change in &operation.workspaces {
        let moves = match change.way {
            ChangeDirection::PutAside => &change.workspace.path,
            ChangeDirection::BringBack => &change.trash,
        };
        files::holds_no_mount(Path::new(moves))?;
    }
    for change in operation.asides.iter().filter(|change| change.way == ChangeDirection::BringBack) {
        files::holds_no_mount(&Path::new(&change.trash).join(change.path.to_path()))?;
    }
    for change in &operation.worktrees {
        let mounts = WorktreeMounts::within(&change.path)?;
        if !mounts.inside.is_empty() {
            mounts.stand_against_changes(&files_of(&ctx.repo, change)?)?;
            mounts.stand_against_moves(&moves(&ctx.repo, &worktree(ctx, &change.path)?, change)?)?;
        }
    }
    for change in operation.submodules.iter().filter(|change| change.checked_out.old) {
        let mounts = WorktreeMounts::within(&change.worktree.path)?;
        if !mounts.inside.is_empty() {
            let (repo, there) = opened(ctx, change)?;
            mounts.stand_against_changes(&files_of(&repo, &change.worktree)?)?;
            mounts.stand_against_moves(&moves(&repo, &there, &change.worktree)?)?;
        }
    }
    for change in &operation.advances {
        let mounts = WorktreeMounts::within(&change.path)?;
        if !mounts.inside.is_empty() {
            mounts.stand_against_changes(&ctx.repo.history().diff_trees(&change.commit.old, &change.commit.new)?)?;
        }
    }
    Ok(())
}

/// The paths that a restore will move out of its way.
fn moves(repo: &Repository, there: &Worktree, change: &WorktreeChange) -> Result<Vec<RepoPath>> {
    let (before, after) = (extras_of(repo, change.captures.old.as_ref())?, extras_of(repo, change.captures.new.as_ref())?);
    let (from, to, beside) = (&change.files.old, &change.files.new, Some(ValueChange::new(&before, &after)));
    // Nothing is moved here: this trash does not exist.
    let trash = there.git_dir().join("axiom-no-trash");
    repo.restore().in_the_way(&WorktreeRestore {
        worktree: there,
        from,
        to,
        trash: &trash,
        attempt: ChangeAttempt::First,
        beside,
    })
}

/// The mounts within one worktree.
struct WorktreeMounts {
    root: PathBuf,
    /// Their paths, relative to the worktree.
    inside: Vec<PathBuf>,
}

impl WorktreeMounts {
    fn within(path: &str) -> Result<Self> {
        let path = Path::new(path);
        // The path as the kernel lists it.
        let root = path.canonicalize().map_err(|e| Error::io("find", path, e))?;
        let mounts = files::mounts_within(&root)?.into_iter();
        let inside = mounts.filter_map(|mount| mount.strip_prefix(&root).ok().map(Path::to_owned));
        let inside = inside.filter(|mount| !mount.as_os_str().is_empty()).collect();
        Ok(Self { root, inside })
    }

    fn stand_against_changes(&self, changes: &[TreeChange]) -> Result<()> {
        self.refuse(changes.iter().map(|change| change.path.to_path()), |path, mount| path.starts_with(mount))
    }

    fn stand_against_moves(&self, moved: &[RepoPath]) -> Result<()> {
        self.refuse(moved.iter().map(RepoPath::to_path), |path, mount| mount.starts_with(path))
    }

    fn refuse<P: AsRef<Path>>(&self, paths: impl Iterator<Item = P>, touches: impl Fn(&Path, &Path) -> bool) -> Result<()> {
        for path in paths {
            let path = path.as_ref();
            if let Some(mount) = self.inside.iter().find(|mount| touches(path, mount)) {
                return Err(files::holds_mount(&self.root.join(path), &self.root.join(mount)));
            }
        }
        Ok(())
    }
}
