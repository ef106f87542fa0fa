//! The user's own linked worktrees, where a rollback is to take them back too: files, index, HEAD, and the branch that was checked out.
//! One that is gone is not made again; it is told with the command that does so.

use crate::checkpoint::{CapturedWorkspace, CheckpointCaptures, capture_options};
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_model::base::ref_change::RefChange;
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::document::{CheckpointDocument, WorkspaceState};
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::HeadState;
use axiom_model::work::sessions::session::Session;

use super::left_alone::is_same;
use super::preview::RollbackPreview;
use super::submodules;
use super::worktree::{WorktreeRollbackState, add_worktree, worktree_change};
use crate::operation::recorded_head::head_state;

/// What becomes of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnWorktreesFate<'d> {
    /// They stay as they are, which is told.
    Stay,
    /// They go back too.
    GoBackToo,
    /// These go back too.
    These(&'d [String]),
    /// This one goes back, and the main one stays with the others: the session works for the branch that is checked out here.
    InPlaceOfMain(&'d str),
}

impl<'d> OwnWorktreesFate<'d> {
    /// Which worktrees a rollback of everything takes back that does not name any.
    pub fn of_session(session: Option<&Session>, record: &CheckpointRecord, document: &'d CheckpointDocument) -> Self {
        let session = session.filter(|session| session.in_linked_worktree && record.created_at >= session.started_at);
        let target = session.map(|session| &session.target).filter(|target| document.branch.as_ref() != Some(target));
        let is_there = |then: &&WorkspaceState| then.task_id.is_none() && target.is_some() && then.branch.as_ref() == target;
        document.workspaces.iter().find(is_there).map_or(Self::Stay, |then| Self::InPlaceOfMain(&then.path))
    }

    fn includes(self, path: &str) -> bool {
        match self {
            Self::Stay => false,
            Self::GoBackToo => true,
            Self::These(all) => all.iter().any(|one| one == path),
            Self::InPlaceOfMain(one) => one == path,
        }
    }

    /// Whether the main worktree goes back.
    pub fn takes_main_back(self) -> bool {
        match self {
            Self::Stay | Self::GoBackToo | Self::These(_) => true,
            Self::InPlaceOfMain(_) => false,
        }
    }
}

/// Those that go back: the checkpoint holds them, and they are still there. What a task has, its fate decides about.
fn held<'a>(
    document: &'a CheckpointDocument,
    captured: &'a CheckpointCaptures,
    own: OwnWorktreesFate<'a>,
) -> impl Iterator<Item = (&'a WorkspaceState, &'a CapturedWorkspace)> {
    let goes_back = move |then: &&WorkspaceState| then.task_id.is_none() && own.includes(&then.path);
    document.workspaces.iter().filter(goes_back).filter_map(|then| {
        let now = captured.workspaces.iter().find(|now| now.state.path == then.path)?;
        now.state.task_id.is_none().then_some((then, now))
    })
}

/// Moves their branches back, but for those that the rollback moves anyway.
pub(super) fn add_branches(
    ctx: &Context,
    document: &CheckpointDocument,
    captured: &CheckpointCaptures,
    own: OwnWorktreesFate<'_>,
    operation: &mut JournaledOperation,
) -> Result<()> {
    for (then, _) in held(document, captured, own) {
        let Some(branch) = &then.branch else { continue };
        let is_known = document.refs.contains_key(branch) || document.branch.as_ref() == Some(branch);
        let value = ValueChange::new(ctx.repo.refs().read_ref(branch)?, then.head.clone());
        if !is_known && value.old != value.new && !operation.refs.iter().any(|change| change.name == *branch) {
            operation.refs.push(RefChange { name: branch.clone(), value });
        }
    }
    Ok(())
}

/// Adds those that differ from the checkpoint.
pub(super) fn add(
    ctx: &Context,
    document: &CheckpointDocument,
    (captured, own): (&CheckpointCaptures, OwnWorktreesFate<'_>),
    operation: &mut JournaledOperation,
    preview: &mut RollbackPreview,
) -> Result<()> {
    for (then, now) in held(document, captured, own) {
        let coverage = document.coverage.get(&then.path);
        let known = operation.submodules.len();
        let submodules = submodules::add(ctx, document, (captured, &then.path), None, operation, preview)?;
        if operation.submodules.len() == known && is_same(ctx, (then, coverage), &now.captured)? {
            continue;
        }
        let head = match (&then.branch, &then.head) {
            (Some(branch), _) => HeadState::Branch(branch.clone()),
            (None, Some(commit)) => HeadState::Detached(commit.clone()),
            (None, None) => head_state(&now.captured.capture.head),
        };
        let old = Some(now.state.capture.clone());
        let exclude = capture_options(ctx).exclude;
        let wanted = WorktreeRollbackState {
            capture: &then.capture,
            head,
            coverage,
            only: None,
            exclude: &exclude,
            submodules: &submodules,
        };
        let change = worktree_change(&ctx.repo, then.path.clone(), (&now.captured, old), wanted, preview)?;
        add_worktree(ctx, change, &now.captured, operation, preview)?;
    }
    Ok(())
}
