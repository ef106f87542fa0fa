//! An iteration begins: its workspace is looked at, its intent recorded, its keeper started.

use std::path::Path;

use super::iteration_care::IterationCare;
use super::lost_files::{is_gone_for_good, open_anew};
use super::start_keeper::{PreparedIteration, prepare_keeper, start_keeper};
use super::workplace::{NextIteration, was_used};
use crate::supervise::core::SessionCore;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::core::iteration_watch::IterationWatch;
use crate::supervise::core::work_ends::WorkEnd;
use crate::supervise::merges::shared_stash;
use crate::supervise::merges::shared_stash::hold_stash;
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{AgentId, Token};
use axiom_model::base::names::Oid;
use axiom_model::recovery::decide::{GONE, MayBeginAnew};
use axiom_model::state::event::Event;
use axiom_model::work::agent::{AgentWork, Workspace};
use axiom_model::work::endings::after_iteration::next_iteration;
use axiom_model::work::endings::failures::SessionStep;
use axiom_model::work::gates::gate::TaskHoldReason;
use axiom_model::work::iteration::{IterationOutcome, IterationReport, ReviewCause};
use axiom_safety::folders::workspaces;
use axiom_safety::folders::workspaces::WorkspaceCondition;

impl IterationCare {
    /// Starts the next iteration, or does what follows where that fails.
    pub(crate) fn start_iteration(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, work: &AgentWork) -> Result<()> {
        if self.stop_for_budget(core, agent, work)? {
            return Ok(());
        }
        match self.try_iteration(core, agent, work) {
            Err(error) => core.agent_failed(agent, SessionStep::Start, error),
            Ok(()) => Ok(()),
        }
    }

    /// The intent is on disk before the keeper starts, and the keeper starts the program only while the intent is valid.
    fn try_iteration(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, work: &AgentWork) -> Result<()> {
        core.desk.act()?;
        let task = core.desk.ctx.state().task(&work.task)?.clone();
        let Some(workspace) = core.desk.ctx.state().restorable.workspaces.get(&work.task).cloned() else {
            return core.hold_back(agent, TaskHoldReason::Broken, "its workspace is gone");
        };
        let Some(from) = core.desk.ctx.repo.refs().read_ref(&workspace.branch)? else {
            let why = workspaces::branch_is_gone(core.desk.ctx, &workspace);
            return core.hold_back(agent, TaskHoldReason::Broken, &why);
        };
        match workspaces::condition(core.desk.ctx, &workspace)? {
            // It may have been made a moment ago: what came of it is taken.
            WorkspaceCondition::Sound if core.makings.is_of(&work.task) => {
                core.makings.is_made(&mut core.desk, &core.bell, &work.task, &workspace).map(drop)?
            }
            WorkspaceCondition::Sound => {}
            // The last iteration deleted or disconnected it.
            WorkspaceCondition::Mendable => {
                core.tasks.bring_back_folder(&mut core.desk, &work.task)?;
                match is_gone_for_good(core.desk.ctx, &work.task).filter(|_| was_used(core.desk.ctx, &task)) {
                    Some(MayBeginAnew::Asks) => return core.review_agent(agent, ReviewCause::Recovery, GONE),
                    Some(MayBeginAnew::Yes) => open_anew(&mut core.desk, &work.task, &workspace)?,
                    None => {}
                }
                if !core.makings.is_made(&mut core.desk, &core.bell, &work.task, &workspace)? {
                    return Ok(());
                }
            }
            WorkspaceCondition::ForAHuman(why) => return core.hold_back(agent, TaskHoldReason::Broken, &why),
        }
        no_lock_of_gits(&mut core.desk, &workspace)?;
        core.begin_merge(&work.task)?;
        let token = core.runs.next_token(agent)?;
        let anew = core.tasks.counted_anew.contains(&work.task);
        let made = core.desk.work_of(agent).filter(|_| !anew).map_or(0, |work| work.iteration);
        let iteration = next_iteration(made, core.setup.options.max_iterations);
        let next = NextIteration { agent, task: &task, workspace: &workspace, iteration, token: &token };
        // Before the intent: where there is no space for it, nothing is recorded, and the next try uses the same folder.
        let PreparedIteration { spec, resumes } = prepare_keeper(core.desk.ctx, &core.setup, &core.tasks, &next)?;
        if let Err(error) = hold_stash(core.desk.ctx, &task.id, &core.desk.ctx.layout().agents().run(agent, &token)) {
            core.desk.warn(shared_stash::said(&error));
        }
        let program = core.setup.options.programs.of(&task);
        core.desk.ctx.append(Event::IterationIntended {
            agent: agent.clone(),
            iteration,
            token: token.clone(),
            from: from.clone(),
            exit_completes: program.exit_completes,
            program: if program.can_resume() { program.name.clone() } else { String::new() },
            resumes,
        })?;
        core.runs.at(agent).prepared = None;
        core.tasks.counted_anew.remove(&work.task);
        env::fault_point("iterate.intended");
        let started = start_keeper(&spec);
        env::fault_point("iterate.keeper-started");
        match started {
            Ok(()) => {
                core.runs.at(agent).watch = Some(IterationWatch { token: Some(token), ..IterationWatch::default() });
                core.desk.tell(SessionNotice::IterationStarted { agent: agent.clone(), task: task.id, iteration });
                Ok(())
            }
            Err(error) => core.never_began(agent, &token, from, error),
        }
    }
}

/// Looks for a lock file of git's in the workspace, with which every git command of the next iteration would fail. The
/// lock of a dead process is removed.
fn no_lock_of_gits(desk: &mut SessionDesk<'_>, workspace: &Workspace) -> Result<()> {
    let Some(entry) = desk.ctx.repo.worktrees().worktree_at(Path::new(&workspace.path))? else { return Ok(()) };
    let locks = ["index.lock", "HEAD.lock"].map(|name| entry.worktree.git_dir().join(name));
    let held = || locks.iter().find(|lock| lock.symlink_metadata().is_ok());
    if held().is_some() {
        desk.clear_dead_locks();
    }
    match held() {
        None => Ok(()),
        Some(lock) => Err(Error::new(Code::GitLocked, format!("'{}' may belong to a running git command", lock.display()))),
    }
}

impl SessionCore<'_> {
    /// Handles an iteration that could not be started: its program did not run, so it does not count, and the table says what
    /// follows. A keeper that starts late finds its intent withdrawn.
    pub(crate) fn never_began(&mut self, agent: &AgentId, token: &Token, from: Oid, error: Error) -> Result<()> {
        let report = IterationReport {
            outcome: IterationOutcome::Unfinished { why: error.to_string() },
            exit_code: None,
            signal: None,
            to: from.clone(),
            from,
            files: Vec::new(),
            left_out: Vec::new(),
            duration_ms: 0,
            ended_at: None,
            tokens: None,
            cost_usd: None,
            not_started: true,
            silent_end: None,
            denied: Vec::new(),
            unfinished: Vec::new(),
            cut: None,
            session: None,
            resumed: None,
            ran: String::new(),
            cut_off: false,
            conflict_round: None,
            discarded: false,
            end_unseen: false,
        };
        self.desk.step(Event::IterationEnded { agent: agent.clone(), token: token.clone(), report: Box::new(report) })?;
        let run = self.runs.at(agent);
        run.end = run.take_halt(token).map(|halted| WorkEnd::Halted(halted, None)).or(run.end.take());
        if self.end_work(agent)? { Ok(()) } else { self.agent_failed(agent, SessionStep::Start, error) }
    }
}
