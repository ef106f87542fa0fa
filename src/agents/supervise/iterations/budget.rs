//! Budgets of tasks and of the session: looked at before an iteration begins and, where its program tells what it uses, while it
//! runs. The rules are in `model::work::money::budget`; a human decides at the gate.

use std::time::{Duration, Instant};

use super::budget_gates::{is_over_budget, limits_reached, open_session_gate};
use super::iteration_care::IterationCare;
use crate::supervise::core::SessionCore;
use crate::supervise::core::work_ends::HaltedTaskFate;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::AgentId;
use axiom_model::work::agent::AgentWork;
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::money::budget::BudgetResource;
use axiom_process::run_folder::records::KeeperRecord;

/// How long a tool call that runs may take to end before its program is stopped, and a program that has said its last word: neither
/// uses tokens any more.
const USES_NONE: Duration = Duration::from_secs(20);

impl IterationCare {
    /// Ends the program of an iteration whose budget, or the session's, is used up: what it left is kept, no retry is counted, and
    /// it can go on in its session. A tool call may end first, and a program that is about to end does so by itself.
    pub(crate) fn watch_budget(
        &mut self,
        core: &mut SessionCore<'_>,
        agent: &AgentId,
        work: &AgentWork,
        record: &KeeperRecord,
    ) -> Result<()> {
        // Without a session nobody decides about running agents.
        if core.setup.target.is_none() {
            return Ok(());
        }
        if let Some(watch) = core.runs.watch_mut(agent) {
            let slept = || env::now().duration_since(record.started_at).unsigned_abs();
            watch.time.begun.get_or_insert_with(|| (Instant::now(), slept()));
        }
        let mut reached = limits_reached(core.desk.ctx, &work.task, core.runs.usage_of(core.desk.ctx, &core.setup, agent, work));
        let of_session = self.clock.session_reached(core.desk.ctx, &core.setup, &core.runs);
        if !of_session.is_empty() {
            open_session_gate(&mut core.desk, of_session.clone())?;
        }
        reached.extend(of_session);
        let Some(watch) = core.runs.watch_mut(agent).filter(|_| !reached.is_empty()) else { return Ok(()) };
        let since = *watch.over_since.get_or_insert_with(Instant::now);
        let uses_none = !watch.told.calls.begun.is_empty() || watch.told.ended.is_some();
        if uses_none && reached.iter().all(|used| used.of != BudgetResource::Time) && since.elapsed() < USES_NONE {
            return Ok(());
        }
        let Some(token) = work.stage.token().cloned().filter(|token| core.runs.halt_of(agent, token).is_none()) else {
            return Ok(());
        };
        core.runs.end_program(&mut core.desk, agent, &token, TaskHalt::Stop, HaltedTaskFate::Free)
    }

    /// Releases a task before its next iteration where nothing of its budget or of the session's is left; returns whether it did.
    pub(crate) fn stop_for_budget(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, work: &AgentWork) -> Result<bool> {
        let of_session = self.clock.session_reached(core.desk.ctx, &core.setup, &core.runs);
        if of_session.is_empty() && !is_over_budget(core.desk.ctx, &work.task) {
            return Ok(false);
        }
        if !of_session.is_empty() {
            open_session_gate(&mut core.desk, of_session)?;
        }
        core.halt(agent, TaskHalt::Stop, HaltedTaskFate::Free, None)?;
        Ok(true)
    }
}
