//! Trying an agent program: one small task in a scratch repository, by the same supervisor as `run`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::CHECK_LIMIT;
use super::facts::{facts, hear, runs};
use crate::supervise;
use crate::supervise::notice::{SessionNotice, SessionWatcher};
use crate::supervise::{CrashTaskDecisions, InterruptCounter, SessionOutcome, SupervisorOptions};
use crate::tasks::edit;
use crate::tasks::edit::NewTaskRequest;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_git::Repository;
use axiom_model::agent::adapter::{AdapterPromptKind, AgentAdapter};
use axiom_model::agent::stream::summary::StreamSummary;
use axiom_model::agent::stream::trouble::ModelTrouble;
use axiom_model::base::ids::TaskId;
use axiom_model::work::iteration::IterationReport;
use axiom_model::work::permissions::permission_rule::PermissionMode;
use axiom_model::work::sessions::session::SessionMode;
use axiom_model::work::verifying::agent_check::{
    AgentCheckFacts, AgentCheckFinding, SCRIPT, SCRIPT_TEXT, TASK, TASK_SCRIPT, findings,
};
use axiom_process::client::leftovers;
use axiom_process::run_folder::spec::EXIT;
use axiom_safety::config::Config;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::opening;
use axiom_safety::running::programs::{SessionPrograms, find, program};

/// How much longer the session may take: what has not ended by then is stopped.
const SPARE: Duration = Duration::from_secs(30);
/// How often is looked what the program says.
const LOOK: Duration = Duration::from_millis(100);
/// How long keepers may take to end once the session has.
const CLEARING: Duration = Duration::from_secs(5);

/// What a check has found out.
#[derive(Debug)]
pub struct AgentCheckReport {
    /// Where the program is.
    pub path: Option<PathBuf>,
    /// What is missing.
    pub findings: Vec<AgentCheckFinding>,
    /// The record of its iteration.
    pub report: Option<IterationReport>,
}

/// Tries the program of this name. Whatever happens, no process and no folder of it is left.
pub fn check(config: &Config, name: &str, interrupts: &InterruptCounter) -> Result<AgentCheckReport> {
    let adapter = program(config, name)?;
    let word = adapter.command.first().cloned().unwrap_or_default();
    let Some(path) = find(&word) else {
        let findings = vec![AgentCheckFinding::ProgramNotFound { program: word }];
        return Ok(AgentCheckReport { path: None, findings, report: None });
    };
    let scratch = AgentCheckFolder::new()?;
    let ran = run(&scratch, config, &adapter, interrupts);
    scratch.remove()?;
    let (facts, report) = ran?;
    Ok(AgentCheckReport { path: Some(path), findings: findings(&facts), report })
}

/// A folder in the temporary folder. Removed when dropped.
struct AgentCheckFolder(PathBuf);

impl AgentCheckFolder {
    fn new() -> Result<Self> {
        let folder = env::temp_dir().join(format!("{}check-{}", files::SCRATCH_PREFIX, env::fresh_id()));
        files::create_dir_all(&folder)?;
        let folder = folder.canonicalize().map_err(|e| Error::io("find the folder", &folder, e))?;
        Ok(Self(folder))
    }

    fn remove(&self) -> Result<()> {
        // What a program of the agent's still writes there ends with its keeper, within moments.
        let begun = Instant::now();
        loop {
            match files::remove_scratch(&self.0) {
                Ok(()) if !self.0.exists() => return Ok(()),
                Ok(()) if begun.elapsed() >= CLEARING => return Ok(()),
                Err(error) if begun.elapsed() >= CLEARING => {
                    return Err(error.hint(format!("it can be removed by hand: {}", self.0.display())));
                }
                Ok(()) | Err(_) => std::thread::sleep(LOOK),
            }
        }
    }
}

impl Drop for AgentCheckFolder {
    fn drop(&mut self) {
        let _ = files::remove_scratch(&self.0);
    }
}

/// Whoever runs a check wants to know how it ends.
struct AgentCheckWatcher;

impl SessionWatcher for AgentCheckWatcher {
    fn notice(&mut self, _notice: SessionNotice) {}
}

fn run(
    scratch: &AgentCheckFolder,
    config: &Config,
    adapter: &AgentAdapter,
    interrupts: &InterruptCounter,
) -> Result<(AgentCheckFacts, Option<IterationReport>)> {
    let repo = scratch.0.join("repo");
    files::create_dir_all(&repo)?;
    files::write_scratch(&repo.join(SCRIPT), SCRIPT_TEXT.as_bytes())?;
    Repository::make(&repo, "main")?;
    let mut ctx = opening::open(&repo, VerbPurpose::Write)?;
    ctx.config.agents.grace_seconds = config.agents.grace_seconds;
    // Nobody is there to be asked, and nothing but the scratch repository is worked on.
    ctx.config.agents.permissions = PermissionMode::Allow;
    ctx.config.agents.time_limit = Some(CHECK_LIMIT.as_secs());
    let task = TaskId::new("check")?;
    edit::add(&mut ctx, new_task(&task, adapter))?;
    let options = SupervisorOptions {
        slots: 1,
        max_iterations: 1,
        until_idle: true,
        mode: Some(SessionMode::Autopilot),
        retry: false,
        after_crash: CrashTaskDecisions::default(),
        again: None,
        target: None,
        limits: axiom_model::work::money::budget::BudgetLimits::default(),
        programs: SessionPrograms::only(adapter.clone()),
    };
    let agents = ctx.layout().agents().folder();
    let (over, asked) = (AtomicBool::new(false), AtomicBool::new(false));
    let ending = std::thread::scope(|scope| {
        let watch = scope.spawn(|| watch(&agents, &over, &asked, interrupts));
        let ending = supervise::run(&mut ctx, options, interrupts, &mut AgentCheckWatcher);
        over.store(true, Ordering::SeqCst);
        let _ = watch.join();
        ending
    });
    clear(&agents);
    let by_human = interrupts.count() > usize::from(asked.load(Ordering::SeqCst));
    match ending? {
        SessionOutcome::Interrupted if by_human => Err(Error::new(Code::Interrupted, "the check was interrupted")),
        SessionOutcome::AllMerged | SessionOutcome::Idle(_) | SessionOutcome::Quit | SessionOutcome::Interrupted => {
            facts(&ctx, &repo, &task, adapter)
        }
    }
}

fn new_task(id: &TaskId, adapter: &AgentAdapter) -> NewTaskRequest {
    let body = match adapter.prompt {
        AdapterPromptKind::Prompt => TASK,
        AdapterPromptKind::Script => TASK_SCRIPT,
    };
    NewTaskRequest { id: Some(id.clone()), body: Some(body.to_owned()), ..NewTaskRequest::titled("Check this agent program") }
}

/// Ends the session where waiting longer tells nothing more: the program tries again and again to sign in, the model's service
/// refuses, or the time is over.
fn watch(agents: &Path, over: &AtomicBool, asked: &AtomicBool, interrupts: &InterruptCounter) {
    let (begun, mut read, mut sum) = (Instant::now(), BTreeMap::new(), StreamSummary::default());
    while !over.load(Ordering::SeqCst) {
        hear(agents, &mut read, &mut sum);
        let is_signed_out = sum.waits.now.as_ref().is_some_and(|waits| waits.trouble == ModelTrouble::SignIn);
        let refuses = |trouble| matches!(trouble, ModelTrouble::RateLimit | ModelTrouble::Overload);
        // Some programs try again by themselves: only the end of one counts.
        let has_ended = || runs(agents).iter().any(|dir| dir.join(EXIT).is_file());
        let is_refused = sum.failed.as_ref().is_some_and(|failed| refuses(failed.trouble)) && has_ended();
        if is_signed_out || is_refused || begun.elapsed() > CHECK_LIMIT + SPARE {
            asked.store(true, Ordering::SeqCst);
            return interrupts.request();
        }
        std::thread::sleep(LOOK);
    }
}

/// Removes the temporary folders of keepers, which may take a moment to end.
fn clear(agents: &Path) {
    let begun = Instant::now();
    let mut left = runs(agents);
    while !left.is_empty() && begun.elapsed() < CLEARING {
        left.retain(|dir| !matches!(leftovers::clear_runtime(dir), Ok(true)));
        if !left.is_empty() {
            std::thread::sleep(LOOK);
        }
    }
}
