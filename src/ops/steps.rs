//! Commands that must pass, one after the other, each below a keeper of its own and beside whoever waits for them: the
//! `verify` steps of a task, and those of a merge.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::domain::base::ids::{AgentId, CaseId, Token};
use crate::domain::work::verification::{StepResult, last_lines};
use crate::env;
use crate::error::Result;
use crate::ops::context::handle::Context;
use crate::process::client::leftovers;
use crate::process::client::step::{self, Step};

/// How much of a failing step's output goes into the next prompt, in bytes.
const KEEP: usize = 8 * 1024;

/// The variable that every process of a session's verification has: so a supervisor finds what one that was killed left behind.
const VARIABLE: &str = "AXIOM_VERIFY";

/// The assignment that processes of verifications in this repository have in their environment.
pub fn marker(common_dir: &Path) -> Vec<u8> {
    [VARIABLE.as_bytes(), b"=", common_dir.as_os_str().as_bytes()].concat()
}

/// Who runs steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// A session: what is left of its steps is ended by the next.
    Session,
    /// A verb in the foreground.
    Verb,
}

/// What is to be run.
#[derive(Debug)]
pub struct Job {
    of: PathBuf,
    commands: Vec<String>,
    wrapper: Vec<String>,
    folder: PathBuf,
    limit: Duration,
    env: Vec<(&'static str, OsString)>,
    /// With this in its environment it is no human's: what it may not do, an agent may not either.
    token: Token,
}

impl Job {
    /// Commands that are run in `folder` about a task, on behalf of an agent where there is one.
    ///
    /// # Errors
    /// None that can be reached: the token is made of hexadecimal digits.
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
        // git looks no further up than the folder.
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

/// Steps under way. Dropped, they are stopped: nothing of them runs any more afterwards.
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
pub struct Verdict {
    /// What became of each step that ran.
    pub results: Vec<StepResult>,
    /// The step that failed, for the next prompt.
    pub failure: Option<Failure>,
}

/// A step that failed.
#[derive(Debug)]
pub struct Failure {
    /// In one line.
    pub summary: String,
    /// With the end of what it printed.
    pub details: String,
}

impl Verdict {
    /// The verification itself broke down.
    fn broken() -> Self {
        let failure = Failure { summary: "verification broke down".into(), details: String::new() };
        Self { results: Vec::new(), failure: Some(failure) }
    }
}

/// Runs the steps in a thread.
pub fn start(job: Job) -> Running {
    let (sender, verdict) = channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&cancelled);
    let work = move || {
        // Nobody listens any more when it was stopped meanwhile.
        let _ = sender.send(run(&job, &told));
    };
    // Without a thread the verdict is that nobody gives one: the verification broke down.
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
            Err(error) => (format!("could not run: {error}"), String::new()),
        };
        results.push(result(Some(why.clone()), last_lines(&output)));
        let mut from = output.len().saturating_sub(KEEP);
        while !output.is_char_boundary(from) {
            from += 1;
        }
        let details = format!("`{command}` {why}:\n\n```\n{}\n```", output[from..].trim_end());
        let failure = Failure { summary: format!("verify step '{command}' {why}"), details };
        return Verdict { results, failure: Some(failure) };
    }
    Verdict { results, failure: None }
}

/// Why the step failed, and what it printed.
fn run_step(job: &Job, command: &str, cancelled: &AtomicBool) -> Result<(Option<String>, String)> {
    let done = step::run(&job.step(command), cancelled)?;
    // Where its keeper was killed, what it kept is left.
    leftovers::end_marked(format!("AXIOM_TOKEN={}", job.token).as_bytes())?;
    Ok((done.end.failure(job.limit), done.output))
}
