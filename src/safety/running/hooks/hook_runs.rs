//! How hooks are run: where, with which environment and input; and what is recorded of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::context::approved_hooks::DEPTH;
use crate::context::handle::Context;
use crate::folders::workspaces;
use crate::folders::workspaces::WorkspaceCondition;
use crate::project_hooks::approved_tree::ApprovedTree;
use crate::project_hooks::selection::ProjectHook;
use crate::running::steps::{EndedStepReport, RunningStepJob, StepCommand, StepProgram, StepSpec};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::document_schema::SCHEMA;
use axiom_model::hook::facts::HookFacts;
use axiom_model::state::event::Event;
use axiom_model::work::agent::Workspace;
use axiom_model::work::hooks::hook_event::{HookPower, HookVariable};
use axiom_model::work::hooks::hook_run::HookRun;
use axiom_model::work::sessions::supervisor_activity::{SupervisorActivity, SupervisorActivityKind};
use axiom_model::work::verifying::verification::{VerifyChecker, last_lines};

/// The variable of a trial.
const TRIAL: &str = "AXIOM_TRIAL";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookRunInput<'a> {
    schema: u32,
    #[serde(flatten)]
    facts: &'a HookFacts,
    hook: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    main_worktree: Option<&'a str>,
}

/// Which of the hooks that are told or asked this runs, for people who look.
pub fn doing(facts: &HookFacts, running: &RunningStepJob) -> Option<SupervisorActivity> {
    let now = running.now()?;
    let (what, name) = match facts.event.power() {
        HookPower::Veto => (SupervisorActivityKind::AsksHook, now.name),
        HookPower::Report => (SupervisorActivityKind::TellsHook, format!("{} ({})", facts.event, now.name)),
    };
    let about = SupervisorActivity { task_id: facts.task_id.clone(), ..SupervisorActivity::of_session(what, now.since) };
    Some(about.step(&name, (now.place, now.of), now.limit))
}

/// The steps that run these hooks of one event: in the workspace of its task where there is one, else in the main worktree, else
/// where the caller is.
pub fn of(ctx: &Context, (hooks, tree): (&[ProjectHook], &Arc<ApprovedTree>), facts: &HookFacts) -> Result<Vec<StepSpec>> {
    let main = ctx.repo.worktrees().main_worktree().ok().map(|main| main.path().to_owned());
    let workspace = workspace_of(ctx, facts)?;
    let folder = match workspace.clone().into_iter().chain(main.clone()).find(|folder| folder.is_dir()) {
        Some(folder) => folder,
        None => env::current_dir()?,
    };
    let worktree = workspace.and(facts.worktree.clone());
    let facts = HookFacts { worktree, ..facts.clone() };
    hooks.iter().map(|hook| one(ctx, (hook, tree), &facts, (&folder, main.as_deref()))).collect()
}

/// The workspace of the task, if it is there and ours: an agent may have put another repository in its place, and git would obey
/// that one's configuration, or show its history to a hook that decides.
fn workspace_of(ctx: &Context, facts: &HookFacts) -> Result<Option<PathBuf>> {
    let Some(task) = &facts.task_id else { return Ok(None) };
    let Some(workspace) = ctx.state().restorable.workspaces.get(task) else { return Ok(None) };
    if !Path::new(&workspace.path).is_dir() {
        return Ok(None);
    }
    match (workspaces::condition(ctx, workspace)?, facts.event.power()) {
        (WorkspaceCondition::Sound, _) => Ok(Some(PathBuf::from(&workspace.path))),
        (WorkspaceCondition::Mendable | WorkspaceCondition::ForAHuman(_), HookPower::Report) => Ok(None),
        (WorkspaceCondition::Mendable | WorkspaceCondition::ForAHuman(_), HookPower::Veto) => Err(not_ours(workspace)),
    }
}

fn not_ours(workspace: &Workspace) -> Error {
    let what = format!("hooks are not asked in '{}': its .git is not that of this repository", workspace.path);
    Error::new(Code::WorkspaceNotOurs, what).hint("move that .git away, then: git axiom recover --yes")
}

fn one(
    ctx: &Context,
    (hook, tree): (&ProjectHook, &Arc<ApprovedTree>),
    facts: &HookFacts,
    (folder, main): (&Path, Option<&Path>),
) -> Result<StepSpec> {
    let input = HookRunInput { schema: SCHEMA, facts, hook: hook.place.to_string(), main_worktree: main.and_then(Path::to_str) };
    let json = serde_json::to_string(&input).map_err(|e| Error::new(Code::Internal, "a hook's input is no JSON").because(e))?;
    let mut env: Vec<(&'static str, OsString)> = vec![
        ("AXIOM_EVENT", facts.event.as_str().into()),
        ("AXIOM_HOOK_DIR", tree.hook_dir(hook.place.origin).into()),
        (DEPTH, ctx.hooks.depth_below().to_string().into()),
    ];
    env.extend(facts.variables().map(|(name, value)| (name, OsString::from(value))));
    env.extend(facts.trial.then(|| (TRIAL, OsString::from("1"))));
    // What Python writes beside a script would be there for the next run, which nobody approved.
    env.push(("PYTHONDONTWRITEBYTECODE", "1".into()));
    // git does not look for a repository above the folder.
    env.extend(folder.parent().map(|above| ("GIT_CEILING_DIRECTORIES", above.into())));
    let is = match hook.problem {
        Some(problem) => StepCommand::Nothing(problem.to_owned()),
        None => StepCommand::Approved(Arc::clone(tree), hook.place.clone()),
    };
    Ok(StepSpec {
        name: hook.place.to_string(),
        by: VerifyChecker::Hook,
        program: StepProgram { wrapper: ctx.config.hooks.wrapper.clone(), is },
        folder: folder.to_owned(),
        env,
        // A caller's own, of other events, would mislead.
        without: HookVariable::ALL.iter().map(|variable| variable.name()).chain([TRIAL]).collect(),
        stdin: format!("{json}\n"),
        limit: Duration::from_secs(ctx.config.hooks.timeout),
        files: None,
    })
}

/// The records of hooks that ran for an event.
pub fn records(facts: &HookFacts, ran: &[EndedStepReport]) -> Vec<HookRun> {
    let hooks = ran.iter().filter(|ran| ran.result.by == VerifyChecker::Hook);
    hooks
        .map(|EndedStepReport { result, took, output }| HookRun {
            event: facts.event,
            hook: result.command.clone(),
            task: facts.task_id.clone(),
            took_ms: u64::try_from(took.as_millis()).ok(),
            at: None,
            failure: result.failure.clone(),
            lines: last_lines(output),
            trial: facts.trial,
        })
        .collect()
}

/// Records runs of hooks, all in one line of the log's transaction.
pub fn record(ctx: &mut Context, runs: &[HookRun]) -> Result<()> {
    let events = runs.iter().map(|run| Event::HookRan { run: Box::new(run.clone()) }).collect();
    ctx.append_with(|_| Ok(events)).map(drop)
}
