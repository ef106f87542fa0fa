//! Trying an agent program: one small task in a scratch repository, by the same supervisor as `run`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::facts::{facts, hear, runs};
use super::find;
use crate::config::Config;
use crate::domain::agent::adapter::{Adapter, PromptKind};
use crate::domain::agent::stream::summary::Summary;
use crate::domain::agent::stream::trouble::Trouble;
use crate::domain::base::ids::CaseId;
use crate::domain::work::agent::IterationReport;
use crate::domain::work::agent_check::{Facts, Finding, SCRIPT, SCRIPT_TEXT, TASK, TASK_SCRIPT, findings};
use crate::domain::work::case::{Kind, Status};
use crate::domain::work::session::Mode;
use crate::env;
use crate::error::{Code, Error, Result};
use crate::files;
use crate::git::Repository;
use crate::ops::cases::edit::{self, NewCase};
use crate::ops::context::handle::Context;
use crate::ops::context::placement::Purpose;
use crate::ops::programs::{Programs, program};
use crate::ops::supervise::notice::{Notice, Watcher};
use crate::ops::supervise::{self, AfterCrash, Ending, Interrupts, Options};
use crate::process::client::leftovers;
use crate::process::keeper::spec::EXIT;

/// How long the program may take.
pub const LIMIT: Duration = Duration::from_secs(180);
/// How much longer the session may take: what has not ended by then is stopped.
const SPARE: Duration = Duration::from_secs(30);
/// How often is looked what the program says.
const LOOK: Duration = Duration::from_millis(100);
/// How long keepers may take to end once the session has.
const CLEARING: Duration = Duration::from_secs(5);

/// What a check has found out.
#[derive(Debug)]
pub struct Checked {
    /// Where the program is.
    pub path: Option<PathBuf>,
    /// What is missing.
    pub findings: Vec<Finding>,
    /// The record of its iteration.
    pub report: Option<IterationReport>,
}

/// Tries the program of this name. Whatever happens, no process and no folder of it is left.
///
/// # Errors
/// `CONFIG_INVALID` where there is no such program; `INTERRUPTED`; what prevents a session.
pub fn check(config: &Config, name: &str, interrupts: &Interrupts) -> Result<Checked> {
    let adapter = program(config, name)?;
    let word = adapter.command.first().cloned().unwrap_or_default();
    let Some(path) = find(&word) else {
        let findings = vec![Finding::ProgramNotFound { program: word }];
        return Ok(Checked { path: None, findings, report: None });
    };
    let scratch = Scratch::new()?;
    let ran = run(&scratch, config, &adapter, interrupts);
    scratch.remove()?;
    let (facts, report) = ran?;
    Ok(Checked { path: Some(path), findings: findings(&facts), report })
}

/// A folder in the temporary folder. Removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
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

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = files::remove_scratch(&self.0);
    }
}

/// Whoever runs a check wants to know how it ends.
struct Silent;

impl Watcher for Silent {
    fn notice(&mut self, _notice: Notice) {}
}

fn run(
    scratch: &Scratch,
    config: &Config,
    adapter: &Adapter,
    interrupts: &Interrupts,
) -> Result<(Facts, Option<IterationReport>)> {
    let repo = scratch.0.join("repo");
    files::create_dir_all(&repo)?;
    files::write_scratch(&repo.join(SCRIPT), SCRIPT_TEXT.as_bytes())?;
    Repository::make(&repo, "main")?;
    let mut ctx = Context::open(&repo, Purpose::Write)?;
    ctx.config.agents.grace_seconds = config.agents.grace_seconds;
    ctx.config.agents.time_limit = Some(LIMIT.as_secs());
    let task = CaseId::new("check")?;
    edit::add(&mut ctx, new_case(&task, adapter))?;
    let options = Options {
        slots: 1,
        max_iterations: 1,
        until_idle: true,
        mode: Some(Mode::Autopilot),
        retry: false,
        after_crash: AfterCrash::default(),
        target: None,
        limits: crate::domain::work::budget::Limits::default(),
        programs: Programs::only(adapter.clone()),
    };
    let agents = ctx.layout().agents_dir();
    let (over, asked) = (AtomicBool::new(false), AtomicBool::new(false));
    let ending = std::thread::scope(|scope| {
        let watch = scope.spawn(|| watch(&agents, &over, &asked, interrupts));
        let ending = supervise::run(&mut ctx, options, interrupts, &mut Silent);
        over.store(true, Ordering::SeqCst);
        let _ = watch.join();
        ending
    });
    clear(&agents);
    let by_human = interrupts.count() > usize::from(asked.load(Ordering::SeqCst));
    match ending? {
        Ending::Interrupted if by_human => Err(Error::new(Code::Interrupted, "the check was interrupted")),
        Ending::AllMerged | Ending::Idle(_) | Ending::Quit | Ending::Interrupted => facts(&ctx, &repo, &task, adapter),
    }
}

fn new_case(id: &CaseId, adapter: &Adapter) -> NewCase {
    let body = match adapter.prompt {
        PromptKind::Prompt => TASK,
        PromptKind::Script => TASK_SCRIPT,
    };
    NewCase {
        id: Some(id.clone()),
        kind: Kind::Task,
        title: "Check this agent program".into(),
        body: Some(body.to_owned()),
        parent: None,
        after: Vec::new(),
        needs: Vec::new(),
        start_early: false,
        persona: None,
        verify: Vec::new(),
        limits: crate::domain::work::budget::Limits::default(),
        status: Status::Pending,
        reason: None,
        merged: None,
    }
}

/// Ends the session where waiting longer tells nothing more: the program tries again and again to sign in, the model's service
/// refuses, or the time is over.
fn watch(agents: &Path, over: &AtomicBool, asked: &AtomicBool, interrupts: &Interrupts) {
    let (begun, mut read, mut sum) = (Instant::now(), BTreeMap::new(), Summary::default());
    while !over.load(Ordering::SeqCst) {
        hear(agents, &mut read, &mut sum);
        let is_signed_out = sum.waits.as_ref().is_some_and(|waits| waits.trouble == Trouble::SignIn);
        let refuses = |trouble| matches!(trouble, Trouble::RateLimit | Trouble::Overload);
        // Some programs try again by themselves: only the end of one counts.
        let has_ended = || runs(agents).iter().any(|dir| dir.join(EXIT).is_file());
        let is_refused = sum.failed.as_ref().is_some_and(|failed| refuses(failed.trouble)) && has_ended();
        if is_signed_out || is_refused || begun.elapsed() > LIMIT + SPARE {
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
