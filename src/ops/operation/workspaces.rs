//! Workspaces that an operation puts aside, brings back from the trash, or makes again where the trash has lost them.

use std::path::{Path, PathBuf};

use crate::domain::base::ids::TxnId;
use crate::domain::base::text::Change;
use crate::domain::operation::journaled::{HeadState, Way, WorkspaceChange};
use crate::env;
use crate::error::{Code, Error, Result};
use crate::files;
use crate::git::{Aside, Attempt, CaptureExtras, CaptureParts, Head, IndexLock, Restore, WorkspaceBranch, Worktree};
use crate::ops::context::handle::Context;
use crate::ops::trash;

/// From the trash where all of it is still there, else made again from its capture.
pub(super) fn bring_back(ctx: &Context, change: &WorkspaceChange, txn: &TxnId) -> Result<()> {
    let path = Path::new(&change.workspace.path);
    let there = |path: &str| Path::new(path).symlink_metadata().is_ok();
    // What a crash left half moved stands where it was.
    let half = aside(ctx, change)?;
    files::turn_back(&half.git_dir, &half.git_dir_moved_to)?;
    files::turn_back(&half.path, &half.moved_to)?;
    if change.lost {
        return ctx.repo.workspaces().bring_back_lost(&aside(ctx, change)?);
    }
    // As a crash leaves it between the two moves, it names where it is registered.
    let is_registered = || Ok::<_, Error>(ctx.repo.worktrees().own_git_dir_of(Path::new(&change.trash))?.is_some());
    if there(&change.trash) && (there(&change.git_dir_trash) || is_registered()?) {
        return ctx.repo.workspaces().bring_back(&aside(ctx, change)?).map(drop);
    }
    // What is left of it stays in the trash, where nothing will be in its way when it goes there again.
    for half in [&change.trash, &change.git_dir_trash] {
        let apart = PathBuf::from(format!("{half}-{}", env::fresh_id()));
        if there(half) && !files::move_whole(Path::new(half), &apart)? {
            return Err(Error::new(Code::WorkspaceInTheWay, format!("'{}' exists already", apart.display())));
        }
    }
    let worktree = match ctx.repo.worktrees().worktree_at(path)?.filter(|entry| entry.present && entry.locked.is_none()) {
        // An earlier try got that far, or it was never moved away: perhaps only its HEAD is still detached.
        Some(_) => ctx.repo.workspaces().bring_back(&aside(ctx, change)?)?,
        None => {
            let trash = trash::of_workspaces(ctx, txn)?.join(format!("half-made-{}", env::fresh_id()));
            // What a crash left half-made here is cleared first.
            ctx.repo.workspaces().repair_workspace(path, &trash)?;
            ctx.repo.workspaces().create_workspace(path, &WorkspaceBranch::Existing(change.workspace.branch.clone()), &trash)?
        }
    };
    // Where it came back from the trash in an earlier try, this finds everything done.
    make_again(ctx, change, &worktree, txn)
}

pub(super) fn make_again(ctx: &Context, change: &WorkspaceChange, worktree: &Worktree, txn: &TxnId) -> Result<()> {
    let CaptureParts { base, files, index, further: _ } = ctx.repo.captures().capture_parts(&change.capture)?;
    let base = ctx.repo.objects().read_commit(&base)?.tree;
    let trash = trash::of(ctx, worktree, txn)?;
    let lock = IndexLock::take(worktree, txn.as_str())?;
    let attempt = Attempt::Again;
    let extras = CaptureExtras::of_capture(&ctx.repo, &change.capture)?;
    // A worktree made from a sparse one is sparse too.
    let now = CaptureExtras { index: ctx.repo.index(worktree).left_out_now()?, ..CaptureExtras::default() };
    let beside = Some(Change::new(&now, &extras));
    let restore = Restore { worktree, from: &base, to: &files, trash: &trash, attempt, beside };
    let placed = ctx.repo.restore().restore_files(&restore)?.placed;
    ctx.repo.index(worktree).install_index_after(&index, &extras.index, &lock, &placed)?;
    ctx.repo.index(worktree).restore_operation(&extras, &trash::of_git_dir(ctx, worktree, txn)?)?;
    lock.release()
}

pub(super) fn aside(ctx: &Context, change: &WorkspaceChange) -> Result<Aside> {
    let head = match (&change.head, &change.commit) {
        (HeadState::Branch(name), commit) => Head::Branch { name: name.clone(), commit: commit.clone() },
        (HeadState::Detached(commit), _) => Head::Detached { commit: commit.clone() },
    };
    // A workspace that was made again may be registered under another name than the one recorded.
    let registered = match change.lost {
        // What such a folder names, if anything, is not where it is registered.
        true => None,
        false => match ctx.repo.worktrees().own_git_dir_of(Path::new(&change.workspace.path))? {
            Some(git_dir) => Some(git_dir),
            None => ctx.repo.worktrees().own_git_dir_of(Path::new(&change.trash))?,
        },
    };
    Ok(Aside {
        path: PathBuf::from(&change.workspace.path),
        moved_to: PathBuf::from(&change.trash),
        git_dir: registered.unwrap_or_else(|| PathBuf::from(&change.git_dir)),
        git_dir_moved_to: PathBuf::from(&change.git_dir_trash),
        head,
    })
}

/// Whether a workspace comes back without what no capture holds: its folder, or what it was registered as, is no longer in
/// the trash, so that it is made again.
pub(in crate::ops) fn is_made_again(change: &WorkspaceChange) -> bool {
    let gone = |path: &str| Path::new(path).symlink_metadata().is_err();
    change.way == Way::BringBack && !change.lost && (gone(&change.trash) || gone(&change.git_dir_trash))
}
