//! Running commands and hooks, one after the other, each below a keeper of its own that is a child of the waiting process: the
//! `verify` steps of a task, those of a merge, and the hooks of an event.

pub mod cut_off;
pub mod personas;
pub mod program_told;
mod run;
pub mod untouched;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use self::personas::PersonaProgram;
use jiff::Timestamp;
use run::run;

use crate::beside_log::step_files::StepFiles;
use crate::context::handle::{Context, fresh_token};
use crate::project_hooks::approved_tree::ApprovedTree;
use crate::project_hooks::project_files::ProjectFilePath;
use crate::running::wait_observer::{LOOK, WaitObserver};
use axiom_base::env;
use axiom_base::error::{Error, Result};
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::base::names::Oid;
use axiom_model::work::verifying::checks::named_step::NamedVerifyStep;
use axiom_model::work::verifying::verification::{ProgramUsage, VerifyChecker, VerifyStepResult};
use axiom_process::client::step::StepProcessSpec;
use axiom_process::os::bell::WakeSender;

/// How many bytes of a failing step's output go into the next prompt.
const KEEP: usize = 8 * 1024;

/// An environment variable of every process of a session's verification or hook: with it, a supervisor finds the processes that
/// a killed one left behind.
const VARIABLE: &str = "AXIOM_VERIFY";

/// An environment variable of every process of these steps.
const RUN: &str = "AXIOM_STEPS";

/// The environment entry of processes of verifications in this repository.
pub fn marker(common_dir: &Path) -> Vec<u8> {
    [VARIABLE.as_bytes(), b"=", common_dir.as_os_str().as_bytes()].concat()
}

/// What runs the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepRunner {
    /// A session: the next session ends processes that remain of its steps.
    Session,
    /// A verb in the foreground.
    Verb,
}

/// What follows when a step fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterStepFailure {
    /// The steps after it are not run: all have to pass.
    Stop,
    /// The steps after it are run too: each only reports.
    GoOn,
}

/// One step.
#[derive(Debug)]
pub struct StepSpec {
    /// The command as it is written, with its name; or the hook.
    pub name: String,
    /// Which of the two it is.
    pub by: VerifyChecker,
    /// What is run.
    pub program: StepProgram,
    /// The working directory.
    pub folder: PathBuf,
    /// Variables for the program only.
    pub env: Vec<(&'static str, OsString)>,
    /// Variables that the program does not get.
    pub without: Vec<&'static str>,
    /// What it finds on its standard input.
    pub stdin: String,
    /// The longest it may take.
    pub limit: Duration,
    /// Its log and what it reports; nothing of a hook's is kept.
    pub files: Option<StepFiles>,
}

/// What is run, with the arguments before it.
#[derive(Debug)]
pub struct StepProgram {
    /// The program and arguments through which it is run; mostly empty.
    pub wrapper: Vec<String>,
    /// What it is.
    pub is: StepCommand,
}

impl StepProgram {
    /// How long it may take by itself, where its keeper waits longer than that.
    fn told_limit(&self) -> Option<Duration> {
        match &self.is {
            StepCommand::Persona(persona) => persona.time_limit(),
            StepCommand::Command(_) | StepCommand::Approved(..) | StepCommand::Nothing(_) => None,
        }
    }
}

/// What is run.
#[derive(Debug)]
pub enum StepCommand {
    /// A command of the shell.
    Command(String),
    /// An approved file.
    Approved(Arc<ApprovedTree>, ProjectFilePath),
    /// The agent program of a persona.
    Persona(Box<PersonaProgram>),
    /// Nothing, for this reason: it fails.
    Nothing(String),
}

/// The steps to run, one after the other.
#[derive(Debug)]
pub struct StepJob {
    runner: StepRunner,
    of: PathBuf,
    work: Vec<StepSpec>,
    after: AfterStepFailure,
    env: Vec<(&'static str, OsString)>,
    /// In the environment of every process of these steps, so that those of a killed keeper are found.
    marker: Vec<u8>,
}

/// For whom commands are run, and on what.
#[derive(Debug, Clone, Copy)]
pub struct StepContext<'a> {
    /// The task.
    pub task: &'a TaskId,
    /// The agent on whose behalf, where there is one.
    pub agent: Option<&'a AgentId>,
    /// The work that they check, in a word for the folder of their files.
    pub what: &'static str,
    /// The same, by its commits.
    pub of: &'a str,
    /// The work: what it comes to, and the branch or commit that it is compared with.
    pub work: Option<StepCommits<'a>>,
}

/// Two commits.
#[derive(Debug, Clone, Copy)]
pub struct StepCommits<'a> {
    /// The commit without the work.
    pub from: &'a Oid,
    /// The commit with it.
    pub to: &'a Oid,
}

/// Steps of `verify` or `merge.verify`, each with its place in that list, to be run in `folder`: commands, and personas.
pub fn commands(ctx: &Context, commands: &[(usize, &String)], folder: &Path, about: StepContext<'_>) -> Result<Vec<StepSpec>> {
    let StepContext { task, agent, what, of, work: _ } = about;
    // This token in the environment shows that no human is calling: what an agent may not do, a step may not do either.
    let token = fresh_token()?;
    let config = &ctx.config.verify;
    let env = || {
        let mut env: Vec<(&'static str, OsString)> = vec![
            ("AXIOM_TOKEN", token.as_str().into()),
            ("AXIOM_TASK_ID", task.as_str().into()),
            ("AXIOM_WORKTREE", folder.into()),
        ];
        env.extend(agent.map(|agent| ("AXIOM_AGENT", OsString::from(agent.as_str()))));
        // git does not look for a repository above the folder.
        env.extend(folder.parent().map(|above| ("GIT_CEILING_DIRECTORIES", above.into())));
        env
    };
    let kept = ctx.layout().checks_dir().join(task.as_str()).join(what);
    let work = |&(place, written): &(usize, &String)| {
        let step = NamedVerifyStep::of(written);
        let files = StepFiles { folder: kept.join(step.file_name(place)), about: format!("{of}\n{written}") };
        if let Some(persona) = step.persona() {
            return personas::step(ctx, (written, persona), folder, about, files);
        }
        Ok(StepSpec {
            name: written.clone(),
            by: VerifyChecker::Command,
            program: StepProgram { wrapper: config.wrapper.clone(), is: StepCommand::Command(step.command.to_owned()) },
            files: Some(files),
            folder: folder.to_owned(),
            env: env(),
            without: Vec::new(),
            stdin: String::new(),
            limit: Duration::from_secs(config.time_limit),
        })
    };
    commands.iter().map(work).collect()
}

impl StepJob {
    /// Steps to be run.
    pub fn new(ctx: &Context, runner: StepRunner, after: AfterStepFailure, work: Vec<StepSpec>) -> Self {
        let id = env::fresh_id();
        let mut env = vec![(RUN, OsString::from(&id))];
        if runner == StepRunner::Session {
            env.push((VARIABLE, ctx.repo.common_dir().into()));
        }
        Self { runner, of: ctx.repo.common_dir().to_owned(), work, after, env, marker: format!("{RUN}={id}").into_bytes() }
    }

    fn step(&self, work: &StepSpec, program: Vec<OsString>) -> StepProcessSpec {
        let told = work.files.iter().flat_map(StepFiles::variables);
        StepProcessSpec {
            of: self.of.clone(),
            command: work.program.wrapper.iter().map(OsString::from).chain(program).collect(),
            folder: work.folder.clone(),
            env: self.env.clone(),
            child_env: work.env.iter().map(|(name, value)| (OsString::from(*name), value.clone())).chain(told).collect(),
            without: work.without.iter().map(OsString::from).collect(),
            stdin: work.stdin.clone(),
            limit: work.limit,
            log: work.files.as_ref().filter(|_| !matches!(work.program.is, StepCommand::Persona(_))).map(StepFiles::log),
        }
    }
}

/// The step that runs.
#[derive(Debug, Clone)]
pub struct RunningStep {
    /// The command as it is written, or the hook.
    pub name: String,
    /// Which of its job it is, from 0.
    pub place: usize,
    /// How many its job has.
    pub of: usize,
    /// Since when it runs.
    pub since: Timestamp,
    /// The longest it may take.
    pub limit: Duration,
}

/// Running steps. When this is dropped, they are stopped. A verb waits until none of their processes runs any more; a session never does:
/// see [`RunningStepJob::give_up`].
#[derive(Debug)]
pub struct RunningStepJob {
    ended: Receiver<EndedStepReport>,
    verdict: Receiver<StepJobOutcome>,
    now: Arc<Mutex<Option<RunningStep>>>,
    cancelled: Arc<AtomicBool>,
    runner: StepRunner,
    thread: Option<JoinHandle<()>>,
}

impl RunningStepJob {
    /// The step that runs now.
    pub fn now(&self) -> Option<RunningStep> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the step that runs now is the look of a persona.
    pub fn is_look(&self) -> bool {
        self.now().is_some_and(|now| NamedVerifyStep::of(&now.name).persona().is_some())
    }

    /// Stops the steps, and waits for nothing: the returned thread ends when none of their processes runs any more. If this process ends
    /// first, their keeper ends them all the same.
    pub fn give_up(mut self) -> Option<JoinHandle<()>> {
        self.cancelled.store(true, Ordering::Relaxed);
        self.thread.take()
    }

    /// The steps that have ended since the last call.
    pub fn ended(&self) -> Vec<EndedStepReport> {
        self.ended.try_iter().collect()
    }

    /// The verdict, once there is one.
    pub fn verdict(&self) -> Option<StepJobOutcome> {
        match self.verdict.try_recv() {
            Ok(verdict) => Some(verdict),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(StepJobOutcome::broken()),
        }
    }

    /// As [`RunningStepJob::verdict`], waiting for it; `None` where the user wants to end the steps before. Calls `look` now and then.
    pub fn verdict_unless_ended(&self, watch: &dyn WaitObserver, mut look: impl FnMut()) -> Option<StepJobOutcome> {
        while !watch.shall_end() {
            look();
            match self.verdict.recv_timeout(LOOK) {
                Ok(verdict) => return Some(verdict),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Some(StepJobOutcome::broken()),
            }
        }
        None
    }
}

impl Drop for RunningStepJob {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take().filter(|_| self.runner == StepRunner::Verb) {
            let _ = thread.join();
        }
    }
}

/// The result of the steps.
#[derive(Debug)]
pub struct StepJobOutcome {
    /// The steps that ran.
    pub ran: Vec<EndedStepReport>,
    /// The step that failed and ended all, for the next prompt.
    pub failure: Option<StepFailure>,
    /// Why a step could not be run, where that is so: it says nothing about the work.
    pub not_run: Option<Error>,
}

/// A step that ran.
#[derive(Debug, Clone)]
pub struct EndedStepReport {
    /// Its result.
    pub result: VerifyStepResult,
    /// How long it took.
    pub took: Duration,
    /// The end of its output.
    pub output: String,
}

/// A step that failed.
#[derive(Debug)]
pub struct StepFailure {
    /// What failed, in one line.
    pub summary: String,
    /// The command, why it failed, and the end of its output.
    pub details: String,
}

impl StepJobOutcome {
    /// The result where the verification itself failed.
    fn broken() -> Self {
        let failure = StepFailure { summary: "verification broke down".into(), details: String::new() };
        Self { ran: Vec::new(), failure: Some(failure), not_run: None }
    }
}

/// Runs the steps in a thread, which rings where one begins or ends.
pub fn start(job: StepJob, rope: Option<WakeSender>) -> RunningStepJob {
    let (tells, ended) = channel();
    let (sender, verdict) = channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&cancelled);
    let (now, runner) = (Arc::<Mutex<Option<RunningStep>>>::default(), job.runner);
    let runs = Arc::clone(&now);
    let work = move || {
        // If the steps were stopped meanwhile, no one receives the results.
        let each = |ran: &EndedStepReport| {
            let _ = tells.send(ran.clone());
            rope.iter().for_each(WakeSender::ring);
        };
        let begins = |step| {
            *runs.lock().unwrap_or_else(PoisonError::into_inner) = Some(step);
            rope.iter().for_each(WakeSender::ring);
        };
        let verdict = run(&job, &told, &begins, &each);
        // Whoever asks before the verdict is taken is not told that the last step still runs.
        *runs.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let _ = sender.send(verdict);
        rope.iter().for_each(WakeSender::ring);
    };
    // If no thread can be started, the channel is closed, and the verdict is that the verification broke down.
    let thread = std::thread::Builder::new().spawn(work).ok();
    RunningStepJob { ended, verdict, now, cancelled, runner, thread }
}

/// How a step ended.
struct StepExit {
    /// Why it failed, if it did.
    failure: Option<String>,
    /// The end of its output.
    output: String,
    /// Its exit status, where it exited by itself.
    exit: Option<i32>,
    /// What the program of a persona used.
    used: Option<ProgramUsage>,
}
