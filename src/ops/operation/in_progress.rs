//! What becomes of git's operations that wait for their user (a merge, a rebase, a bisect) where a worktree goes back: what a
//! rollback and an undo name of them; and which of them a branch must not move under. Restoring them is a matter of the capture.

use serde::Serialize;

use crate::domain::base::names::{RefName, RepoPath};
use crate::error::Result;
use crate::git::{CaptureExtras, InProgress, Worktree};
use crate::ops::context::handle::Context;

/// What becomes of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum OperationFate {
    /// It is in progress no more.
    Ended,
    /// Another of its kind is in progress then.
    Replaced,
    /// It is not in progress now.
    BroughtBack,
}

/// An operation of git's in a worktree that waits for its user, and does not stay as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OperationLine {
    /// The worktree.
    pub worktree: String,
    /// Which, in words.
    pub what: &'static str,
    /// What becomes of it.
    pub action: OperationFate,
    /// Refs of this worktree alone that are part of it (`refs/bisect/…`), and come, go or move with it.
    pub refs: Vec<RefName>,
}

impl OperationLine {
    /// In words.
    pub fn text(&self) -> String {
        let becomes = match self.action {
            OperationFate::Ended => "ended",
            OperationFate::Replaced => "replaced by another",
            OperationFate::BroughtBack => "brought back",
        };
        format!("{} in {}: {becomes}", self.what, self.worktree)
    }
}

/// The operation of git's under which the branch that is checked out in a worktree must not move: its outcome would be based on
/// another commit. During a bisect HEAD is on no branch; where the user switched to one, nothing of it is lost.
///
/// # Errors
/// `GIT_FAILED`.
pub(in crate::ops) fn holds_branch(ctx: &Context, worktree: &Worktree) -> Result<Option<InProgress>> {
    Ok(ctx.repo.captures().in_progress(worktree)?.into_iter().find(|kind| *kind != InProgress::Bisect))
}

/// What becomes of the operations that are in progress now, and those that were then.
pub(in crate::ops) fn operations(worktree: &str, now: &CaptureExtras, then: &CaptureExtras) -> Vec<OperationLine> {
    if then.has_operation_of(now) {
        return Vec::new();
    }
    let moved = refs_that_differ(now, then);
    let (now, then) = (now.in_progress(), then.in_progress());
    let line = |kind: &InProgress, action| OperationLine {
        worktree: worktree.to_owned(),
        what: kind.words(),
        action,
        refs: moved.iter().filter(|name| is_part_of(name, *kind)).cloned().collect(),
    };
    let ends =
        now.iter().map(|kind| line(kind, if then.contains(kind) { OperationFate::Replaced } else { OperationFate::Ended }));
    let back = then.iter().filter(|kind| !now.contains(kind)).map(|kind| line(kind, OperationFate::BroughtBack));
    ends.chain(back).collect()
}

fn is_part_of(name: &RefName, kind: InProgress) -> bool {
    match kind {
        InProgress::Bisect => name.as_str().starts_with("refs/bisect/"),
        InProgress::Rebase => name.as_str().starts_with("refs/rewritten/"),
        InProgress::Mailbox | InProgress::Merge | InProgress::CherryPick | InProgress::Revert | InProgress::Sequence => false,
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
