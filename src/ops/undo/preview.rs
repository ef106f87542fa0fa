//! What taking a transaction back changes, named: refs, files, workspaces, cases.

use std::path::Path;

use serde::Serialize;

use crate::domain::branch_config::BranchConfigChange;
use crate::domain::case::CaseEdit;
use crate::domain::names::{Oid, RepoPath};
use crate::domain::operation::{self, AsideChange, HeadState, Operation, RefChange, StashChange, Way, WorktreeChange};
use crate::domain::session::Mode;
use crate::domain::text::Change;
use crate::error::Result;
use crate::git::TreeChange;
use crate::ops::context::Context;
use crate::ops::in_progress::{self, OperationLine};
use crate::ops::journal::{self, extras_of};

/// What an undo changes; old is what is there now.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// Refs that move, come back or go; branches that move with the worktree in which they are checked out among them.
    pub refs: Vec<RefChange>,
    /// Configuration of branches that comes back or goes.
    pub branch_configs: Vec<BranchConfigChange>,
    /// Entries of the stash that come back or go.
    pub stash: Vec<StashChange>,
    /// Worktrees that get another branch or commit.
    pub heads: Vec<HeadChange>,
    /// Operations of git's that end, or come back.
    pub operations: Vec<OperationLine>,
    /// Files that change, ordered by worktree and path.
    pub files: Vec<FileChange>,
    /// Workspaces that are put aside or come back.
    pub workspaces: Vec<WorkspaceChange>,
    /// Fields of cases that change.
    pub cases: Vec<CaseEdit>,
    /// The mode, where it changes.
    pub mode: Option<Change<Mode>>,
    /// What was in the way and does not come back: it is no longer in the trash. Where it was, as absolute paths.
    pub lost: Vec<String>,
    /// Worktrees that were removed since: nothing comes back in them. Absolute paths.
    pub left_out: Vec<String>,
    /// What comes back from the trash if nothing else is in its place by then.
    #[serde(skip)]
    pub asides: Vec<AsideChange>,
}

/// What a worktree has checked out.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeadChange {
    /// The worktree's absolute path.
    pub worktree: String,
    /// Before and after.
    pub head: Change<HeadState>,
}

/// A file that changes.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// The worktree's absolute path.
    pub worktree: String,
    /// Its path in there.
    pub path: RepoPath,
    /// What becomes of it.
    pub action: FileAction,
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FileAction {
    /// It is not there, and comes back.
    Created,
    /// It gets other content or another mode.
    Changed,
    /// It goes.
    Removed,
    /// It stays, and gets other permissions, another ACL or other attributes.
    Permissions,
    /// It stays as it is, and is staged otherwise.
    Staged,
}

/// A workspace that is put aside or comes back.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceChange {
    /// Its absolute path.
    pub path: String,
    /// Which way.
    pub way: Way,
    /// Whether it comes back as it was captured, without ignored files: it is no longer whole in the trash.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub made_again: bool,
}

/// What an operation that takes something back is going to change, what of it is `lost`, and which worktrees it leaves out.
///
/// # Errors
/// `GIT_FAILED` where a tree is missing.
pub(super) fn preview(ctx: &Context, operation: &Operation, lost: &[AsideChange], left_out: Vec<String>) -> Result<Preview> {
    let (mut files, mut operations) = (Vec::new(), Vec::new());
    for change in &operation.worktrees {
        let [now, then] = [&change.captures.old, &change.captures.new].map(|capture| extras_of(ctx, capture.as_ref()));
        let lines = in_progress::operations(&change.path, &now?, &then?);
        if let (false, Some(there)) = (lines.is_empty(), ctx.repo.worktree_at(Path::new(&change.path))?) {
            let live = ctx.repo.in_progress(&there.worktree)?;
            operations.extend(lines.into_iter().filter(|line| line.is_due(&live)));
        }
        let first = files.len();
        add_files(ctx, &mut files, &change.path, &change.files)?;
        let known: Vec<RepoPath> = files[first..].iter().map(|file: &FileChange| file.path.clone()).collect();
        let worktree = &change.path;
        let permissions = permissions(ctx, change, &known)?.into_iter();
        let action = FileAction::Permissions;
        files.extend(permissions.map(|path| FileChange { worktree: worktree.clone(), path, action }));
        let staged = ctx.repo.diff_trees(&change.index.old, &change.index.new)?.into_iter();
        let staged = staged.filter(|staged| known.binary_search(&staged.path).is_err());
        let action = FileAction::Staged;
        files.extend(staged.map(|staged| FileChange { worktree: worktree.clone(), path: staged.path, action }));
    }
    for change in &operation.advances {
        add_files(ctx, &mut files, &change.path, &change.commit)?;
    }
    let advanced = operation.advances.iter().map(|advance| RefChange {
        name: advance.branch.clone(),
        value: Change::new(Some(advance.commit.old.clone()), Some(advance.commit.new.clone())),
    });
    let heads = operation.worktrees.iter().filter(|change| change.head.old != change.head.new);
    let workspaces = operation.workspaces.iter();
    Ok(Preview {
        refs: advanced.chain(operation.refs.iter().cloned()).collect(),
        branch_configs: operation.branch_configs.clone(),
        stash: operation.stash.clone(),
        heads: heads.map(|change| HeadChange { worktree: change.path.clone(), head: change.head.clone() }).collect(),
        operations,
        files,
        workspaces: workspaces.map(workspace).collect(),
        cases: operation.edits.clone(),
        mode: operation.mode,
        lost: lost.iter().map(|change| Path::new(&change.worktree).join(change.path.to_path()).display().to_string()).collect(),
        left_out,
        // In the order in which they were moved away.
        asides: operation.asides.iter().rev().filter(|aside| aside.way == Way::BringBack).cloned().collect(),
    })
}

/// Files and folders that change in nothing but their permissions.
fn permissions(ctx: &Context, change: &WorktreeChange, known: &[RepoPath]) -> Result<Vec<RepoPath>> {
    let Some(there) = ctx.repo.worktree_at(Path::new(&change.path))? else { return Ok(Vec::new()) };
    let [now, then] = [&change.captures.old, &change.captures.new].map(|capture| extras_of(ctx, capture.as_ref()));
    let modes = (&now?.modes[..], &then?.modes[..]);
    ctx.repo.permissions_that_change(&there.worktree, modes, |path| known.binary_search(path).is_ok())
}

fn workspace(change: &operation::WorkspaceChange) -> WorkspaceChange {
    let made_again = journal::is_made_again(change);
    WorkspaceChange { path: change.workspace.path.clone(), way: change.way, made_again }
}

fn add_files(ctx: &Context, files: &mut Vec<FileChange>, worktree: &str, trees: &Change<Oid>) -> Result<()> {
    for change in ctx.repo.diff_trees(&trees.old, &trees.new)?.into_iter().filter(TreeChange::changes_a_file) {
        let action = match (&change.old, &change.new) {
            (None, _) => FileAction::Created,
            (Some(_), Some(_)) => FileAction::Changed,
            (Some(_), None) => FileAction::Removed,
        };
        files.push(FileChange { worktree: worktree.to_owned(), path: change.path, action });
    }
    Ok(())
}
