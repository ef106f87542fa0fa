//! Verify steps: commands that must pass before a task is done, run beside the loop.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::files;
use crate::process::command::command;
use crate::process::group;

/// The longest one step may take.
const TIME_LIMIT: Duration = Duration::from_secs(30 * 60);

/// How much of a failing step's output goes into the next prompt, in bytes.
const KEEP: usize = 8 * 1024;

/// What is to be run.
pub(super) struct Job {
    pub commands: Vec<String>,
    pub folder: PathBuf,
    pub output: PathBuf,
}

/// How it went.
pub(super) struct Verdict {
    /// One line for each step that ran.
    pub results: Vec<String>,
    /// The step that failed.
    pub failure: Option<Failure>,
}

/// A step that failed.
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

/// Runs the steps in a thread; the verdict comes through the channel.
pub(super) fn start(job: Job) -> Receiver<Verdict> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let verdict = run(&job);
        let _ = files::remove_file(&job.output);
        // Nobody listens any more when the agent was stopped meanwhile.
        let _ = sender.send(verdict);
    });
    receiver
}

fn run(job: &Job) -> Verdict {
    let mut results = Vec::new();
    for step in &job.commands {
        match run_step(job, step) {
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
fn run_step(job: &Job, step: &str) -> Result<Option<String>> {
    files::remove_file(&job.output)?;
    let output = files::open_append(&job.output)?;
    let other = output.try_clone().map_err(|e| Error::io("open", &job.output, e))?;
    let mut shell = command("sh");
    shell.args(["-c", step]).current_dir(&job.folder).stdin(Stdio::null()).stdout(output).stderr(other);
    group::run(&mut shell, step, TIME_LIMIT)
}
