//! Choosing the next merge, and handling its outcome.

use std::time::{Duration, Instant};

use super::conflicts::settle_conflict;
use super::merge_failing::merge_waits_or_failed;
use super::merge_gates::{wait_at_gate, wait_for_a_look};
use super::merge_queue::{LookAtTheWay, MergeQueue};
use super::shared_stash::taken_from_stash;
use crate::merge::MergeOutcome;
use crate::supervise::core::SessionCore;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::setup::SessionSetup;
use crate::supervise::shown::notice::SessionNotice;
use crate::{merge, repair};
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::queries::needs;
use axiom_model::work::endings::failures::{SessionStep, SharedSessionStep};
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind, could_not_be_merged, is_for_trust};
use axiom_model::work::guarded::AllowedGuardedFiles;
use axiom_model::work::sessions::session::SessionMode;
use axiom_model::work::tasks::task::{Task, TaskKind, TaskStatus};
use axiom_safety::context::handle::Context;
use axiom_safety::folders::workspace_submodules;
use axiom_safety::running::hooks::commit_hooks;
use axiom_safety::settings::trust::is_approved_by_now;

/// How often it is looked whether something is still in the way of a merge.
const WAY_EVERY: Duration = Duration::from_secs(2);

/// What follows a look at the tasks that are done.
pub(crate) enum NextMerge {
    /// There is nothing to do.
    Nothing,
    /// Something was done.
    Done,
    /// This one is merged, with these guarded files.
    Make(TaskId, AllowedGuardedFiles),
}

impl MergeQueue {
    /// Whether a merge is being verified, or made ready.
    pub(crate) fn is_at_work(&self, core: &SessionCore<'_>) -> bool {
        self.merge_check.is_some() || core.drivers.are_at_work(None)
    }

    /// Chooses the task that is merged next, where nothing has to be done before.
    pub(crate) fn next_merge(&mut self, core: &mut SessionCore<'_>) -> Result<NextMerge> {
        core.drivers.look_after(core.desk.ctx);
        // What a human has rejected waits for nothing, and is not verified any more.
        if block_rejected(&mut core.desk)? {
            return Ok(NextMerge::Done);
        }
        // Only one is verified at a time, but a human is asked about the others meanwhile.
        let verified_now = self.merge_check.as_ref().map(|check| check.task.clone());
        if verified_now.is_some() && self.look_after_merge_check(core)? {
            return Ok(NextMerge::Done);
        }
        let state = core.desk.ctx.state();
        let is_done = |case: &&Task| {
            let is_to_merge = case.kind == TaskKind::Task && case.status == TaskStatus::Done && case.merged.is_none();
            is_to_merge && verified_now.as_ref() != Some(&case.id)
        };
        let waiting = state.restorable.tasks.values().filter(is_done);
        let waiting = waiting.filter(|case| needs::to_merge_first(state, case).next().is_none());
        let waiting: Vec<TaskId> = waiting.map(|case| case.id.clone()).collect();
        let mut may_go = Vec::new();
        for task in waiting {
            if core.failures.is_held_up(&task) || core.drivers.are_at_work(Some(&task)) {
                continue;
            }
            // Decided, the merge is tried again, below.
            let in_review = core.desk.undecided_gate(GateKind::HumanReview, &task);
            let waits = in_review || core.desk.undecided_gate(GateKind::Merge, &task);
            let gate = core.desk.gate(GateKind::Merge, &task);
            if waits && self.seen_apart.is_merged_by_hand(core.desk.ctx, &core.setup, (&task, gate))? {
                may_go.push((task, AllowedGuardedFiles::Nothing));
                continue;
            }
            if in_review {
                continue;
            }
            if let Some(why) = self.asks_in_vain(core, &task)? {
                core.desk.close_gate(GateKind::Merge, &task, why)?;
                return Ok(NextMerge::Done);
            }
            if let Some(gate) = self.seen_undone.shows(&core.desk, &core.setup, &task)? {
                core.desk.open(gate)?;
                return Ok(NextMerge::Done);
            }
            if self.waits_for_stash(&mut core.desk, &task)? {
                return Ok(NextMerge::Done);
            }
            let gate = core.desk.gate(GateKind::Merge, &task);
            let (decision, allowed) =
                (gate.map(|gate| gate.decision.clone()), gate.map_or(AllowedGuardedFiles::Nothing, Gate::allows));
            match (decision, core.desk.ctx.state().restorable.mode) {
                (Some(Some(GateDecision::Rejected { .. }) | None), _) => {}
                (None, SessionMode::SemiAuto | SessionMode::Review) => {
                    ask_to_merge(core, &task, Gate::to_merge(&task, core.setup.target()?))?;
                    return Ok(NextMerge::Done);
                }
                (Some(Some(GateDecision::Approved | GateDecision::Answered { .. })), _) => may_go.push((task, allowed)),
                (None, SessionMode::Autopilot) => may_go.push((task, allowed)),
            }
        }
        if verified_now.is_some() {
            return Ok(NextMerge::Nothing);
        }
        let (verified, others): (Vec<_>, Vec<_>) =
            may_go.into_iter().partition(|(task, _)| has_passed(core.desk.ctx, &core.setup, task));
        let failures = &core.failures;
        let next = failures.next_to_try(verified, |(task, _)| task).or_else(|| failures.next_to_try(others, |(task, _)| task));
        match next {
            Some((task, allowed)) if !core.failures.stands_still(SharedSessionStep::Merges) => Ok(NextMerge::Make(task, allowed)),
            Some(_) | None => Ok(NextMerge::Nothing),
        }
    }

    /// Why what the gate of a merge waits for is there, where it is.
    fn asks_in_vain(&mut self, core: &SessionCore<'_>, task: &TaskId) -> Result<Option<&'static str>> {
        Ok(if self.waited_for_trust(&core.desk, task) {
            Some("the project's files are approved by now")
        } else if self.seen_in_conflict.is_gone(&core.desk, &core.setup, task)? {
            Some("the conflict is gone: both sides merge without one now")
        } else if self.way_is_free(&core.desk, task) {
            Some("what was in the way is gone")
        } else {
            None
        })
    }

    /// Whether the gate of a merge asks for nothing but what a human has approved since.
    fn waited_for_trust(&mut self, desk: &SessionDesk<'_>, task: &TaskId) -> bool {
        let asks = |gate: &Gate| gate.decision.is_none() && is_for_trust(&gate.reason);
        desk.gate(GateKind::Merge, task).is_some_and(asks)
            && !self.tried_since_approved.contains(task)
            && is_approved_by_now(desk.ctx)
            && self.tried_since_approved.insert(task.clone())
    }

    /// Whether what a merge waits for at its gate is not in its way any more: then it goes on as the mode has it. No event tells of it, so
    /// it is looked at now and then; where the merge was tried for this once and met the same again, a human says when.
    fn way_is_free(&mut self, desk: &SessionDesk<'_>, task: &TaskId) -> bool {
        let waits = |gate: &&Gate| gate.says_what_is_in_the_way() && gate.guarded.is_none();
        let Some(gate) = desk.gate(GateKind::Merge, task).filter(waits) else { return false };
        let look = self.way_looked_at.get(task);
        if look.is_some_and(|look| look.at.elapsed() < WAY_EVERY || look.tried.as_deref() == Some(gate.reason.as_str())) {
            return false;
        }
        let is_free = merge::preview::is_clear(desk.ctx, task, &AllowedGuardedFiles::Nothing);
        let tried = is_free.then(|| gate.reason.clone());
        self.way_looked_at.insert(task.clone(), LookAtTheWay { at: Instant::now(), tried });
        is_free
    }

    /// Opens a gate, where none asks it yet, for a merge that may hold what an agent took from the user's stash; returns whether it was
    /// opened just now.
    fn waits_for_stash(&mut self, desk: &mut SessionDesk<'_>, task: &TaskId) -> Result<bool> {
        let Some(reason) = taken_from_stash(desk.ctx, task)?.filter(|_| !self.stash_accepted.contains(task)) else {
            return Ok(false);
        };
        match desk.gate(GateKind::Merge, task).filter(|gate| gate.reason == reason).map(|gate| gate.decision.clone()) {
            None => wait_at_gate(desk, task, reason, &[]).map(|()| true),
            Some(Some(GateDecision::Approved | GateDecision::Answered { .. })) => {
                self.stash_accepted.insert(task.clone());
                Ok(false)
            }
            // Rejected, it is blocked by whoever asks.
            Some(Some(GateDecision::Rejected { .. }) | None) => Ok(false),
        }
    }

    pub(crate) fn try_merge(&mut self, core: &mut SessionCore<'_>, task: &TaskId, allowed: &AllowedGuardedFiles) -> Result<()> {
        core.desk.act()?;
        core.desk.ctx.read_hooks_again();
        // A full disk or a lock may have left the last merge open.
        let merged = repair::finish_unasked(core.desk.ctx).and_then(|done| {
            done.into_iter().for_each(|what| core.desk.tell(SessionNotice::Recovered { what }));
            merge::merge_task(core.desk.ctx, task, allowed)
        });
        match merged {
            Ok(outcome) => self.merge_came_to(core, task, outcome),
            Err(error) => merge_waits_or_failed(core, SessionStep::Merge, task, error),
        }
    }

    fn merge_came_to(&mut self, core: &mut SessionCore<'_>, task: &TaskId, outcome: MergeOutcome) -> Result<()> {
        if !matches!(outcome, MergeOutcome::Unverified { .. }) {
            core.failures.no_standstill(SharedSessionStep::Merges);
            core.failures.passed(&mut core.desk, task)?;
        }
        match outcome {
            MergeOutcome::Merged(merged) => {
                core.desk.tell(SessionNotice::Merged { task: task.clone(), commit: merged.commit.clone() });
                let pushed = workspace_submodules::on_no_remote(core.desk.ctx, &merged.commit).unwrap_or_default();
                pushed.into_iter().for_each(|text| core.desk.tell(SessionNotice::Warning { text }));
                self.is_merged(core, task)
            }
            MergeOutcome::Noted(merged) | MergeOutcome::NothingToMerge(merged) => {
                core.desk.tell(SessionNotice::NothingToMerge { task: task.clone(), target: merged.target });
                self.is_merged(core, task)
            }
            MergeOutcome::Conflict { files, target } => settle_conflict(&mut core.desk, &core.setup, task, &files, target),
            MergeOutcome::InTheWay { what } => wait_at_gate(&mut core.desk, task, could_not_be_merged(&what), &[]),
            MergeOutcome::Guarded { files } => wait_for_a_look(&mut core.desk, task, &files),
            MergeOutcome::Unverified { of: _, failed } => self.verify_merge(core, task, failed.as_deref()),
            MergeOutcome::TargetMissing { target } => wait_at_gate(
                &mut core.desk,
                task,
                could_not_be_merged(&format!("the target branch '{}' is gone", target.short())),
                &[],
            ),
        }
    }
}

/// Opens the gate of a merge in semi-auto. Guarded files are shown there at once, so that one approval is enough.
fn ask_to_merge(core: &mut SessionCore<'_>, task: &TaskId, asks: String) -> Result<()> {
    match merge::guarded_by(core.desk.ctx, task) {
        Ok(Some(files)) => wait_for_a_look(&mut core.desk, task, &files),
        Ok(None) => {
            let details = commit_hooks::not_run(core.desk.ctx)?.into_iter().collect();
            core.desk.open_gate(GateKind::Merge, task, asks, details)
        }
        // What fails here fails when it is merged too, and is handled then.
        Err(error) => {
            let Err(error) = core.drivers.waits_for(&mut core.desk, &core.bell, SessionStep::Merge, task, error) else {
                return Ok(());
            };
            tracing::debug!(%error, %task, "the merge could not be looked at before it was asked for");
            core.desk.open_gate(GateKind::Merge, task, asks, Vec::new())
        }
    }
}

/// Blocks one task whose merge a human has rejected; returns whether there was one.
fn block_rejected(desk: &mut SessionDesk<'_>) -> Result<bool> {
    let state = desk.ctx.state();
    let is_to_be_merged = |task: &TaskId| {
        let case = state.restorable.tasks.get(task);
        case.is_some_and(|case| case.status == TaskStatus::Done && case.merged.is_none())
    };
    let rejected = state.restorable.gates.values().find_map(|gate| {
        let (task, reason) = gate.rejects_merge().filter(|(task, _)| is_to_be_merged(task))?;
        Some((gate.kind, task.clone(), reason.to_owned()))
    });
    let Some((kind, task, reason)) = rejected else { return Ok(false) };
    desk.block(&task, TaskStatus::Done, &reason)?;
    desk.close_gate(kind, &task, "rejected")?;
    Ok(true)
}

/// Whether its merge into the target as it is now has passed all that is demanded. It goes first: another merge would make that
/// worthless.
fn has_passed(ctx: &Context, setup: &SessionSetup, task: &TaskId) -> bool {
    let record = ctx.state().record.tasks.get(task);
    let Some(verified) = record.and_then(|record| record.merge_verified.as_deref()).filter(|known| known.passed()) else {
        return false;
    };
    let target = setup.target().and_then(|target| ctx.repo.refs().read_ref(target));
    target.is_ok_and(|target| target.as_ref() == Some(&verified.of.target))
}
