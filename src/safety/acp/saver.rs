//! Calls of `git axiom hook acp`, one after the other: what is to be saved before a line goes on, and what is noted afterwards.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use crate::attach::hook::{self, HookCaller};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::agent::attached_program::AttachedProgram;
use axiom_model::agent::hook_call_source::HookCallSource;
use axiom_model::attach::acp::hook_call::AcpHookCall;
use axiom_process::os::command::command_with_callers_repository;
use axiom_process::os::guarded::ProgramGuard;

/// How many calls wait: then whoever makes the next one waits too.
const MOST: usize = 64;
/// How long a line waits at most; the hook itself gives up earlier.
const LONGEST: Duration = Duration::from_secs(20);
/// The most that is read of an answer.
const LONGEST_ANSWER: u64 = 64 * 1024;

/// A call, and who waits for it.
struct SaverJob {
    /// `None`: nothing but the place in the queue.
    call: Option<AcpHookCall>,
    done: Option<SyncSender<Option<String>>>,
}

/// What the hook says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookSaid {
    additional_context: String,
}

/// The hook that runs.
type RunningHook = Arc<Mutex<Option<ProgramGuard>>>;

/// Takes calls.
#[derive(Clone)]
pub(super) struct AcpSaver {
    jobs: SyncSender<SaverJob>,
    running: RunningHook,
}

/// A call that is waited for.
pub(super) struct AwaitedSave {
    done: Receiver<Option<String>>,
    running: RunningHook,
}

impl AcpSaver {
    /// Begins to take calls. Sessions whose folder is not known are in `folder`.
    pub(super) fn begin(folder: PathBuf) -> Result<Self> {
        let (jobs, queue) = mpsc::sync_channel::<SaverJob>(MOST);
        let running = RunningHook::default();
        let own = running.clone();
        let work = move || {
            let mut said = Vec::new();
            for SaverJob { call, done } in queue {
                let fact = call.and_then(|call| run_hook(&call, &folder, &own, &mut said));
                // Whoever does not wait any more needs no answer.
                done.map(|done| done.send(fact));
            }
        };
        std::thread::Builder::new()
            .name("saver".into())
            .spawn(work)
            .map_err(|e| Error::new(Code::IoFailed, "no thread can be started").because(e))?;
        Ok(Self { jobs, running })
    }

    /// A call for which nobody waits.
    pub(super) fn later(&self, call: AcpHookCall) {
        drop(self.jobs.send(SaverJob { call: Some(call), done: None }));
    }

    /// A call for which a line waits.
    pub(super) fn now(&self, call: AcpHookCall) -> AwaitedSave {
        self.queue(Some(call))
    }

    /// Waits until all calls are done, or this long.
    pub(super) fn finish(&self, patience: Duration) {
        drop(self.queue(None).done.recv_timeout(patience));
    }

    fn queue(&self, call: Option<AcpHookCall>) -> AwaitedSave {
        let (done, from) = mpsc::sync_channel(1);
        drop(self.jobs.send(SaverJob { call, done: Some(done) }));
        AwaitedSave { done: from, running: self.running.clone() }
    }
}

impl AwaitedSave {
    /// Waits for it, and returns what the agent is told. A hook that hangs is ended, and the line goes on.
    pub(super) fn wait(self) -> Option<String> {
        match self.done.recv_timeout(LONGEST) {
            Ok(fact) => fact,
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                complain(&format!("a line waited {} s for what is to be saved before it, and goes on", LONGEST.as_secs()));
                if let Some(hook) = *self.running.lock().unwrap_or_else(PoisonError::into_inner) {
                    hook.kill();
                }
                None
            }
        }
    }
}

/// Runs the hook to its end; what failed is noted in the session, if possible.
fn run_hook(call: &AcpHookCall, folder: &Path, running: &RunningHook, said: &mut Vec<String>) -> Option<String> {
    match answer_of(call, folder, running) {
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

fn answer_of(call: &AcpHookCall, folder: &Path, running: &RunningHook) -> Result<(Option<String>, Option<String>)> {
    let program = env::own_image()?;
    let failed = |e: std::io::Error| Error::io("run", &program, e);
    let there = Path::new(&call.folder);
    let there = if there.is_absolute() && there.is_dir() { there } else { folder };
    let mut command = command_with_callers_repository(&program);
    std::os::unix::process::CommandExt::arg0(&mut command, "git-axiom");
    command.args(["hook", "acp", "--user"]).current_dir(there);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    *running.lock().unwrap_or_else(PoisonError::into_inner) = Some(ProgramGuard::of_child(&child));
    // It reads all of it before it says anything.
    if let Some(mut stdin) = child.stdin.take() {
        drop(stdin.write_all(&call.payload()));
    }
    let read = |pipe: Option<&mut dyn Read>| {
        let mut text = Vec::new();
        pipe.map(|pipe| pipe.take(LONGEST_ANSWER).read_to_end(&mut text));
        String::from_utf8_lossy(&text).trim().to_owned()
    };
    let answer = read(child.stdout.as_mut().map(|pipe| pipe as &mut dyn Read));
    let complaint = read(child.stderr.as_mut().map(|pipe| pipe as &mut dyn Read));
    let ended = child.wait().map_err(failed);
    *running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    if ended?.code().is_none() {
        return Err(Error::new(Code::Busy, format!("its hook did not end within {} s", LONGEST.as_secs())));
    }
    let fact = serde_json::from_str::<HookSaid>(&answer).ok().map(|said| said.additional_context);
    Ok((fact, Some(complaint).filter(|complaint| !complaint.is_empty())))
}

/// What the human of the editor may find in its log.
pub(super) fn complain(what: &str) {
    drop(std::io::stderr().write_all(format!("git axiom: {what}\n").as_bytes()));
}
