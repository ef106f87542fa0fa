//! A persona as a verify step: its agent program runs below a keeper like that of an iteration, as a child of the step's keeper. So it
//! is started, heard and read like any agent, and ends with the session.
//!
//! Not here: what it is told and what its end means (`model::work::verifying::checks::validator`), and whether it changed the workspace
//! (`agents::supervise::ends::verifying`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;

use super::program_told::{heard, used_of};
use super::{StepCommand, StepCommits, StepContext, StepExit, StepJob, StepProgram, StepSpec, cut_off};
use crate::beside_log::step_files::StepFiles;
use crate::context::configure;
use crate::context::handle::{Context, fresh_token};
use crate::history::task_texts;
use crate::running::acp_settings::unattended;
use crate::running::output::logs;
use crate::running::programs::SessionPrograms;
use crate::running::run_end;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_git::Repository;
use axiom_model::agent::adapter::{AdapterPromptKind, AgentAdapter};
use axiom_model::base::ids::{AgentId, TaskId, Token};
use axiom_model::base::names::Oid;
use axiom_model::prompt::validator::{OneOffRunPurpose, ValidatorBrief};
use axiom_model::prompt::{BranchCommit, MOST_COMMITS, MOST_ITEMS, validator};
use axiom_model::work::endings::outcome::{AgentProgramEnd, IterationBranchChange, by_output, classify};
use axiom_model::work::verifying::verification::VerifyChecker;
use axiom_process::client::state::keeper_state;
use axiom_process::client::{leftovers, step};
use axiom_process::run_folder::record_files::VERSION;
use axiom_process::run_folder::records::{ExitRecord, KeeperState};
use axiom_process::run_folder::spec::{self, DEFAULT_OUTPUT_CAP, KeeperSpec, OutputDecoding, SpawnIntentCheck};

/// How much longer the step's keeper waits than the keeper of the program, which tells more of its end.
const LONGER: Duration = Duration::from_secs(60);
/// How many of the last lines of its output are shown where it said nothing else.
const LINES: usize = 20;

/// The program of a persona, ready to be run.
#[derive(Debug)]
pub struct PersonaProgram {
    spec: KeeperSpec,
    prompt: String,
    program: Arc<AgentAdapter>,
    asked_for: OneOffRunPurpose,
}

impl PersonaProgram {
    /// How long its program may take.
    pub fn time_limit(&self) -> Option<Duration> {
        self.spec.time_limit_seconds.map(Duration::from_secs)
    }

    /// A program with its prompt.
    pub fn new(spec: KeeperSpec, prompt: String, program: Arc<AgentAdapter>, asked_for: OneOffRunPurpose) -> Self {
        Self { spec, prompt, program, asked_for }
    }
}

/// The step of a persona. A persona that the configuration does not have passes nothing.
pub(super) fn step(
    ctx: &Context,
    (written, persona): (&str, &str),
    folder: &Path,
    about: StepContext<'_>,
    files: StepFiles,
) -> Result<StepSpec> {
    let config = &ctx.config;
    let is = match config.personas.get(persona) {
        None => StepCommand::Nothing(format!("cannot be run: {}", unknown(ctx, persona))),
        Some(table) => {
            let program = Arc::clone(SessionPrograms::configured(config)?.of_persona(Some(persona)));
            let token = fresh_token()?;
            match program.prompt {
                AdapterPromptKind::Script if table.prompt.is_none() => StepCommand::Nothing(format!(
                    "cannot be run: personas.{persona}.prompt is not set, and its program runs that as a script"
                )),
                AdapterPromptKind::Script | AdapterPromptKind::Prompt => {
                    let prompt = match (program.prompt, &table.prompt) {
                        (AdapterPromptKind::Script, Some(script)) => script.clone(),
                        (AdapterPromptKind::Prompt, said) => prompt(ctx, about, said.as_deref(), &token)?,
                        (AdapterPromptKind::Script, None) => String::new(),
                    };
                    let spec = spec(ctx, (persona, &program), (about, folder), (&files, token))?;
                    StepCommand::Persona(Box::new(PersonaProgram::new(spec, prompt, program, OneOffRunPurpose::Verdict)))
                }
            }
        }
    };
    Ok(StepSpec {
        name: written.to_owned(),
        by: VerifyChecker::Command,
        program: StepProgram { wrapper: Vec::new(), is },
        folder: folder.to_owned(),
        env: Vec::new(),
        without: Vec::new(),
        stdin: String::new(),
        limit: Duration::from_secs(config.verify.time_limit.saturating_add(config.agents.grace_seconds)).saturating_add(LONGER),
        files: Some(files),
    })
}

/// Why a persona is not known: a session has the configuration of its begin.
fn unknown(ctx: &Context, persona: &str) -> String {
    match Repository::discover(ctx.repo.common_dir()).and_then(|repo| configure::load_trusted(&repo, Vec::new())) {
        Ok(now) if now.usable.loaded.config.personas.contains_key(persona) => {
            format!(
                "the persona '{persona}' was configured after this session began: 'git axiom quit', and the next one knows it"
            )
        }
        Ok(_) | Err(_) => format!("the configuration has no persona '{persona}'"),
    }
}

fn prompt(ctx: &Context, about: StepContext<'_>, persona: Option<&str>, token: &Token) -> Result<String> {
    let state = ctx.state();
    let task = state.task(about.task)?;
    let (mut commits, mut names, mut range) = (Vec::new(), Vec::new(), "HEAD".to_owned());
    if let Some(StepCommits { from, to }) = about.work {
        let log = ctx.repo.history().log(to, std::slice::from_ref(from), MOST_COMMITS + 1)?;
        commits = log.into_iter().map(|commit| BranchCommit { oid: commit.oid, subject: commit.subject }).collect();
        let base = ctx.repo.history().merge_base(from, to)?.unwrap_or_else(|| from.clone());
        names = names_of(ctx, &base, to, MOST_ITEMS + 1)?;
        range = format!("{base} {to}");
    }
    Ok(validator::prompt(&ValidatorBrief {
        persona,
        task,
        body: &task_texts::body_of(&ctx.repo, task)?,
        parents: &task_texts::parents_of(&ctx.repo, state, task)?,
        commits: &commits,
        files: &names,
        range: &range,
        token,
    }))
}

/// The names of the files that differ between two commits.
fn names_of(ctx: &Context, old: &Oid, new: &Oid, most: usize) -> Result<Vec<String>> {
    let trees = ctx.repo.trees();
    let changes = ctx.repo.history().diff_trees(&trees.tree_of(old)?, &trees.tree_of(new)?)?;
    Ok(changes.into_iter().take(most).map(|change| change.path.to_string()).collect())
}

pub(super) fn spec(
    ctx: &Context,
    (persona, program): (&str, &AgentAdapter),
    (about, folder): (StepContext<'_>, &Path),
    (files, token): (&StepFiles, Token),
) -> Result<KeeperSpec> {
    let agent = about.agent.map_or_else(|| AgentId::new(format!("{persona}-001")), |agent| Ok(agent.clone()))?;
    let mut env = BTreeMap::from([("AXIOM_TASK_ID".to_owned(), about.task.as_str().into())]);
    env.extend(files.variables().into_iter().filter_map(|(name, value)| Some((name.into_string().ok()?, value))));
    Ok(keeper_spec(ctx, program, PersonaRun { agent, task: about.task, token, folder, files, env }))
}

/// A run of an agent program that is no iteration.
pub struct PersonaRun<'r> {
    /// As whom it runs.
    pub agent: AgentId,
    /// The task that it is about.
    pub task: &'r TaskId,
    /// Its secret.
    pub token: Token,
    /// Where it runs.
    pub folder: &'r Path,
    /// Its files.
    pub files: &'r StepFiles,
    /// Its variables, beside those that each run has.
    pub env: BTreeMap<String, OsString>,
}

/// What the keeper of such a run is told.
pub fn keeper_spec(ctx: &Context, program: &AgentAdapter, run: PersonaRun<'_>) -> KeeperSpec {
    let PersonaRun { agent, task, token, folder, files, env } = run;
    let config = &ctx.config;
    let dir = files.run();
    let each: [(&str, OsString); 2] = [("AXIOM_AGENT", agent.as_str().into()), ("AXIOM_WORKTREE", folder.into())];
    let own = program.env.iter().map(|(name, value)| (name.clone(), OsString::from(value)));
    let env = own.chain(each.into_iter().map(|(name, value)| (name.to_owned(), value))).chain(env).collect();
    let mut words = program.command.iter().map(OsString::from);
    KeeperSpec {
        v: VERSION,
        agent,
        task: task.clone(),
        iteration: 1,
        token,
        program: words.next().unwrap_or_default(),
        args: words.collect(),
        prompt_file: dir.join("prompt"),
        workspace: folder.to_owned(),
        log: files.log_of_lines(),
        // Nobody else starts a program there as long as the step runs, and a reader of the real lock must not take it for an agent.
        workspace_lock: dir.join("workspace.lock"),
        dir,
        state_check: SpawnIntentCheck { common_dir: ctx.repo.common_dir().to_owned(), intent_seq: None },
        grace_seconds: config.agents.grace_seconds,
        time_limit_seconds: Some(config.verify.time_limit),
        silence_limit_seconds: config.agents.silence_limit.or(program.silence_limit),
        stop_signal: program.stop_signal.into(),
        output_cap: DEFAULT_OUTPUT_CAP,
        acp: unattended(config, program),
        reading: OutputDecoding { program: program.name.clone(), rules: program.stream.clone(), tools: program.tools.clone() },
        env,
    }
}

/// Runs the program of a persona to its end. What a killed session left of an earlier run is ended first.
pub(super) fn run(job: &StepJob, work: &StepSpec, persona: &PersonaProgram, cancelled: &AtomicBool) -> Result<StepExit> {
    let PersonaProgram { spec, prompt, program, asked_for } = persona;
    work.files.as_ref().map_or(Ok(()), StepFiles::make_ready)?;
    clear(&spec.dir)?;
    files::create_dir_all(&spec.dir)?;
    files::write_atomic_unsynced(&spec.prompt_file, prompt.as_bytes())?;
    let mut spec = spec.clone();
    // The keeper of the program takes all our variables out of its environment: those by which a killed run is found go back in.
    spec.env.extend(job.env.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let path = spec.write()?;
    cut_off::begins(work);
    let words = ["keeper", "--here", "--spec"].map(OsString::from);
    let command = std::iter::once(env::own_image()?.into_os_string()).chain(words).chain([path.into()]).collect();
    let done = step::run(&job.step(work, command), cancelled)?;
    leftovers::end_marked(&job.marker)?;
    let exit = match keeper_state(&spec.dir)? {
        KeeperState::Ended(exit) => exit,
        KeeperState::Alive(record) | KeeperState::Dead(record) | KeeperState::Unproved(record) => {
            leftovers::end_leftovers(&record)?;
            let why = if cancelled.load(Ordering::Relaxed) { "it was stopped" } else { "its keeper died" };
            return Err(Error::new(Code::KeeperFailed, format!("the persona of '{}'", work.name)).why(why));
        }
        KeeperState::NotStarted | KeeperState::Starting => {
            return Err(Error::new(Code::KeeperFailed, "the keeper of a persona's program did not start").why(done.output.trim()));
        }
    };
    work.files.iter().for_each(StepFiles::ended_by_itself);
    judge(&spec, program, (&work.name, *asked_for), &exit)
}

/// What a run came to, from what its keeper recorded.
fn judge(
    spec: &KeeperSpec,
    program: &AgentAdapter,
    (step, asked_for): (&str, OneOffRunPurpose),
    exit: &ExitRecord,
) -> Result<StepExit> {
    let (told, said) = heard(&spec.dir)?;
    let said = said.or_else(|| exit.markers.last().cloned());
    let end = run_end::of(exit);
    let outcome = by_output(classify(&end, said.as_ref(), program.exit_completes), &end, &told, IterationBranchChange::Unchanged);
    let failure = validator::verdict(step, asked_for, &outcome, matches!(end, AgentProgramEnd::CannotStart(_)))?;
    let lines = || logs::last_lines(&spec.log, Timestamp::UNIX_EPOCH, LINES).unwrap_or_default().join("\n");
    let output = validator::words(&outcome).map(str::to_owned).or_else(|| told.last_text.clone()).unwrap_or_else(lines);
    let used = used_of(&told, program, matches!(end, AgentProgramEnd::OverLimit(_)));
    Ok(StepExit { failure, output, exit: exit.code, used: Some(used) })
}

/// Ends what is left of an earlier run in this folder, and removes its files.
fn clear(dir: &Path) -> Result<()> {
    if !dir.is_dir() {
        return Ok(());
    }
    leftovers::end_forsaken(dir)?;
    let names = [spec::SPEC, spec::KEEPER, spec::EXIT, spec::SIGNALS, spec::TAIL, "prompt", cut_off::NOTE];
    names.iter().map(|name| dir.join(name)).try_for_each(|path: PathBuf| files::remove_file(&path))
}
