//! Choosing the next merge, and handling its outcome.

use super::Supervisor;
use super::notice::SessionNotice;
use crate::merge;
use crate::merge::MergeOutcome;
use crate::repair;
use axiom_base::env;
use axiom_base::error::{Error, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::RepoPath;
use axiom_model::queries::needs;
use axiom_model::work::endings::failures::{SessionStep, SharedSessionStep};
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind, changes_guarded};
use axiom_model::work::guarded::{AllowedGuardedFiles, GuardedFiles, GuardedFilesDigest};
use axiom_model::work::iteration::ReviewCause;
use axiom_model::work::sessions::session::SessionMode;
use axiom_model::work::tasks::task::{TaskKind, TaskStatus};
use axiom_safety::folders::workspace_submodules;
use axiom_safety::running::hooks::commit_hooks;

/// How many files a gate names.
const SHOWN: usize = 100;

impl Supervisor<'_> {
    /// Merges one task that is done, if there is one that may be merged; returns whether anything was done.
    pub(super) fn merge_next(&mut self) -> Result<bool> {
        self.look_after_drivers();
        // What a human has rejected waits for nothing, and is not verified any more.
        if self.block_rejected()? {
            return Ok(true);
        }
        if self.merge_check.is_some() {
            return self.look_after_merge_check();
        }
        let waiting: Vec<TaskId> = self
            .ctx
            .state()
            .restorable
            .tasks
            .values()
            .filter(|case| case.kind == TaskKind::Task && case.status == TaskStatus::Done && case.merged.is_none())
            .filter(|case| needs::to_merge_first(self.ctx.state(), case).next().is_none())
            .map(|case| case.id.clone())
            .collect();
        let mut may_go = Vec::new();
        for task in waiting {
            if self.is_held_up(&task) || self.drivers_are_at_work(Some(&task)) {
                continue;
            }
            // Decided, the merge is tried again, below.
            let in_review = self.undecided_gate(GateKind::HumanReview, &task);
            let is_undone = self.gate(GateKind::Merge, &task).is_some_and(Gate::is_of_undone_merge);
            let waits = in_review || self.undecided_gate(GateKind::Merge, &task);
            if waits && !is_undone && self.is_merged_by_hand(&task)? {
                may_go.push((task, AllowedGuardedFiles::Nothing));
                continue;
            }
            if in_review {
                continue;
            }
            if self.waits_for_stash(&task)? {
                return Ok(true);
            }
            let gate = self.gate(GateKind::Merge, &task);
            let (decision, allowed) =
                (gate.map(|gate| gate.decision.clone()), gate.map_or(AllowedGuardedFiles::Nothing, Gate::allows));
            match (decision, self.ctx.state().restorable.mode) {
                (Some(Some(GateDecision::Rejected { .. }) | None), _) => {}
                (None, SessionMode::SemiAuto | SessionMode::Review) => {
                    self.ask_to_merge(&task, Gate::to_merge(&task, self.target()?))?;
                    return Ok(true);
                }
                (Some(Some(GateDecision::Approved | GateDecision::Answered { .. })), _) => may_go.push((task, allowed)),
                (None, SessionMode::Autopilot) => may_go.push((task, allowed)),
            }
        }
        let (verified, others): (Vec<_>, Vec<_>) = may_go.into_iter().partition(|(task, _)| self.has_passed(task));
        let next = self.next_to_try(verified, |(task, _)| task).or_else(|| self.next_to_try(others, |(task, _)| task));
        match next {
            Some((task, allowed)) if !self.stands_still(SharedSessionStep::Merges) => self.merge(&task, &allowed).map(|()| true),
            Some(_) | None => Ok(false),
        }
    }

    /// Blocks one task whose merge a human has rejected; returns whether there was one.
    fn block_rejected(&mut self) -> Result<bool> {
        let state = self.ctx.state();
        let is_to_be_merged = |task: &TaskId| {
            let case = state.restorable.tasks.get(task);
            case.is_some_and(|case| case.status == TaskStatus::Done && case.merged.is_none())
        };
        let rejected = state.restorable.gates.values().find_map(|gate| {
            let (task, reason) = gate.rejects_merge().filter(|(task, _)| is_to_be_merged(task))?;
            Some((gate.kind, task.clone(), reason.to_owned()))
        });
        let Some((kind, task, reason)) = rejected else { return Ok(false) };
        self.block(&task, TaskStatus::Done, &reason)?;
        self.close_gate(kind, &task, "rejected")?;
        Ok(true)
    }

    /// Whether its merge into the target as it is now has passed all that is demanded. It goes first: another merge would make that
    /// worthless.
    fn has_passed(&self, task: &TaskId) -> bool {
        let record = self.ctx.state().record.tasks.get(task);
        let Some(verified) = record.and_then(|record| record.merge_verified.as_deref()).filter(|known| known.passed()) else {
            return false;
        };
        let target = self.target().and_then(|target| self.ctx.repo.refs().read_ref(target));
        target.is_ok_and(|target| target.as_ref() == Some(&verified.of.target))
    }

    /// Opens a gate, where none asks it yet, for a merge that may hold what an agent took from the user's stash; returns whether it was
    /// opened just now.
    fn waits_for_stash(&mut self, task: &TaskId) -> Result<bool> {
        let Some(reason) = self.taken_from_stash(task)?.filter(|_| !self.stash_accepted.contains(task)) else { return Ok(false) };
        match self.gate(GateKind::Merge, task).filter(|gate| gate.reason == reason).map(|gate| gate.decision.clone()) {
            None => self.wait_at_gate(task, reason, &[]).map(|()| true),
            Some(Some(GateDecision::Approved | GateDecision::Answered { .. })) => {
                self.stash_accepted.insert(task.clone());
                Ok(false)
            }
            // Rejected, it is blocked by whoever asks.
            Some(Some(GateDecision::Rejected { .. }) | None) => Ok(false),
        }
    }

    /// Opens the gate of a merge in semi-auto. Guarded files are shown there at once, so that one approval is enough.
    fn ask_to_merge(&mut self, task: &TaskId, asks: String) -> Result<()> {
        match merge::guarded_by(self.ctx, task) {
            Ok(Some(files)) => self.wait_for_a_look(task, &files),
            Ok(None) => {
                let details = commit_hooks::not_run(self.ctx)?.into_iter().collect();
                self.open_gate(GateKind::Merge, task, asks, details)
            }
            // What fails here fails when it is merged too, and is handled then.
            Err(error) => {
                let Err(error) = self.waits_for_drivers(SessionStep::Merge, task, error) else { return Ok(()) };
                tracing::debug!(%error, %task, "the merge could not be looked at before it was asked for");
                self.open_gate(GateKind::Merge, task, asks, Vec::new())
            }
        }
    }

    fn merge(&mut self, task: &TaskId, allowed: &AllowedGuardedFiles) -> Result<()> {
        self.tell_merging(Some(task));
        let merged = self.try_merge(task, allowed);
        self.tell_merging(None);
        merged
    }

    fn try_merge(&mut self, task: &TaskId, allowed: &AllowedGuardedFiles) -> Result<()> {
        self.act()?;
        self.ctx.read_hooks_again();
        // A full disk or a lock may have left the last merge open.
        let merged = repair::finish_unasked(self.ctx).and_then(|done| {
            done.into_iter().for_each(|what| self.tell(SessionNotice::Recovered { what }));
            merge::merge_task(self.ctx, task, allowed)
        });
        match merged {
            Ok(outcome) => self.merge_came_to(task, outcome),
            Err(error) => self.merge_waits_or_failed(SessionStep::Merge, task, error),
        }
    }

    /// Does what follows when a merge or its verification could not go on.
    pub(super) fn merge_waits_or_failed(&mut self, step: SessionStep, task: &TaskId, error: Error) -> Result<()> {
        match self.waits_for_drivers(step, task, error) {
            Ok(()) => Ok(()),
            Err(error) => self.merge_failed(step, task, error),
        }
    }

    fn merge_came_to(&mut self, task: &TaskId, outcome: MergeOutcome) -> Result<()> {
        if !matches!(outcome, MergeOutcome::Unverified { .. }) {
            self.no_standstill(SharedSessionStep::Merges);
            self.passed(task)?;
        }
        match outcome {
            MergeOutcome::Merged(merged) => {
                self.tell(SessionNotice::Merged { task: task.clone(), commit: merged.commit.clone() });
                let pushed = workspace_submodules::on_no_remote(self.ctx, &merged.commit).unwrap_or_default();
                pushed.into_iter().for_each(|text| self.tell(SessionNotice::Warning { text }));
                self.is_merged(task)
            }
            MergeOutcome::Noted(merged) | MergeOutcome::NothingToMerge(merged) => {
                self.tell(SessionNotice::NothingToMerge { task: task.clone(), target: merged.target });
                self.is_merged(task)
            }
            MergeOutcome::Conflict { files, target } => self.settle_conflict(task, &files, target),
            MergeOutcome::InTheWay { what } => self.wait_at_gate(task, what, &[]),
            MergeOutcome::Guarded { files } => self.wait_for_a_look(task, &files),
            MergeOutcome::Unverified { of: _, failed } => self.verify_merge(task, failed.as_deref()),
            MergeOutcome::TargetMissing { target } => {
                self.wait_at_gate(task, format!("the target branch '{}' is gone", target.short()), &[])
            }
        }
    }

    /// What waited for the merge of a task waits no longer.
    fn is_merged(&mut self, task: &TaskId) -> Result<()> {
        self.close_gate(GateKind::Merge, task, "merged")?;
        self.close_gate(GateKind::HumanReview, task, "merged")?;
        self.verified_again.remove(task);
        self.stash_accepted.remove(task);
        // What could not be put aside before is tried again with it.
        self.no_standstill(SharedSessionStep::Workspaces);
        self.save_snapshot()
    }

    /// Opens a gate that shows the guarded files that a merge changes; approving it allows exactly these.
    fn wait_for_a_look(&mut self, task: &TaskId, files: &GuardedFiles) -> Result<()> {
        let reason = changes_guarded(task, &files.reasons());
        self.wait_showing(task, reason, &files.paths(), Some(files.seen()))
    }

    /// Opens a gate for a merge that cannot be made now; approving it tries again.
    pub(super) fn wait_at_gate(&mut self, task: &TaskId, reason: String, paths: &[RepoPath]) -> Result<()> {
        self.wait_showing(task, reason, paths, self.seen_before(task))
    }

    /// Opens a gate for a merge that a hook keeps from being made; approving it asks the hook again.
    pub(super) fn wait_for_hook(&mut self, task: &TaskId, reason: String, details: Vec<String>) -> Result<()> {
        let (guarded, cause) = (self.seen_before(task), Some(ReviewCause::HookVeto));
        self.close_gate(GateKind::HumanReview, task, "a hook keeps it from being merged")?;
        self.open(Gate { details, guarded, cause, ..Gate::of_task(GateKind::Merge, task, reason, env::now())? })
    }

    /// Guarded files that were approved at the last gate: they have been seen.
    fn seen_before(&self, task: &TaskId) -> Option<GuardedFilesDigest> {
        match self.gate(GateKind::Merge, task).map_or(AllowedGuardedFiles::Nothing, Gate::allows) {
            AllowedGuardedFiles::Exactly(seen) => Some(seen),
            AllowedGuardedFiles::Nothing | AllowedGuardedFiles::Everything => None,
        }
    }

    fn wait_showing(
        &mut self,
        task: &TaskId,
        reason: String,
        paths: &[RepoPath],
        guarded: Option<GuardedFilesDigest>,
    ) -> Result<()> {
        let details: Vec<String> = paths.iter().take(SHOWN).map(ToString::to_string).collect();
        let more = paths.len() - details.len();
        // An approved review has been acted on: the task waits for something else now.
        self.close_gate(GateKind::HumanReview, task, "the merge waits for something else")?;
        self.open(Gate { details, more, guarded, ..Gate::of_task(GateKind::Merge, task, reason, env::now())? })
    }
}
