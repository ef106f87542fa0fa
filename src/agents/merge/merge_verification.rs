//! Merging only what was verified: asking the `pre-merge` hooks, and running `merge.verify` on the result of the merge, in a
//! worktree of its own; both outside all locks.
//!
//! The result is recorded for exactly that merge; [`super::merge_task`] refuses any other.

use std::thread::JoinHandle;

use super::{MergeOutcome, merge_of, merge_task, plan, result_of};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::FileLock;
use axiom_model::base::ids::TaskId;
use axiom_model::hook::due::of_task;
use axiom_model::hook::facts::HookFacts;
use axiom_model::queries::task_checks::TaskCheckSubject;
use axiom_model::state::event::Event;
use axiom_model::work::endings::conflict::ConflictLevel;
use axiom_model::work::guarded::AllowedGuardedFiles;
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::hooks::hook_run::HookRun;
use axiom_model::work::sessions::supervisor_activity::{SupervisorActivity, SupervisorActivityKind};
use axiom_model::work::verifying::checks::named_step::NamedVerifyStep;
use axiom_model::work::verifying::verification::{MergeCandidate, MergeRequirements, MergeVerification, VerifyStepResult};
use axiom_process::os::bell::WakeSender;
use axiom_safety::context::approved_hooks::EventHooks;
use axiom_safety::context::handle::Context;
use axiom_safety::context::target::target_branch;
use axiom_safety::folders::scratch_worktrees;
use axiom_safety::folders::scratch_worktrees::ScratchWorktree;
use axiom_safety::folders::workspaces::branch_of;
use axiom_safety::running::hooks::hook_runs;
use axiom_safety::running::steps;
use axiom_safety::running::steps::{
    AfterStepFailure, RunningStep, RunningStepJob, StepCommits, StepContext, StepJob, StepJobOutcome, StepRunner, StepSpec,
    cut_off,
};
use axiom_safety::running::telling::Telling;
use axiom_safety::running::wait_observer::{ForegroundWait, WaitObserver};

/// How many times a merge is verified while a branch moves meanwhile.
pub const TRIES: u32 = 3;

/// A recorded result, and the thread that deletes the files of its worktree.
type FinishedMergeCheck = (Option<Box<MergeVerification>>, Option<JoinHandle<()>>);

/// A running verification.
#[derive(Debug)]
pub struct RunningMergeCheck {
    /// The task.
    pub task: TaskId,
    of: MergeCandidate,
    demands: MergeRequirements,
    /// What the hooks among them are told.
    facts: HookFacts,
    /// The runs of hooks that have ended and are not recorded yet.
    runs: Vec<HookRun>,
    /// What has passed already for this very merge, and what has ended since.
    so_far: Vec<VerifyStepResult>,
    running: RunningStepJob,
    result: Option<MergeVerification>,
    place: MergeCheckPlace,
}

/// Where a merge is verified, while this process holds the lock.
#[derive(Debug)]
enum MergeCheckPlace {
    /// In a worktree of its own.
    Scratch(ScratchWorktree),
    /// Nowhere: only hooks are asked.
    Nowhere { _lock: FileLock },
}

/// Starts verifying the merge of a task with the current commits of the branches. Takes the change lock while it makes
/// the worktree.
pub fn begin(ctx: &mut Context, task: &TaskId, runner: StepRunner, rope: Option<WakeSender>) -> Result<RunningMergeCheck> {
    let lock = scratch_worktrees::claim(ctx, task, scratch_worktrees::ScratchPurpose::Verification)?;
    cut_off::count(ctx, task)?;
    let (of, demands, place) = ctx.with_change_lock(|ctx| {
        ctx.no_open_operation()?;
        let changed = || Error::new(Code::ChangedMeanwhile, format!("the branches of the merge of '{task}' changed meanwhile"));
        let (of, settled) = merge_of(ctx, task)?.ok_or_else(changed)?;
        let demands = plan::demands(ctx, ctx.state().task(task)?, &settled)?;
        let place = if demands.commands.is_empty() {
            MergeCheckPlace::Nowhere { _lock: lock }
        } else {
            let commit = result_of(ctx, task, &of)?;
            MergeCheckPlace::Scratch(scratch_worktrees::set_up(
                ctx,
                (task, scratch_worktrees::ScratchPurpose::Verification),
                &commit,
                lock,
            )?)
        };
        Ok((of, demands, place))
    })?;
    let facts = HookFacts {
        branch: Some(branch_of(ctx, task)),
        target: Some(target_branch(ctx)?),
        merge_tree: Some(of.tree.clone()),
        ..of_task(ctx.state(), task, HookEvent::PreMerge, env::now())
    };
    let known = ctx.state().record.tasks.get(task).and_then(|record| record.merge_verified.as_deref());
    let known = known.filter(|known| known.is_about(&of, &demands));
    let so_far = known.map(MergeVerification::passed_so_far).unwrap_or_default();
    let steps = steps_of(ctx, (task, &of), &demands, &facts, &place)?.into_iter().skip(so_far.len()).collect();
    let running = steps::start(StepJob::new(ctx, runner, AfterStepFailure::Stop, steps), rope);
    Ok(RunningMergeCheck { task: task.clone(), of, demands, facts, runs: Vec::new(), so_far, running, result: None, place })
}

/// The hooks, in the task's workspace, and the commands, on the result of the merge.
fn steps_of(
    ctx: &Context,
    (task, of): (&TaskId, &MergeCandidate),
    demands: &MergeRequirements,
    facts: &HookFacts,
    place: &MergeCheckPlace,
) -> Result<Vec<StepSpec>> {
    let mut steps = match ctx.hooks.at(HookEvent::PreMerge) {
        EventHooks::Run(hooks, tree) => hook_runs::of(ctx, (&hooks, &tree), facts)?,
        EventHooks::Nothing | EventHooks::NotApproved(_) => Vec::new(),
    };
    if let MergeCheckPlace::Scratch(scratch) = place {
        let agent = ctx.state().record.tasks.get(task).and_then(|record| record.last_agent.as_ref());
        let commands: Vec<(usize, &String)> = demands.commands.iter().enumerate().collect();
        let all = format!("{} {} {}", of.branch, of.target, of.tree);
        let work = Some(StepCommits { from: &of.target, to: &of.branch });
        let about = StepContext { task, agent, what: TaskCheckSubject::Merge.as_str(), of: &all, work };
        steps.extend(steps::commands(ctx, &commands, &scratch.path, about)?);
    }
    Ok(steps)
}

impl RunningMergeCheck {
    /// The verdict, once there is one.
    pub fn verdict(&self) -> Option<StepJobOutcome> {
        self.running.verdict()
    }

    /// The step that runs now, counted among all that the merge has to pass.
    pub fn now(&self) -> Option<RunningStep> {
        let now = self.running.now()?;
        let passed = self.demands.names().count().saturating_sub(now.of);
        let name = NamedVerifyStep::of(&now.name).label().to_owned();
        Some(RunningStep { name, place: now.place + passed, of: now.of + passed, ..now })
    }

    /// Whether a persona looks.
    pub fn is_look(&self) -> bool {
        self.running.is_look()
    }

    /// The same, for people who look.
    pub fn doing(&self) -> Option<SupervisorActivity> {
        let now = self.now()?;
        let about = SupervisorActivity::of_task(SupervisorActivityKind::VerifiesMerge, &self.task, now.since);
        Some(about.step(&now.name, (now.place, now.of), now.limit))
    }

    /// Takes the steps that have ended since the last call; returns whether there are any.
    fn take_ended(&mut self) -> bool {
        let ended = self.running.ended();
        self.runs.extend(hook_runs::records(&self.facts, &ended));
        let is_some = !ended.is_empty();
        self.so_far.extend(ended.into_iter().map(|ran| ran.result));
        is_some
    }

    /// What is known while it still runs, where a step has ended since the last call.
    pub fn news(&mut self) -> Option<MergeVerification> {
        if !self.take_ended() {
            return None;
        }
        let so_far = MergeVerification { of: self.of.clone(), demands: self.demands.clone(), results: self.so_far.clone() };
        // The last result is recorded with the verdict.
        (so_far.failed().is_none() && !so_far.passed()).then_some(so_far)
    }

    /// Keeps the result in memory until it is recorded.
    pub fn ended_with(&mut self, verdict: StepJobOutcome) {
        self.take_ended();
        let mut results = std::mem::take(&mut self.so_far);
        if let (Some(failure), None) = (&verdict.failure, results.iter().find(|result| result.failure.is_some())) {
            // It is not known which step failed: none counts as passed.
            let first = self.demands.names().next().map(|(by, name)| (by, name.clone()));
            let (by, command) = first.unwrap_or_default();
            results =
                vec![VerifyStepResult { command, by, failure: Some(failure.summary.clone()), ..VerifyStepResult::default() }];
        }
        self.result = Some(MergeVerification { of: self.of.clone(), demands: self.demands.clone(), results });
    }

    /// The result, once it is known.
    pub fn result(&self) -> Option<&MergeVerification> {
        self.result.as_ref()
    }

    /// Records the result, where it is known. Where that fails, it can be tried again.
    pub fn record(&mut self, ctx: &mut Context) -> Result<()> {
        self.result.clone().map_or(Ok(()), |result| self.record_so_far(ctx, result))
    }

    /// Records what is known, and the hooks that have run. Where that fails, they are recorded with what is known later.
    pub fn record_so_far(&mut self, ctx: &mut Context, so_far: MergeVerification) -> Result<()> {
        let runs = self.runs.iter().map(|run| Event::HookRan { run: Box::new(run.clone()) });
        let verified = Event::MergeVerified { id: self.task.clone(), verification: Box::new(so_far) };
        let events = runs.chain([verified]).collect();
        ctx.append_with(|_| Ok(events))?;
        self.runs.clear();
        Ok(())
    }

    /// Records the result and removes the worktree. The returned thread deletes its files.
    pub fn finish(mut self, ctx: &mut Context, verdict: StepJobOutcome) -> Result<FinishedMergeCheck> {
        self.ended_with(verdict);
        let recorded = self.record(ctx);
        let verification = self.result.take().map(Box::new);
        let removal = self.remove(ctx);
        recorded.map(|()| (verification, removal))
    }

    /// Ends it, waits until none of its processes runs any more, and removes the worktree; a result that was not recorded is lost. The
    /// returned thread deletes the files.
    pub fn remove(self, ctx: &mut Context) -> Option<JoinHandle<()>> {
        let (ending, left) = self.give_up();
        ending.map(JoinHandle::join);
        left.remove(ctx)
    }

    /// Ends it, and waits for nothing: when the returned thread has ended, what is left can be removed.
    pub fn give_up(self) -> (Option<JoinHandle<()>>, MergeCheckRemains) {
        (self.running.give_up(), MergeCheckRemains { place: self.place })
    }
}

/// What is left of a verification that has ended: its worktree, and the lock that keeps others from the same merge.
#[derive(Debug)]
pub struct MergeCheckRemains {
    place: MergeCheckPlace,
}

impl MergeCheckRemains {
    /// Removes the worktree. The returned thread deletes the files.
    pub fn remove(self, ctx: &mut Context) -> Option<JoinHandle<()>> {
        match self.place {
            MergeCheckPlace::Scratch(scratch) => take_down(ctx, scratch),
            MergeCheckPlace::Nowhere { .. } => None,
        }
    }
}

fn take_down(ctx: &mut Context, scratch: ScratchWorktree) -> Option<JoinHandle<()>> {
    scratch.take_down(ctx).unwrap_or_else(|error| {
        tracing::warn!(%error, "the worktree of a verification stays until the next recovery");
        None
    })
}

/// As [`merge_task`], running `merge.verify` first where that is needed, and waiting for it.
pub fn merge_verified(
    ctx: &mut Context,
    task: &TaskId,
    allowed: &AllowedGuardedFiles,
    watch: &mut dyn WaitObserver,
) -> Result<MergeOutcome> {
    for _ in 0..TRIES {
        run_drivers(ctx, task)?;
        let outcome = merge_task(ctx, task, allowed)?;
        if let MergeOutcome::Conflict { files, target: _ } = &outcome {
            super::tell_of_conflict(ctx, task, files, ConflictLevel::Human);
        }
        let MergeOutcome::Unverified { of, failed: _ } = outcome else { return Ok(outcome) };
        ctx.act_as(ctx.by().clone())?;
        let check = begin(ctx, task, StepRunner::Verb, None)?;
        let names: Vec<&str> = check.demands.names().map(|(_, name)| name.as_str()).collect();
        watch.begun(ForegroundWait::Verification(&names));
        let mut telling = Telling::begin(ctx);
        let verdict = check.running.verdict_unless_ended(watch, || telling.tell(check.doing()));
        drop(telling);
        watch.ended();
        let Some(verdict) = verdict else {
            let removal = check.remove(ctx);
            removal.map(JoinHandle::join);
            cut_off::count(ctx, task)?;
            return Err(Error::new(Code::Interrupted, format!("'{task}' was not merged: its verification was interrupted")));
        };
        if let Some(error) = verdict.not_run {
            let removal = check.remove(ctx);
            removal.map(JoinHandle::join);
            return Err(error);
        }
        let (verification, removal) = check.finish(ctx, verdict)?;
        removal.map(JoinHandle::join);
        ctx.act_as(ctx.by().clone())?;
        if let Some(failed) = verification.filter(|verification| !verification.passed()) {
            return Ok(MergeOutcome::Unverified { of, failed: Some(failed) });
        }
    }
    Err(moves_each_time(task))
}

/// Lets merge drivers run before the change lock is taken: their result is remembered.
fn run_drivers(ctx: &Context, task: &TaskId) -> Result<()> {
    if !ctx.repo.merges().may_run_drivers()? {
        return Ok(());
    }
    match merge_of(ctx, task) {
        Err(error) if error.code() == Code::FilterFailed => Err(error),
        // What else fails fails again, with its own words.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The error for a merge whose commits changed each time it was verified.
pub fn moves_each_time(task: &TaskId) -> Error {
    Error::new(Code::ChangedMeanwhile, format!("the target moved each time the merge of '{task}' was verified"))
        .hint(format!("git axiom merge {task}    tries it again"))
}
