//! What taking a transaction back changes, named: refs, files, workspaces, cases.

use serde::Serialize;

use crate::domain::case::CaseEdit;
use crate::domain::names::{Oid, RepoPath};
use crate::domain::operation::{AsideChange, HeadState, Operation, RefChange, Way};
use crate::domain::text::Change;
use crate::error::Result;
use crate::ops::context::Context;

/// What an undo changes; old is what is there now.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// Refs that move, come back or go; branches that move with the worktree in which they are checked out among them.
    pub refs: Vec<RefChange>,
    /// Worktrees that get another branch or commit.
    pub heads: Vec<HeadChange>,
    /// Files that change, ordered by worktree and path.
    pub files: Vec<FileChange>,
    /// Workspaces that are put aside or come back.
    pub workspaces: Vec<WorkspaceChange>,
    /// Fields of cases that change.
    pub cases: Vec<CaseEdit>,
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
}

/// What an operation that takes something back is going to change.
///
/// # Errors
/// `GIT_FAILED` where a tree is missing.
pub(super) fn preview(ctx: &Context, operation: &Operation) -> Result<Preview> {
    let mut files = Vec::new();
    for change in &operation.worktrees {
        let first = files.len();
        add_files(ctx, &mut files, &change.path, &change.files)?;
        let known: Vec<RepoPath> = files[first..].iter().map(|file: &FileChange| file.path.clone()).collect();
        let staged = ctx.repo.diff_trees(&change.index.old, &change.index.new)?.into_iter();
        let staged = staged.filter(|staged| known.binary_search(&staged.path).is_err());
        let worktree = &change.path;
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
        heads: heads.map(|change| HeadChange { worktree: change.path.clone(), head: change.head.clone() }).collect(),
        files,
        workspaces: workspaces.map(|one| WorkspaceChange { path: one.workspace.path.clone(), way: one.way }).collect(),
        cases: operation.edits.clone(),
        // In the order in which they were moved away.
        asides: operation.asides.iter().rev().filter(|aside| aside.way == Way::BringBack).cloned().collect(),
    })
}

fn add_files(ctx: &Context, files: &mut Vec<FileChange>, worktree: &str, trees: &Change<Oid>) -> Result<()> {
    for change in ctx.repo.diff_trees(&trees.old, &trees.new)? {
        let action = match (&change.old, &change.new) {
            (None, _) => FileAction::Created,
            (Some(_), Some(_)) => FileAction::Changed,
            (Some(_), None) => FileAction::Removed,
        };
        files.push(FileChange { worktree: worktree.to_owned(), path: change.path, action });
    }
    Ok(())
}
