//! The supervisor: `git axiom run`.
//!
//! One loop that waits for events and does what the state requires: requests of verbs, iterations that ended,
//! verification, merges, claims. All its knowledge is in the log, in the keepers' folders and in git, so a supervisor that
//! starts after a crash continues with the same loop.
//!
//! Not here: rules, which are in `model::work`, and keepers, which are in `process`. Begin reading with [`run`], then
//! `iterate` and `finish`.

mod after_pause;
mod agent_runs;
mod attend;
pub mod budget;
mod claim;
mod closing;
mod conflicts;
mod core;
pub mod crash;
mod desk;
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
mod redirecting;
mod requests;
mod resuming;
mod running_hooks;
mod session;
mod settle;
mod setup;
mod shared_stash;
mod space;
mod start_keeper;
pub mod status;
mod stopping;
mod take_over;
pub mod target;
mod task_memory;
#[cfg(test)]
mod tests;
mod turns;
pub mod verifying;
mod waiting_claims;
mod workspace_creation;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use agent_runs::AgentRuns;
pub use attend::{AttendRequest, attend};
use core::SessionCore;
use desk::SessionDesk;
use gates::close_idle_gates;
use hooks::HookReports;
use iterate::IterationCare;
use merging::MergeQueue;
use notice::SessionWatcher;
pub use redirecting::RedirectRequest;
pub use requests::HaltRequest;
use session::{SessionCopies, begin_session, end_session, rests};
use setup::SessionSetup;
use space::SpaceCheckOutcome;
pub use stopping::{InterruptCounter, longest_end};
use target::SessionTarget;
use turns::AgentTurnsUntil;
use waiting_claims::ClaimsUnderWay;

use crate::interventions;
use crate::repair::OnHumanOperation;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::LockAttempt;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::base::names::RefName;
use axiom_model::hook::facts::HookFacts;
use axiom_model::recovery::decide::CrashAction;
use axiom_model::state::event::{Event, EventAuthor};
use axiom_model::work::gates::gate::{GateDecision, GateKind};
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::money::budget::BudgetLimits;
use axiom_model::work::sessions::session::{SessionMode, SessionState};
use axiom_process::client::leftovers;
use axiom_process::os::bell::{LONGEST, WakeListener};
use axiom_safety::context::handle::{Context, OPERATION_PATIENCE};
use axiom_safety::context::session_hooks;
use axiom_safety::running::programs::SessionPrograms;

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

/// The loop of a session: it orders what its parts do.
struct Supervisor<'a> {
    core: SessionCore<'a>,
    interrupts: &'a InterruptCounter,
    iterations: IterationCare,
    claims: ClaimsUnderWay,
    merges: MergeQueue,
    hooks: HookReports,
    copies: SessionCopies,
    /// What is said of what is being done, since it was said last.
    doing: doing::RecordedActivity,
    /// The agent whose turn it was when a human asked for something.
    next_in_turn: Option<AgentId>,
    /// The event after which nothing was left to do, and when that was seen.
    rested_at: Option<(u64, Instant)>,
    /// When a session that ends has ended at the latest.
    ends_by: Option<Instant>,
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
    supervisor.core.setup.in_linked_worktree = in_linked_worktree;
    supervisor.core.setup.lock = Some(lock);
    supervisor.core.tasks.taken_up = Some(crash::CrashedTaskCounts::default());
    supervisor.take_over(OnHumanOperation::Refuse)?;
    if let Some(mode) = supervisor.core.setup.options.mode {
        // The user gave it on the command line. It is applied only now, when no other session runs.
        supervisor.core.desk.ctx.act_as(EventAuthor::User)?;
        interventions::change_mode(supervisor.core.desk.ctx, mode)?;
    }
    if supervisor.core.setup.options.retry {
        approve_held(&mut supervisor.core)?;
    }
    supervisor.core.desk.ctx.repo.history().run_drivers_aside();
    session_hooks::say(supervisor.core.desk.ctx);
    begin_session(&mut supervisor.core)?;
    supervisor.core.desk.ctx.set_patience(STEP_PATIENCE);
    let ended = supervisor.work();
    supervisor.core.desk.ctx.set_patience(OPERATION_PATIENCE);
    let ended = ended.and_then(|ending| end_session(&mut supervisor.core, &ending).map(|()| ending));
    if supervisor.core.setup.is_gone(supervisor.core.desk.ctx) {
        // Nothing more is written, and no hook is run: what is at this path now may be somebody else's. Whatever failed failed for that.
        return ended.map_err(|error| {
            tracing::warn!(%error, "the repository is gone");
            repository_is_gone(supervisor.core.desk.ctx)
        });
    }
    if let Err(error) = &ended {
        let facts = HookFacts::new(HookEvent::OnError, env::now()).with_error(error.code(), error.to_string());
        supervisor.core.desk.ctx.hooks.note(facts);
    }
    drop(supervisor.core.setup.lock.take());
    session_hooks::say_no_more(supervisor.core.desk.ctx.layout());
    supervisor.tell_the_rest();
    supervisor.core.leaving.wait_for(&mut supervisor.core.desk, LEAVING);
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
        let bell = WakeListener::new()?;
        interrupts.ring(bell.rope()?);
        let desk = SessionDesk { ctx, watcher, by: EventAuthor::Supervisor, within: None };
        let setup = SessionSetup { options, target, in_linked_worktree: false, lock: None };
        Ok(Self {
            core: SessionCore::new(desk, setup, bell),
            interrupts,
            iterations: IterationCare::default(),
            claims: ClaimsUnderWay::default(),
            merges: MergeQueue::default(),
            hooks: HookReports::default(),
            copies: SessionCopies::new(),
            doing: doing::RecordedActivity::default(),
            next_in_turn: None,
            rested_at: None,
            ends_by: None,
        })
    }

    /// The main loop. Every step can be repeated, so where the log cannot be written for a while, all is looked at again.
    fn work(&mut self) -> Result<SessionOutcome> {
        loop {
            if self.core.setup.is_gone(self.core.desk.ctx) {
                return Err(repository_is_gone(self.core.desk.ctx));
            }
            if self.interrupts.count() > 0 {
                self.shut_down()?;
                return Ok(SessionOutcome::Interrupted);
            }
            match self.pass() {
                Ok(Some(SessionOutcome::Quit)) => return self.shut_down().map(|()| SessionOutcome::Quit),
                Ok(Some(ending)) => return Ok(ending),
                Ok(None) => self.core.failures.log_is_well(),
                Err(error) => {
                    let pause = self.core.failures.log_failed(&mut self.core.desk, error)?;
                    self.core.bell.wait(pause);
                }
            }
        }
    }

    /// Does once what there is to do, or waits; returns how the session ends, if it does.
    fn pass(&mut self) -> Result<Option<SessionOutcome>> {
        self.core.desk.ctx.store.refresh()?;
        self.core.requests.looked_at_log = Instant::now();
        // Another process died while it wrote to the log.
        for repaired in self.core.desk.ctx.store.take_repairs() {
            self.core.desk.warn(format!("{}: {repaired}", repaired.code()));
        }
        self.tell_doing();
        if self.handle_requests()? {
            return Ok(Some(SessionOutcome::Quit));
        }
        self.core.runs.clear_ended();
        self.core.leaving.clear(&mut self.core.desk);
        self.iterations.clock.keep_time(self.core.desk.ctx, &self.core.runs);
        let mut busy = match self.look_at_space()? {
            SpaceCheckOutcome::GiveUp => return Ok(Some(SessionOutcome::Quit)),
            SpaceCheckOutcome::Did => true,
            SpaceCheckOutcome::Same => false,
        };
        busy |= self.look_after_agents(AgentTurnsUntil::AHumanWaits)?;
        busy |= self.hooks.look_after_reports(&mut self.core);
        let (rests, waits, seq) = (
            rests(self.core.desk.ctx, self.rested_at),
            self.core.failures.a_task_is_held_up(self.core.desk.ctx),
            self.core.desk.ctx.state().seq,
        );
        if self.a_human_waits()? {
            return Ok(None);
        }
        if !rests {
            busy |= self.settle_tasks()?;
        }
        self.copies.keep(&mut self.core.desk, &mut self.core.failures)?;
        if busy {
            return Ok(None);
        }
        self.core.tell_of_crash();
        if !rests {
            let works = self.merges.merge_check.is_some() || !self.claims.starting.is_empty();
            self.hooks.tell_idle(&mut self.core.desk, works);
            // A task whose pause ended during this pass is for the next one.
            let may_end = !waits
                && !self.core.failures.a_task_is_held_up(self.core.desk.ctx)
                && !self.iterations.room.waits_for_room(&mut self.core);
            if may_end && let Some(ending) = self.ending() {
                return Ok(Some(ending));
            }
            self.rest(seq);
        }
        self.wait_at_most(LONGEST);
        Ok(None)
    }

    /// Decides about gates, merges and claims; returns whether anything was done.
    fn settle_tasks(&mut self) -> Result<bool> {
        let mut did = close_idle_gates(&mut self.core)?;
        did |= self.iterations.clock.settle_budgets(&mut self.core)?;
        did |= self.merge_next()?;
        did |= self.core.failures.put_merged_aside(&mut self.core.desk)?;
        if self.a_human_waits()? {
            return Ok(true);
        }
        if self.core.desk.session_state() == SessionState::Running {
            did |= self.claims.claim_next(&mut self.core, &self.iterations)?;
        }
        Ok(did)
    }
}

/// How many slots are taken. An agent that waits for an answer takes none: other agents work meanwhile, and its next
/// iteration waits for a free slot.
pub(super) fn slots_taken(ctx: &Context) -> usize {
    ctx.state().busy_agents().filter(|agent| !agent.waits_for_an_answer()).count()
}

impl AgentRuns {
    /// The agents with a running iteration or verification.
    pub(super) fn running_agents(&self, ctx: &Context) -> Vec<AgentId> {
        let running = |agent: &&axiom_model::work::agent::Agent| {
            agent.work.as_ref().is_some_and(|work| work.stage.token().is_some())
                || self.get(&agent.id).is_some_and(|run| run.verifying.is_some())
        };
        ctx.state().busy_agents().filter(running).map(|agent| agent.id.clone()).collect()
    }

    /// Removes the temporary files of keepers that ended after their report.
    pub(super) fn clear_ended(&mut self) {
        // Only temporary files: what cannot be removed now is tried again.
        self.ended.retain(|dir| !matches!(leftovers::clear_runtime(dir), Ok(true)));
    }
}

/// Approves the gates that hold tasks: the user wants stopped and rolled-back tasks to continue.
fn approve_held(core: &mut SessionCore<'_>) -> Result<()> {
    core.desk.ctx.act_as(EventAuthor::User)?;
    let counted_anew = &mut core.tasks.counted_anew;
    core.desk
        .ctx
        .append_with(|state| {
            let held = state.restorable.gates.values().filter(|gate| gate.holds());
            counted_anew.extend(held.clone().filter_map(|gate| gate.task_id.clone()));
            Ok(held
                .map(|gate| Event::GateDecided { id: gate.id.clone(), decision: GateDecision::Approved, complete: None })
                .collect())
        })
        .map(drop)
}

impl SessionDesk<'_> {
    pub(super) fn session_state(&self) -> SessionState {
        self.ctx.state().record.session.as_ref().map_or(SessionState::Ended, |session| session.state)
    }

    pub(super) fn change_session(&mut self, state: SessionState, reason: &str) -> Result<()> {
        self.step(Event::SessionChanged { state, reason: reason.to_owned() })
    }
}

fn repository_is_gone(ctx: &Context) -> Error {
    let place = ctx.repo.common_dir().display();
    Error::new(Code::NotARepository, format!("'{place}' is not the repository of this session any more"))
        .why("it was deleted, moved, or another one is there now")
        .hint("nothing more was written; if it was moved: git axiom run, in its new place, goes on with its agents")
}

/// How many agents have an answer and continue before another task is claimed.
pub(super) fn answered(ctx: &Context) -> usize {
    let gates = ctx.state().restorable.gates.values();
    gates.filter(|gate| gate.kind == GateKind::Question && gate.decision.is_some()).count()
}
