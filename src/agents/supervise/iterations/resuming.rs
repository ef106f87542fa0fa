//! Going on with a program's own session: with which one, and what a run leaves of it. The rules are in `model::work::endings::resuming`.

use super::workplace::WorkspaceAtPrompt;
use crate::supervise::setup::SessionSetup;
use crate::tasks::usage::counted_before;
use axiom_model::agent::stream::stream_event::TokenUsage;
use axiom_model::agent::stream::summary::{StreamSummary, since};
use axiom_model::base::ids::TaskId;
use axiom_model::work::agent::{AgentWork, Workspace};
use axiom_model::work::endings::last_run::LastIteration;
use axiom_model::work::endings::outcome::AgentProgramEnd;
use axiom_model::work::endings::resuming;
use axiom_model::work::endings::resuming::{FreshStartReason, NextIterationStart};
use axiom_model::work::iteration::{IterationOutcome, ProgramSession, ResumedRunResult};
use axiom_model::work::tasks::task::Task;
use axiom_safety::context::handle::Context;

/// The session to go on with.
pub(crate) fn session_to_resume(
    ctx: &Context,
    setup: &SessionSetup,
    task: &Task,
    workspace: &Workspace,
    place: &WorkspaceAtPrompt,
) -> Option<std::result::Result<String, FreshStartReason>> {
    let now = NextIterationStart {
        program: setup.options.programs.of(task),
        path: &workspace.path,
        head: place.head.as_ref(),
        changes: place.changes.as_deref(),
    };
    resuming::session(last_run_of(ctx, &task.id), now).map(|found| found.map(str::to_owned))
}

fn last_run_of<'c>(ctx: &'c Context, task: &TaskId) -> Option<&'c LastIteration> {
    ctx.state().record.tasks.get(task)?.last_run.as_deref()
}

/// How a run went that was to go on with a session, and the session as it leaves it.
pub(crate) fn session_after(
    ctx: &Context,
    work: &AgentWork,
    end: &AgentProgramEnd,
    outcome: &IterationOutcome,
    told: &StreamSummary,
    changed: bool,
) -> (Option<ResumedRunResult>, Option<Box<ProgramSession>>) {
    let resumed = work.resumes.as_ref().map(|_| resuming::how_it_went(end, outcome, told, changed));
    let Some(id) = told.session.clone().or_else(|| work.resumes.clone()) else { return (resumed, None) };
    if work.program.is_empty() {
        return (resumed, None);
    }
    let Some(workspace) = ctx.state().restorable.workspaces.get(&work.task) else { return (resumed, None) };
    let before = counted_before(ctx.state(), &work.task, resumed.is_some());
    let session = ProgramSession {
        id,
        program: work.program.clone(),
        path: workspace.path.clone(),
        usage: TokenUsage {
            input: told.usage.input.or(before.input),
            output: told.usage.output.or(before.output),
            cached: told.usage.cached.or(before.cached),
            cost_usd: told.usage.cost_usd.or(before.cost_usd),
        },
        open: resuming::was_cut_off(end, outcome, told),
    };
    (resumed, Some(Box::new(session)))
}

/// What a run counted, without what earlier runs of its session had counted.
pub(crate) fn new_usage(ctx: &Context, setup: &SessionSetup, task: &Task, total: &TokenUsage, resumed: bool) -> TokenUsage {
    since(*total, counted_before(ctx.state(), &task.id, resumed), &setup.options.programs.of(task).stream)
}
