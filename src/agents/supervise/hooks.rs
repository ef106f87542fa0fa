//! Hooks of a session that are told what has happened: they run beside its work, one event after the other. Those that are asked before
//! a task is claimed are in `waiting_claims`.

use std::time::{Duration, Instant};

use super::Supervisor;
use super::activity::tell_end;
use super::core::SessionCore;
use super::core::desk::SessionDesk;
use super::core::running_hooks::{HooksVerdict, RunningHooks, run_hooks};
use super::shown::notice::SessionNotice;
use crate::merge::lost_merges::all_merged_in_words;
use axiom_base::env;
use axiom_model::base::forms::plural::count_of;
use axiom_model::hook::facts::{HookCompletion, HookFacts};
use axiom_model::queries::ready;
use axiom_model::work::agent::Agent;
use axiom_model::work::gates::gate::GateKind;
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::sessions::session::SessionState;
use axiom_model::work::sessions::supervisor_activity::SupervisorActivity;
use axiom_safety::context::approved_hooks::EventHooks;
use axiom_safety::context::handle::Context;
use axiom_safety::context::kept_hooks;
use axiom_safety::running::wait_observer::LOOK;

/// After how long is said at the end of a session that hooks are waited for.
const SAYS_AFTER: Duration = Duration::from_secs(1);

/// Hooks that are told what has happened.
#[derive(Debug, Default)]
pub(crate) struct HookReports {
    /// Those that are told something now.
    pub(crate) reporting: Option<RunningHooks>,
    /// What they were told of a session without anything to do, until there is something again.
    told_idle: Option<HookCompletion>,
}

impl Supervisor<'_> {
    /// At the end of the session, when its lock is free: tells hooks what they have not been told yet, for as long as one hook may
    /// take, or as a session that was asked to end may; says which, where that takes long. Another signal ends that.
    pub(crate) fn tell_the_rest(&mut self) {
        self.claims.abandon_starting(&mut self.core);
        let (before, begun) = (self.interrupts.count(), Instant::now());
        self.interrupts.tells_itself();
        let one_hook = || begun + Duration::from_secs(self.core.desk.ctx.config.hooks.timeout);
        let until = self.ends_by.unwrap_or_else(one_hook);
        let mut is_said = false;
        while self.hooks.are_busy(self.core.desk.ctx) && self.interrupts.count() == before && Instant::now() < until {
            if self.hooks.look_after_reports(&mut self.core) {
                continue;
            }
            self.tell_doing();
            if !is_said && begun.elapsed() > SAYS_AFTER {
                is_said = true;
                let what = self.hooks.doing().map_or_else(|| "hooks".to_owned(), |doing| doing.what_in_words());
                self.core.desk.tell(SessionNotice::WaitingFor { what: format!("{what}; Ctrl+C leaves") });
            }
            self.core.bell.wait(LOOK);
        }
        tell_end(&mut self.core.desk);
        if self.hooks.are_busy(self.core.desk.ctx) {
            let cut_off = self.hooks.doing().map_or_else(String::new, |doing| format!(" ({})", doing.what_in_words()));
            let left = self.core.desk.ctx.hooks.forget_due() + usize::from(self.hooks.reporting.take().is_some());
            let events = count_of(left, "event was", "events were");
            kept_hooks::keep(self.core.desk.ctx.store.layout(), &mut self.core.desk.ctx.hooks);
            self.core.desk.warn(format!("{events} not told to hooks: the session has ended{cut_off}"));
        }
    }
}

impl HookReports {
    /// Tells hooks what has happened; returns whether anything was done.
    pub(crate) fn look_after_reports(&mut self, core: &mut SessionCore<'_>) -> bool {
        if let Some(reporting) = &self.reporting {
            // None of them decides anything: what one says is in its run.
            let Some(HooksVerdict { runs, objection: _ }) = reporting.said() else { return false };
            self.reporting = None;
            for run in runs.iter().filter(|run| run.failure.is_some()) {
                let last = run.lines.last().map_or_else(String::new, |line| format!(": {line}"));
                core.desk.warn(format!("{}{last} (git axiom hooks log)", run.summary()));
            }
            if let Err(error) = core.desk.record_runs(&runs) {
                core.desk.warn(format!("what hooks did is not recorded: {error}"));
            }
            core.desk.ctx.hooks.told();
            kept_hooks::keep(core.desk.ctx.store.layout(), &mut core.desk.ctx.hooks);
        }
        match core.desk.ctx.hooks.take_dropped() {
            0 => {}
            many => {
                let told = count_of(many, "event was", "events were");
                core.desk.warn(format!("hooks are slower than what happens: {told} not told"));
            }
        }
        let Some(facts) = core.desk.ctx.hooks.next_due() else { return false };
        kept_hooks::keep(core.desk.ctx.store.layout(), &mut core.desk.ctx.hooks);
        let event = facts.event;
        if let EventHooks::Run(hooks, tree) = core.desk.ctx.hooks.at(event) {
            match run_hooks(core.desk.ctx, &core.bell, facts, &hooks, &tree) {
                Ok(running) => self.reporting = Some(running),
                Err(error) => core.desk.warn(format!("hooks of {event} were not run: {error}")),
            }
        }
        if self.reporting.is_none() {
            core.desk.ctx.hooks.told();
            kept_hooks::keep(core.desk.ctx.store.layout(), &mut core.desk.ctx.hooks);
        }
        true
    }

    /// Which hook is told something, for people who look.
    pub(crate) fn doing(&self) -> Option<SupervisorActivity> {
        self.reporting.as_ref()?.doing()
    }

    /// Nothing is left to do now: tells hooks once whether all is finished, or what is left waits. A session that found things so when it
    /// began tells nothing: the one before has.
    pub(crate) fn tell_idle(&mut self, desk: &mut SessionDesk<'_>, works: bool) {
        let state = desk.ctx.state();
        let is_busy = works || !state.record.requests.is_empty();
        let Some(session) = state.record.session.as_ref().filter(|session| session.state == SessionState::Running) else {
            return;
        };
        let is_at_work =
            |agent: &Agent| !agent.work.as_ref().is_some_and(|work| desk.undecided_gate(GateKind::Question, &work.task));
        if is_busy || state.busy_agents().any(is_at_work) || state.restorable.gates.values().any(|gate| gate.decision.is_some()) {
            self.told_idle = None;
            return;
        }
        let left = ready::reasons_for_rest(state);
        let waits = state.restorable.gates.values().any(|gate| gate.decision.is_none());
        let gates = count_of(state.restorable.gates.len(), "gate waits for you", "gates wait for you");
        let stuck = count_of(left.len(), "task does not go on", "tasks do not go on");
        let (status, reason, command) = match (left.len(), waits) {
            (_, true) => (HookCompletion::Waiting, gates, "git axiom gate list"),
            (0, false) => (HookCompletion::Finished, all_merged_in_words(desk.ctx), "git axiom log"),
            (_, false) => (HookCompletion::Failed, stuck, "git axiom status"),
        };
        let has_worked = state.record.session_time.millis(env::now()) > 0;
        let is_new = has_worked || state.restorable.gates.values().any(|gate| gate.opened_at >= session.started_at);
        if self.told_idle == Some(status) || !is_new {
            return;
        }
        self.told_idle = Some(status);
        let facts = HookFacts::new(HookEvent::OnIdle, env::now());
        desk.ctx.hooks.note(HookFacts { status: Some(status), reason: Some(reason), command: Some(command.to_owned()), ..facts });
    }

    /// Whether hooks run that are told something, or are still to be told.
    pub(crate) fn are_busy(&self, ctx: &Context) -> bool {
        self.reporting.is_some() || ctx.hooks.has_due()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::tests::{task, with_a_human};
    use super::*;
    use axiom_model::base::ids::SessionId;
    use axiom_model::state::event::Event;
    use axiom_model::work::money::budget::BudgetLimits;
    use axiom_model::work::sessions::session::Session;

    #[test]
    fn that_nothing_is_left_to_do_is_told_once_and_again_after_work() {
        with_a_human(|core, _| {
            let mut reports = HookReports::default();
            reports.tell_idle(&mut core.desk, false);
            assert_eq!(reports.told_idle, None, "no session runs");
            let session = Session {
                id: SessionId::new("s1").unwrap(),
                started_at: env::now(),
                pid: 1,
                target: core.setup.target().unwrap().clone(),
                slots: 1,
                max_iterations: 1,
                limits: BudgetLimits::default(),
                task_limits: BudgetLimits::default(),
                state: SessionState::Running,
                paused_at: None,
                start_checkpoint: None,
                in_linked_worktree: false,
            };
            core.desk.step(Event::SessionStarted { session }).unwrap();
            core.desk.open_gate(GateKind::Claim, &task("t"), "start t".to_owned(), Vec::new()).unwrap();
            reports.tell_idle(&mut core.desk, false);
            assert_eq!(reports.told_idle, Some(HookCompletion::Waiting));
            reports.tell_idle(&mut core.desk, true);
            assert_eq!(reports.told_idle, None, "something is under way");
        });
    }
}
