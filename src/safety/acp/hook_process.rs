//! `git axiom hook acp --each-line` as the wrapper sees it: a process that answers one call after the other. It is begun with the first
//! call, and anew after one that it has not answered, or a long rest: what fails there fails for that call alone.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use super::answering::{AcpHookAnswer, EACH_LINE};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_process::os::command::command_with_callers_repository;
use axiom_process::os::guarded::ProgramGuard;

/// How long an answer may take; the hook itself gives up earlier.
pub(super) const LONGEST: Duration = Duration::from_secs(20);
/// The longest answer in bytes.
const LONGEST_ANSWER: u64 = 1024 * 1024;
/// How long it may take to end once nobody calls any more.
const TO_END: Duration = Duration::from_secs(2);

/// The hook, as far as it runs.
pub(super) struct AcpHookProcess {
    folder: PathBuf,
    running: Option<RunningHook>,
}

/// One that runs. Its pipes have threads of their own: one that hangs neither reads nor says anything.
struct RunningHook {
    child: Child,
    calls: SyncSender<Vec<u8>>,
    answers: Receiver<Vec<u8>>,
}

impl AcpHookProcess {
    /// It will work in `folder`.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder, running: None }
    }

    /// Where it works.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes a call and waits for its answer.
    ///
    /// # Errors
    /// `BUSY` where none comes within [`LONGEST`], or the hook ends without one. It is ended then.
    pub fn ask(&mut self, call: Vec<u8>) -> Result<AcpHookAnswer> {
        let living = self.running.take().and_then(RunningHook::living);
        let hook = living.map_or_else(|| self.start(), Ok)?;
        match hook.ask(call) {
            Ok(answer) => {
                self.running = Some(hook);
                if answer.is_last {
                    self.end();
                }
                Ok(answer)
            }
            Err(error) => {
                hook.kill();
                Err(error)
            }
        }
    }

    /// Whether it runs, as far as is known.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// It gets no more calls; another one is begun with the next.
    pub fn end(&mut self) {
        let Some(RunningHook { mut child, calls, answers }) = self.running.take() else { return };
        drop(calls);
        if answers.recv_timeout(TO_END) != Err(RecvTimeoutError::Disconnected) {
            ProgramGuard::of_child(&child).kill();
        }
        drop(child.wait());
    }

    fn start(&self) -> Result<RunningHook> {
        let program = env::own_image()?;
        let failed = |e: std::io::Error| Error::io("run", &program, e);
        let mut command = command_with_callers_repository(&program);
        // Sessions have folders of their own, and the one that it was started in may be gone.
        let place = if self.folder.is_dir() { &self.folder } else { Path::new("/") };
        command.arg0("git-axiom").args(["hook", "acp", EACH_LINE]).current_dir(place);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (calls, next) = mpsc::sync_channel(1);
        let (tell, answers) = mpsc::sync_channel(1);
        std::thread::spawn(move || to.map(|to| send(&next, to)));
        std::thread::spawn(move || from.map(|from| receive(from, &tell)));
        Ok(RunningHook { child, calls, answers })
    }
}

impl RunningHook {
    /// It, unless it has ended since its last answer.
    fn living(mut self) -> Option<Self> {
        matches!(self.child.try_wait(), Ok(None)).then_some(self)
    }

    fn ask(&self, call: Vec<u8>) -> Result<AcpHookAnswer> {
        let ended = || Error::new(Code::Busy, "its hook ended before it had answered");
        self.calls.send(call).map_err(|_| ended())?;
        let answer = self.answers.recv_timeout(LONGEST).map_err(|error| match error {
            RecvTimeoutError::Timeout => Error::new(Code::Busy, format!("its hook did not end within {} s", LONGEST.as_secs())),
            RecvTimeoutError::Disconnected => ended(),
        })?;
        AcpHookAnswer::read(&answer).ok_or_else(ended)
    }

    fn kill(mut self) {
        ProgramGuard::of_child(&self.child).kill();
        drop(self.child.wait());
    }
}

/// Sends the calls until there are no more, or it reads no more.
fn send(calls: &Receiver<Vec<u8>>, mut to: ChildStdin) {
    for mut call in calls {
        call.push(b'\n');
        if to.write_all(&call).is_err() {
            return;
        }
    }
}

/// Hands on its answers until it ends; what is too long for one is none.
fn receive(from: ChildStdout, tell: &SyncSender<Vec<u8>>) {
    let mut from = BufReader::new(from);
    loop {
        let mut answer = Vec::new();
        let is_one = from.by_ref().take(LONGEST_ANSWER).read_until(b'\n', &mut answer).is_ok() && answer.ends_with(b"\n");
        if !is_one || tell.send(answer).is_err() {
            return;
        }
    }
}
