//! Merging only what was verified: running `merge.verify` on the result of the merge, in a worktree of its own and outside
//! all locks.
//!
//! The result is recorded for exactly that merge; [`super::merge_task`] refuses any other.

use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use super::scratch::{self, Scratch};
use super::{MergeOutcome, merge_of, merge_task, result_of};
use crate::domain::base::ids::CaseId;
use crate::domain::state::event::Event;
use crate::domain::work::verification::{MergeOf, Verification};
use crate::error::{Code, Error, Result};
use crate::ops::context::handle::Context;
use crate::ops::steps::{self, Job, Runner, Running, Verdict};
use crate::process::os::bell::Rope;

/// How many times a merge is verified while a branch moves meanwhile.
pub const TRIES: u32 = 3;

/// How often the foreground checks whether the user wants to end the steps.
const LOOK: Duration = Duration::from_millis(200);

/// A recorded result, and the thread that deletes the files of its worktree.
type Finished = (Option<Box<Verification>>, Option<JoinHandle<()>>);

/// A running verification.
#[derive(Debug)]
pub struct Check {
    /// The task.
    pub task: CaseId,
    of: MergeOf,
    commands: Vec<String>,
    running: Running,
    result: Option<Verification>,
    scratch: Scratch,
}

/// Starts verifying the merge of a task with the current commits of the branches. Takes the operation lock while it makes
/// the worktree.
///
/// # Errors
/// `BUSY` where another process verifies it; `CHANGED_MEANWHILE` where the merge is not clean any more; those of making a
/// worktree.
pub fn begin(ctx: &mut Context, task: &CaseId, runner: Runner, rope: Option<Rope>) -> Result<Check> {
    let lock = scratch::claim(ctx, task)?;
    let commands = ctx.config.merge.verify.clone();
    let (of, scratch) = ctx.with_operation_lock(|ctx| {
        ctx.no_open_operation()?;
        let changed = || Error::new(Code::ChangedMeanwhile, format!("the branches of the merge of '{task}' changed meanwhile"));
        let of = merge_of(ctx, task)?.ok_or_else(changed)?;
        let commit = result_of(ctx, task, &of)?;
        scratch::set_up(ctx, task, &commit, lock).map(|scratch| (of, scratch))
    })?;
    let job = job(ctx, runner, task, commands.clone(), &scratch.path)?;
    Ok(Check { task: task.clone(), of, commands, running: steps::start(job, rope), result: None, scratch })
}

fn job(ctx: &Context, runner: Runner, task: &CaseId, commands: Vec<String>, folder: &Path) -> Result<Job> {
    let agent = ctx.state().record.cases.get(task).and_then(|record| record.last_agent.as_ref());
    Job::new(ctx, runner, commands, folder, (task, agent))
}

impl Check {
    /// The verdict, once there is one.
    pub fn verdict(&self) -> Option<Verdict> {
        self.running.verdict()
    }

    /// Keeps the result in memory until it is recorded.
    pub fn ended_with(&mut self, verdict: Verdict) {
        let mut results = verdict.results;
        if let (Some(failure), None) = (&verdict.failure, results.iter().find(|result| result.failure.is_some())) {
            // It is not known which step failed: none counts as passed.
            let command = self.commands.first().cloned().unwrap_or_default();
            results = vec![crate::domain::work::verification::StepResult {
                command,
                failure: Some(failure.summary.clone()),
                lines: Vec::new(),
            }];
        }
        self.result = Some(Verification { of: self.of.clone(), commands: self.commands.clone(), results });
    }

    /// The result, once it is known.
    pub fn result(&self) -> Option<&Verification> {
        self.result.as_ref()
    }

    /// Records the result, where it is known. Where that fails, it can be tried again.
    ///
    /// # Errors
    /// Those of the log.
    pub fn record(&self, ctx: &mut Context) -> Result<()> {
        let Some(verification) = self.result.clone().map(Box::new) else { return Ok(()) };
        ctx.append(Event::MergeVerified { id: self.task.clone(), verification }).map(drop)
    }

    /// Records the result and removes the worktree. The returned thread deletes its files.
    ///
    /// # Errors
    /// Those of the log. A worktree that cannot be removed is left to recovery.
    pub fn finish(mut self, ctx: &mut Context, verdict: Verdict) -> Result<Finished> {
        self.ended_with(verdict);
        let recorded = self.record(ctx);
        let verification = self.result.take().map(Box::new);
        let removal = self.remove(ctx);
        recorded.map(|()| (verification, removal))
    }

    /// Ends it and removes the worktree; a result that was not recorded is lost. The returned thread deletes the files.
    pub fn remove(self, ctx: &mut Context) -> Option<JoinHandle<()>> {
        drop(self.running);
        take_down(ctx, self.scratch)
    }
}

fn take_down(ctx: &mut Context, scratch: Scratch) -> Option<JoinHandle<()>> {
    scratch.take_down(ctx).unwrap_or_else(|error| {
        tracing::warn!(%error, "the worktree of a verification stays until the next recovery");
        None
    })
}

/// Watches a verification in the foreground.
pub trait Watch {
    /// Called when these commands start.
    fn verifying(&mut self, commands: &[String]);
    /// Called when they have ended.
    fn ended(&mut self);
    /// Whether the user wants to end it.
    fn shall_end(&self) -> bool;
}

/// As [`merge_task`], running `merge.verify` first where that is needed, and waiting for it.
///
/// # Errors
/// As [`merge_task`] and [`begin`]; `INTERRUPTED`; `CHANGED_MEANWHILE` where a branch moves each time.
pub fn merge_verified(ctx: &mut Context, task: &CaseId, approved: bool, watch: &mut dyn Watch) -> Result<MergeOutcome> {
    for _ in 0..TRIES {
        let outcome = merge_task(ctx, task, approved)?;
        let MergeOutcome::Unverified { of, failed: _ } = outcome else { return Ok(outcome) };
        ctx.act_as(ctx.by().clone())?;
        let check = begin(ctx, task, Runner::Verb, None)?;
        watch.verifying(&check.commands);
        let verdict = loop {
            if watch.shall_end() {
                watch.ended();
                let removal = check.remove(ctx);
                removal.map(JoinHandle::join);
                return Err(Error::new(Code::Interrupted, format!("'{task}' was not merged: its verification was interrupted")));
            }
            if let Some(verdict) = check.running.verdict_within(LOOK) {
                break verdict;
            }
        };
        watch.ended();
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

/// The error for a merge whose commits changed each time it was verified.
pub fn moves_each_time(task: &CaseId) -> Error {
    Error::new(Code::ChangedMeanwhile, format!("the target moved each time the merge of '{task}' was verified"))
        .hint(format!("git axiom merge {task}    tries it again"))
}
