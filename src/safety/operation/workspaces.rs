//! Workspaces in an operation: moving them to the trash, bringing them back from there, or recreating them from their
//! captures where the trash no longer has them.

use std::path::{Path, PathBuf};

use super::submodules_again;
use crate::context::handle::Context;
use crate::folders::trash;
use crate::folders::workspaces::repair_workspace;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_git::{
    CaptureExtras, CaptureParts, ChangeAttempt, Head, IndexLock, TrashedWorkspace, WorkspaceBranch, Worktree, WorktreeRestore,
};
use axiom_model::base::ids::OperationId;
use axiom_model::base::ref_change::ChangeDirection;
use axiom_model::base::text::ValueChange;
use axiom_model::journal::journaled_changes::{HeadState, WorkspaceChange};

/// Brings a workspace back: from the trash where all of it is still there, otherwise recreated from its capture.
pub(super) fn bring_back(ctx: &Context, change: &WorkspaceChange, txn: &OperationId) -> Result<()> {
    let path = Path::new(&change.workspace.path);
    let there = |path: &str| Path::new(path).symlink_metadata().is_ok();
    // A move that a crash interrupted is reversed first.
    let half = aside(ctx, change)?;
    files::turn_back(&half.git_dir, &half.git_dir_moved_to)?;
    files::turn_back(&half.path, &half.moved_to)?;
    if change.lost {
        return ctx.repo.workspaces().bring_back_lost(&aside(ctx, change)?);
    }
    // After a crash between the two moves, the folder in the trash still names its registration.
    let is_registered = || Ok::<_, Error>(ctx.repo.worktree_owners().own_git_dir_of(Path::new(&change.trash))?.is_some());
    if there(&change.trash) && (there(&change.git_dir_trash) || is_registered()?) {
        return ctx.repo.workspaces().bring_back(&aside(ctx, change)?).map(drop);
    }
    // The rest of it stays in the trash under another name, so that it is not in the way when the workspace goes to the
    // trash again.
    for half in [&change.trash, &change.git_dir_trash] {
        let apart = PathBuf::from(format!("{half}-{}", env::fresh_id()));
        if there(half) && !files::move_whole(Path::new(half), &apart)? {
            return Err(Error::new(Code::WorkspaceInTheWay, format!("'{}' exists already", apart.display())));
        }
    }
    let worktree = match ctx.repo.worktrees().worktree_at(path)?.filter(|entry| entry.present && entry.locked.is_none()) {
        // An earlier attempt got this far, or the workspace was never moved away: perhaps only its HEAD is still detached.
        Some(_) => ctx.repo.workspaces().bring_back(&aside(ctx, change)?)?,
        None => {
            let trash = trash::of_workspaces(ctx, txn)?.join(format!("half-made-{}", env::fresh_id()));
            // A workspace that a crash left half-made here is removed first.
            repair_workspace(ctx, path, &trash)?;
            ctx.repo.workspaces().create_workspace_again(
                path,
                &WorkspaceBranch::Existing(change.workspace.branch.clone()),
                &trash,
            )?
        }
    };
    // If an earlier attempt brought it back from the trash, this finds everything done.
    make_again(ctx, change, &worktree, txn)
}

pub(super) fn make_again(ctx: &Context, change: &WorkspaceChange, worktree: &Worktree, txn: &OperationId) -> Result<()> {
    let CaptureParts { base, files, index, further: _ } = ctx.repo.captures().capture_parts(&change.capture)?;
    let base = ctx.repo.objects().read_commit(&base)?.tree;
    let trash = trash::of(ctx, worktree, txn)?;
    let lock = IndexLock::take(worktree, txn.as_str())?;
    let attempt = ChangeAttempt::Again;
    let extras = CaptureExtras::of_capture(&ctx.repo, &change.capture)?;
    // A worktree that git made from a sparse worktree is sparse too.
    let now = CaptureExtras { index: ctx.repo.index(worktree).left_out_now()?, ..CaptureExtras::default() };
    let beside = Some(ValueChange::new(&now, &extras));
    let restore = WorktreeRestore { worktree, from: &base, to: &files, trash: &trash, attempt, beside };
    let placed = ctx.repo.restore().restore_files(&restore)?.placed;
    ctx.repo.index_edits(worktree).install_index_after(&index, &extras.index, &lock, &placed)?;
    ctx.repo.index_edits(worktree).restore_operation(&extras, &trash::of_git_dir(ctx, worktree, txn)?)?;
    lock.release()?;
    submodules_again::make_again(ctx, change, worktree, txn)
}

pub(super) fn aside(ctx: &Context, change: &WorkspaceChange) -> Result<TrashedWorkspace> {
    let head = match (&change.head, &change.commit) {
        (HeadState::Branch(name), commit) => Head::Branch { name: name.clone(), commit: commit.clone() },
        (HeadState::Detached(commit), _) => Head::Detached { commit: commit.clone() },
    };
    // A recreated workspace may be registered under another name than the recorded one.
    let registered = match change.lost {
        // The `.git` of such a folder, if there is one, does not name its registration.
        true => None,
        false => match ctx.repo.worktree_owners().own_git_dir_of(Path::new(&change.workspace.path))? {
            Some(git_dir) => Some(git_dir),
            None => ctx.repo.worktree_owners().own_git_dir_of(Path::new(&change.trash))?,
        },
    };
    Ok(TrashedWorkspace {
        path: PathBuf::from(&change.workspace.path),
        moved_to: PathBuf::from(&change.trash),
        git_dir: registered.unwrap_or_else(|| PathBuf::from(&change.git_dir)),
        git_dir_moved_to: PathBuf::from(&change.git_dir_trash),
        head,
    })
}

/// Whether a workspace comes back without the files that no capture holds: its folder or its registration is no longer in
/// the trash, so it is recreated.
pub(crate) fn is_made_again(change: &WorkspaceChange) -> bool {
    change.way == ChangeDirection::BringBack && !change.lost && !is_in_trash(change)
}

/// Whether all of a workspace is in the trash: its folder and its registration.
pub(super) fn is_in_trash(change: &WorkspaceChange) -> bool {
    [&change.trash, &change.git_dir_trash].into_iter().all(|path| Path::new(path).symlink_metadata().is_ok())
}
