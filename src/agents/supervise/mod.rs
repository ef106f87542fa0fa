//! The supervisor: `git axiom run`.
//!
//! One loop that waits for events and does what the state requires: requests of verbs, iterations that ended,
//! verification, merges, claims. All its knowledge is in the log, in the keepers' folders and in git, so a supervisor that
//! starts after a crash continues with the same loop.
//!
//! Not here: rules, which are in `model::work`, and keepers, which are in `process`. Begin reading with [`run`], then
//! `iterate` and `finish`.

mod after_pause;
mod attend;
pub mod budget;
mod claim;
mod closing;
mod conflicts;
pub mod crash;
pub mod detach;
pub mod doing;
mod drivers_aside;
mod failing;
mod filters_aside;
mod finish;
mod gates;
mod hooks;
mod iterate;
pub mod keeper_now;
pub mod last_options;
mod leaving_threads;
mod lost_files;
mod merge_check;
mod merged_by_hand;
mod merging;
mod model;
pub mod notice;
mod pauses;
mod prompting;
mod recording;
mod redirecting;
mod requests;
mod resuming;
mod running_hooks;
mod session;
mod settle;
mod shared_stash;
mod space;
mod start_keeper;
pub mod status;
mod stopping;
mod take_over;
pub mod target;
#[cfg(test)]
mod tests;
mod turns;
pub mod verifying;
mod waiting_claims;
mod workspace_creation;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::interventions;
use crate::merge::merge_verification::RunningMergeCheck;
use crate::repair::OnHumanOperation;
pub use attend::{AttendRequest, attend};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::{FileLock, LockAttempt};
use axiom_model::agent::stream::summary::StreamSummary;
use axiom_model::base::ids::{AgentId, OperationId, RequestId, TaskId, Token};
use axiom_model::base::names::RefName;
use axiom_model::hook::facts::{HookCompletion, HookFacts};
use axiom_model::queries::ready::ReadyQueue;
use axiom_model::recovery::decide::CrashAction;
use axiom_model::state::event::{Event, EventAuthor};
use axiom_model::work::endings::failures::{SessionStep, SharedSessionStep, StepFailureCounts};
use axiom_model::work::endings::outcome::TaskHalt;
use axiom_model::work::gates::gate::{GateDecision, GateKind, TaskHoldReason};
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::iteration_marker::IterationMarker;
use axiom_model::work::money::budget::BudgetLimits;
use axiom_model::work::sessions::session::{SessionMode, SessionState};
use axiom_model::work::signals::signal::AgentSignal;
use axiom_process::client::leftovers;
use axiom_process::os::bell::WakeListener;
use axiom_safety::context::handle::{Context, OPERATION_PATIENCE};
use axiom_safety::context::session_hooks;
use axiom_safety::running::programs::SessionPrograms;
use axiom_safety::running::steps;
use failing::TaskStepTrouble;
use finish::WorkEnd;
use notice::SessionWatcher;
use pauses::Backoff;
use prompting::PromptNotes;
pub use redirecting::RedirectRequest;
pub use requests::HaltRequest;
use space::{SessionSpace, SpaceCheckOutcome};
pub use stopping::{InterruptCounter, longest_end};
use target::SessionTarget;
use turns::AgentTurnsUntil;

/// How long the loop sleeps when there is nothing to do.
const TICK: Duration = Duration::from_millis(50);

/// How long a step of the loop waits for an operation of another process: then it is tried again, and others get their turn.
const STEP_PATIENCE: Duration = Duration::from_millis(500);

/// How long a second supervisor waits for the lock: long enough for a process that only tests the lock.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);

/// How long a session that has ended waits for what it gave up on: it ends by itself, sooner or later.
const LEAVING: Duration = Duration::from_secs(1);

/// The options of `run`.
#[derive(Debug, Clone)]
pub struct SupervisorOptions {
    /// How many agents may work at the same time.
    pub slots: u32,
    /// The most iterations for a task.
    pub max_iterations: u32,
    /// Whether the session ends when nothing more can be done.
    pub until_idle: bool,
    /// The mode to change to; with `None` it does not change.
    pub mode: Option<SessionMode>,
    /// The branch that work is merged into, where the user named it.
    pub target: Option<RefName>,
    /// Whether tasks that a human stopped or rolled back are claimed again.
    pub retry: bool,
    /// What the session may use.
    pub limits: BudgetLimits,
    /// The agent programs.
    pub programs: SessionPrograms,
    /// What a human wants of tasks that a crash cut off.
    pub after_crash: CrashTaskDecisions,
}

/// What a human wants of tasks that a crash cut off.
#[derive(Debug, Clone, Default)]
pub struct CrashTaskDecisions {
    /// What becomes of these.
    pub decided: BTreeMap<TaskId, CrashAction>,
    /// The least progress, in percent, with which a task goes on.
    pub threshold: Option<u8>,
    /// The tasks that are looked after; all, where there is none.
    pub only: Option<BTreeSet<TaskId>>,
}

impl SupervisorOptions {
    /// Options for looking after agents without a session: no agent is started.
    pub fn attending() -> Self {
        let programs = SessionPrograms::none();
        Self {
            slots: 1,
            max_iterations: u32::MAX,
            until_idle: false,
            mode: None,
            retry: false,
            limits: BudgetLimits::default(),
            programs,
            after_crash: CrashTaskDecisions::default(),
            target: None,
        }
    }
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionOutcome {
    /// Every task is merged or archived.
    AllMerged,
    /// Nothing more can be done; these tasks are left, with reasons.
    Idle(Vec<String>),
    /// A verb requested it.
    Quit,
    /// Ctrl+C or a signal.
    Interrupted,
}

/// A running iteration.
#[derive(Debug, Default)]
struct IterationWatch {
    token: Option<Token>,
    /// The offset up to which its signals have been read.
    signals_read: u64,
    /// How many signals were read.
    signals_heard: u64,
    /// How many of them the agent itself has sent.
    reported: u64,
    /// The last signal that decides the outcome.
    verdict: Option<AgentSignal>,
    /// What its output says.
    told: StreamSummary,
    /// Where it was last, as far as its output tells.
    marker: Option<IterationMarker>,
    /// When its last signal was recorded.
    heard_at: Option<Timestamp>,
    /// When its agent said last how far it is.
    progress_at: Option<Timestamp>,
    /// Its last sign of life, once it is known to be cut off.
    last_sign: Option<Timestamp>,
    /// When its workspace was last captured, or watching began.
    captured_at: Option<Instant>,
    /// When watching began, and how long it had run by then.
    begun: Option<(Instant, Duration)>,
    /// Since when its budget is known to be used up.
    over_since: Option<Instant>,
    /// Whether it was told that its keeper or the machine died, where its work could not be committed since.
    end_told: bool,
}

/// An iteration that is to be ended.
#[derive(Debug, Clone)]
struct IterationHalt {
    how: TaskHalt,
    /// What becomes of its task.
    then: HaltedTaskFate,
    /// Whether its keeper was asked to end it: a keeper that is just starting cannot be asked yet.
    asked: bool,
    /// Since when.
    since: Timestamp,
}

/// What becomes of a task whose agent is ended, where it is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
enum HaltedTaskFate {
    /// It is pending.
    Free,
    /// It is pending, and its agent goes on with it as soon as the session does: no human is asked again.
    GoesOn,
    /// It is pending and waits at a gate: a human wants that.
    Held(TaskHoldReason),
    /// A human blocks it, with this reason.
    Blocked(String),
}

impl HaltedTaskFate {
    fn of(held: Option<TaskHoldReason>) -> Self {
        held.map_or(Self::Free, Self::Held)
    }

    /// This, or what was wanted before where this wants nothing.
    fn or(self, before: Option<Self>) -> Self {
        match (self, before) {
            (Self::Free, Some(before)) => before,
            (this, _) => this,
        }
    }
}

struct Supervisor<'a> {
    ctx: &'a mut Context,
    watcher: &'a mut dyn SessionWatcher,
    interrupts: &'a InterruptCounter,
    options: SupervisorOptions,
    /// Who does what is done here.
    by: EventAuthor,
    /// The transaction of a verb, where all that is done is a part of it.
    within: Option<OperationId>,
    /// The branch that work is merged into; `None` without a session, when no task is begun or merged.
    target: Option<RefName>,
    /// Whether that is the branch of the linked worktree in which the session was begun.
    in_linked_worktree: bool,
    watches: HashMap<AgentId, IterationWatch>,
    verifying: HashMap<AgentId, verifying::TaskVerificationRun>,
    /// Filters that store what an ended iteration has left.
    filters: HashMap<Token, filters_aside::RunningFilters>,
    /// Drivers that merge files of a task.
    drivers: HashMap<TaskId, drivers_aside::MergeDriversState>,
    /// Evaluators that are asked what becomes of a task after a crash.
    evaluating: HashMap<AgentId, steps::RunningStepJob>,
    /// What became of the tasks that the crash before this session cut off, until it is said.
    taken_up: Option<crash::CrashedTaskCounts>,
    /// Claims that are under way.
    starting: BTreeMap<TaskId, waiting_claims::WaitingClaim>,
    /// Requests to send an agent elsewhere, about which hooks are asked first.
    redirects: HashMap<RequestId, running_hooks::RunningHooks>,
    /// Tasks that hooks have let start when they were asked before an agent was sent there.
    may_start: HashSet<TaskId>,
    /// Workspaces that git makes.
    makings: workspace_creation::WorkspaceCreations,
    /// What was given up on.
    leaving: leaving_threads::LeavingThreads,
    /// What is said of what is being done, since it was said last.
    doing: doing::RecordedActivity,
    /// Hooks that are told something.
    reporting: Option<running_hooks::RunningHooks>,
    /// The merge whose result is being verified.
    merge_check: Option<RunningMergeCheck>,
    /// How many times in a row the merge of a task had changed when its verification ended.
    verified_again: HashMap<TaskId, u32>,
    /// Tasks that a human lets be merged although stash entries went.
    stash_accepted: HashSet<TaskId>,
    /// Branches of tasks that are not in the target.
    seen_apart: merged_by_hand::SeenApart,
    /// Tasks that a human wants tried again, with iterations from 1.
    counted_anew: HashSet<TaskId>,
    /// Notes for the next prompt of a task. A human's answer is in the state.
    notes: BTreeMap<TaskId, PromptNotes>,
    backoffs: HashMap<AgentId, Backoff>,
    /// How many times in a row the model's service refused for a task.
    limits_met: HashMap<TaskId, u32>,
    /// What failed for tasks, and how often.
    troubles: HashMap<TaskId, TaskStepTrouble>,
    /// Steps that stand still for all tasks.
    standstills: HashMap<SharedSessionStep, Backoff>,
    /// The token of an agent's next iteration, whose folder may be begun: each try uses the same.
    prepared: HashMap<AgentId, Token>,
    /// How often the log could not be written since this event.
    log_trouble: Option<(u64, StepFailureCounts)>,
    /// What failed last at steps on which nothing depends.
    told_without: HashMap<SessionStep, Code>,
    /// Tasks whose workspace was repaired once already: if the agent breaks it again, the task waits.
    mended: HashSet<TaskId>,
    /// Iterations that are to be ended.
    halted: HashMap<Token, IterationHalt>,
    /// How the work of agents ends whose iterations have ended.
    ends: HashMap<AgentId, WorkEnd>,
    /// Folders of runs whose keepers have reported and are about to end.
    ended_runs: Vec<PathBuf>,
    /// How much space there is.
    room: SessionSpace,
    bell: WakeListener,
    /// The agent whose turn it was when a human asked for something.
    next_in_turn: Option<AgentId>,
    /// When it was last looked whether a human asks for something.
    looked_at_log: Instant,
    ready: ReadyQueue,
    /// The event after which nothing was left to do, and when that was seen.
    rested_at: Option<(u64, Instant)>,
    snapshot_at: Instant,
    backup_at: Instant,
    /// How long programs have run in this session.
    clock: budget::ProgramClock,
    /// What hooks were told of a session without anything to do, until there is something again.
    told_idle: Option<HookCompletion>,
    /// When a session that ends has ended at the latest.
    ends_by: Option<Instant>,
    /// The lock of the session; `None` without one.
    lock: Option<FileLock>,
}

/// Why no session begins where one runs.
fn another_runs() -> Error {
    Error::new(Code::SupervisorRunning, "a supervisor runs in this repository already")
        .hint("git axiom status    shows what it does")
        .hint("git axiom quit    ends it in order")
}

/// Runs a session to its end.
///
/// # Errors
/// `SUPERVISOR_RUNNING`; what prevents a session (identity, target, program …); a state that cannot be written.
pub fn run(
    ctx: &mut Context,
    options: SupervisorOptions,
    interrupts: &InterruptCounter,
    watcher: &mut dyn SessionWatcher,
) -> Result<SessionOutcome> {
    session::check(ctx, &options)?;
    let SessionTarget { branch, in_linked_worktree } = target::of_session(ctx, options.target.as_ref())?;
    ctx.layout().ensure()?;
    let lock = match axiom_safety::beside_log::session_lock::take(ctx.layout(), LOCK_PATIENCE)? {
        LockAttempt::Taken(lock) => lock,
        LockAttempt::Held => return Err(another_runs()),
    };
    ctx.store.refresh()?;
    let _span = tracing::info_span!("session", pid = std::process::id()).entered();
    let mut supervisor = Supervisor::new(ctx, watcher, interrupts, options, Some(branch))?;
    supervisor.in_linked_worktree = in_linked_worktree;
    supervisor.lock = Some(lock);
    supervisor.taken_up = Some(crash::CrashedTaskCounts::default());
    supervisor.take_over(OnHumanOperation::Refuse)?;
    if let Some(mode) = supervisor.options.mode {
        // The user gave it on the command line. It is applied only now, when no other session runs.
        supervisor.ctx.act_as(EventAuthor::User)?;
        interventions::change_mode(supervisor.ctx, mode)?;
    }
    if supervisor.options.retry {
        supervisor.approve_held()?;
    }
    supervisor.ctx.repo.history().run_drivers_aside();
    session_hooks::say(supervisor.ctx);
    supervisor.begin_session()?;
    let ended = supervisor.work().and_then(|ending| supervisor.end_session(&ending).map(|()| ending));
    if supervisor.is_gone() {
        // Nothing more is written, and no hook is run: what is at this path now may be somebody else's. Whatever failed failed for that.
        return ended.map_err(|error| {
            tracing::warn!(%error, "the repository is gone");
            supervisor.gone()
        });
    }
    if let Err(error) = &ended {
        let facts = HookFacts::new(HookEvent::OnError, env::now()).with_error(error.code(), error.to_string());
        supervisor.ctx.hooks.note(facts);
    }
    drop(supervisor.lock.take());
    session_hooks::say_no_more(supervisor.ctx.layout());
    supervisor.tell_the_rest();
    supervisor.wait_for_leaving(LEAVING);
    ended
}

impl<'a> Supervisor<'a> {
    fn new(
        ctx: &'a mut Context,
        watcher: &'a mut dyn SessionWatcher,
        interrupts: &'a InterruptCounter,
        options: SupervisorOptions,
        target: Option<RefName>,
    ) -> Result<Self> {
        let (now, bell) = (Instant::now(), WakeListener::new()?);
        interrupts.ring(bell.rope()?);
        Ok(Self {
            ctx,
            watcher,
            interrupts,
            options,
            by: EventAuthor::Supervisor,
            within: None,
            target,
            in_linked_worktree: false,
            watches: HashMap::new(),
            verifying: HashMap::new(),
            evaluating: HashMap::new(),
            filters: HashMap::new(),
            drivers: HashMap::new(),
            taken_up: None,
            starting: BTreeMap::new(),
            redirects: HashMap::new(),
            may_start: HashSet::new(),
            makings: workspace_creation::WorkspaceCreations::default(),
            leaving: leaving_threads::LeavingThreads::default(),
            doing: doing::RecordedActivity::default(),
            reporting: None,
            merge_check: None,
            verified_again: HashMap::new(),
            stash_accepted: HashSet::new(),
            seen_apart: merged_by_hand::SeenApart::default(),
            counted_anew: HashSet::new(),
            notes: BTreeMap::new(),
            backoffs: HashMap::new(),
            limits_met: HashMap::new(),
            troubles: HashMap::new(),
            standstills: HashMap::new(),
            prepared: HashMap::new(),
            log_trouble: None,
            told_without: HashMap::new(),
            mended: HashSet::new(),
            halted: HashMap::new(),
            ends: HashMap::new(),
            ended_runs: Vec::new(),
            room: SessionSpace::default(),
            bell,
            next_in_turn: None,
            looked_at_log: now,
            ready: ReadyQueue::default(),
            rested_at: None,
            snapshot_at: now,
            backup_at: now,
            clock: budget::ProgramClock::default(),
            told_idle: None,
            ends_by: None,
            lock: None,
        })
    }

    /// Approves the gates that hold tasks: the user wants stopped and rolled-back tasks to continue.
    fn approve_held(&mut self) -> Result<()> {
        self.ctx.act_as(EventAuthor::User)?;
        let counted_anew = &mut self.counted_anew;
        self.ctx
            .append_with(|state| {
                let held = state.restorable.gates.values().filter(|gate| gate.holds());
                counted_anew.extend(held.clone().filter_map(|gate| gate.task_id.clone()));
                Ok(held
                    .map(|gate| Event::GateDecided { id: gate.id.clone(), decision: GateDecision::Approved, complete: None })
                    .collect())
            })
            .map(drop)
    }

    /// The main loop. Every step can be repeated, so where the log cannot be written for a while, all is looked at again.
    fn work(&mut self) -> Result<SessionOutcome> {
        self.ctx.set_patience(STEP_PATIENCE);
        let ending = self.work_on();
        self.ctx.set_patience(OPERATION_PATIENCE);
        ending
    }

    fn work_on(&mut self) -> Result<SessionOutcome> {
        loop {
            if self.is_gone() {
                return Err(self.gone());
            }
            if self.interrupts.count() > 0 {
                self.shut_down()?;
                return Ok(SessionOutcome::Interrupted);
            }
            match self.pass() {
                Ok(Some(SessionOutcome::Quit)) => return self.shut_down().map(|()| SessionOutcome::Quit),
                Ok(Some(ending)) => return Ok(ending),
                Ok(None) => self.log_is_well(),
                Err(error) => {
                    let pause = self.log_failed(error)?;
                    self.bell.wait(pause);
                }
            }
        }
    }

    /// Whether the repository is not at its path any more: it was deleted, moved, or another one is there.
    fn is_gone(&self) -> bool {
        self.lock.as_ref().is_some_and(|lock| lock.is_off(&self.ctx.layout().supervisor_lock()))
    }

    fn gone(&self) -> Error {
        let place = self.ctx.repo.common_dir().display();
        Error::new(Code::NotARepository, format!("'{place}' is not the repository of this session any more"))
            .why("it was deleted, moved, or another one is there now")
            .hint("nothing more was written; if it was moved: git axiom run, in its new place, goes on with its agents")
    }

    /// Does once what there is to do, or waits; returns how the session ends, if it does.
    fn pass(&mut self) -> Result<Option<SessionOutcome>> {
        self.ctx.store.refresh()?;
        self.looked_at_log = Instant::now();
        // Another process died while it wrote to the log.
        for repaired in self.ctx.store.take_repairs() {
            self.warn(format!("{}: {repaired}", repaired.code()));
        }
        self.tell_doing();
        if self.handle_requests()? {
            return Ok(Some(SessionOutcome::Quit));
        }
        self.clear_ended_runs();
        self.clear_leaving();
        self.keep_time();
        let mut busy = match self.look_at_space()? {
            SpaceCheckOutcome::GiveUp => return Ok(Some(SessionOutcome::Quit)),
            SpaceCheckOutcome::Did => true,
            SpaceCheckOutcome::Same => false,
        };
        busy |= self.look_after_agents(AgentTurnsUntil::AHumanWaits)?;
        busy |= self.look_after_reports();
        let (rests, waits, seq) = (self.rests(), self.a_task_is_held_up(), self.ctx.state().seq);
        if self.a_human_waits()? {
            return Ok(None);
        }
        if !rests {
            busy |= self.settle_tasks()?;
        }
        self.keep_copies()?;
        if busy {
            return Ok(None);
        }
        self.tell_of_crash();
        if !rests {
            self.tell_idle();
            // A task whose pause ended during this pass is for the next one.
            let may_end = !waits && !self.a_task_is_held_up() && !self.waits_for_room();
            if may_end && let Some(ending) = self.ending() {
                return Ok(Some(ending));
            }
            self.rest(seq);
        }
        self.wait();
        Ok(None)
    }

    /// Decides about gates, merges and claims; returns whether anything was done.
    fn settle_tasks(&mut self) -> Result<bool> {
        let mut did = self.close_idle_gates()?;
        did |= self.settle_budgets()?;
        did |= self.merge_next()?;
        did |= self.put_merged_aside()?;
        if self.a_human_waits()? {
            return Ok(true);
        }
        if self.session_state() == SessionState::Running {
            did |= self.claim_next()?;
        }
        Ok(did)
    }

    fn session_state(&self) -> SessionState {
        self.ctx.state().record.session.as_ref().map_or(SessionState::Ended, |session| session.state)
    }

    /// How many slots are taken. An agent that waits for an answer takes none: other agents work meanwhile, and its next
    /// iteration waits for a free slot.
    fn slots_taken(&self) -> usize {
        // A task that is about to start has its slot already.
        self.ctx.state().busy_agents().filter(|agent| !agent.waits_for_an_answer()).count() + self.starting.len()
    }

    /// How many agents have an answer and continue before another task is claimed.
    fn answered(&self) -> usize {
        let gates = self.ctx.state().restorable.gates.values();
        gates.filter(|gate| gate.kind == GateKind::Question && gate.decision.is_some()).count()
    }

    fn change_session(&mut self, state: SessionState, reason: &str) -> Result<()> {
        self.step(Event::SessionChanged { state, reason: reason.to_owned() })
    }

    /// The agents with a running iteration or verification.
    fn running_agents(&self) -> Vec<AgentId> {
        let running = |agent: &&axiom_model::work::agent::Agent| {
            agent.work.as_ref().is_some_and(|work| work.stage.token().is_some()) || self.verifying.contains_key(&agent.id)
        };
        self.ctx.state().busy_agents().filter(running).map(|agent| agent.id.clone()).collect()
    }

    /// The branch that work is merged into.
    fn target(&self) -> Result<&RefName> {
        self.target.as_ref().ok_or_else(|| Error::new(Code::Internal, "work without a session has no target"))
    }

    /// Removes the temporary files of keepers that ended after their report.
    fn clear_ended_runs(&mut self) {
        // Only temporary files: what cannot be removed now is tried again.
        self.ended_runs.retain(|dir| !matches!(leftovers::clear_runtime(dir), Ok(true)));
    }
}
