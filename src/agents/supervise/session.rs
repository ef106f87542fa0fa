//! The beginning and the end of a session, the copies of the state that are written during it, and how it waits for what comes.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::claims::start_gates::{asks_to_start, is_claim_approved, is_vetoed};
use super::core::SessionCore;
use super::core::agent_runs::AgentRun;
use super::core::desk::SessionDesk;
use super::core::failures::StepFailures;
use super::idle_gates::is_pending;
use super::iterations::budget_gates::close_session_gate;
use super::iterations::session_space::close_disk_gate;
use super::setup::SessionSetup;
use super::setup::options::SupervisorOptions;
use super::shown::notice::SessionNotice;
use super::{SessionOutcome, Supervisor, TICK};
use crate::merge;
use crate::merge::lost_merges::all_merged_in_words;
use crate::supervise::last_options;
use crate::tasks::limits;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{SessionId, TaskId};
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::queries::gate_use::is_rejected;
use axiom_model::queries::ready;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::work::agent::IterationStage;
use axiom_model::work::endings::failures::SessionStep;
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind};
use axiom_model::work::sessions::session::{Session, SessionState};
use axiom_model::work::tasks::task::TaskKind;
use axiom_process::os::bell::{FolderTrigger, LONGEST};
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement;
use axiom_safety::running::programs;
use axiom_store::log_files::backup;

/// How often the snapshot is written, if anything changed.
const SNAPSHOT_EVERY: Duration = Duration::from_secs(5);

/// When the copies of the state were written last.
pub(crate) struct SessionCopies {
    snapshot_at: Instant,
    backup_at: Instant,
}

impl SessionCopies {
    pub(crate) fn new() -> Self {
        Self { snapshot_at: Instant::now(), backup_at: Instant::now() }
    }
}

/// Checks what a session needs besides its target before it changes anything.
pub(crate) fn check(ctx: &Context, options: &SupervisorOptions) -> Result<()> {
    ctx.repo.require_git_version()?;
    ctx.repo.merges().require_git_version()?;
    ctx.repo.identities().committer()?;
    options.programs.all().try_for_each(|program| find_program(&program.command))?;
    let all = options.limits.or(ctx.config.budget.of_a_task());
    options.programs.all().try_for_each(|program| limits::program_keeps(program, all))?;
    let open = ctx.state().restorable.tasks.values().filter(|task| task.kind == TaskKind::Task && !task.is_settled());
    for task in open {
        limits::program_keeps(options.programs.of(task), task.limits)
            .map_err(|error| error.context(format!("task {}", task.id)))?;
    }
    Ok(())
}

/// Checks that the agent program can be started, before anything is claimed for it.
fn find_program(command: &[String]) -> Result<()> {
    let Some(program) = command.first() else {
        return Err(Error::new(Code::ProgramNotFound, "no agent program is named").hint("git axiom run -- PROGRAM ARG…"));
    };
    if programs::find(program).is_some() {
        return Ok(());
    }
    Err(Error::new(Code::ProgramNotFound, format!("the agent program '{program}' cannot be found"))
        .hint("git axiom agents    shows the programs that are here")
        .hint("give its full path after '--' (git axiom run -- /path/to/program), or put it on your PATH"))
}

impl Supervisor<'_> {
    /// Remembers that nothing is left to decide after event `seq`, unless time or a verification decides.
    pub(crate) fn rest(&mut self, seq: u64) {
        let aside = !self.claims.starting.is_empty() || !self.core.leaving.is_over() || self.core.drivers.are_at_work(None);
        let waits = self.core.backs_off() || self.merges.merge_check.is_some() || aside;
        self.rested_at = (!waits).then(|| (seq, Instant::now()));
    }

    /// Waits until something is recorded, a keeper reports, a signal comes, or a pause ends, and so long at most; where nothing can be
    /// watched, for a tick.
    pub(crate) fn wait_at_most(&mut self, most: Duration) {
        self.tell_doing();
        let layout = self.core.desk.ctx.layout();
        let mut folders = vec![(layout.state_dir(), FolderTrigger::Changes)];
        // Steps ring at their end. A keeper that is just starting is asked to end as soon as it can be.
        let mut is_quiet =
            !self.core.runs.any(AgentRun::is_to_be_asked) && self.core.runs.ended.is_empty() && self.core.leaving.is_over();
        for agent in self.core.desk.ctx.state().busy_agents() {
            match agent.work.as_ref().map(|work| &work.stage) {
                Some(IterationStage::Running { token, .. }) => {
                    folders.push((layout.agents().run(&agent.id, token), FolderTrigger::Changes))
                }
                // Its next step waits for an event, or for the end of a pause.
                Some(IterationStage::Between { .. }) | None => {}
                // Its keeper is just starting.
                Some(IterationStage::Intended { .. }) => is_quiet = false,
            }
        }
        let is_watched = is_quiet && self.core.bell.watch_only(folders);
        let pause = self.core.first_pause_ends_in().unwrap_or(LONGEST).min(most);
        self.core.bell.wait(if is_watched { pause } else { pause.min(TICK) });
    }

    /// Whether the session is over because nothing more can be done, where no task has to wait.
    pub(crate) fn ending(&mut self) -> Option<SessionOutcome> {
        if !self.core.setup.options.until_idle || self.core.desk.session_state() != SessionState::Running {
            return None;
        }
        let ready = self.core.ready.order(self.core.desk.ctx.state());
        let state = self.core.desk.ctx.state();
        let working = state.busy_agents().any(|agent| {
            let task = agent.work.as_ref().map(|work| &work.task);
            !task.is_some_and(|task| self.core.desk.undecided_gate(GateKind::Question, task))
        });
        let is_ready = |task: &Option<TaskId>| task.as_ref().is_some_and(|task| ready.contains(task));
        let asks = asks_to_start(self.core.desk.ctx);
        let to_act_on = state.restorable.gates.values().filter(|gate| gate.decision.is_some()).any(|gate| match gate.kind {
            // Rejected, it is blocked at once. An approval of a task that cannot be claimed yet is kept until it can be.
            GateKind::Claim if is_rejected(gate) => gate.task_id.as_ref().is_some_and(|task| is_pending(state, task)),
            GateKind::Claim => {
                asks && is_ready(&gate.task_id) && !gate.task_id.as_ref().is_some_and(|task| is_vetoed(&self.core.desk, task))
            }
            // Asking the hook again follows only where the task is claimed then.
            GateKind::HumanReview if gate.is_about_start() => {
                let claims = |task: &TaskId| state.restorable.mode.claims() || is_claim_approved(&self.core.desk, task);
                let waits = |task: &TaskId| self.core.desk.undecided_gate(GateKind::Claim, task);
                is_ready(&gate.task_id) && gate.task_id.as_ref().is_some_and(|task| claims(task) && !waits(task))
            }
            GateKind::Merge
            | GateKind::Question
            | GateKind::HumanReview
            | GateKind::Recovery
            | GateKind::Planning
            | GateKind::Budget
            | GateKind::Disk => true,
            // Its keeper has the answer, or the agent works no more.
            GateKind::Permission => false,
        });
        let merging = self.merges.is_at_work(&self.core);
        let is_busy = merging || !self.claims.starting.is_empty() || self.hooks.are_busy(self.core.desk.ctx);
        if working || is_busy || to_act_on || !state.record.requests.is_empty() {
            return None;
        }
        let left = ready::reasons_for_rest(state);
        Some(if left.is_empty() { SessionOutcome::AllMerged } else { SessionOutcome::Idle(left) })
    }
}

impl SessionCopies {
    /// Writes snapshot and backup when they are due.
    pub(crate) fn keep(&mut self, desk: &mut SessionDesk<'_>, failures: &mut StepFailures) -> Result<()> {
        if self.snapshot_at.elapsed() >= SNAPSHOT_EVERY {
            self.snapshot_at = Instant::now();
            failures.save_snapshot_in_time(desk)?;
        }
        let every = Duration::from_secs(desk.ctx.config.state.event_log_backup_interval.max(1));
        if self.backup_at.elapsed() >= every {
            self.backup_at = Instant::now();
            desk.keep_reserve();
            if let Err(error) = backup::roll(desk.ctx.layout(), desk.ctx.config.state.event_log_backup_count) {
                failures.goes_on_without(desk, SessionStep::Copies, "the event log could not be backed up", error)?;
            }
        }
        Ok(())
    }
}

/// Why a session quits: a human said no at a gate of the whole session, or asked for it.
fn why_it_quits(state: &State) -> String {
    let rejected = |gate: &&Gate| gate.task_id.is_none() && matches!(gate.decision, Some(GateDecision::Rejected { .. }));
    let gate = state.restorable.gates.values().find(rejected);
    gate.map_or_else(|| "asked to quit".to_owned(), |gate| format!("{} was rejected", gate.id))
}

/// Records the end of the session.
pub(crate) fn end_session(core: &mut SessionCore<'_>, ending: &SessionOutcome) -> Result<()> {
    let (state, reason) = match ending {
        SessionOutcome::AllMerged if !core.desk.ctx.state().restorable.tasks.values().any(|task| task.kind == TaskKind::Task) => {
            (SessionState::Ended, "there is no task".to_owned())
        }
        SessionOutcome::AllMerged => (SessionState::Ended, all_merged_in_words(core.desk.ctx)),
        SessionOutcome::Idle(left) => (SessionState::Ended, format!("nothing more can be done, {} left", left.len())),
        SessionOutcome::Quit => (SessionState::Ended, why_it_quits(core.desk.ctx.state())),
        SessionOutcome::Interrupted => (SessionState::Interrupted, "interrupted".to_owned()),
    };
    close_disk_gate(&mut core.desk, "the session has ended")?;
    if *ending == SessionOutcome::AllMerged {
        close_session_gate(&mut core.desk, &reason)?;
    }
    core.desk.change_session(state, &reason)?;
    core.runs.clear_ended();
    core.failures.save_snapshot(&mut core.desk)?;
    core.desk.tell(SessionNotice::Ended { how: reason });
    Ok(())
}

/// Whether nothing was left to decide about tasks when it was looked last, and nothing was recorded since. It is looked
/// again after a while all the same: not all that counts is recorded (a branch that a user moves).
pub(crate) fn rests(ctx: &Context, rested_at: Option<(u64, Instant)>) -> bool {
    let seq = ctx.state().seq;
    rested_at.is_some_and(|(rested, at)| rested == seq && at.elapsed() < LONGEST)
}

/// Records the start of the session and makes the checkpoint for a rollback of the session.
pub(crate) fn begin_session(core: &mut SessionCore<'_>) -> Result<()> {
    let id = SessionId::new(format!("s{}", env::fresh_id()))?;
    let session = Session {
        id: id.clone(),
        started_at: env::now(),
        pid: std::process::id(),
        target: core.setup.target()?.clone(),
        slots: core.setup.options.slots,
        max_iterations: core.setup.options.max_iterations,
        limits: core.setup.options.limits,
        task_limits: core.desk.ctx.config.budget.of_a_task(),
        state: SessionState::Running,
        paused_at: None,
        start_checkpoint: None,
        in_linked_worktree: core.setup.in_linked_worktree,
    };
    // One that goes on with a crashed one has its budget, and what it has used.
    if !core.desk.ctx.state().record.session.as_ref().is_some_and(|before| before.state == SessionState::Crashed) {
        close_session_gate(&mut core.desk, "its session has ended")?;
    }
    core.desk.step(Event::SessionStarted { session })?;
    if let Some(again) = core.setup.options.again.clone() {
        let ctx = &*core.desk.ctx;
        let noted = placement::list(ctx.layout()).and_then(|()| last_options::note(ctx, again));
        if let Err(error) = noted {
            core.desk.warn(format!("'git axiom recover --all' will not know of this session: {error}"));
        }
    }
    let mut names: Vec<&str> = core.setup.options.programs.all().map(|program| program.name.as_str()).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    let program = names.join("', '");
    let (target, slots) = (core.setup.target()?.short().to_owned(), core.setup.options.slots);
    let mode = core.desk.ctx.state().restorable.mode;
    core.desk.tell(SessionNotice::Started { session: id, target, slots, program, mode });
    say_which_settings_do_not_count(&mut core.desk, &core.setup)?;
    core.desk.make_checkpoint(CheckpointTrigger::SessionStart)?;
    core.desk.keep_reserve();
    if !core.setup.options.until_idle && ready::reasons_for_rest(core.desk.ctx.state()).is_empty() {
        let why = "no task is open: it waits for new ones ('git axiom task add' in another shell); Ctrl+C ends it".to_owned();
        core.desk.tell(SessionNotice::SessionChanges { why });
    }
    core.failures.save_snapshot(&mut core.desk)
}

fn say_which_settings_do_not_count(desk: &mut SessionDesk<'_>, setup: &SessionSetup) -> Result<()> {
    if let Some(what) = merge::unheeded_settings(desk.ctx, setup.target()?)? {
        desk.warn(what);
    }
    Ok(())
}
