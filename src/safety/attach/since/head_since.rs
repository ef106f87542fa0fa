//! What became of HEAD and its branch in the worktree of a prompt's session since that prompt.

use std::path::Path;

use crate::attach::sessions;
use crate::attach::since::own_commits::position;
use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_git::LoggedCommit;
use axiom_model::attach::head_history::{HeadPosition, OwnHeadMove, is_explained};
use axiom_model::base::names::Oid;
use axiom_model::checkpoint::document::CheckpointDocument;

/// The most commits that are told.
const MOST_COMMITS: usize = 200;

/// What became of HEAD in the worktree of a prompt's session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadSincePrompt {
    /// It is as it was before the prompt.
    Same,
    /// Only shell commands of the session moved it, and its branch, provably. These commits leave the branch, the newest first.
    OwnCommits(Vec<String>),
    /// Something else, or somebody else's.
    Others,
}

/// What became of HEAD in this worktree since a checkpoint that was made for this session.
pub(in crate::attach) fn head_since(
    ctx: &Context,
    document: &CheckpointDocument,
    (session, worktree): (&str, &str),
) -> Result<HeadSincePrompt> {
    let entry = ctx.repo.worktrees().worktree_at(Path::new(worktree))?.filter(|entry| entry.present);
    let Some(entry) = entry else {
        return Err(Error::new(Code::InvalidInput, format!("the worktree '{worktree}' is gone"))
            .hint(format!("git axiom rollback checkpoint {} --all-worktrees", document.name)));
    };
    let now = position(&ctx.repo.refs().head(&entry.worktree)?);
    let then = head_then(document, worktree);
    if now == then {
        return Ok(HeadSincePrompt::Same);
    }
    let known = sessions::list(ctx).into_iter().find(|one| one.id == session);
    let since = |one: &OwnHeadMove| one.worktree == worktree && one.at >= document.created_at;
    let moves: Vec<OwnHeadMove> = known.map(|one| one.moves).unwrap_or_default().into_iter().filter(since).collect();
    let tip = then.branch.as_ref().map(|branch| ctx.repo.refs().read_ref(branch)).transpose()?.flatten();
    if !is_explained(&moves, &then, &now, tip.as_ref()) {
        return Ok(HeadSincePrompt::Others);
    }
    let leave = commits_that_leave(ctx, tip.as_ref(), then.commit.as_ref())?;
    Ok(HeadSincePrompt::OwnCommits(leave.iter().map(|commit| format!("{} {}", commit.oid.short(), commit.subject)).collect()))
}

/// What HEAD of a worktree said at a checkpoint.
fn head_then(document: &CheckpointDocument, worktree: &str) -> HeadPosition {
    match document.workspaces.iter().find(|one| one.path == worktree) {
        Some(one) => HeadPosition { branch: one.branch.clone(), commit: one.head.clone() },
        None => HeadPosition { branch: document.branch.clone(), commit: document.git_commit.clone() },
    }
}

fn commits_that_leave(ctx: &Context, tip: Option<&Oid>, then: Option<&Oid>) -> Result<Vec<LoggedCommit>> {
    let Some(tip) = tip else { return Ok(Vec::new()) };
    ctx.repo.history().log(tip, then.map_or(&[], std::slice::from_ref), MOST_COMMITS)
}
