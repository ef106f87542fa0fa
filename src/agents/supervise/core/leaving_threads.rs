//! What was given up on and is about to end: threads that wait for the last processes of a step, of git or of a hook. Nobody waits for
//! them, but nothing new begins for their task before they have ended.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::desk::SessionDesk;
use crate::merge::merge_verification::MergeCheckRemains;
use axiom_model::base::ids::TaskId;

/// How often is looked whether they have ended, where nothing else is left to do: the end of a thread rings no bell.
const LOOK: Duration = Duration::from_millis(10);

#[derive(Debug)]
struct LeavingThread {
    task: TaskId,
    thread: JoinHandle<()>,
    /// What can be removed once it has ended.
    left: Option<MergeCheckRemains>,
}

/// Threads that are about to end.
#[derive(Debug, Default)]
pub(crate) struct LeavingThreads(Vec<LeavingThread>);

impl LeavingThreads {
    /// From now on it is about to end.
    pub(crate) fn add(&mut self, task: &TaskId, thread: Option<JoinHandle<()>>, left: Option<MergeCheckRemains>) {
        self.0.extend(thread.map(|thread| LeavingThread { task: task.clone(), thread, left }));
    }

    /// Whether something for this task has not ended yet.
    pub(crate) fn is_leaving(&self, task: &TaskId) -> bool {
        self.0.iter().any(|one| one.task == *task && !one.thread.is_finished())
    }

    /// Whether everything has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.0.iter().all(|one| one.thread.is_finished())
    }
}

impl LeavingThreads {
    /// Removes what those have left that have ended.
    pub(crate) fn clear(&mut self, desk: &mut SessionDesk<'_>) {
        while let Some(place) = self.0.iter().position(|one| one.thread.is_finished()) {
            let one = self.0.swap_remove(place);
            // A worktree that cannot be removed is left to recovery.
            one.left.map(|left| left.remove(desk.ctx));
            if let Err(error) = desk.count_cut_off(Some(&one.task)) {
                tracing::info!(%error, "a look that was cut off is counted later");
            }
        }
    }

    /// Waits for those that are about to end, at most so long.
    pub(crate) fn wait_for(&mut self, desk: &mut SessionDesk<'_>, most: Duration) {
        let begun = Instant::now();
        while !self.is_over() && begun.elapsed() < most {
            std::thread::sleep(LOOK);
        }
        self.clear(desk);
    }
}
