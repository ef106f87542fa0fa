//! Calls of `git axiom hook acp`, one after the other: what is to be saved before a line goes on, and what is noted afterwards.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::attach::hook::{self, HookCaller};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::agent::attached_program::AttachedProgram;
use axiom_model::agent::hook_call_source::HookCallSource;
use axiom_model::attach::acp::hook_call::AcpHookCall;
use axiom_process::os::command::command_with_callers_repository;
use axiom_process::os::guarded::ProgramGuard;

/// How many calls wait at most: of the next ones it is said that they are not done. So many different complaints are passed on, too.
const MOST: usize = 64;
/// How long a line waits at most; the hook itself gives up earlier.
const LONGEST: Duration = Duration::from_secs(20);
/// How soon it is seen that the agent has ended.
const LOOK: Duration = Duration::from_millis(50);
/// The most that is read of an answer.
const LONGEST_ANSWER: u64 = 64 * 1024;

/// A call, and who waits for it.
struct SaverJob {
    /// `None`: nothing but the place in the queue.
    call: Option<AcpHookCall>,
    done: SyncSender<Option<String>>,
    /// Whether whoever waited waits no more: what would be saved is from after the act.
    is_late: Arc<AtomicBool>,
}

/// What the hook says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookSaid {
    additional_context: String,
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
            let mut said = Vec::new();
            for SaverJob { call, done, is_late } in queue {
                let fact = call.and_then(|call| run_hook(&call, &folder, &is_late, &mut said));
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
fn run_hook(call: &AcpHookCall, folder: &Path, is_late: &AtomicBool, said: &mut Vec<String>) -> Option<String> {
    let late = || Err(Error::new(Code::Busy, "the line that waited for it has gone on"));
    match if is_late.load(Ordering::Relaxed) { late() } else { answer_of(call, folder) } {
        Ok((fact, complaint)) => {
            let is_new = |complaint: &String| !said.contains(complaint) && said.len() < MOST;
            if let Some(complaint) = complaint.filter(is_new) {
                complain(&complaint);
                said.push(complaint);
            }
            fact
        }
        Err(error) => {
            complain(&format!("nothing was saved: {error}"));
            let caller = HookCaller { program: AttachedProgram::Acp, source: HookCallSource::User };
            hook::failed_to_run(caller, call.clone().event(), folder, &error);
            None
        }
    }
}

fn answer_of(call: &AcpHookCall, folder: &Path) -> Result<(Option<String>, Option<String>)> {
    let program = env::own_image()?;
    let failed = |e: std::io::Error| Error::io("run", &program, e);
    let there = Path::new(&call.folder);
    let there = if there.is_absolute() && there.is_dir() { there } else { folder };
    let mut command = command_with_callers_repository(&program);
    std::os::unix::process::CommandExt::arg0(&mut command, "git-axiom");
    command.args(["hook", "acp", "--user"]).current_dir(there);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let (stdin, payload) = (child.stdin.take(), call.payload());
    // It reads all of it before it says anything, and ends however long that takes: whoever waits or not, it has so long.
    std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&payload)));
    let (answer, complaint) = (all_of(child.stdout.take()), all_of(child.stderr.take()));
    let until = Instant::now() + LONGEST;
    let is_told = |all: &Receiver<String>| all.recv_timeout(until.saturating_duration_since(Instant::now()));
    let (answer, complaint) = (is_told(&answer), is_told(&complaint));
    if answer.is_err() || complaint.is_err() {
        ProgramGuard::of_child(&child).kill();
    }
    let (answer, complaint) = (answer.unwrap_or_default(), complaint.unwrap_or_default());
    let ended = child.wait().map_err(failed);
    if ended?.code().is_none() {
        return Err(Error::new(Code::Busy, format!("its hook did not end within {} s", LONGEST.as_secs())));
    }
    let fact = serde_json::from_str::<HookSaid>(&answer).ok().map(|said| said.additional_context);
    Ok((fact, Some(complaint).filter(|complaint| !complaint.is_empty())))
}

/// What comes from a pipe, as far as it is read, once it has ended.
fn all_of(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (tell, all) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.by_ref().take(LONGEST_ANSWER).read_to_end(&mut text);
            // So that it is never kept from writing.
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        }
        tell.send(String::from_utf8_lossy(&text).trim().to_owned())
    });
    all
}

/// What the human of the editor may find in its log.
pub(super) fn complain(what: &str) {
    drop(std::io::stderr().write_all(format!("git axiom: {what}\n").as_bytes()));
}
