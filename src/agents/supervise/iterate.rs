//! One iteration: intent, prompt, keeper; then watching the keeper until its end.

use std::path::Path;
use std::time::{Duration, Instant};

use super::after_pause::is_set_aside;
use super::agent_runs::{AgentRuns, IterationWatch};
use super::budget::ProgramClock;
use super::core::SessionCore;
use super::desk::SessionDesk;
use super::lost_files::{is_gone_for_good, open_anew};
use super::notice::SessionNotice;
use super::prompting::was_used;
use super::shared_stash;
use super::shared_stash::hold_stash;
use super::space::SessionSpace;
use super::start_keeper::{NextIteration, PreparedIteration, prepare_keeper, start_keeper};
use super::task_memory::TaskMemory;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::{FileLock, LockAttempt};
use axiom_model::base::forms::plural::count_of;
use axiom_model::base::ids::{AgentId, TaskId, Token};
use axiom_model::recovery::decide::{GONE, MayBeginAnew};
use axiom_model::state::event::Event;
use axiom_model::work::agent::{AgentWork, IterationStage, Workspace};
use axiom_model::work::endings::failures::{LONGEST_PAUSE, SessionStep};
use axiom_model::work::endings::outcome::{AgentProgramEnd, next_iteration};
use axiom_model::work::gates::gate::TaskHoldReason;
use axiom_model::work::iteration::{IterationOutcome, ReviewCause};
use axiom_model::work::iteration_marker::IterationMarker;
use axiom_model::work::sessions::session::SessionState;
use axiom_model::work::signals::signal::AgentSignal;
use axiom_model::work::signals::signal_summary;
use axiom_process::client::leftovers;
use axiom_process::client::proof_of_life::note_alive;
use axiom_process::keeper::spec::{KEEPER, KEEPER_LOCK, KeeperState};
use axiom_process::{IterationState, iteration_state, keeper_state, read_signals};
use axiom_safety::checkpoint::live;
use axiom_safety::context::handle::fresh_token;
use axiom_safety::folders::workspaces;
use axiom_safety::folders::workspaces::WorkspaceCondition;
use axiom_safety::running::run_end;

/// The part of the next prompt after the machine stopped.
const UNPROVED: &str = "## The machine stopped\n\nIt stopped while an earlier attempt worked here. Files that were written \
    last may be empty or incomplete, committed ones too: look at each before you rely on it.";

/// What decides whether iterations may go on: space, money and slots.
#[derive(Debug, Default)]
pub(super) struct IterationCare {
    /// How much space there is.
    pub(super) room: SessionSpace,
    /// How long programs have run in this session.
    pub(super) clock: ProgramClock,
    /// The slots of tasks that are about to start.
    pub(super) slots_reserved: usize,
}

impl IterationCare {
    /// Looks after one busy agent; returns whether anything was done.
    pub(super) fn look_after(&mut self, core: &mut SessionCore<'_>, agent: &AgentId) -> Result<bool> {
        let Some(work) = core.desk.ctx.state().restorable.agents.get(agent).and_then(|agent| agent.work.clone()) else {
            return Ok(false);
        };
        match &work.stage {
            IterationStage::Between { last } => self.between(core, agent, &work, last.as_ref()),
            IterationStage::Intended { token } | IterationStage::Running { token, .. } => self.watch(core, agent, &work, token),
        }
    }

    /// Starts the next iteration, or does what follows where that fails.
    pub(super) fn start_iteration(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, work: &AgentWork) -> Result<()> {
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
            let why = format!("the branch '{}' is gone", workspace.branch.short());
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
        if let Err(error) = hold_stash(core.desk.ctx, &task.id, &core.desk.ctx.layout().run_dir(agent, &token)) {
            core.desk.warn(shared_stash::said(&error));
        }
        let program = core.setup.options.programs.of(&task);
        core.desk.ctx.append(Event::IterationIntended {
            agent: agent.clone(),
            iteration,
            token: token.clone(),
            from: from.clone(),
            exit_completes: program.exit_completes,
            program: if program.resume.is_empty() { String::new() } else { program.name.clone() },
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

    /// Watches the running iteration; returns whether anything was done.
    pub(super) fn watch(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, work: &AgentWork, token: &Token) -> Result<bool> {
        let dir = core.desk.ctx.layout().run_dir(agent, token);
        if core.runs.watch(agent).and_then(|watch| watch.token.as_ref()) != Some(token) {
            core.runs.at(agent).watch = Some(IterationWatch { token: Some(token.clone()), ..IterationWatch::default() });
        }
        let state = iteration_state(&dir, &work.stage)?;
        let heard = core.runs.listen(&mut core.desk, agent, token, &dir)?;
        let is_cut_off =
            matches!(state, IterationState::Lost(_) | IterationState::Known(KeeperState::Dead(_) | KeeperState::Unproved(_)));
        if is_cut_off {
            core.look_at_crash(agent, work);
        }
        let state = match state {
            IterationState::Lost(why) => return self.record_lost(core, agent, token, &why),
            IterationState::Known(state) => state,
        };
        match state {
            KeeperState::Starting => Ok(heard),
            KeeperState::Alive(record) => {
                note_alive(&dir);
                core.runs.ask_to_end(&mut core.desk, agent, &record);
                if let IterationStage::Intended { .. } = work.stage {
                    let pid = record.keeper.pid.unsigned_abs();
                    core.desk.step(Event::IterationStarted { agent: agent.clone(), token: token.clone(), pid })?;
                    core.failures.passed(&mut core.desk, &work.task)?;
                    return Ok(true);
                }
                self.watch_budget(core, agent, work, &record)?;
                core.runs.capture_live(&mut core.desk, agent, &work.task);
                Ok(heard)
            }
            KeeperState::NotStarted => self.never_started(core, agent, &dir),
            KeeperState::Ended(_) if core.a_human_may_have_ended(agent, token)? => Ok(true),
            KeeperState::Ended(exit) => self.finish(core, agent, &run_end::of(&exit), Some(&exit)),
            KeeperState::Dead(record) => {
                let left = leftovers::end_leftovers(&record)?.in_words();
                if core.runs.tells_end(agent) {
                    core.desk.warn(format!("the keeper of {agent} died; {left}"));
                }
                self.finish(core, agent, &AgentProgramEnd::KeeperDied, None)
            }
            KeeperState::Unproved(_) => {
                if core.runs.tells_end(agent) {
                    machine_stopped(&mut core.desk, &mut core.runs, &mut core.tasks, agent, &work.task)?;
                }
                self.finish(core, agent, &AgentProgramEnd::Unproved, None)
            }
        }
    }

    /// Handles an iteration that was begun, and whose keeper is dead or has lost its folder: what is left of it is found by its
    /// token.
    fn record_lost(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, token: &Token, why: &str) -> Result<bool> {
        let left = leftovers::end_marked(format!("AXIOM_TOKEN={token}").as_bytes())?.in_words();
        if core.runs.tells_end(agent) {
            core.desk.warn(format!("the iteration of {agent} is lost: {why}; {left}"));
        }
        self.finish(core, agent, &AgentProgramEnd::KeeperDied, None)
    }

    /// Handles an iteration whose supervisor died before the keeper started (a failed start by this supervisor is handled at
    /// once). The intent is withdrawn while this process holds the keeper's lock: a keeper that starts late takes the lock
    /// first, and then finds its intent withdrawn.
    fn never_started(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, dir: &Path) -> Result<bool> {
        let lock = if dir.is_dir() {
            match FileLock::try_take(&dir.join(KEEPER_LOCK))? {
                LockAttempt::Taken(lock) => Some(lock),
                LockAttempt::Held => return Ok(false),
            }
        } else {
            None
        };
        if keeper_state(dir)? == KeeperState::NotStarted || lock.is_some() && !dir.join(KEEPER).exists() {
            return self.finish(core, agent, &AgentProgramEnd::Stopped, None);
        }
        drop(lock);
        Ok(true)
    }

    /// Between two iterations: does what the last outcome requires.
    fn between(
        &mut self,
        core: &mut SessionCore<'_>,
        agent: &AgentId,
        work: &AgentWork,
        last: Option<&IterationOutcome>,
    ) -> Result<bool> {
        if core.end_work(agent)? {
            return Ok(true);
        }
        match last {
            Some(outcome) => self.settle(core, agent, work, outcome),
            None if self.may_iterate(core, agent) => self.go_on(core, agent, work),
            None => Ok(false),
        }
    }

    /// Starts the next iteration. First it is decided how work goes on whose session was paused and then ended.
    pub(super) fn go_on(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, work: &AgentWork) -> Result<bool> {
        if is_set_aside(core.desk.ctx, &work.task) {
            return core.after_pause(agent, work);
        }
        self.start_iteration(core, agent, work)?;
        Ok(true)
    }

    /// Whether an iteration may be started now.
    pub(super) fn may_iterate(&self, core: &mut SessionCore<'_>, agent: &AgentId) -> bool {
        let waits = |task: &TaskId| core.makings.is_at_work_for(task) || core.leaving.is_leaving(task);
        let is_free = !core.desk.work_of(agent).is_some_and(|work| waits(&work.task));
        is_free && core.desk.session_state() == SessionState::Running && self.room.has_room() && !core.runs.must_wait(agent)
    }
}

impl AgentRuns {
    /// The token of the agent's next iteration: the same until its intent is recorded.
    pub(super) fn next_token(&mut self, agent: &AgentId) -> Result<Token> {
        if let Some(token) = self.get(agent).and_then(|run| run.prepared.as_ref()) {
            return Ok(token.clone());
        }
        let token = fresh_token()?;
        self.at(agent).prepared = Some(token.clone());
        Ok(token)
    }

    /// Whether the end of its iteration is to be told now: it may be handled more than once, until its work is committed.
    fn tells_end(&mut self, agent: &AgentId) -> bool {
        self.watch_mut(agent).is_none_or(|watch| !std::mem::replace(&mut watch.end_told, true))
    }

    /// Captures the workspace when that is due. A capture may fail while the agent is working; the next one follows soon.
    fn capture_live(&mut self, desk: &mut SessionDesk<'_>, agent: &AgentId, task: &TaskId) {
        let interval = Duration::from_secs(desk.ctx.config.agents.capture_interval);
        let Some(watch) = self.watch_mut(agent) else { return };
        let last = *watch.captured_at.get_or_insert_with(Instant::now);
        if interval.is_zero() || last.elapsed() < interval {
            return;
        }
        watch.captured_at = Some(Instant::now());
        if let Err(error) = live::capture(desk.ctx, task, desk.apart()) {
            tracing::info!(%task, %error, "no live capture this time");
            if error.code() == Code::Busy
                && let Some(watch) = self.watch_mut(agent)
            {
                // Another operation is under way: as soon as it has ended.
                watch.captured_at = Instant::now().checked_sub(interval.saturating_sub(LONGEST_PAUSE));
            }
        }
    }

    /// Records the signals that the keeper has received since the last look.
    fn listen(&mut self, desk: &mut SessionDesk<'_>, agent: &AgentId, token: &Token, dir: &Path) -> Result<bool> {
        let from = self.watch(agent).map_or(0, |watch| watch.signals.read);
        let read = read_signals(dir, from)?;
        if read.next == from {
            return Ok(false);
        }
        if read.damaged > 0 {
            desk.warn(format!("{} of {agent} ignored", count_of(read.damaged, "damaged signal", "damaged signals")));
        }
        let recorded = desk.work_of(agent).map_or(0, |work| work.signals);
        let mut events = Vec::new();
        for received in read.signals {
            let signal = received.signal;
            if let Some(watch) = self.watch_mut(agent) {
                signal_summary::add(&mut watch.told, &signal);
                watch.marker = IterationMarker::after(watch.marker.take(), &signal, &watch.told, received.at);
                watch.heard_at = Some(received.at);
                if let AgentSignal::Progress { .. } = signal {
                    watch.progress_at = Some(received.at);
                }
            }
            if let AgentSignal::Seen(_) = signal {
                continue;
            }
            let decides = matches!(signal, AgentSignal::Complete {} | AgentSignal::Blocked { .. } | AgentSignal::Waiting { .. });
            let new = self.watch_mut(agent).is_none_or(|watch| {
                watch.signals.heard += 1;
                watch.signals.reported += u64::from(!signal_summary::is_marker(&signal));
                if decides {
                    watch.verdict = Some(signal.clone());
                }
                watch.signals.heard > recorded
            });
            // An earlier supervisor has recorded this signal.
            if !new {
                continue;
            }
            if let (AgentSignal::Progress { percent }, Some(task)) = (&signal, task_of(desk, agent)) {
                desk.tell(SessionNotice::Progress { agent: agent.clone(), task, percent: *percent });
            }
            events.push(Event::Signalled { agent: agent.clone(), token: token.clone(), signal });
        }
        desk.steps(events)?;
        if let Some(watch) = self.watch_mut(agent) {
            watch.signals.read = read.next;
        }
        Ok(true)
    }
}

fn machine_stopped(
    desk: &mut SessionDesk<'_>,
    runs: &mut AgentRuns,
    tasks: &mut TaskMemory,
    agent: &AgentId,
    task: &TaskId,
) -> Result<()> {
    runs.files_of_capture(desk, agent, task);
    desk.capture_first(task);
    desk.warn(format!("the machine stopped before the work of {agent} on {task} was on disk: the task is tried again"));
    let text = "the machine stopped before the work was on disk: files may be empty or incomplete".to_owned();
    desk.step(Event::Audited { id: task.clone(), text })?;
    let others = &mut tasks.notes.entry(task.clone()).or_default().others;
    if !others.iter().any(|note| note == UNPROVED) {
        others.push(UNPROVED.to_owned());
    }
    Ok(())
}

impl SessionDesk<'_> {
    pub(super) fn work_of(&self, agent: &AgentId) -> Option<&AgentWork> {
        self.ctx.state().restorable.agents.get(agent)?.work.as_ref()
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

fn task_of(desk: &SessionDesk<'_>, agent: &AgentId) -> Option<TaskId> {
    Some(desk.work_of(agent)?.task.clone())
}
