//! Whether a persona has left the workspace of a task as it found it. Where it has not, the step fails, whatever it said: its changes
//! stay where they are, saved by a capture, and no step has passed on them. The next iteration is told, and whatever it keeps is
//! verified like any work.

use std::path::Path;

use super::{EndedStepReport, StepFailure};
use crate::checkpoint;
use crate::checkpoint::live;
use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_git::WorktreeCapture;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::Oid;
use axiom_model::prompt::validator;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::agent::Workspace;
use axiom_model::work::verifying::checks::named_step::NamedVerifyStep;

/// A workspace as a persona has found it.
#[derive(Debug)]
pub struct UntouchedWorkspace {
    workspace: Workspace,
    tip: Option<Oid>,
    capture: WorktreeCapture,
}

/// Looks at a workspace before a persona does.
pub fn look(ctx: &mut Context, workspace: &Workspace) -> Result<UntouchedWorkspace> {
    ctx.with_change_lock(|ctx| {
        let broken = || Error::new(Code::WorkspaceBroken, format!("'{}' is no worktree any more", workspace.path));
        let entry = ctx.repo.worktrees().worktree_at(Path::new(&workspace.path))?.ok_or_else(broken)?;
        let capture = ctx.repo.captures().capture_worktree(&entry.worktree, &checkpoint::capture_options(ctx))?;
        let tip = ctx.repo.refs().read_ref(&workspace.branch)?;
        Ok(UntouchedWorkspace { workspace: workspace.clone(), tip, capture })
    })
}

/// Looks again at its end, and makes its result a failure where something has changed.
pub fn judge(
    ctx: &mut Context,
    by: EventAuthor,
    task: &TaskId,
    found: &UntouchedWorkspace,
    ran: &mut EndedStepReport,
) -> Option<StepFailure> {
    let why = match changed(ctx, found) {
        Ok(None) => return None,
        Ok(Some(why)) => why,
        Err(error) => format!("may have changed the workspace, which cannot be looked at: {error}"),
    };
    // Only a copy: the files stay in the workspace.
    if let Err(error) = live::capture(ctx, task, Some(by)) {
        tracing::warn!(%task, %error, "what a persona changed is not captured");
    }
    let said = ran.result.failure.replace(why.clone());
    let details = [format!("`{}` {why}", ran.result.command)].into_iter().chain(said).collect::<Vec<_>>().join("\n\n");
    Some(StepFailure { summary: format!("verify step '{}' {why}", NamedVerifyStep::of(&ran.result.command).label()), details })
}

fn changed(ctx: &mut Context, found: &UntouchedWorkspace) -> Result<Option<String>> {
    let now = look(ctx, &found.workspace)?;
    let history = ctx.repo.history();
    let files = history.diff_trees(&found.capture.tree, &now.capture.tree)?;
    let staged = history.diff_trees(&found.capture.index_tree, &now.capture.index_tree)?;
    let mut names: Vec<String> = files.into_iter().chain(staged).map(|change| change.path.to_string()).collect();
    names.sort();
    names.dedup();
    let commits = now.capture.head != found.capture.head || now.tip != found.tip;
    Ok(validator::changed(&names, commits))
}
