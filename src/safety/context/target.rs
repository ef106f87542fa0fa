//! The branch that work is merged into, and where the work on a task left it: what it changed is counted from there, in a diff, at a gate,
//! in the status.

use axiom_base::error::{Code, Error, Result};
use axiom_git::Worktree;
use axiom_model::base::names::{Oid, RefName};

use super::handle::Context;

/// The branch that work is merged into, where a session or the configuration says which.
pub(crate) fn chosen_target(ctx: &Context) -> Option<RefName> {
    let session = ctx.state().record.session.as_ref().map(|session| session.target.clone());
    session.or_else(|| ctx.config.merge.target.as_deref().map(RefName::branch_named))
}

/// The branch that work is merged into: the session's (the last one's, when none runs), the configured one, or the one
/// that is checked out.
///
/// # Errors
/// `TARGET_MISSING` where there is no such branch.
pub fn target_branch(ctx: &Context) -> Result<RefName> {
    if let Some(chosen) = chosen_target(ctx) {
        return Ok(chosen);
    }
    match ctx.repo.refs().head(&ctx.repo.worktrees().main_worktree()?)?.branch() {
        Some(branch) => Ok(branch.clone()),
        None => Err(Error::new(Code::TargetMissing, "HEAD is on no branch, so there is no branch to merge into")
            .hint("git switch BRANCH, or set merge.target")),
    }
}

/// The commit at which the history of `tip` left the target; in a workspace in which the target is just merged, the commit that is
/// merged: what that brings is not the task's. `None` without a target, or of another history.
pub fn left_target_at(ctx: &Context, tip: &Oid, workspace: Option<&Worktree>) -> Result<Option<Oid>> {
    let Some(target) = ctx.repo.refs().read_ref(&target_branch(ctx)?)? else { return Ok(None) };
    let history = ctx.repo.history();
    if let Some(workspace) = workspace
        && let Some(merge) = ctx.repo.unfinished_work().begun_merge(workspace)?
        && history.is_ancestor(&merge.theirs, &target)?
    {
        return Ok(Some(merge.theirs));
    }
    // Nothing was committed, or merged, since: no process of git is needed.
    if *tip == target { Ok(Some(target)) } else { history.merge_base(&target, tip) }
}
