//! Starting a keeper so that it is independent of the process that starts it.
//!
//! This takes two steps, because only a process that leads no process group can begin a session. The first step has a
//! process group of its own, so that Ctrl+C at the terminal does not reach it. It passes on no descriptors, because a lock
//! that the keeper inherited would never become free. It starts the second step and ends. The second step begins a session;
//! its parent has ended, so no process waits for it.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::os::command::{CALLERS_CONFIG, command};
use crate::os::detached;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};

/// How long a keeper may take to report that it has started.
const PATIENCE: Duration = Duration::from_secs(30);
const STARTED: &str = "started";
const UNWANTED: &str = "unwanted";

/// Starts `own_program keeper --spec spec_path` detached and waits until it holds its locks and has written its record. It
/// is no error here if the program itself cannot be started: that is recorded as the end of the run.
pub fn start_keeper(own_program: &Path, spec_path: &Path) -> Result<()> {
    let failed = || Error::new(Code::KeeperFailed, format!("cannot start the keeper of '{}'", spec_path.display()));
    let spec = std::path::absolute(spec_path).map_err(|e| failed().because(e))?;
    let mut child = command(own_program)
        .arg0("git-axiom")
        .arg("keeper")
        .arg("--spec")
        .arg(&spec)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .envs(env::var("GIT_CONFIG_PARAMETERS").map(|value| (CALLERS_CONFIG, value)))
        .spawn()
        .map_err(|e| failed().because(e))?;
    let said = child.stdout.take().map_or(Ok(String::new()), |mut from| first_line(&mut from));
    // The first step ends by itself. Without this call it would stay a zombie.
    let _ = child.wait();
    match said.map_err(|e| failed().because(e))?.as_str() {
        STARTED => Ok(()),
        UNWANTED => Err(failed().why("it is not wanted any more")),
        "" => Err(failed().why("it ended before it had started")),
        why => Err(failed().why(why)),
    }
}

fn first_line(from: &mut (impl std::io::Read + std::os::fd::AsFd)) -> std::io::Result<String> {
    let begun = Instant::now();
    let mut line = Vec::new();
    let mut buffer = [0_u8; 4096];
    loop {
        let left = PATIENCE.checked_sub(begun.elapsed()).ok_or(std::io::ErrorKind::TimedOut)?;
        let left = Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(1), tv_nsec: 1_000_000 };
        match poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&left)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(e) => return Err(e.into()),
        }
        let count = from.read(&mut buffer)?;
        line.extend_from_slice(&buffer[..count]);
        let end = line.iter().position(|byte| *byte == b'\n');
        if count == 0 || end.is_some() || line.len() > 65_536 {
            line.truncate(end.unwrap_or(line.len()));
            return Ok(String::from_utf8_lossy(&line).into_owned());
        }
    }
}

/// The step that this process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DetachStage {
    /// The first: it has started the keeper and has to end.
    First,
    /// The second: it is the keeper, in a session of its own.
    Keeper,
}

/// Does the first step in a process that leads a process group, and the second step in any other process.
#[allow(clippy::zombie_processes)] // The first step ends at once; its child is then init's.
pub(crate) fn detach(spec_path: &Path) -> Result<DetachStage> {
    let failed = |what: &str| Error::new(Code::KeeperFailed, format!("cannot {what}"));
    if rustix::process::getpgrp() != rustix::process::getpid() {
        rustix::process::setsid().map_err(|e| failed("begin a session").because(e))?;
        // So that the keeper keeps no folder busy, and its own folder cannot be deleted.
        std::env::set_current_dir("/").map_err(|e| failed("go to '/'").because(e))?;
        return Ok(DetachStage::Keeper);
    }
    detached::close_on_exec();
    command(env::own_image()?)
        .arg0("git-axiom")
        .arg("keeper")
        .arg("--spec")
        .arg(spec_path)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| failed("start the keeper").because(e))?;
    Ok(DetachStage::First)
}

/// The one line that a keeper reports to the process that starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LaunchReport {
    /// It has its locks and has written its record.
    Started,
    /// Its intent is no longer valid.
    Unwanted,
    /// It could not start, for this reason.
    Failed(String),
}

impl LaunchReport {
    /// Writes the line and closes the pipe. It is no error if the reader has ended: the keeper goes on without it.
    pub fn say(&self) {
        let line = match self {
            Self::Started => STARTED.to_owned(),
            Self::Unwanted => UNWANTED.to_owned(),
            Self::Failed(why) => why.replace('\n', " "),
        };
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdout.flush());
        if let Ok(null) = std::fs::File::open("/dev/null") {
            let _ = rustix::stdio::dup2_stdout(&null);
        }
    }
}
