//! Merge drivers are programs of the user's: they run aside, in a thread, and only the task whose merge needs them waits
//! (`git::history::merge_memory`). When they have ended, the same step is tried again and finds the result.

use axiom_model::state::delayed_steps;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use super::Supervisor;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{CachedMerge, MergeToRun, Repository};
use axiom_model::base::ids::TaskId;
use axiom_model::state::event::Event;
use axiom_model::work::endings::delay::DelayedSessionStep;
use axiom_model::work::endings::failures::SessionStep;
use axiom_process::os::bell::WakeSender;

/// How long is waited until drivers that nobody wants any more have been ended.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// What became of the drivers that a task waits for.
#[derive(Debug)]
pub(super) enum MergeDriversState {
    AtWork(RunningMergeDrivers),
    /// Until the step is tried again.
    Failed(Error),
}

/// Drivers at work: while this lives, somebody wants what they do.
#[derive(Debug)]
pub(super) struct RunningMergeDrivers {
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

impl Supervisor<'_> {
    /// Whether a step that failed with this error waits for merge drivers, which are started where that is new.
    pub(super) fn waits_for_drivers(&mut self, step: SessionStep, task: &TaskId, error: Error) -> Result<()> {
        let Some(asked) = self.ctx.repo.history().take_merge_to_run().filter(|_| error.code() == Code::Busy) else {
            return Err(error);
        };
        if let Some(MergeDriversState::Failed(_)) = self.drivers.get(task)
            && let Some(MergeDriversState::Failed(error)) = self.drivers.remove(task)
        {
            return Err(error);
        }
        if self.drivers.contains_key(task) {
            return Ok(());
        }
        // The thread has a repository of its own, which sees what is on disk.
        self.ctx.repo.durability().sync_objects()?;
        let at_work = begin(&self.ctx.repo, asked, self.bell.rope().ok())?;
        self.drivers.insert(task.clone(), at_work);
        self.say_what_it_waits_for(step, task, &error)
    }

    fn say_what_it_waits_for(&mut self, step: SessionStep, task: &TaskId, error: &Error) -> Result<()> {
        let (code, why) = (error.code().as_str().to_owned(), error.to_string());
        let delay = DelayedSessionStep { step, code, why, tried: 0, failed_at: env::now(), until: None };
        let said = self.step_if(|state| {
            let is_known = state.record.delays.get(task).is_some_and(|known| known.is_same_wait(&delay));
            let is_new = delayed_steps::is_still_tried(state, task, step) && !is_known;
            is_new.then(|| Event::Delayed { id: task.clone(), delay: Some(Box::new(delay)) })
        });
        said.map(drop)
    }

    /// Takes what drivers have ended with. The steps that wait for it are tried again.
    pub(super) fn look_after_drivers(&mut self) {
        let tasks: Vec<TaskId> = self.drivers.keys().cloned().collect();
        for task in tasks {
            let Some(MergeDriversState::AtWork(at_work)) = self.drivers.get(&task) else { continue };
            match at_work.merged.try_recv() {
                Ok(Ok(merge)) => {
                    self.ctx.repo.history().remember_merge(merge);
                    self.drivers.remove(&task);
                }
                Ok(Err(error)) => drop(self.drivers.insert(task, MergeDriversState::Failed(error))),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => {
                    let error = Error::new(Code::Internal, "nobody says what the merge drivers did");
                    self.drivers.insert(task, MergeDriversState::Failed(error));
                }
            }
        }
    }

    /// Whether the drivers of a task's merge are at work; of any where none is named.
    pub(super) fn drivers_are_at_work(&self, task: Option<&TaskId>) -> bool {
        let is_at_work = |drivers: &MergeDriversState| matches!(drivers, MergeDriversState::AtWork(_));
        self.drivers.iter().any(|(of, drivers)| task.is_none_or(|task| task == of) && is_at_work(drivers))
    }
}

fn begin(repo: &Repository, asked: MergeToRun, rope: Option<WakeSender>) -> Result<MergeDriversState> {
    let reopening = repo.reopening()?;
    let (to, merged) = channel();
    let given_up = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&given_up);
    let work = move || {
        drop(to.send(reopening.open().and_then(|repo| repo.history().run_merge(asked, until))));
        if let Some(rope) = rope {
            rope.ring();
        }
    };
    let begun = std::thread::Builder::new().name("merge drivers".into()).spawn(work);
    begun.map_err(|e| Error::cannot_start("a thread that waits for merge drivers", e))?;
    Ok(MergeDriversState::AtWork(RunningMergeDrivers { given_up, merged }))
}
