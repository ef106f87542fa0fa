//! Running one command to its end below a keeper of its own: verify steps and the like.
//!
//! The keeper ([`crate::keeper::step_keeper`]) is a child of the process that starts it, and ends with it. It
//! inherits every orphan of the command, so that no process of the command outlives the step, even if it changed its session
//! or environment.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};

use crate::os::command::{command, path_with_us};
use crate::os::os_string_json;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::forms::plural::count;

/// How many bytes at the end of a step's output are kept.
pub const KEEP: usize = 64 * 1024;
/// The longest log of a step, in bytes. What comes after that is only in what is kept of the end.
pub const LOG_LIMIT: u64 = 16 * 1024 * 1024;
/// How often `cancelled` is checked.
const TICK: Duration = Duration::from_millis(50);
/// How long a keeper may take to end all processes when it was asked to.
const ENDING: Duration = Duration::from_secs(90);
/// The longest report, in bytes.
const MAX_REPORT: usize = 16 * KEEP;

/// A command to be run.
#[derive(Debug, Clone)]
pub struct StepProcessSpec {
    /// The common git directory of the repository for which it runs: processes below the step are not treated as a human
    /// there.
    pub of: PathBuf,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The working directory.
    pub folder: PathBuf,
    /// Variables in addition to the inherited ones, for the keeper and the program.
    pub env: Vec<(&'static str, OsString)>,
    /// Variables for the program only.
    pub child_env: Vec<(OsString, OsString)>,
    /// Variables that the program does not get.
    pub without: Vec<OsString>,
    /// What the program finds on its standard input; nothing where empty.
    pub stdin: String,
    /// The longest it may take.
    pub limit: Duration,
    /// The file to which all that it prints is appended, up to a limit.
    pub log: Option<PathBuf>,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum StepEnd {
    /// It exited with this status.
    Exited {
        /// The status.
        code: i32,
    },
    /// A signal ended it that git axiom did not send.
    Signalled {
        /// The signal.
        signal: i32,
    },
    /// It exceeded its time limit.
    OverTime,
    /// It was cancelled.
    Stopped,
    /// It could not be started.
    CannotStart {
        /// The reason.
        why: String,
    },
    /// Its keeper died, so its end is unknown.
    Unknown,
}

impl StepEnd {
    /// Why it did not pass; `None` if it passed.
    pub fn failure(&self, limit: Duration) -> Option<String> {
        Some(match self {
            Self::Exited { code: 0 } => return None,
            Self::Exited { code } => format!("exited with status {code}"),
            Self::Signalled { signal } => format!("was ended by signal {signal}"),
            Self::OverTime => format!("took longer than {}", count(limit.as_secs(), "second")),
            Self::Stopped => "was stopped".to_owned(),
            Self::CannotStart { why } => format!("cannot be started: {why}"),
            Self::Unknown => "ended without a report: its keeper died".to_owned(),
        })
    }
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepProcessOutcome {
    /// How it ended.
    pub end: StepEnd,
    /// The end of its output, both streams in order.
    pub output: String,
}

/// The order for the keeper, one line on its stdin.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepProcessOrder {
    #[serde(with = "os_string_json::list")]
    pub command: Vec<OsString>,
    #[serde(with = "os_string_json::os")]
    pub folder: PathBuf,
    /// Names and values alternate.
    #[serde(with = "os_string_json::list")]
    pub env: Vec<OsString>,
    #[serde(with = "os_string_json::list")]
    pub without: Vec<OsString>,
    pub stdin: String,
    pub limit_millis: u64,
    #[serde(with = "os_string_json::list")]
    pub log: Vec<OsString>,
}

/// The keeper's answer, one line on its stdout.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StepProcessReport {
    pub end: StepEnd,
    pub output: String,
}

/// Runs a step to its end; `cancelled` ends it early. When this returns, no process of the step is running any more, unless
/// its keeper was killed.
pub fn run(step: &StepProcessSpec, cancelled: &AtomicBool) -> Result<StepProcessOutcome> {
    let failed = |e: std::io::Error| Error::new(Code::KeeperFailed, "cannot start the keeper of a step").because(e);
    let order = StepProcessOrder {
        command: step.command.clone(),
        folder: step.folder.clone(),
        env: step.child_env.iter().flat_map(|(name, value)| [name.clone(), value.clone()]).collect(),
        without: step.without.clone(),
        stdin: step.stdin.clone(),
        limit_millis: u64::try_from(step.limit.as_millis()).unwrap_or(u64::MAX),
        log: step.log.iter().map(|path| path.clone().into_os_string()).collect(),
    };
    let mut line = serde_json::to_vec(&order).map_err(|e| failed(e.into()))?;
    line.push(b'\n');
    let mut child = start(step).map_err(failed)?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else {
        return Err(Error::new(Code::Internal, "a pipe is missing"));
    };
    // If the keeper has ended, this fails, and there will be no report.
    let _ = stdin.write_all(&line);
    // The pipe stays open. When it is closed, the keeper knows that this process has ended or wants it to end.
    let mut stdin = Some(stdin);
    let said = listen(&mut child, stdout, cancelled, &mut || drop(stdin.take()));
    let _ = child.wait();
    let report: Option<StepProcessReport> = said.and_then(|line| serde_json::from_slice(&line).ok());
    Ok(match report {
        Some(StepProcessReport { end, output }) => StepProcessOutcome { end, output },
        None => StepProcessOutcome { end: StepEnd::Unknown, output: String::new() },
    })
}

fn start(step: &StepProcessSpec) -> std::io::Result<Child> {
    let own = env::own_image().map_err(std::io::Error::other)?;
    let mut keeper = command(own);
    keeper.arg0("git-axiom").args(["keeper", "--step"]).arg(&step.of).current_dir(Path::new("/"));
    keeper.env_remove("AXIOM_SPOOL").envs(path_with_us()).envs(step.env.iter().map(|(name, value)| (name, value)));
    keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    keeper.spawn()
}

/// Reads the keeper's report; `None` where it ended without one.
fn listen(child: &mut Child, mut from: ChildStdout, cancelled: &AtomicBool, end: &mut dyn FnMut()) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let mut buffer = [0_u8; 4096];
    let mut asked: Option<Instant> = None;
    let tick = Timespec { tv_sec: 0, tv_nsec: i64::try_from(TICK.as_nanos()).unwrap_or(1) };
    loop {
        if cancelled.load(Ordering::Relaxed) && asked.is_none() {
            asked = Some(Instant::now());
            end();
        }
        if asked.is_some_and(|asked| asked.elapsed() > ENDING) {
            // Processes that survive the keeper can be found by the variables in their environment.
            let _ = child.kill();
            return None;
        }
        match poll(&mut [PollFd::new(&from, PollFlags::IN)], Some(&tick)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(_) => return None,
        }
        let count = from.read(&mut buffer).ok()?;
        line.extend_from_slice(&buffer[..count]);
        if count == 0 {
            return Some(line);
        }
        if line.len() > MAX_REPORT {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_status_zero_passes() {
        let limit = Duration::from_secs(9);
        assert_eq!(StepEnd::Exited { code: 0 }.failure(limit), None);
        for end in [
            StepEnd::Exited { code: 1 },
            StepEnd::Signalled { signal: 9 },
            StepEnd::OverTime,
            StepEnd::Stopped,
            StepEnd::CannotStart { why: "x".into() },
            StepEnd::Unknown,
        ] {
            assert!(end.failure(limit).is_some(), "{end:?}");
        }
    }
}
