//! Worktrees that were in a folder of another one and are gone: single files of them come back to where they were, as files of the one
//! around.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::checkpoint::CheckpointCaptures;
use crate::context::handle::Context;
use crate::operation::{capture_with, extras_of};
use axiom_base::error::{Code, Error, Result};
use axiom_git::{RawFile, RecordedPermissions, TreeChange, Worktree};
use axiom_model::base::names::{Oid, RepoPath, without_dots};
use axiom_model::checkpoint::document::{CheckpointDocument, WorkspaceState};

use super::left_alone::made_by;
use super::one_worktree::OneWorktreeRollback;

/// The checkpoint's capture of a worktree, and with it the files of worktrees that are gone and that these paths name; `None` where none is
/// named.
pub(super) fn with_gone(
    ctx: &Context,
    (document, captured): (&CheckpointDocument, &CheckpointCaptures),
    (both, worktree): (&OneWorktreeRollback<'_>, &Worktree),
    named: &[RepoPath],
) -> Result<Option<Oid>> {
    let (mut changes, mut raw, mut modes, mut places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for then in gone(document, captured) {
        let Ok(inside) = Path::new(&then.path).strip_prefix(worktree.path()) else { continue };
        let prefix = RepoPath::new(inside.as_os_str().as_bytes());
        let wanted: Vec<RepoPath> = named.iter().filter_map(|path| path.within(&prefix)).collect();
        let covers = |path: &RepoPath| wanted.iter().any(|wanted| path.within(wanted).is_some());
        if prefix.as_bytes().is_empty() || wanted.is_empty() {
            continue;
        }
        let files = ctx.repo.captures().capture_parts(&then.capture)?.files;
        let all = ctx.repo.history().diff_trees(&ctx.repo.trees().empty_tree()?, &files)?.into_iter();
        let comes = all.filter(|change| covers(&change.path));
        changes.extend(comes.map(|change| TreeChange { path: prefix.join(&change.path), ..change }));
        let extras = extras_of(&ctx.repo, Some(&then.capture))?;
        raw.extend(extras.raw.into_iter().map(|one| RawFile { path: prefix.join(&one.path), ..one }));
        modes.extend(extras.modes.into_iter().map(|one| RecordedPermissions { path: prefix.join(&one.path), ..one }));
        places.push(prefix);
    }
    if changes.is_empty() {
        return Ok(None);
    }
    let parts = ctx.repo.captures().capture_parts(&both.capture)?;
    let files = ctx.repo.trees().edit_tree(&parts.files, &changes)?;
    let mut extras = extras_of(&ctx.repo, Some(&both.capture))?;
    extras.raw.extend(raw);
    extras.raw.sort_by(|a, b| a.path.cmp(&b.path));
    extras.modes.extend(modes);
    extras.modes.sort_by(|a, b| a.path.cmp(&b.path));
    // For the capture of the worktree around it, it was another repository's.
    extras.gaps.retain(|gap| !places.iter().any(|place| gap.within(place).is_some() || place.within(gap).is_some()));
    capture_with(&ctx.repo, &both.now.capture, (&files, &parts.index), extras).map(Some)
}

/// Refuses paths in worktrees that are gone, where no other one is around them, or git still lists them, so that their place is nobody
/// else's: the command that makes theirs again is named.
pub(super) fn refuse_outside(
    ctx: &Context,
    (document, captured): (&CheckpointDocument, &CheckpointCaptures),
    paths: &[PathBuf],
) -> Result<()> {
    for then in gone(document, captured) {
        let place = Path::new(&then.path);
        let is_around = captured.worktrees().any(|one| place.starts_with(one.worktree.path()));
        let is_named = paths.iter().any(|path| without_dots(path).starts_with(place));
        if is_named && (!is_around || ctx.repo.worktrees().worktree_at(place)?.is_some()) {
            return Err(Error::new(Code::WorkspaceBroken, format!("the worktree '{}' is gone", then.path))
                .why(format!("checkpoint '{}' holds its files, and there is no worktree to bring them back to", document.name))
                .hint(format!("{}    makes it again; then repeat the command", made_by(ctx, then, None)?)));
        }
    }
    Ok(())
}

/// The worktrees that the checkpoint holds and that are gone.
fn gone<'d>(document: &'d CheckpointDocument, captured: &'d CheckpointCaptures) -> impl Iterator<Item = &'d WorkspaceState> {
    let stands = |then: &WorkspaceState| captured.workspaces.iter().any(|now| now.state.path == then.path);
    let is_there = |then: &WorkspaceState| Path::new(&then.path).join(".git").symlink_metadata().is_ok();
    document.workspaces.iter().filter(move |then| !stands(then) && !is_there(then))
}
