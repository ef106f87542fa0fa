//! One iteration: intent, prompt, keeper; then watching the keeper until its end.

use std::path::Path;
use std::time::{Duration, Instant};

use super::notice::SessionNotice;
use super::start_keeper::{NextIteration, PreparedIteration, start_keeper};
use super::{IterationWatch, Supervisor, shared_stash};
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

impl Supervisor<'_> {
    /// Looks after one busy agent; returns whether anything was done.
    pub(super) fn look_after(&mut self, agent: &AgentId) -> Result<bool> {
        let Some(work) = self.ctx.state().restorable.agents.get(agent).and_then(|agent| agent.work.clone()) else {
            return Ok(false);
        };
        match &work.stage {
            IterationStage::Between { last } => self.between(agent, &work, last.as_ref()),
            IterationStage::Intended { token } | IterationStage::Running { token, .. } => self.watch(agent, &work, token),
        }
    }

    /// Starts the next iteration, or does what follows where that fails.
    pub(super) fn start_iteration(&mut self, agent: &AgentId, work: &AgentWork) -> Result<()> {
        if self.stop_for_budget(agent, work)? {
            return Ok(());
        }
        match self.try_iteration(agent, work) {
            Err(error) => self.agent_failed(agent, SessionStep::Start, error),
            Ok(()) => Ok(()),
        }
    }

    /// The intent is on disk before the keeper starts, and the keeper starts the program only while the intent is valid.
    fn try_iteration(&mut self, agent: &AgentId, work: &AgentWork) -> Result<()> {
        self.act()?;
        let task = self.ctx.state().task(&work.task)?.clone();
        let Some(workspace) = self.ctx.state().restorable.workspaces.get(&work.task).cloned() else {
            return self.hold_back(agent, TaskHoldReason::Broken, "its workspace is gone");
        };
        let Some(from) = self.ctx.repo.refs().read_ref(&workspace.branch)? else {
            return self.hold_back(agent, TaskHoldReason::Broken, &format!("the branch '{}' is gone", workspace.branch.short()));
        };
        match workspaces::condition(self.ctx, &workspace)? {
            // It may have been made a moment ago: what came of it is taken.
            WorkspaceCondition::Sound if self.makings.is_of(&work.task) => drop(self.workspace_is_made(&work.task, &workspace)?),
            WorkspaceCondition::Sound => {}
            // The last iteration deleted or disconnected it.
            WorkspaceCondition::Mendable => {
                self.bring_back_folder(&work.task)?;
                match self.is_gone_for_good(&work.task).filter(|_| self.was_used(&task)) {
                    Some(MayBeginAnew::Asks) => return self.review_agent(agent, ReviewCause::Recovery, GONE),
                    Some(MayBeginAnew::Yes) => self.open_anew(&work.task, &workspace)?,
                    None => {}
                }
                if !self.workspace_is_made(&work.task, &workspace)? {
                    return Ok(());
                }
            }
            WorkspaceCondition::ForAHuman(why) => return self.hold_back(agent, TaskHoldReason::Broken, &why),
        }
        self.no_lock_of_gits(&workspace)?;
        self.begin_merge(&work.task)?;
        let token = self.next_token(agent)?;
        let made = if self.counted_anew.contains(&work.task) { 0 } else { self.work_of(agent).map_or(0, |work| work.iteration) };
        let iteration = next_iteration(made, self.options.max_iterations);
        let next = NextIteration { agent, task: &task, workspace: &workspace, iteration, token: &token };
        // Before the intent: where there is no space for it, nothing is recorded, and the next try uses the same folder.
        let PreparedIteration { spec, resumes } = self.prepare_keeper(&next)?;
        if let Err(error) = self.hold_stash(&task.id, &self.ctx.layout().run_dir(agent, &token)) {
            self.warn(shared_stash::said(&error));
        }
        let program = self.options.programs.of(&task);
        self.ctx.append(Event::IterationIntended {
            agent: agent.clone(),
            iteration,
            token: token.clone(),
            from: from.clone(),
            exit_completes: program.exit_completes,
            program: if program.resume.is_empty() { String::new() } else { program.name.clone() },
            resumes,
        })?;
        self.prepared.remove(agent);
        self.counted_anew.remove(&work.task);
        env::fault_point("iterate.intended");
        let started = start_keeper(&spec);
        env::fault_point("iterate.keeper-started");
        match started {
            Ok(()) => {
                self.watches.insert(agent.clone(), IterationWatch { token: Some(token), ..IterationWatch::default() });
                self.tell(SessionNotice::IterationStarted { agent: agent.clone(), task: task.id, iteration });
                Ok(())
            }
            Err(error) => self.never_began(agent, &token, from, error),
        }
    }

    /// The token of the agent's next iteration: the same until its intent is recorded.
    fn next_token(&mut self, agent: &AgentId) -> Result<Token> {
        if let Some(token) = self.prepared.get(agent) {
            return Ok(token.clone());
        }
        let token = fresh_token()?;
        self.prepared.insert(agent.clone(), token.clone());
        Ok(token)
    }

    /// Looks for a lock file of git's in the workspace, with which every git command of the next iteration would fail. The
    /// lock of a dead process is removed.
    fn no_lock_of_gits(&mut self, workspace: &Workspace) -> Result<()> {
        let Some(entry) = self.ctx.repo.worktrees().worktree_at(Path::new(&workspace.path))? else { return Ok(()) };
        let locks = ["index.lock", "HEAD.lock"].map(|name| entry.worktree.git_dir().join(name));
        let held = || locks.iter().find(|lock| lock.symlink_metadata().is_ok());
        if held().is_some() {
            self.clear_dead_locks();
        }
        match held() {
            None => Ok(()),
            Some(lock) => Err(Error::new(Code::GitLocked, format!("'{}' may belong to a running git command", lock.display()))),
        }
    }

    /// Watches the running iteration; returns whether anything was done.
    fn watch(&mut self, agent: &AgentId, work: &AgentWork, token: &Token) -> Result<bool> {
        let dir = self.ctx.layout().run_dir(agent, token);
        if self.watches.get(agent).and_then(|watch| watch.token.as_ref()) != Some(token) {
            self.watches.insert(agent.clone(), IterationWatch { token: Some(token.clone()), ..IterationWatch::default() });
        }
        let state = iteration_state(&dir, &work.stage)?;
        let heard = self.listen(agent, token, &dir)?;
        let is_cut_off =
            matches!(state, IterationState::Lost(_) | IterationState::Known(KeeperState::Dead(_) | KeeperState::Unproved(_)));
        if is_cut_off {
            self.look_at_crash(agent, work);
        }
        let state = match state {
            IterationState::Lost(why) => return self.record_lost(agent, token, &why),
            IterationState::Known(state) => state,
        };
        match state {
            KeeperState::Starting => Ok(heard),
            KeeperState::Alive(record) => {
                note_alive(&dir);
                self.ask_to_end(agent, &record);
                if let IterationStage::Intended { .. } = work.stage {
                    let pid = record.keeper.pid.unsigned_abs();
                    self.step(Event::IterationStarted { agent: agent.clone(), token: token.clone(), pid })?;
                    self.passed(&work.task)?;
                    return Ok(true);
                }
                self.watch_budget(agent, work, &record)?;
                self.capture_live(agent, &work.task);
                Ok(heard)
            }
            KeeperState::NotStarted => self.never_started(agent, &dir),
            KeeperState::Ended(_) if self.a_human_may_have_ended(token)? => Ok(true),
            KeeperState::Ended(exit) => self.finish(agent, &run_end::of(&exit), Some(&exit)),
            KeeperState::Dead(record) => {
                let left = leftovers::end_leftovers(&record)?.in_words();
                if self.tells_end(agent) {
                    self.warn(format!("the keeper of {agent} died; {left}"));
                }
                self.finish(agent, &AgentProgramEnd::KeeperDied, None)
            }
            KeeperState::Unproved(_) => {
                if self.tells_end(agent) {
                    self.machine_stopped(agent, &work.task)?;
                }
                self.finish(agent, &AgentProgramEnd::Unproved, None)
            }
        }
    }

    /// Handles an iteration that was begun, and whose keeper is dead or has lost its folder: what is left of it is found by its
    /// token.
    fn record_lost(&mut self, agent: &AgentId, token: &Token, why: &str) -> Result<bool> {
        let left = leftovers::end_marked(format!("AXIOM_TOKEN={token}").as_bytes())?.in_words();
        if self.tells_end(agent) {
            self.warn(format!("the iteration of {agent} is lost: {why}; {left}"));
        }
        self.finish(agent, &AgentProgramEnd::KeeperDied, None)
    }

    /// Whether the end of its iteration is to be told now: it may be handled more than once, until its work is committed.
    fn tells_end(&mut self, agent: &AgentId) -> bool {
        self.watches.get_mut(agent).is_none_or(|watch| !std::mem::replace(&mut watch.end_told, true))
    }

    fn machine_stopped(&mut self, agent: &AgentId, task: &TaskId) -> Result<()> {
        self.files_of_capture(agent, task);
        self.capture_first(task);
        self.warn(format!("the machine stopped before the work of {agent} on {task} was on disk: the task is tried again"));
        let text = "the machine stopped before the work was on disk: files may be empty or incomplete".to_owned();
        self.step(Event::Audited { id: task.clone(), text })?;
        let others = &mut self.notes.entry(task.clone()).or_default().others;
        if !others.iter().any(|note| note == UNPROVED) {
            others.push(UNPROVED.to_owned());
        }
        Ok(())
    }

    /// Captures the workspace when that is due. A capture may fail while the agent is working; the next one follows soon.
    fn capture_live(&mut self, agent: &AgentId, task: &TaskId) {
        let interval = Duration::from_secs(self.ctx.config.agents.capture_interval);
        let Some(watch) = self.watches.get_mut(agent) else { return };
        let last = *watch.captured_at.get_or_insert_with(Instant::now);
        if interval.is_zero() || last.elapsed() < interval {
            return;
        }
        watch.captured_at = Some(Instant::now());
        if let Err(error) = live::capture(self.ctx, task, self.apart()) {
            tracing::info!(%task, %error, "no live capture this time");
            if error.code() == Code::Busy
                && let Some(watch) = self.watches.get_mut(agent)
            {
                // Another operation is under way: as soon as it has ended.
                watch.captured_at = Instant::now().checked_sub(interval.saturating_sub(LONGEST_PAUSE));
            }
        }
    }

    /// Handles an iteration whose supervisor died before the keeper started (a failed start by this supervisor is handled at
    /// once). The intent is withdrawn while this process holds the keeper's lock: a keeper that starts late takes the lock
    /// first, and then finds its intent withdrawn.
    fn never_started(&mut self, agent: &AgentId, dir: &Path) -> Result<bool> {
        let lock = if dir.is_dir() {
            match FileLock::try_take(&dir.join(KEEPER_LOCK))? {
                LockAttempt::Taken(lock) => Some(lock),
                LockAttempt::Held => return Ok(false),
            }
        } else {
            None
        };
        if keeper_state(dir)? == KeeperState::NotStarted || lock.is_some() && !dir.join(KEEPER).exists() {
            return self.finish(agent, &AgentProgramEnd::Stopped, None);
        }
        drop(lock);
        Ok(true)
    }

    /// Records the signals that the keeper has received since the last look.
    fn listen(&mut self, agent: &AgentId, token: &Token, dir: &Path) -> Result<bool> {
        let from = self.watches.get(agent).map_or(0, |watch| watch.signals_read);
        let read = read_signals(dir, from)?;
        if read.next == from {
            return Ok(false);
        }
        if read.damaged > 0 {
            self.warn(format!("{} of {agent} ignored", count_of(read.damaged, "damaged signal", "damaged signals")));
        }
        let recorded = self.work_of(agent).map_or(0, |work| work.signals);
        let mut events = Vec::new();
        for received in read.signals {
            let signal = received.signal;
            if let Some(watch) = self.watches.get_mut(agent) {
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
            let new = self.watches.get_mut(agent).is_none_or(|watch| {
                watch.signals_heard += 1;
                watch.reported += u64::from(!signal_summary::is_marker(&signal));
                if decides {
                    watch.verdict = Some(signal.clone());
                }
                watch.signals_heard > recorded
            });
            // An earlier supervisor has recorded this signal.
            if !new {
                continue;
            }
            if let (AgentSignal::Progress { percent }, Some(task)) = (&signal, self.task_of(agent)) {
                self.tell(SessionNotice::Progress { agent: agent.clone(), task, percent: *percent });
            }
            events.push(Event::Signalled { agent: agent.clone(), token: token.clone(), signal });
        }
        self.steps(events)?;
        if let Some(watch) = self.watches.get_mut(agent) {
            watch.signals_read = read.next;
        }
        Ok(true)
    }

    pub(super) fn work_of(&self, agent: &AgentId) -> Option<&AgentWork> {
        self.ctx.state().restorable.agents.get(agent)?.work.as_ref()
    }

    fn task_of(&self, agent: &AgentId) -> Option<TaskId> {
        Some(self.work_of(agent)?.task.clone())
    }

    /// Between two iterations: does what the last outcome requires.
    fn between(&mut self, agent: &AgentId, work: &AgentWork, last: Option<&IterationOutcome>) -> Result<bool> {
        if self.end_work(agent)? {
            return Ok(true);
        }
        match last {
            Some(outcome) => self.settle(agent, work, outcome),
            None if self.may_iterate(agent) => self.go_on(agent, work),
            None => Ok(false),
        }
    }

    /// Starts the next iteration. First it is decided how work goes on whose session was paused and then ended.
    pub(super) fn go_on(&mut self, agent: &AgentId, work: &AgentWork) -> Result<bool> {
        if self.is_set_aside(&work.task) {
            return self.after_pause(agent, work);
        }
        self.start_iteration(agent, work)?;
        Ok(true)
    }

    /// Whether an iteration may be started now.
    pub(super) fn may_iterate(&self, agent: &AgentId) -> bool {
        let waits = |task: &TaskId| self.makings.is_at_work_for(task) || self.leaving.is_leaving(task);
        let is_free = !self.work_of(agent).is_some_and(|work| waits(&work.task));
        is_free && self.session_state() == SessionState::Running && self.has_room() && !self.must_wait(agent)
    }
}
