//! The supervisor: `git axiom run`.
//!
//! One loop that waits for events and does what the state requires: requests of verbs, iterations that ended,
//! verification, merges, claims. All its knowledge is in the log, in the keepers' folders and in git, so a supervisor that
//! starts after a crash continues with the same loop.
//!
//! Not here: rules, which are in `model::work`, and keepers, which are in `process`. Begin reading with [`run`], then
//! `beginning`, `watching` and `finish`.

mod activity;
mod attend;
mod claims;
mod core;
pub mod detach;
mod ends;
mod hooks;
mod idle_gates;
mod interrupts;
mod iterations;
mod merges;
mod requests;
mod session;
mod setup;
mod shown;
mod space;
mod stopping;
mod take_over;
#[cfg(test)]
mod tests;
mod turns;

use std::time::{Duration, Instant};

use claims::waiting_claims::ClaimsUnderWay;
use core::SessionCore;
use core::desk::SessionDesk;
use hooks::HookReports;
use idle_gates::close_idle_gates;
use iterations::iteration_care::IterationCare;
use iterations::program_clock::ProgramClock;
use iterations::session_space::SpaceCheckOutcome;
use merges::merge_queue::MergeQueue;
use merges::merging::NextMerge;
use session::{SessionCopies, begin_session, end_session, rests};
use setup::SessionSetup;
use setup::target::SessionTarget;
use shown::notice::SessionWatcher;
use turns::AgentTurnsUntil;

use crate::interventions;
use crate::merge::merge_verification::RunningMergeCheck;
use crate::repair::OnHumanOperation;
pub use attend::{AttendRequest, attend};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::LockAttempt;
use axiom_model::base::ids::AgentId;
use axiom_model::base::names::RefName;
use axiom_model::hook::facts::HookFacts;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::gates::gate::GateDecision;
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::sessions::session::SessionState;
use axiom_process::os::bell::{LONGEST, WakeListener};
use axiom_safety::context::handle::{Context, OPERATION_PATIENCE};
use axiom_safety::context::session_hooks;
pub use claims::redirecting::RedirectRequest;
pub use interrupts::{InterruptCounter, longest_end};
pub use requests::HaltRequest;
pub use setup::options::{CrashTaskDecisions, SupervisorOptions};
pub use setup::{last_options, target};
pub use shown::{doing, keeper_now, notice, status};

/// How long the loop sleeps when there is nothing to do.
const TICK: Duration = Duration::from_millis(50);

/// How long a step of the loop waits for an operation of another process: then it is tried again, and others get their turn.
const STEP_PATIENCE: Duration = Duration::from_millis(500);

/// How long a second supervisor waits for the lock: long enough for a process that only tests the lock.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);

/// How long a session that has ended waits for what it gave up on: it ends by itself, sooner or later.
const LEAVING: Duration = Duration::from_secs(1);

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
    doing: activity::RecordedActivity,
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
    supervisor.core.tasks.taken_up = Some(core::task_memory::CrashedTaskCounts::default());
    supervisor.take_over(OnHumanOperation::Refuse)?;
    if let Some(mode) = supervisor.core.setup.options.mode {
        // The user gave it on the command line. It is applied only now, when no other session runs.
        supervisor.core.desk.ctx.act_as(EventAuthor::User)?;
        interventions::change_mode(supervisor.core.desk.ctx, mode)?;
    }
    if supervisor.core.setup.options.retry {
        approve_held(&mut supervisor.core)?;
    }
    supervisor.core.desk.ctx.repo.merges().run_drivers_aside();
    session_hooks::say(supervisor.core.desk.ctx);
    begin_session(&mut supervisor.core)?;
    supervisor.iterations.clock = ProgramClock::of_session(supervisor.core.desk.ctx);
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
            doing: activity::RecordedActivity::default(),
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
        let merge_look = self.merges.merge_check.as_ref().is_some_and(RunningMergeCheck::is_look);
        self.iterations.clock.keep_time(self.core.desk.ctx, &self.core.runs, merge_look);
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
        if busy || self.pause_where_quiet()? {
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

fn repository_is_gone(ctx: &Context) -> Error {
    let place = ctx.repo.common_dir().display();
    Error::new(Code::NotARepository, format!("'{place}' is not the repository of this session any more"))
        .why("it was deleted, moved, or another one is there now")
        .hint("nothing more was written; if it was moved: git axiom run, in its new place, goes on with its agents")
}

impl Supervisor<'_> {
    /// Merges one task that is done, if there is one that may be merged; returns whether anything was done.
    pub(crate) fn merge_next(&mut self) -> Result<bool> {
        match self.merges.next_merge(&mut self.core)? {
            NextMerge::Nothing => Ok(false),
            NextMerge::Done => Ok(true),
            NextMerge::Make(task, allowed) => {
                self.doing.merges(Some(&task));
                self.tell_doing();
                let merged = self.merges.try_merge(&mut self.core, &task, &allowed);
                self.doing.merges(None);
                self.tell_doing();
                merged.map(|()| true)
            }
        }
    }
}
