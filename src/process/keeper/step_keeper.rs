//! The keeper of one step: it owns the command from its start to the report of its end, and ends all its processes if the
//! process that started it has ended.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitStatus};
use signal_hook::consts::{SIGCHLD, SIGTERM};

use super::owner;
use crate::client::step::{KEEP, LOG_LIMIT, StepEnd, StepProcessOrder, StepProcessReport};
use crate::os::bell::{WakeListener, WakeSender};
use crate::os::child_reaper::ChildReaper;
use crate::os::command::command;
use crate::os::detached;
use crate::os::family::{self, FamilyHead};
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;

/// The shortest wait at the end of the time limit.
const FIRST_LOOK: Duration = Duration::from_millis(1);
/// How long descendants may run after SIGTERM when the command itself has ended.
const GRACE: Duration = Duration::from_millis(200);
/// How long to wait for the end of the output when all descendants have ended: another process may hold the pipe.
const DRAIN: Duration = Duration::from_secs(3);
/// The longest order, in bytes.
const MAX_ORDER: usize = 16 * 1024 * 1024;

/// The hidden verb `git axiom keeper --step`: reads its order from stdin, runs it, and reports its end on stdout. If stdin
/// is closed, the step is ended early.
pub fn run() -> Result<()> {
    // Ctrl+C at the terminal is handled by the process that started this one, and the step must not be able to read from the
    // terminal.
    rustix::process::setsid().map_err(|e| failed("begin a session").because(e))?;
    detached::close_on_exec();
    let terminate = owner::watch_signals()?;
    let mut bell = WakeListener::new()?;
    [SIGCHLD, SIGTERM].into_iter().try_for_each(|signal| bell.ring_on(signal))?;
    axiom_base::platform::adopt_orphans();
    let order = read_order()?;
    let gone = watch_starter(bell.rope()?)?;
    let report = carry_out(&order, &mut bell, &|| gone.load(Ordering::Relaxed) || terminate.load(Ordering::Relaxed));
    let line = serde_json::to_vec(&report).map_err(|e| failed("report how the step ended").because(e))?;
    // The reader may have ended.
    let _ = std::io::stdout().write_all(&line);
    Ok(())
}

fn failed(what: &str) -> Error {
    Error::new(Code::KeeperFailed, format!("cannot {what}"))
}

/// Reads the first line of stdin, byte by byte: the rest is not part of the order.
fn read_order() -> Result<StepProcessOrder> {
    let mut stdin = std::io::stdin().lock();
    let (mut line, mut byte) = (Vec::new(), [0_u8]);
    while line.len() < MAX_ORDER && stdin.read(&mut byte).is_ok_and(|count| count == 1) && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    serde_json::from_slice(&line).map_err(|e| failed("understand what is to be run").because(e))
}

fn watch_starter(rope: WakeSender) -> Result<Arc<AtomicBool>> {
    let gone = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&gone);
    let wait = move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        told.store(true, Ordering::Relaxed);
        rope.ring();
    };
    Builder::new().spawn(wait).map_err(|e| Error::cannot_start("a thread that waits for the starter", e))?;
    Ok(gone)
}

fn carry_out(order: &StepProcessOrder, bell: &mut WakeListener, shall_end: &dyn Fn() -> bool) -> StepProcessReport {
    let cannot = |why: String| StepProcessReport { end: StepEnd::CannotStart { why }, output: String::new() };
    let (reader, writer) = match std::io::pipe() {
        Ok(pipe) => pipe,
        Err(e) => return cannot(e.to_string()),
    };
    let Some((program, arguments)) = order.command.split_first() else { return cannot("nothing is named".into()) };
    let mut child = command(program);
    child.args(arguments).current_dir(&order.folder).process_group(0).env("PWD", &order.folder).env_remove("OLDPWD");
    for name in &order.without {
        child.env_remove(name);
    }
    for pair in order.env.chunks_exact(2) {
        child.env(&pair[0], &pair[1]);
    }
    let mark = FamilyHead::mark(&mut child);
    let second = match writer.try_clone() {
        Ok(second) => second,
        Err(e) => return cannot(e.to_string()),
    };
    let stdin = if order.stdin.is_empty() { Stdio::null() } else { Stdio::piped() };
    child.stdin(stdin).stdout(writer).stderr(second);
    let started = child.spawn();
    // Only the command may hold the other ends of the pipe.
    drop(child);
    let mut started = match started {
        Ok(started) => started,
        Err(e) => return cannot(e.to_string()),
    };
    if let Some(to) = started.stdin.take() {
        give(to, order.stdin.clone());
    }
    let log = order.log.first().and_then(|path| files::open_append(path.as_ref()).ok());
    let tail = StepOutputTail::of(File::from(std::os::fd::OwnedFd::from(reader)), log.map(StepOutputLog::new));
    let pid = i32::try_from(started.id()).unwrap_or(0);
    let mut reaper = ChildReaper { program: Pid::from_raw(pid), status: None };
    let (early, grace) = wait_for_end(&mut reaper, bell, Duration::from_millis(order.limit_millis), shall_end);
    family::end_all(&FamilyHead { pid, mark }, grace, &mut || reaper.collect());
    reaper.collect();
    let end = early.unwrap_or_else(|| how(reaper.status));
    StepProcessReport { end, output: tail.take() }
}

/// Writes what the command is to find on its standard input, in a thread: it need not read all of it, or anything. When no
/// process of the step is left, the pipe breaks, and the thread ends.
fn give(mut to: ChildStdin, input: String) {
    let write = move || drop(to.write_all(input.as_bytes()));
    // Without the thread, the command finds nothing.
    let _ = Builder::new().spawn(write);
}

fn wait_for_end(
    reaper: &mut ChildReaper,
    bell: &mut WakeListener,
    limit: Duration,
    shall_end: &dyn Fn() -> bool,
) -> (Option<StepEnd>, Duration) {
    let begun = Instant::now();
    loop {
        reaper.collect();
        if reaper.status.is_some() {
            return (None, GRACE);
        }
        if shall_end() {
            return (Some(StepEnd::Stopped), Duration::ZERO);
        }
        if begun.elapsed() > limit {
            return (Some(StepEnd::OverTime), Duration::ZERO);
        }
        // The end of a process rings, and a signal, and the end of the starter.
        bell.wait(limit.saturating_sub(begun.elapsed()).max(FIRST_LOOK));
    }
}

fn how(status: Option<WaitStatus>) -> StepEnd {
    let code = status.and_then(WaitStatus::exit_status);
    let signal = status.and_then(WaitStatus::terminating_signal);
    match (code, signal) {
        (Some(code), _) => StepEnd::Exited { code },
        (None, Some(signal)) => StepEnd::Signalled { signal },
        (None, None) => StepEnd::Unknown,
    }
}

/// The end of the output. Older bytes are read and dropped, so that the command never waits.
struct StepOutputTail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    ended: Receiver<()>,
}

impl StepOutputTail {
    fn of(mut from: File, mut log: Option<StepOutputLog>) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let (sender, ended) = channel();
        let fill = Arc::clone(&kept);
        let read = move || {
            let mut buffer = [0_u8; 16 * 1024];
            while let Ok(count) = from.read(&mut buffer)
                && count > 0
            {
                if let Some(log) = &mut log {
                    log.write(&buffer[..count]);
                }
                let mut kept = fill.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&buffer[..count]);
                let over = kept.len().saturating_sub(KEEP);
                kept.drain(..over);
            }
            let _ = sender.send(());
        };
        // Without the thread, no output is kept. A command with much output then fails on its closed pipe.
        let _ = Builder::new().spawn(read);
        Self { kept, ended }
    }

    fn take(self) -> String {
        let _ = self.ended.recv_timeout(DRAIN);
        let kept: Vec<u8> = self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        String::from_utf8_lossy(&kept).into_owned()
    }
}

/// The log of all that the command prints. Where it cannot be written, the command goes on without it.
struct StepOutputLog {
    file: Option<File>,
    room: u64,
}

impl StepOutputLog {
    fn new(file: File) -> Self {
        Self { file: Some(file), room: LOG_LIMIT }
    }

    fn write(&mut self, bytes: &[u8]) {
        let fits = bytes.len().min(usize::try_from(self.room).unwrap_or(usize::MAX));
        self.room -= fits as u64;
        if let Some(file) = &mut self.file
            && file.write_all(&bytes[..fits]).is_err()
        {
            self.file = None;
        }
    }
}
