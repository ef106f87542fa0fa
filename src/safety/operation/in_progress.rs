//! Git's own operations that wait for the user (a merge, a rebase, a bisect) in a worktree that is restored: what a rollback
//! or an undo says about them, and under which of them a branch must not move. Not here: restoring them, which is part of
//! restoring the capture.

use serde::Serialize;

use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_git::{CaptureExtras, GitOperation, Worktree};
use axiom_model::base::names::{RefName, RepoPath};

/// What happens to an operation of git's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum GitOperationFate {
    /// It is ended.
    Ended,
    /// Another operation of the same kind takes its place.
    Replaced,
    /// It is not in progress now, and comes back.
    BroughtBack,
}

/// An operation of git's that waits for the user in a worktree, and does not stay as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GitOperationLine {
    /// The worktree.
    pub worktree: String,
    /// Which operation, in words.
    pub what: &'static str,
    /// What happens to it.
    pub action: GitOperationFate,
    /// Refs of this worktree only that are part of it (`refs/bisect/…`), and that are created, deleted or moved with it.
    pub refs: Vec<RefName>,
}

impl GitOperationLine {
    /// The line as text.
    pub fn text(&self) -> String {
        let becomes = match self.action {
            GitOperationFate::Ended => "ended",
            GitOperationFate::Replaced => "replaced by another",
            GitOperationFate::BroughtBack => "restored",
        };
        format!("{} in {}: {becomes}", self.what, self.worktree)
    }
}

/// The operation of git's under which the branch that is checked out in a worktree must not move: its outcome would be based
/// on another commit. A bisect does not count: HEAD is detached during a bisect, and if the user has switched to a branch,
/// moving it loses nothing of the bisect.
pub fn holds_branch(ctx: &Context, worktree: &Worktree) -> Result<Option<GitOperation>> {
    Ok(ctx.repo.git_operations().in_progress(worktree)?.into_iter().find(|kind| *kind != GitOperation::Bisect))
}

/// The fate of the operations that are in progress now, and of those that were in the capture `then`.
pub(crate) fn operations(worktree: &str, now: &CaptureExtras, then: &CaptureExtras) -> Vec<GitOperationLine> {
    if then.has_operation_of(now) {
        return Vec::new();
    }
    let moved = refs_that_differ(now, then);
    let (now, then) = (now.in_progress(), then.in_progress());
    let line = |kind: &GitOperation, action| GitOperationLine {
        worktree: worktree.to_owned(),
        what: kind.words(),
        action,
        refs: moved.iter().filter(|name| is_part_of(name, *kind)).cloned().collect(),
    };
    let ends =
        now.iter().map(|kind| line(kind, if then.contains(kind) { GitOperationFate::Replaced } else { GitOperationFate::Ended }));
    let back = then.iter().filter(|kind| !now.contains(kind)).map(|kind| line(kind, GitOperationFate::BroughtBack));
    ends.chain(back).collect()
}

fn is_part_of(name: &RefName, kind: GitOperation) -> bool {
    match kind {
        GitOperation::Bisect => name.as_str().starts_with("refs/bisect/"),
        GitOperation::Rebase => name.as_str().starts_with("refs/rewritten/"),
        GitOperation::Mailbox
        | GitOperation::Merge
        | GitOperation::CherryPick
        | GitOperation::Revert
        | GitOperation::Sequence => false,
    }
}

fn refs_that_differ(now: &CaptureExtras, then: &CaptureExtras) -> Vec<RefName> {
    let is_in =
        |extras: &CaptureExtras, path: &RepoPath, oid| extras.operation.iter().any(|one| one.path == *path && one.oid == oid);
    let only_in = |one: &CaptureExtras, other: &CaptureExtras| {
        let files = one.operation.iter().filter(|file| !is_in(other, &file.path, file.oid.clone()));
        let names = files.filter_map(|file| std::str::from_utf8(file.path.as_bytes()).ok().map(str::to_owned));
        names.filter(|name| name.starts_with("refs/")).map(|name| RefName::new(&name)).collect::<Vec<_>>()
    };
    let mut names = only_in(now, then);
    names.extend(only_in(then, now));
    names.sort();
    names.dedup();
    names
}
