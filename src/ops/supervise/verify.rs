//! Verify steps: commands that must pass before a task is done, run beside the loop.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::domain::ids::{AgentId, CaseId, Token};
use crate::error::{Error, Result};
use crate::files;
use crate::process::command::command;
use crate::process::{group, leftovers};

/// The longest one step may take.
const TIME_LIMIT: Duration = Duration::from_secs(30 * 60);

/// How much of a failing step's output goes into the next prompt, in bytes.
const KEEP: usize = 8 * 1024;

/// What is to be run.
pub(super) struct Job {
    pub commands: Vec<String>,
    pub folder: PathBuf,
    pub output: PathBuf,
    /// What every process of it has in its environment.
    pub marker: (&'static str, PathBuf),
    /// Whose work it is about.
    pub agent: AgentId,
    pub task: CaseId,
    /// With this in its environment it is no human's: what it may not do, an agent may not either.
    pub token: Token,
}

/// The variable that every process of a verification has: so a supervisor finds what one that was killed left behind.
pub(super) const VARIABLE: &str = "AXIOM_VERIFY";

/// The assignment that processes of verifications in this repository have in their environment.
pub(super) fn marker(common_dir: &Path) -> Vec<u8> {
    [VARIABLE.as_bytes(), b"=", common_dir.as_os_str().as_bytes()].concat()
}

/// A verification under way. Dropped, it is stopped: nothing of it runs any more afterwards.
#[derive(Debug)]
pub(super) struct Running {
    verdict: Receiver<Verdict>,
    cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// The verdict, once there is one.
    pub fn verdict(&self) -> Option<Verdict> {
        match self.verdict.try_recv() {
            Ok(verdict) => Some(verdict),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Verdict::broken()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// How it went.
#[derive(Debug)]
pub(super) struct Verdict {
    /// One line for each step that ran.
    pub results: Vec<String>,
    /// The step that failed.
    pub failure: Option<Failure>,
}

/// A step that failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub summary: String,
    pub details: String,
}

impl Verdict {
    /// The verification itself broke down.
    pub fn broken() -> Self {
        let failure = Failure { summary: "verification broke down".into(), details: String::new() };
        Self { results: Vec::new(), failure: Some(failure) }
    }
}

/// Runs the steps in a thread.
pub(super) fn start(job: Job) -> Running {
    let (sender, verdict) = channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&cancelled);
    let work = move || {
        let verdict = run(&job, &told);
        let _ = files::remove_file(&job.output);
        // Nobody listens any more when the agent was stopped meanwhile.
        let _ = sender.send(verdict);
    };
    // Without a thread the verdict is that nobody gives one: the verification broke down.
    let thread = std::thread::Builder::new().spawn(work).ok();
    Running { verdict, cancelled, thread }
}

fn run(job: &Job, cancelled: &AtomicBool) -> Verdict {
    let mut results = Vec::new();
    for step in &job.commands {
        match run_step(job, step, cancelled) {
            Ok(None) => results.push(format!("verified: {step}")),
            Ok(Some(why)) => {
                let output = files::read(&job.output, u64::MAX - 1).unwrap_or_default();
                let tail = String::from_utf8_lossy(&output[output.len().saturating_sub(KEEP)..]).into_owned();
                let summary = format!("verify step '{step}' {why}");
                results.push(summary.clone());
                let details = format!("`{step}` {why}:\n\n```\n{}\n```", tail.trim_end());
                return Verdict { results, failure: Some(Failure { summary, details }) };
            }
            Err(error) => {
                results.push(error.to_string());
                let failure = Failure { summary: format!("verify step '{step}' could not run"), details: error.to_string() };
                return Verdict { results, failure: Some(failure) };
            }
        }
    }
    Verdict { results, failure: None }
}

/// Why the step failed; `None` where it passed.
fn run_step(job: &Job, step: &str, cancelled: &AtomicBool) -> Result<Option<String>> {
    files::remove_file(&job.output)?;
    let output = files::open_append(&job.output)?;
    let other = output.try_clone().map_err(|e| Error::io("open", &job.output, e))?;
    let mut shell = command("sh");
    shell.args(["-c", step]).current_dir(&job.folder).stdin(Stdio::null()).stdout(output).stderr(other);
    shell.env(job.marker.0, &job.marker.1);
    shell.env("AXIOM_TOKEN", job.token.as_str()).env_remove("AXIOM_SPOOL");
    shell.env("AXIOM_AGENT", job.agent.as_str()).env("AXIOM_TASK_ID", job.task.as_str()).env("AXIOM_WORKTREE", &job.folder);
    let outcome = group::run(&mut shell, step, TIME_LIMIT, cancelled);
    // Also what left its process group.
    leftovers::end_marked(format!("AXIOM_TOKEN={}", job.token).as_bytes())?;
    outcome
}
