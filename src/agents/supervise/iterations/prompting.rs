//! The prompt of an iteration: gathers what is known and what is in the workspace, now, so that it is up to date.

use super::workplace::{NextIteration, WorkspaceAtPrompt, was_used};
use crate::crashed_tasks::earlier_attempts::EarlierAttemptsReport;
use crate::merge;
use crate::supervise::core::task_memory::TaskMemory;
use crate::supervise::setup::SessionSetup;
use axiom_base::error::{Code, Error, Result};
use axiom_model::agent::adapter::AdapterPromptKind;
use axiom_model::base::ids::TaskId;
use axiom_model::prompt;
use axiom_model::prompt::{
    BranchCommit, MOST_COMMITS, PromptAnswers, PromptHistory, PromptReadyPoints, PromptWorkspaceState, context,
};
use axiom_model::queries::needs;
use axiom_model::state::current_state::State;
use axiom_model::work::agent::Workspace;
use axiom_model::work::endings::resuming::FreshStartReason;
use axiom_model::work::tasks::learnings::for_prompt;
use axiom_model::work::tasks::task::{NeededReadyPoint, Task};
use axiom_model::work::verifying::verification::VerifyStepResult;
use axiom_safety::context::handle::Context;
use axiom_safety::history::task_texts;

/// What the program of an iteration gets.
pub(crate) fn prompt_of(
    ctx: &Context,
    setup: &SessionSetup,
    tasks: &TaskMemory,
    next: &NextIteration<'_>,
    place: &WorkspaceAtPrompt,
    resumes: Option<&std::result::Result<String, FreshStartReason>>,
    told: Option<&EarlierAttemptsReport>,
) -> Result<String> {
    let NextIteration { task, workspace, iteration, token, .. } = *next;
    let body = task_texts::body_of(&ctx.repo, task)?;
    match setup.options.programs.of(task).prompt {
        AdapterPromptKind::Script if body.trim().is_empty() => Err(Error::new(
            Code::InvalidInput,
            format!("'{}' has no body, and the preset 'shell' runs the body as a script", task.id),
        )),
        AdapterPromptKind::Script => Ok(body),
        AdapterPromptKind::Prompt => {
            let history = PromptHistory {
                resumes: matches!(resumes, Some(Ok(_))),
                anew: resumes.and_then(|found| found.as_ref().err().copied()),
                ..history_of(ctx, setup, tasks, task, (place, told))?
            };
            let found = found_in_workspace(ctx, task, workspace, place, &history)?;
            let parts = prompt::PromptContents {
                task,
                body: &body,
                parents: &task_texts::parents_of(&ctx.repo, ctx.state(), task)?,
                token,
                iteration,
                max_iterations: setup.options.max_iterations,
                branch: workspace.branch.short(),
                target: setup.target()?.short(),
                persona: persona_prompt(ctx, task),
                merge_verify: &ctx.config.merge.verify,
                history: &history,
                found: &found,
            };
            prompt::prompt(ctx.config.agents.prompt_template.as_deref(), &parts)
        }
    }
}

fn history_of(
    ctx: &Context,
    setup: &SessionSetup,
    tasks: &TaskMemory,
    task: &Task,
    (place, told): (&WorkspaceAtPrompt, Option<&EarlierAttemptsReport>),
) -> Result<PromptHistory> {
    let state = ctx.state();
    let record = state.record.tasks.get(&task.id).cloned().unwrap_or_default();
    let awaited = needs::awaited(state, &task.id).into_iter().map(|(name, tasks)| format!("{name} (for {})", ids(&tasks)));
    let awaited = awaited.collect();
    let not_ready = needs::open(state, task).map(ToString::to_string).collect();
    let ready = task.needs.iter().filter_map(|need| Some(ready_words(state, need, &needs::ready(state, need)?.text))).collect();
    let reports = state.reports(&task.id).cloned();
    let learnings = for_prompt(&state.record.learnings, task);
    let notes = tasks.notes.get(&task.id);
    let last_run = record.last_run.map(|run| *run);
    let details = notes.and_then(|notes| notes.verification.clone());
    // After a crash: what the log has of it.
    let summary = || {
        let failed = last_run.as_ref().and_then(|run| run.failed_verify.clone())?;
        let step = record.verified.iter().find(|kept| kept.result.failure.is_some()).map(|kept| &kept.result);
        Some(with_last_lines(failed, step))
    };
    let of_merge = record.merge_verified.as_ref().and_then(|verification| {
        let failed = format!("The result of its merge did not pass: {}", verification.summary()?);
        Some(with_last_lines(failed, verification.failed()))
    });
    let last_is_new = record.answer.is_some();
    // What is given back is there.
    let workspace = state.restorable.workspaces.get(&task.id);
    let tip = workspace.map(|workspace| ctx.repo.refs().read_ref(&workspace.branch)).transpose()?.flatten();
    let has_no_commit = workspace.is_none_or(|workspace| tip.as_ref().is_none_or(|tip| *tip == workspace.base));
    // A rollback brings uncommitted work back too. What cannot be listed may be there.
    let is_fresh = has_no_commit && place.changes.as_ref().is_some_and(Vec::is_empty);
    let begins_anew = (was_used(ctx, task) && last_run.is_none() && is_fresh)
        .then(|| context::begins_anew(record.recovery.as_deref().map(|decided| &decided.decision)));
    Ok(PromptHistory {
        verification: details.or_else(summary).into_iter().chain(of_merge).collect(),
        notes: conflict_of(ctx, setup, task)?.into_iter().chain(notes.iter().flat_map(|notes| notes.others.clone())).collect(),
        last_run,
        ready_points: PromptReadyPoints { ready, not_ready, awaited },
        reports,
        attempts: told.map(|told| told.for_prompt.clone()).unwrap_or_default(),
        answers: PromptAnswers { all: record.answered.into_iter().chain(record.answer).collect(), last_is_new },
        begins_anew,
        edited: record.edited.into_iter().collect(),
        learnings,
        ..PromptHistory::default()
    })
}

/// What the configuration says to agents of the task's persona.
fn persona_prompt<'c>(ctx: &'c Context, task: &Task) -> Option<&'c str> {
    ctx.config.personas.get(task.persona.as_ref()?)?.prompt.as_deref()
}

/// What is in the workspace. A new one has nothing to tell.
fn found_in_workspace(
    ctx: &Context,
    task: &Task,
    workspace: &Workspace,
    place: &WorkspaceAtPrompt,
    history: &PromptHistory,
) -> Result<PromptWorkspaceState> {
    let tip = ctx.repo.refs().read_ref(&workspace.branch)?;
    let was_used = was_used(ctx, task);
    let Some(tip) = tip.filter(|tip| was_used || *tip != workspace.base) else { return Ok(PromptWorkspaceState::default()) };
    let log = ctx.repo.history().log(&tip, std::slice::from_ref(&workspace.base), MOST_COMMITS + 1)?;
    let has_last = match &history.last_run {
        Some(last) => last.to == tip || ctx.repo.history().is_ancestor(&last.to, &tip).unwrap_or(false),
        None => true,
    };
    let changes = place.changes.clone().unwrap_or_default();
    let commits = log.into_iter().map(|commit| BranchCommit { oid: commit.oid, subject: commit.subject }).collect();
    Ok(PromptWorkspaceState { commits, changes, has_last })
}

/// The conflict that the agent is to settle, as long as its branch does not have that commit of the target.
fn conflict_of(ctx: &Context, setup: &SessionSetup, task: &Task) -> Result<Option<String>> {
    let Ok(target) = setup.target() else { return Ok(None) };
    let Some((conflict, _)) = merge::merge_in_workspace::to_settle(ctx, &task.id, target)? else {
        let half = merge::merge_in_workspace::half_settled(ctx, &task.id)?;
        return Ok(half.map(|conflict| conflict.merged_in_words(target.short())));
    };
    let open = merge::merge_in_workspace::open_files(ctx, &task.id)?;
    Ok(Some(conflict.in_words(target.short(), open.as_deref())))
}

/// What failed, with the last lines of the step's output where there are any.
fn with_last_lines(failed: String, step: Option<&VerifyStepResult>) -> String {
    match step.map(|step| step.lines.join("\n")).filter(|lines| !lines.is_empty()) {
        Some(lines) => format!("{failed}. Its last lines:\n\n```\n{lines}\n```"),
        None => failed,
    }
}

fn ids(tasks: &[&TaskId]) -> String {
    tasks.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", ")
}

/// What an agent said of something that is ready, and where its work is.
fn ready_words(state: &State, need: &NeededReadyPoint, text: &str) -> String {
    let is_merged = state.restorable.tasks.get(&need.task).is_some_and(Task::is_settled);
    match state.restorable.workspaces.get(&need.task).filter(|_| !is_merged) {
        Some(workspace) => {
            format!("{need}: {text}\n(not merged yet; what is committed is on the branch `{}`)", workspace.branch.short())
        }
        None => format!("{need}: {text}"),
    }
}
