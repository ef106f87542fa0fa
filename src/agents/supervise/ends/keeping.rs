//! What an iteration left is committed, and so made durable; what its filters store comes first.

use std::path::Path;
use std::time::Duration;

use crate::supervise::core::SessionCore;
use crate::supervise::core::agent_runs::AgentRuns;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::core::running_filters::{FilterWait, RunningFilters};
use crate::supervise::iterations::lost_files::is_gone_for_good;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_git::{CompletionClaim, FilteredIndex, LeftoverSkipReason, LeftoversRequest};
use axiom_model::base::ids::{AgentId, Token};
use axiom_model::base::names::Oid;
use axiom_model::work::agent::{AgentWork, Workspace};
use axiom_model::work::endings::outcome::AgentProgramEnd;
use axiom_model::work::iteration::IterationOutcome;
use axiom_model::work::sessions::session::SessionState;
use axiom_model::work::signals::reports::TaskReports;
use axiom_model::work::tasks::task::Task;
use axiom_model::work::tasks::wip;
use axiom_process::os::bell::WakeListener;
use axiom_safety::context::handle::Context;

impl AgentRuns {
    /// What the filters of a workspace have stored since its iteration ended; `None` while they are at work.
    pub(crate) fn stored_aside(
        &mut self,
        desk: &SessionDesk<'_>,
        bell: &WakeListener,
        (agent, token): (&AgentId, &Token),
        workspace: &Path,
    ) -> Option<Result<Option<FilteredIndex>>> {
        if !desk.ctx.repo.workspaces().may_have_filters() {
            return Some(Ok(None));
        }
        let Some(work) = self.get(agent).and_then(|run| run.filters_of(token)) else {
            let limit = desk.ctx.config.checkpoints.max_file_size.saturating_mul(1024 * 1024);
            return match RunningFilters::begin(workspace.to_owned(), limit, bell.rope().ok()) {
                Ok(work) => {
                    self.at(agent).filters = Some((token.clone(), work));
                    None
                }
                Err(error) => Some(Err(error)),
            };
        };
        // They have the grace time of a program, with the program.
        let grace = Duration::from_secs(desk.ctx.config.agents.grace_seconds);
        let waits = match self.halt_of(agent, token) {
            Some(halted) => FilterWait::Human(grace.saturating_sub(halted.begun.elapsed())),
            None if desk.session_state() == SessionState::Ending => FilterWait::Session,
            None => FilterWait::Nobody,
        };
        let told = work.said(waits, workspace)?;
        self.at(agent).filters = None;
        Some(told)
    }
}

/// At most this many names of changed files are recorded.
pub(crate) const MOST_FILES: usize = 100;

/// What of the work could be committed; `None` while filters are at work on it.
pub(crate) fn keep_what_is_left(
    core: &mut SessionCore<'_>,
    (agent, task): (&AgentId, &Task),
    (work, end): (&AgentWork, &AgentProgramEnd),
    token: &Token,
    outcome: &IterationOutcome,
    from: &Oid,
) -> Option<Result<IterationCommit>> {
    if *outcome == IterationOutcome::Crashed && is_gone_for_good(core.desk.ctx, &task.id).is_some() {
        return Some(Ok(IterationCommit::nothing(from)));
    }
    let workspace = match workspace_of(core.desk.ctx, task) {
        Ok(workspace) => workspace,
        Err(error) => return Some(Err(error)),
    };
    let stored = match core.runs.stored_aside(&core.desk, &core.bell, (agent, token), Path::new(&workspace.path))? {
        Ok(stored) => stored,
        Err(error) => return Some(Err(error)),
    };
    // What a killed agent said is in no message.
    let said = work.said_before.as_ref().filter(|_| *end == AgentProgramEnd::Killed).map(|before| &before.reports);
    Some(keep_work(core.desk.ctx, (agent, task), (work.iteration, said), outcome, (&workspace, from, stored.as_ref())))
}

/// Whether the folder of a task's workspace is gone: then nothing in it can be committed, and its next iteration brings it back or asks.
pub(super) fn is_folder_gone(ctx: &Context, task: &Task) -> bool {
    let workspace = ctx.state().restorable.workspaces.get(&task.id);
    workspace.is_some_and(|workspace| matches!(files::metadata(Path::new(&workspace.path)), Ok(None)))
}

fn workspace_of(ctx: &Context, task: &Task) -> Result<Workspace> {
    let known = ctx.state().restorable.workspaces.get(&task.id).cloned();
    known.ok_or_else(|| Error::new(Code::WorkspaceBroken, format!("the workspace of '{}' is not known", task.id)))
}

/// Commits the uncommitted changes in the workspace, and makes the agent's own commits durable too.
fn keep_work(
    ctx: &mut Context,
    (agent, task): (&AgentId, &Task),
    (iteration, said): (u32, Option<&TaskReports>),
    outcome: &IterationOutcome,
    (workspace, from, stored): (&Workspace, &Oid, Option<&FilteredIndex>),
) -> Result<IterationCommit> {
    let reports = said.or_else(|| ctx.state().reports(&task.id));
    let message = wip::message(&wip::WipCommitContext { task, agent, iteration, outcome, reports });
    let limit = ctx.config.checkpoints.max_file_size.saturating_mul(1024 * 1024);
    let claim = if *outcome == IterationOutcome::Complete { CompletionClaim::Complete } else { CompletionClaim::None };
    ctx.with_change_lock(|ctx| keep_in(ctx, workspace, (from, stored), (&message, claim), limit))
}

pub(crate) struct IterationCommit {
    pub(crate) to: Oid,
    pub(crate) files: Vec<String>,
    pub(crate) left_out: Vec<String>,
    pub(crate) conflict_round: Option<u32>,
}

impl IterationCommit {
    /// Where nothing could be committed.
    pub(crate) fn nothing(from: &Oid) -> Self {
        Self { to: from.clone(), files: Vec::new(), left_out: Vec::new(), conflict_round: None }
    }
}

fn keep_in(
    ctx: &mut axiom_safety::context::handle::Context,
    workspace: &Workspace,
    (from, stored): (&Oid, Option<&FilteredIndex>),
    (message, claim): (&str, CompletionClaim),
    limit: u64,
) -> Result<IterationCommit> {
    let path = Path::new(&workspace.path);
    let Some(entry) = ctx.repo.worktrees().worktree_at(path)? else {
        return Err(Error::new(Code::WorkspaceBroken, format!("'{}' is not a workspace any more", workspace.path)));
    };
    if let Some(stored) = stored {
        ctx.repo.workspaces().take_stored(&entry.worktree, stored)?;
    }
    let leftovers =
        LeftoversRequest { workspace: &entry.worktree, branch: &workspace.branch, message, max_file_size: limit, claim };
    let leftovers = ctx.repo.unfinished_work().commit_leftovers(&leftovers)?;
    let Some(to) = ctx.repo.refs().read_ref(&workspace.branch)? else {
        return Err(Error::new(Code::TargetMissing, format!("the branch '{}' is gone", workspace.branch.short())));
    };
    let changes = ctx.repo.history().diff_trees(from, &to)?;
    Ok(IterationCommit {
        to,
        files: changes.iter().take(MOST_FILES).map(|change| change.path.to_string()).collect(),
        left_out: leftovers.skipped.iter().map(|(path, why)| format!("{path} ({})", why_skipped(*why))).collect(),
        conflict_round: None,
    })
}

fn why_skipped(why: LeftoverSkipReason) -> &'static str {
    match why {
        LeftoverSkipReason::TooLarge => "over the size limit",
        LeftoverSkipReason::Secret => "looks like a secret",
        LeftoverSkipReason::NestedRepository => "a nested repository",
        LeftoverSkipReason::Unreadable => "cannot be read",
    }
}
