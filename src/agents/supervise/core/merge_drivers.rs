//! Merge drivers are programs of the user's: they run aside, in a thread, and only the task whose merge needs them waits
//! (`git::history::merge_memory`). When they have ended, the same step is tried again and finds the result.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use super::desk::SessionDesk;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{CachedMerge, MergeToRun, Repository};
use axiom_model::base::ids::TaskId;
use axiom_model::state::delayed_steps;
use axiom_model::state::event::Event;
use axiom_model::work::endings::delay::DelayedSessionStep;
use axiom_model::work::endings::failures::SessionStep;
use axiom_process::os::bell::{WakeListener, WakeSender};
use axiom_safety::context::handle::Context;

/// How long is waited until drivers that nobody wants any more have been ended.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// Drivers that merge files of a task, by task.
#[derive(Debug, Default)]
pub(crate) struct MergeDrivers {
    by_task: HashMap<TaskId, MergeDriversState>,
}

/// What became of the drivers that a task waits for.
#[derive(Debug)]
pub(crate) enum MergeDriversState {
    AtWork(RunningMergeDrivers),
    /// Until the step is tried again.
    Failed(Error),
}

/// Drivers at work: while this lives, somebody wants what they do.
#[derive(Debug)]
pub(crate) struct RunningMergeDrivers {
    given_up: Arc<AtomicBool>,
    merged: Receiver<Result<CachedMerge>>,
}

impl Drop for RunningMergeDrivers {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::SeqCst);
        // They are ended by their thread, which would end with this process.
        drop(self.merged.recv_timeout(LAST_WAIT));
    }
}

impl MergeDrivers {
    /// Whether a step that failed with this error waits for merge drivers, which are started where that is new.
    pub(crate) fn waits_for(
        &mut self,
        desk: &mut SessionDesk<'_>,
        bell: &WakeListener,
        step: SessionStep,
        task: &TaskId,
        error: Error,
    ) -> Result<()> {
        let Some(asked) = desk.ctx.repo.merges().take_merge_to_run().filter(|_| error.code() == Code::Busy) else {
            return Err(error);
        };
        if let Some(MergeDriversState::Failed(_)) = self.by_task.get(task)
            && let Some(MergeDriversState::Failed(error)) = self.by_task.remove(task)
        {
            return Err(error);
        }
        if self.by_task.contains_key(task) {
            return Ok(());
        }
        // The thread has a repository of its own, which sees what is on disk.
        desk.ctx.repo.durability().sync_objects()?;
        let at_work = begin(&desk.ctx.repo, asked, bell.rope().ok())?;
        self.by_task.insert(task.clone(), at_work);
        say_what_it_waits_for(desk, step, task, &error)
    }

    /// Takes what drivers have ended with. The steps that wait for it are tried again.
    pub(crate) fn look_after(&mut self, ctx: &Context) {
        let tasks: Vec<TaskId> = self.by_task.keys().cloned().collect();
        for task in tasks {
            let Some(MergeDriversState::AtWork(at_work)) = self.by_task.get(&task) else { continue };
            match at_work.merged.try_recv() {
                Ok(Ok(merge)) => {
                    ctx.repo.merges().remember_merge(merge);
                    self.by_task.remove(&task);
                }
                Ok(Err(error)) => drop(self.by_task.insert(task, MergeDriversState::Failed(error))),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => {
                    let error = Error::new(Code::Internal, "nobody says what the merge drivers did");
                    self.by_task.insert(task, MergeDriversState::Failed(error));
                }
            }
        }
    }

    /// Whether the drivers of a task's merge are at work; of any where none is named.
    pub(crate) fn are_at_work(&self, task: Option<&TaskId>) -> bool {
        let is_at_work = |drivers: &MergeDriversState| matches!(drivers, MergeDriversState::AtWork(_));
        self.by_task.iter().any(|(of, drivers)| task.is_none_or(|task| task == of) && is_at_work(drivers))
    }
}

fn say_what_it_waits_for(desk: &mut SessionDesk<'_>, step: SessionStep, task: &TaskId, error: &Error) -> Result<()> {
    let (code, why) = (error.code().as_str().to_owned(), error.to_string());
    let delay = DelayedSessionStep { step, code, why, tried: 0, failed_at: env::now(), until: None };
    let said = desk.step_if(|state| {
        let is_known = state.record.delays.get(task).is_some_and(|known| known.is_same_wait(&delay));
        let is_new = delayed_steps::is_still_tried(state, task, step) && !is_known;
        is_new.then(|| Event::Delayed { id: task.clone(), delay: Some(Box::new(delay)) })
    });
    said.map(drop)
}

fn begin(repo: &Repository, asked: MergeToRun, rope: Option<WakeSender>) -> Result<MergeDriversState> {
    let reopening = repo.reopening()?;
    let (to, merged) = channel();
    let given_up = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&given_up);
    let work = move || {
        drop(to.send(reopening.open().and_then(|repo| repo.merges().run_merge(asked, until))));
        if let Some(rope) = rope {
            rope.ring();
        }
    };
    let begun = std::thread::Builder::new().name("merge drivers".into()).spawn(work);
    begun.map_err(|e| Error::cannot_start("a thread that waits for merge drivers", e))?;
    Ok(MergeDriversState::AtWork(RunningMergeDrivers { given_up, merged }))
}
