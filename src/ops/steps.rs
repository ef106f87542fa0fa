//! Running commands that must pass, one after the other, each below a keeper of its own that is a child of the waiting
//! process: the `verify` steps of a task, and those of a merge.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::domain::base::ids::{AgentId, CaseId, Token};
use crate::domain::work::verification::{StepResult, last_lines};
use crate::env;
use crate::error::{Error, Result};
use crate::ops::context::handle::Context;
use crate::process::client::leftovers;
use crate::process::client::step::{self, Step};
use crate::process::os::bell::Rope;

/// How many bytes of a failing step's output go into the next prompt.
const KEEP: usize = 8 * 1024;

/// An environment variable of every process of a session's verification: with it, a supervisor finds the processes that a
/// killed one left behind.
const VARIABLE: &str = "AXIOM_VERIFY";

/// The environment entry of processes of verifications in this repository.
pub fn marker(common_dir: &Path) -> Vec<u8> {
    [VARIABLE.as_bytes(), b"=", common_dir.as_os_str().as_bytes()].concat()
}

/// What runs the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// A session: the next session ends processes that remain of its steps.
    Session,
    /// A verb in the foreground.
    Verb,
}

/// The commands to run.
#[derive(Debug)]
pub struct Job {
    of: PathBuf,
    commands: Vec<String>,
    wrapper: Vec<String>,
    folder: PathBuf,
    limit: Duration,
    env: Vec<(&'static str, OsString)>,
    /// This token in the environment shows that no human is calling: what an agent may not do, a step may not do either.
    token: Token,
}

impl Job {
    /// Commands to run in `folder` for a task, on behalf of an agent where there is one.
    ///
    /// # Errors
    /// None in practice: the token consists of hexadecimal digits.
    pub fn new(
        ctx: &Context,
        runner: Runner,
        commands: Vec<String>,
        folder: &Path,
        (task, agent): (&CaseId, Option<&AgentId>),
    ) -> Result<Self> {
        let token = Token::new(format!("{}{}", env::fresh_id(), env::fresh_id()))?;
        let mut env: Vec<(&'static str, OsString)> = vec![
            ("AXIOM_TOKEN", token.as_str().into()),
            ("AXIOM_TASK_ID", task.as_str().into()),
            ("AXIOM_WORKTREE", folder.into()),
        ];
        env.extend(agent.map(|agent| ("AXIOM_AGENT", OsString::from(agent.as_str()))));
        // git does not look for a repository above the folder.
        env.extend(folder.parent().map(|above| ("GIT_CEILING_DIRECTORIES", above.into())));
        if runner == Runner::Session {
            env.push((VARIABLE, ctx.repo.common_dir().into()));
        }
        let config = &ctx.config.verify;
        let limit = Duration::from_secs(config.time_limit);
        let of = ctx.repo.common_dir().to_owned();
        Ok(Self { of, commands, wrapper: config.wrapper.clone(), folder: folder.to_owned(), limit, env, token })
    }

    fn step(&self, command: &str) -> Step {
        let shell = ["sh", "-c", command].map(OsString::from);
        let command = self.wrapper.iter().map(OsString::from).chain(shell).collect();
        Step {
            of: self.of.clone(),
            command,
            folder: self.folder.clone(),
            env: self.env.clone(),
            child_env: Vec::new(),
            without: Vec::new(),
            limit: self.limit,
        }
    }
}

/// Running steps. When this is dropped, they are stopped, and none of their processes runs afterwards.
#[derive(Debug)]
pub struct Running {
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

    /// As [`Running::verdict`], waiting for it at most so long.
    pub fn verdict_within(&self, most: Duration) -> Option<Verdict> {
        match self.verdict.recv_timeout(most) {
            Ok(verdict) => Some(verdict),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Verdict::broken()),
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

/// The result of the steps.
#[derive(Debug)]
pub struct Verdict {
    /// The result of each step that ran.
    pub results: Vec<StepResult>,
    /// The failed step, for the next prompt.
    pub failure: Option<Failure>,
    /// Why a step could not be run, where that is so: it says nothing about the work.
    pub not_run: Option<Error>,
}

/// A step that failed.
#[derive(Debug)]
pub struct Failure {
    /// What failed, in one line.
    pub summary: String,
    /// The command, why it failed, and the end of its output.
    pub details: String,
}

impl Verdict {
    /// The result where the verification itself failed.
    fn broken() -> Self {
        let failure = Failure { summary: "verification broke down".into(), details: String::new() };
        Self { results: Vec::new(), failure: Some(failure), not_run: None }
    }
}

/// Runs the steps in a thread, which rings at their end.
pub fn start(job: Job, rope: Option<Rope>) -> Running {
    let (sender, verdict) = channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&cancelled);
    let work = move || {
        // If the steps were stopped meanwhile, no one receives the result.
        let _ = sender.send(run(&job, &told));
        rope.iter().for_each(Rope::ring);
    };
    // If no thread can be started, the channel is closed, and the verdict is that the verification broke down.
    let thread = std::thread::Builder::new().spawn(work).ok();
    Running { verdict, cancelled, thread }
}

fn run(job: &Job, cancelled: &AtomicBool) -> Verdict {
    let mut results = Vec::new();
    for command in &job.commands {
        let result = |failure: Option<String>, lines| StepResult { command: command.clone(), failure, lines };
        let (why, output) = match run_step(job, command, cancelled) {
            Ok((None, _)) => {
                results.push(result(None, Vec::new()));
                continue;
            }
            Ok((Some(why), output)) => (why, output),
            Err(error) => {
                let not_run = Some(error.context(format!("'{command}' could not be run")));
                return Verdict { results, failure: None, not_run };
            }
        };
        results.push(result(Some(why.clone()), last_lines(&output)));
        let mut from = output.len().saturating_sub(KEEP);
        while !output.is_char_boundary(from) {
            from += 1;
        }
        let details = format!("`{command}` {why}:\n\n```\n{}\n```", output[from..].trim_end());
        let failure = Failure { summary: format!("verify step '{command}' {why}"), details };
        return Verdict { results, failure: Some(failure), not_run: None };
    }
    Verdict { results, failure: None, not_run: None }
}

/// Why the step failed, if it did, and its output.
fn run_step(job: &Job, command: &str, cancelled: &AtomicBool) -> Result<(Option<String>, String)> {
    let done = step::run(&job.step(command), cancelled)?;
    // If the keeper was killed, its processes may remain: they are ended here.
    leftovers::end_marked(format!("AXIOM_TOKEN={}", job.token).as_bytes())?;
    Ok((done.end.failure(job.limit), done.output))
}
