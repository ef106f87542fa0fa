//! Going on with a program's own session: with which one, and what a run leaves of it. The rules are in `domain::work::resuming`.

use std::path::Path;

use super::Supervisor;
use super::prompting::Workplace;
use crate::domain::agent::stream::seen::Usage;
use crate::domain::agent::stream::summary::{Summary, since};
use crate::domain::base::ids::CaseId;
use crate::domain::work::agent::{Outcome, Work, Workspace};
use crate::domain::work::case::Case;
use crate::domain::work::last_run::LastRun;
use crate::domain::work::outcome::End;
use crate::domain::work::resuming::{self, Anew, Now, ProgramSession, Resumed};
use crate::error::Result;
use crate::git::{Head, StatusKind};

impl Supervisor<'_> {
    /// The session to go on with.
    pub(super) fn session_to_resume(
        &self,
        case: &Case,
        workspace: &Workspace,
        place: &Workplace,
    ) -> Option<std::result::Result<String, Anew>> {
        let now = Now {
            program: self.options.programs.of(case),
            path: &workspace.path,
            head: place.head.as_ref(),
            changes: place.changes.as_deref(),
        };
        resuming::session(self.last_run(&case.id), now).map(|found| found.map(str::to_owned))
    }

    /// Where a task's workspace stands: its commit and what is uncommitted.
    ///
    /// # Errors
    /// `GIT_FAILED` where its HEAD cannot be read.
    pub(super) fn workplace(&self, workspace: &Workspace) -> Result<Workplace> {
        let Some(entry) = self.ctx.repo.worktrees().worktree_at(Path::new(&workspace.path))? else {
            return Ok(Workplace::default());
        };
        let head = match self.ctx.repo.refs().head(&entry.worktree)? {
            Head::Branch { name, commit } if name == workspace.branch => commit,
            Head::Branch { .. } | Head::Detached { .. } => None,
        };
        let changes = match self.ctx.repo.index(&entry.worktree).status(None) {
            Ok(status) => {
                let changed = status.into_iter().filter(|entry| entry.kind != StatusKind::Ignored);
                Some(changed.map(|entry| entry.path.to_string()).collect())
            }
            Err(error) => {
                tracing::info!(%error, "what is uncommitted in a workspace is not known");
                None
            }
        };
        Ok(Workplace { head, changes })
    }

    fn last_run(&self, task: &CaseId) -> Option<&LastRun> {
        self.ctx.state().record.cases.get(task)?.last_run.as_deref()
    }

    /// How a run went that was to go on with a session, and the session as it leaves it.
    pub(super) fn session_after(
        &self,
        work: &Work,
        end: &End,
        outcome: &Outcome,
        told: &Summary,
        changed: bool,
    ) -> (Option<Resumed>, Option<Box<ProgramSession>>) {
        let resumed = work.resumes.as_ref().map(|_| resuming::how_it_went(end, outcome, told, changed));
        let Some(id) = told.session.clone().or_else(|| work.resumes.clone()) else { return (resumed, None) };
        if work.program.is_empty() {
            return (resumed, None);
        }
        let Some(workspace) = self.ctx.state().restorable.workspaces.get(&work.task) else { return (resumed, None) };
        let before = self.counted_before(&work.task, resumed.is_some());
        let session = ProgramSession {
            id,
            program: work.program.clone(),
            path: workspace.path.clone(),
            usage: Usage {
                input: told.usage.input.or(before.input),
                output: told.usage.output.or(before.output),
                cached: told.usage.cached.or(before.cached),
                cost_usd: told.usage.cost_usd.or(before.cost_usd),
            },
            open: resuming::was_cut_off(end, outcome),
        };
        (resumed, Some(Box::new(session)))
    }

    /// What a run counted, without what earlier runs of its session had counted.
    pub(super) fn new_usage(&self, case: &Case, total: &Usage, resumed: bool) -> Usage {
        since(*total, self.counted_before(&case.id, resumed), &self.options.programs.of(case).stream)
    }

    fn counted_before(&self, task: &CaseId, resumed: bool) -> Usage {
        let session = self.last_run(task).filter(|_| resumed).and_then(|run| run.session.as_ref());
        session.map_or_else(Usage::default, |session| session.usage)
    }
}
