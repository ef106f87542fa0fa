//! Verifying the result of a merge in parallel to the loop: one at a time, since each merge changes the others.

use super::merge_failing::merge_waits_or_failed;
use super::merge_gates::{wait_at_gate, wait_for_hook};
use super::merge_queue::MergeQueue;
use crate::merge::merge_verification;
use crate::merge::merge_verification::{RunningMergeCheck, TRIES, moves_each_time};
use crate::supervise::core::SessionCore;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::core::leaving_threads::LeavingThreads;
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::work::endings::failures::{SessionStep, SharedSessionStep};
use axiom_model::work::gates::gate::{Gate, GateKind};
use axiom_model::work::iteration::ReviewCause;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_model::work::verifying::verification::{MergeVerification, VerifyChecker};
use axiom_safety::running::steps::StepRunner;

impl MergeQueue {
    /// Handles a merge that has to be verified first: starts the verification; or, where this merge has failed before and no
    /// human has approved another attempt, opens a gate.
    pub(crate) fn verify_merge(
        &mut self,
        core: &mut SessionCore<'_>,
        task: &TaskId,
        failed: Option<&MergeVerification>,
    ) -> Result<()> {
        let review = core.desk.gate(GateKind::HumanReview, task).is_some_and(Gate::is_approved);
        let veto = core.desk.gate(GateKind::Merge, task).filter(|gate| gate.cause == Some(ReviewCause::HookVeto));
        let veto = veto.is_some_and(Gate::is_approved);
        if let Some(failed) = failed.filter(|_| !review && !veto) {
            return self.review(&mut core.desk, task, failed);
        }
        if self.verified_again.get(task).is_some_and(|times| *times >= TRIES) {
            self.verified_again.remove(task);
            return wait_at_gate(&mut core.desk, task, moves_each_time(task).to_string(), &[]);
        }
        match merge_verification::begin(core.desk.ctx, task, StepRunner::Session, core.bell.rope().ok()) {
            Ok(check) => {
                self.merge_check = Some(check);
                core.desk.tell(SessionNotice::VerifyingMerge { task: task.clone() });
                Ok(())
            }
            Err(error) => merge_waits_or_failed(core, SessionStep::VerifyMerge, task, error),
        }
    }

    /// Handles the running verification; returns whether anything was done.
    pub(crate) fn look_after_merge_check(&mut self, core: &mut SessionCore<'_>) -> Result<bool> {
        let Some(check) = &self.merge_check else { return Ok(false) };
        let case = core.desk.ctx.state().restorable.tasks.get(&check.task);
        if !case.is_some_and(|case| case.status == TaskStatus::Done && case.merged.is_none()) {
            self.abandon_merge_check(&mut core.leaving);
            return Ok(true);
        }
        let task = check.task.clone();
        // Its result could not be recorded a moment ago.
        if check.result().is_some() && core.failures.is_held_up(&task) {
            return Ok(false);
        }
        if check.result().is_none() {
            let verdict = check.verdict();
            if let Some(so_far) = self.merge_check.as_mut().filter(|_| verdict.is_none()).and_then(RunningMergeCheck::news) {
                // After a crash these steps are not run again. Where it cannot be recorded, they are.
                core.desk.act()?;
                let check = self.merge_check.as_mut();
                let noted = check.map_or(Ok(()), |check| check.record_so_far(core.desk.ctx, so_far));
                noted.unwrap_or_else(|error| core.desk.warn(format!("a result is not recorded yet: {error}")));
                return Ok(true);
            }
            let Some(verdict) = verdict else { return Ok(false) };
            if let Some(error) = verdict.not_run {
                self.abandon_merge_check(&mut core.leaving);
                core.failures.merge_failed(&mut core.desk, SessionStep::VerifyMerge, &task, error)?;
                return Ok(true);
            }
            if let Some(check) = &mut self.merge_check {
                check.ended_with(verdict);
            }
        }
        core.desk.act()?;
        if let Some(check) = &mut self.merge_check
            && let Err(error) = check.record(core.desk.ctx)
        {
            core.failures.merge_failed(&mut core.desk, SessionStep::VerifyMerge, &task, error)?;
            if !core.failures.is_held_up(&task) {
                self.abandon_merge_check(&mut core.leaving);
            }
            return Ok(true);
        }
        let Some(check) = self.merge_check.take() else { return Ok(false) };
        let verification = check.result().cloned();
        drop(check.remove(core.desk.ctx));
        core.failures.no_standstill(SharedSessionStep::Merges);
        core.failures.passed(&mut core.desk, &task)?;
        match verification {
            Some(failed) if !failed.passed() => self.review(&mut core.desk, &task, &failed)?,
            Some(_) | None => {
                // If this is not the merge that is made next, the target moved meanwhile.
                *self.verified_again.entry(task.clone()).or_default() += 1;
                core.desk.close_gate(GateKind::HumanReview, &task, "verified")?;
            }
        }
        Ok(true)
    }

    /// Opens a gate for a failed verification, for a human to look at; approving it tries again.
    fn review(&mut self, desk: &mut SessionDesk<'_>, task: &TaskId, failed: &MergeVerification) -> Result<()> {
        self.verified_again.remove(task);
        let details = failed.failed().map(|step| step.lines.clone()).unwrap_or_default();
        let reason = failed.summary().unwrap_or_default();
        if failed.failed().is_some_and(|step| step.by == VerifyChecker::Hook) {
            return wait_for_hook(desk, task, format!("{reason}; approve to ask it again"), details);
        }
        desk.open_gate_about(GateKind::HumanReview, task, (reason, Some(ReviewCause::VerifyFailed)), details)
    }

    /// Ends the running verification; a result that was not recorded is lost.
    pub(crate) fn abandon_merge_check(&mut self, leaving: &mut LeavingThreads) {
        if let Some(check) = self.merge_check.take() {
            let task = check.task.clone();
            let (ending, left) = check.give_up();
            leaving.add(&task, ending, Some(left));
        }
    }
}
