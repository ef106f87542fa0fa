//! Calls of `git axiom hook acp`, one after the other: what is to be saved before a line goes on, and what is noted afterwards.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use super::answering::{AcpHookAnswer, CALLER};
use super::hook_process::{AcpHookProcess, LONGEST};
use crate::attach::hook;
use axiom_base::error::{Code, Error, Result};
use axiom_model::attach::acp::hook_call::AcpHookCall;

/// How many calls wait at most: of the next ones it is said that they are not done. So many different complaints are passed on, too.
const MOST: usize = 64;
/// How long a hook waits for the next call.
const REST: Duration = Duration::from_secs(60);
/// How soon it is seen that the agent has ended.
const LOOK: Duration = Duration::from_millis(50);

/// A call, and who waits for it.
struct SaverJob {
    /// `None`: no more come.
    call: Option<AcpHookCall>,
    done: SyncSender<Option<String>>,
    /// Whether whoever waited waits no more: what would be saved is from after the act.
    is_late: Arc<AtomicBool>,
}

/// Takes calls.
#[derive(Clone)]
pub(super) struct AcpSaver {
    jobs: SyncSender<SaverJob>,
}

/// A call that is waited for.
pub(super) struct AwaitedSave {
    done: Receiver<Option<String>>,
    is_late: Arc<AtomicBool>,
}

impl AcpSaver {
    /// Begins to take calls. Sessions whose folder is not known are in `folder`.
    pub(super) fn begin(folder: PathBuf) -> Result<Self> {
        let (jobs, queue) = mpsc::sync_channel::<SaverJob>(MOST);
        let work = move || {
            let (mut hook, mut said) = (AcpHookProcess::in_folder(folder), Vec::new());
            while let Some(SaverJob { call, done, is_late }) = next_job(&queue, &mut hook) {
                let fact = match call {
                    Some(call) => run_hook(&mut hook, &call, &is_late, &mut said),
                    None => {
                        hook.end();
                        None
                    }
                };
                // Whoever does not wait any more needs no answer.
                drop(done.send(fact));
            }
        };
        std::thread::Builder::new()
            .name("saver".into())
            .spawn(work)
            .map_err(|e| Error::new(Code::IoFailed, "no thread can be started").because(e))?;
        Ok(Self { jobs })
    }

    /// A call for which nobody waits.
    pub(super) fn later(&self, call: AcpHookCall) {
        drop(self.put(call, "something was not noted"));
    }

    /// A call for which a line waits.
    pub(super) fn now(&self, call: AcpHookCall) -> AwaitedSave {
        self.put(call, "a line goes on unsaved")
    }

    /// Waits until all calls are done, these last ones too, or this long.
    pub(super) fn finish(self, last: Vec<AcpHookCall>, patience: Duration) {
        let (place, awaited) = job(None);
        let jobs = last.into_iter().map(|call| job(Some(call)).0).chain([place]);
        // Each waits for a place.
        std::thread::spawn(move || jobs.for_each(|job| drop(self.jobs.send(job))));
        drop(awaited.done.recv_timeout(patience));
    }

    /// Where there is no place, whoever waits goes on at once.
    fn put(&self, call: AcpHookCall, or_else: &str) -> AwaitedSave {
        let (job, awaited) = job(Some(call));
        if self.jobs.try_send(job).is_err() {
            complain(&format!("too much waits to be saved: {or_else}"));
        }
        awaited
    }
}

/// The next job; `None` where no more come. A hook that nobody calls for a while ends: it keeps the memory of its largest call.
fn next_job(queue: &Receiver<SaverJob>, hook: &mut AcpHookProcess) -> Option<SaverJob> {
    match hook.is_running().then(|| queue.recv_timeout(REST)) {
        Some(Ok(job)) => return Some(job),
        Some(Err(RecvTimeoutError::Disconnected)) => return None,
        Some(Err(RecvTimeoutError::Timeout)) => hook.end(),
        None => {}
    }
    queue.recv().ok()
}

fn job(call: Option<AcpHookCall>) -> (SaverJob, AwaitedSave) {
    let ((done, from), is_late) = (mpsc::sync_channel(1), Arc::new(AtomicBool::new(false)));
    (SaverJob { call, done, is_late: is_late.clone() }, AwaitedSave { done: from, is_late })
}

impl AwaitedSave {
    /// Waits for it, and returns what the agent is told. A hook that hangs is ended, and the line goes on; so does what an agent has said that
    /// has ended: it does nothing more.
    pub(super) fn wait(self, has_ended: &AtomicBool) -> Option<String> {
        let until = Instant::now() + LONGEST;
        loop {
            let is_over = has_ended.load(Ordering::Relaxed);
            match self.done.recv_timeout(if is_over { Duration::ZERO } else { LOOK }) {
                Ok(fact) => return fact,
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if is_over => return None,
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(RecvTimeoutError::Timeout) => {
                    complain(&format!("a line waited {} s for what is to be saved before it, and goes on", LONGEST.as_secs()));
                    self.is_late.store(true, Ordering::Relaxed);
                    return None;
                }
            }
        }
    }
}

/// Runs the hook to its end; what failed is noted in the session, if possible.
fn run_hook(hook: &mut AcpHookProcess, call: &AcpHookCall, is_late: &AtomicBool, said: &mut Vec<String>) -> Option<String> {
    let late = || Err(Error::new(Code::Busy, "the line that waited for it has gone on"));
    match if is_late.load(Ordering::Relaxed) { late() } else { hook.ask(call.payload()) } {
        Ok(AcpHookAnswer { fact, complaint, is_last: _ }) => {
            let is_new = |complaint: &String| !said.contains(complaint) && said.len() < MOST;
            if let Some(complaint) = complaint.filter(is_new) {
                complain(&complaint);
                said.push(complaint);
            }
            fact
        }
        Err(error) => {
            complain(&format!("nothing was saved: {error}"));
            hook::failed_to_run(CALLER, call.clone().event(), hook.folder(), &error);
            None
        }
    }
}

/// What the human of the editor may find in its log.
pub(super) fn complain(what: &str) {
    drop(std::io::stderr().write_all(format!("git axiom: {what}\n").as_bytes()));
}
