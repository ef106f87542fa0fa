//! Starting a keeper: its environment variables and limits.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::prompting::prompt_of;
use super::resuming::session_to_resume;
use super::workplace::{NextIteration, WorkspaceAtPrompt, was_used, workplace};
use crate::crashed_tasks::earlier_attempts;
use crate::crashed_tasks::earlier_attempts::EarlierAttemptsReport;
use crate::supervise::core::task_memory::TaskMemory;
use crate::supervise::setup::SessionSetup;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::agent::adapter::AgentProtocol;
use axiom_model::work::endings::resuming;
use axiom_model::work::tasks::task::Task;
use axiom_process::client::launch;
use axiom_process::run_folder::record_files::VERSION;
use axiom_process::run_folder::spec::{DEFAULT_OUTPUT_CAP, KeeperSpec, OutputDecoding, SpawnIntentCheck};
use axiom_safety::context::handle::Context;
use axiom_safety::running::acp_settings::acp_settings;

/// An iteration whose keeper can be started.
#[derive(Debug)]
pub(crate) struct PreparedIteration {
    /// The path of the keeper's specification.
    pub spec: PathBuf,
    /// The session of the program that it goes on with.
    pub resumes: Option<String>,
}

/// Writes what the keeper of an iteration needs. Repeating it with the same token
/// replaces what it wrote. A crash leaves a folder of a run that never began.
pub(crate) fn prepare_keeper(
    ctx: &Context,
    setup: &SessionSetup,
    tasks: &TaskMemory,
    next: &NextIteration<'_>,
) -> Result<PreparedIteration> {
    let NextIteration { agent, task, token, workspace, .. } = *next;
    let dir = ctx.layout().agents().run(agent, token);
    files::create_dir_all(&dir)?;
    let prompt_file = dir.join("prompt");
    let place = if was_used(ctx, task) { workplace(ctx, workspace)? } else { WorkspaceAtPrompt::default() };
    let found = session_to_resume(ctx, setup, task, workspace, &place);
    let told = told_of_attempts(ctx, task, &place)?;
    let prompt = prompt_of(ctx, setup, tasks, next, &place, found.as_ref(), told.as_ref())?;
    // Read by the keeper alone, as soon as it starts.
    files::write_atomic_unsynced(&prompt_file, prompt.as_bytes())?;
    let log = ctx.layout().agents().log(agent, &task.id);
    if let Some(folder) = log.parent() {
        files::create_dir_all(folder)?;
    }
    let resumes = found.and_then(std::result::Result::ok);
    let recovery = told.map(|told| recovery_file(&told, &dir)).transpose()?;
    let spec =
        keeper_spec(ctx, setup, next, IterationStartFiles { dir, prompt_file, log, recovery }, resumes.as_deref())?.write()?;
    env::fault_point("iterate.spec-written");
    Ok(PreparedIteration { spec, resumes })
}

/// What is told of the attempts before, where that is wanted.
fn told_of_attempts(ctx: &Context, task: &Task, place: &WorkspaceAtPrompt) -> Result<Option<EarlierAttemptsReport>> {
    if !ctx.config.recovery.inject_audit_log {
        return Ok(None);
    }
    let has_changes = place.changes.as_ref().map(|changes| !changes.is_empty());
    earlier_attempts::attempts(ctx, &task.id, has_changes)
}

fn keeper_spec(
    ctx: &Context,
    setup: &SessionSetup,
    next: &NextIteration<'_>,
    files: IterationStartFiles,
    resumes: Option<&str>,
) -> Result<KeeperSpec> {
    let NextIteration { agent, task, workspace, iteration, token } = *next;
    let program = setup.options.programs.of(task);
    let config = &ctx.config.agents;
    let variables: [(&str, OsString); 7] = [
        ("AXIOM_TASK_ID", task.id.to_string().into()),
        ("AXIOM_AGENT", agent.to_string().into()),
        ("AXIOM_ITERATION", iteration.to_string().into()),
        ("AXIOM_MAX_ITERATIONS", setup.options.max_iterations.to_string().into()),
        ("AXIOM_WORKTREE", workspace.path.clone().into()),
        ("AXIOM_BRANCH", workspace.branch.short_in_git().into_owned()),
        ("AXIOM_TARGET", setup.target()?.short_in_git().into_owned()),
    ];
    let recovery = files.recovery.map(|path| ("AXIOM_RECOVERY_CONTEXT".to_owned(), path.into_os_string()));
    let own = program.env.iter().map(|(name, value)| (name.clone(), OsString::from(value)));
    let rules = ctx.state().record.tasks.get(&task.id).map_or(&[][..], |record| record.permissions.as_slice());
    let by_command = resumes.filter(|_| program.protocol == AgentProtocol::Lines);
    let command = by_command.map_or_else(|| program.command.clone(), |id| resuming::command(program, id));
    let mut words = command.into_iter().map(OsString::from);
    Ok(KeeperSpec {
        v: VERSION,
        agent: agent.clone(),
        task: task.id.clone(),
        iteration: u64::from(iteration),
        token: token.clone(),
        dir: files.dir,
        program: words.next().unwrap_or_default(),
        args: words.collect(),
        prompt_file: files.prompt_file,
        workspace: PathBuf::from(&workspace.path),
        log: files.log,
        workspace_lock: ctx.layout().locks().workspace(&task.id),
        state_check: SpawnIntentCheck { common_dir: ctx.repo.common_dir().to_owned(), intent_seq: None },
        grace_seconds: config.grace_seconds,
        time_limit_seconds: config.time_limit,
        silence_limit_seconds: config.silence_limit.or(program.silence_limit),
        stop_signal: program.stop_signal.into(),
        output_cap: DEFAULT_OUTPUT_CAP,
        acp: acp_settings(&ctx.config, program, resumes, rules),
        reading: OutputDecoding { program: program.name.clone(), rules: program.stream.clone(), tools: program.tools.clone() },
        env: own.chain(variables.into_iter().map(|(name, value)| (name.to_owned(), value))).chain(recovery).collect(),
    })
}

/// Starts the keeper of an iteration whose intent is on disk.
pub(crate) fn start_keeper(spec: &Path) -> Result<()> {
    launch::start_keeper(&env::own_image()?, spec)
}

/// The file with what is known of the attempts before.
fn recovery_file(told: &EarlierAttemptsReport, dir: &Path) -> Result<PathBuf> {
    let path = dir.join("recovery.json");
    let mut json = serde_json::to_vec(&told.context).map_err(|e| Error::new(Code::Internal, "no JSON of attempts").because(e))?;
    json.push(b'\n');
    files::write_atomic(&path, &json)?;
    Ok(path)
}

struct IterationStartFiles {
    dir: PathBuf,
    prompt_file: PathBuf,
    log: PathBuf,
    recovery: Option<PathBuf>,
}
