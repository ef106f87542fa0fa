//! The branch that a session merges into: the one that the user names, else that of the session that crashed, else that of the
//! configuration, else the one that is checked out where `run` is called: in the main worktree, or in a linked one of the user's.

use std::path::Path;

use axiom_base::error::{Code, Error, Result};
use axiom_git::Worktree;
use axiom_model::base::names::RefName;
use axiom_model::queries::gate_use::session_that_goes_on;
use axiom_model::work::gates::gate::Gate;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::scratch_worktrees;

/// A target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTarget {
    /// The branch.
    pub branch: RefName,
    /// Whether it is checked out in a linked worktree of the user's, in which we were called.
    pub in_linked_worktree: bool,
}

/// The command of a session that carries out what was approved at these gates: a merge is approved into one branch.
pub fn command_for<'g>(ctx: &Context, mut approved: impl Iterator<Item = &'g Gate>) -> String {
    let next = of_session(ctx, None).ok();
    let other = next.and_then(|next| approved.find(|gate| gate.is_of_another_target(&next.branch)));
    let target = other.and_then(|gate| gate.target.as_ref()).map(RefName::short_in_shell);
    target.map_or_else(|| "git axiom run".to_owned(), |target| format!("git axiom run --target {target}"))
}

/// The target of the session that crashed, where there is one with which the next goes on.
fn of_crashed(ctx: &Context) -> Result<Option<SessionTarget>> {
    let Some(session) = session_that_goes_on(ctx.state()) else { return Ok(None) };
    let target = SessionTarget { branch: session.target.clone(), in_linked_worktree: session.in_linked_worktree };
    Ok(ctx.repo.refs().read_ref(&target.branch)?.map(|_| target))
}

/// The target of a session that begins here and now.
pub fn of_session(ctx: &Context, named: Option<&RefName>) -> Result<SessionTarget> {
    if let Some(target) = of_crashed(ctx)?.filter(|_| named.is_none()) {
        return Ok(target);
    }
    let here = users_worktree(ctx)?;
    let head = ctx.repo.refs().head(&here)?;
    let configured = || ctx.config.merge.target.as_deref().map(RefName::branch_named);
    let branch = match (named.cloned().or_else(configured), head.branch()) {
        (Some(branch), _) => branch,
        (None, Some(branch)) => branch.clone(),
        (None, None) => {
            return Err(Error::new(Code::DetachedHead, "HEAD is on no branch, so there is no target to merge into")
                .hint("check out the branch to merge the work into")
                .hint("or name it: git axiom run --target BRANCH"));
        }
    };
    let is_here = head.branch() == Some(&branch);
    if ctx.repo.refs().read_ref(&branch)?.is_some() {
        return Ok(SessionTarget { in_linked_worktree: is_here && !here.is_main(), branch });
    }
    Err(if is_here {
        Error::new(Code::UnbornBranch, format!("the branch '{}' has no commit yet", branch.short()))
            .hint("make a first commit: git commit --allow-empty -m 'Begin'")
    } else {
        Error::new(Code::TargetMissing, format!("the target branch '{}' does not exist", branch.short()))
            .hint(format!("make it: git branch {}", branch.short_in_shell()))
            .hint("or name another: git axiom run --target BRANCH, git config axiom.merge.target BRANCH")
    })
}

/// The worktree in which we were called, where it is the user's own; else the main one.
fn users_worktree(ctx: &Context) -> Result<Worktree> {
    let here = ctx.repo.worktrees().current_worktree()?;
    let is_here = |place: &Path| {
        place == here.path() || place.canonicalize().is_ok_and(|place| Some(place) == here.path().canonicalize().ok())
    };
    let ours = ctx.state().restorable.workspaces.values().any(|workspace| is_here(Path::new(&workspace.path)));
    match here.is_main() || ours || scratch_worktrees::places(ctx)?.iter().any(|place| is_here(place)) {
        true => ctx.repo.worktrees().main_worktree(),
        false => Ok(here),
    }
}
