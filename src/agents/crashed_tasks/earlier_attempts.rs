//! What is told of the attempts at a task before the next one: gathered for `task show`, for prompts and for the file that
//! `AXIOM_RECOVERY_CONTEXT` names.

use jiff::Timestamp;

use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::prompt::context::{RecoveryContext, RecoveryContextFacts, how_cut_off};
use axiom_model::prompt::{CutOffAttempts, context};
use axiom_model::work::tasks::wip;
use axiom_safety::context::handle::Context;
use axiom_safety::history;
use axiom_safety::running::output::{last, logs};

/// How many commits are searched for the last one of each kind.
const MOST_COMMITS: usize = 30;
/// How many of the last lines of a program's output are told.
const MOST_LINES: usize = 10;

/// What is told.
#[derive(Debug, Clone)]
pub struct EarlierAttemptsReport {
    /// As JSON has it.
    pub context: RecoveryContext,
    /// As a prompt has it.
    pub for_prompt: CutOffAttempts,
}

/// What is told of the attempts at a task; `None` where none was cut off.
pub fn attempts(ctx: &Context, task: &TaskId, has_changes: Option<bool>) -> Result<Option<EarlierAttemptsReport>> {
    let state = ctx.state();
    let Some(record) = state.record.tasks.get(task) else { return Ok(None) };
    let last = record.last_run.as_deref();
    let Some(how) = how_cut_off(record.retry_count, last) else { return Ok(None) };
    let entries = history::newest_of(ctx, task, context::are_enough)?;
    let known = RecoveryContextFacts {
        retries: record.retry_count,
        entries: &entries,
        last,
        has_changes,
        verified: &record.verified,
        tests_pass: state.reports(task).and_then(|reports| reports.verified),
        decision: record.recovery.as_deref().map(|decided| &decided.decision),
        // A commit that the machine lost is none to tell, and no reason to fail.
        commits: newest_commits(ctx, task).unwrap_or_default(),
        printed: printed(ctx, task, context::started(&entries)),
    };
    let audit = context::last_attempt(&known);
    Ok(context::context(&known).map(|context| EarlierAttemptsReport {
        for_prompt: CutOffAttempts { count: context.previous_attempts, how: Some(how), audit },
        context,
    }))
}

/// What the agent of a task did last, where its program tells no markers: the last line that it printed, else what it reported.
pub fn last_action(ctx: &Context, task: &TaskId) -> Option<String> {
    let entries = history::newest_of(ctx, task, |entries| context::started(entries).is_some()).ok()?;
    let line = printed(ctx, task, context::started(&entries)).pop();
    line.or_else(|| context::last_report(&entries))
}

/// The newest commit of an agent on the task's branch, and the newest one of what was left uncommitted.
fn newest_commits(ctx: &Context, task: &TaskId) -> Result<Vec<(&'static str, String)>> {
    let Some(workspace) = ctx.state().restorable.workspaces.get(task) else { return Ok(Vec::new()) };
    let Some(tip) = ctx.repo.refs().read_ref(&workspace.branch)? else { return Ok(Vec::new()) };
    let (history, base) = (ctx.repo.history(), std::slice::from_ref(&workspace.base));
    let log = history.newest(&tip, base, MOST_COMMITS)?;
    let newest = |is_left: bool| log.iter().find(|commit| wip::is_wip(&commit.subject) == is_left);
    let found = [("Last commit", newest(false)), ("Committed of what was left", newest(true))];
    let words = found.into_iter().filter_map(|(what, commit)| commit.map(|commit| (what, commit)));
    Ok(words.map(|(what, commit)| (what, format!("{} \"{}\"", commit.oid.short(), commit.subject))).collect())
}

/// The last lines that the last program printed for the task. A log that cannot be read tells nothing.
fn printed(ctx: &Context, task: &TaskId, since: Option<Timestamp>) -> Vec<String> {
    let newest = logs::logs(ctx, task).pop();
    let read = newest.zip(since).and_then(|(path, since)| last::last_lines(&path, &ctx.config, MOST_LINES, since).ok());
    read.unwrap_or_default()
}
