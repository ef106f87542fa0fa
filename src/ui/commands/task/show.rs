//! `git axiom task show`.

use clap::Args;
use serde::Serialize;

use super::view::{TaskJson, joined, status_words};
use crate::cli::grid::{StyledCell, StyledGrid};
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::{visible, words};
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::look;
use crate::wording::reported;
use crate::wording::verify_steps;
use crate::wording::verify_steps::LoggedVerifyStep;
use axiom_agents::crashed_tasks::earlier_attempts;
use axiom_agents::merge::had_nothing;
use axiom_agents::merge::lost_merges::is_in_target;
use axiom_agents::supervise::keeper_now::cut_off;
use axiom_agents::task_diff;
use axiom_agents::tasks::{seen_state, usage};
use axiom_base::env;
use axiom_base::error::{Exit, Result};
use axiom_model::base::forms::natural;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::RefName;
use axiom_model::prompt::context::RecoveryContext;
use axiom_model::queries::groups::TaskGroupTree;
use axiom_model::queries::needs;
use axiom_model::queries::reported_work::ReportedWork;
use axiom_model::queries::task_standing::TaskStanding;
use axiom_model::state::current_state::State;
use axiom_model::state::task_record::TaskRecord;
use axiom_model::work::money::amounts::thousands;
use axiom_model::work::money::budget::{BudgetUsage, BudgetUsageJson};
use axiom_model::work::tasks::task::{MergedTaskWork, NeededReadyPoint, Task, TaskKind};
use axiom_safety::context::handle::Context;
use axiom_safety::history::task_texts;

/// Arguments of `task show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Its status and the reason, what it waits for, its branch and workspace, what was spent on it,
what its agents reported (phase, parts, files, libraries), how its verify steps ended, and its
body. 'git axiom task audit
ID' shows its history, 'git axiom output ID' what agents printed.")]
pub struct TaskShowArgs {
    /// The task
    id: String,
}

/// All that is known of a task.
#[derive(Serialize)]
struct TaskShowJson<'a> {
    #[serde(flatten)]
    task: TaskJson<'a>,
    /// What the agent is told.
    body: Option<&'a str>,
    branch: Option<&'a RefName>,
    workspace: Option<&'a str>,
    /// What agents reported of the work that is in its workspace or done.
    reports: Option<ReportedWork<'a>>,
    /// Its verify steps, and those of its merge that were run or are left.
    verification: Vec<LoggedVerifyStep<'a>>,
    /// How the limits stand: its own, and else those that the newest session has for each task.
    used: Vec<BudgetUsageJson>,
    /// The attempts before, where a crash or a human ended the last one, or a crash one before.
    #[serde(rename = "recoveryContext")]
    recovery_context: Option<RecoveryContext>,
}

/// Shows a task.
pub fn run(args: &TaskShowArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let id = TaskId::new(args.id.as_str())?;
    let ctx = look(global, screen)?;
    let seen = seen_state::with_what_runs(&ctx, env::now())?;
    let state = &*seen;
    let task = state.task(&id)?;
    let body = task.body.as_ref().map(|text| task_texts::load(&ctx.repo, text)).transpose()?;
    let groups = TaskGroupTree::with_cut_off(state, cut_off(&ctx)?);
    let used = usage::used_of(&ctx, task, env::now());
    let workspace = state.restorable.workspaces.get(&id);
    let branch = seen_state::branch_of(&ctx, &id)?;
    let answer = TaskShowJson {
        task: TaskJson::of(&groups, task),
        body: body.as_deref(),
        branch: branch.as_ref(),
        workspace: workspace.map(|workspace| workspace.path.as_str()),
        reports: state.reports(&id).map(ReportedWork::of),
        verification: verify_steps::of(&ctx, task),
        used: used.iter().map(BudgetUsageJson::from).collect(),
        recovery_context: if screen.wants_json() {
            earlier_attempts::attempts(&ctx, &id, None)?.map(|told| told.context)
        } else {
            None
        },
    };
    let merged = || task.merged.as_ref().map(|merged| merged_words(&ctx, &id, merged));
    screen.answer(&answer, || {
        in_words(&groups, task, (merged(), branch.as_ref()), (&answer.verification, &used))
            + told_and_looks(state, task, body.as_deref(), task_diff::has_work(&ctx, &id))
    })?;
    Ok(Exit::Done)
}

fn in_words<'a>(
    groups: &TaskGroupTree<'a>,
    task: &'a Task,
    (merged, branch): (Option<(String, bool)>, Option<&RefName>),
    (verification, used): (&[LoggedVerifyStep<'_>], &[BudgetUsage]),
) -> StyledText {
    let state = groups.state();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |name: &str, value: String| rows.push(vec![format!("{name}:"), value]);
    let is_lost = merged.as_ref().is_some_and(|(_, is_there)| !is_there);
    row("status", status_words(groups, task, is_lost));
    if let Some(reason) = &task.reason {
        row("reason", reason.clone());
    }
    if task.kind != TaskKind::Task {
        row("kind", task.kind.to_string());
    }
    row("progress", format!("{}%", groups.progress(task)));
    if let Some(parent) = &task.parent {
        row("part of", parent.to_string());
    }
    let parts = natural::sorted(groups.parts(&task.id).iter().map(|part| part.id.clone()), TaskId::as_str);
    if !parts.is_empty() {
        row("parts", joined(&parts, ""));
    }
    if !task.after.is_empty() {
        row("after", joined(&task.after, ""));
    }
    for words in needs_in_words(state, task) {
        row("needs", words);
    }
    let waits: Vec<TaskId> = groups.waits_for(task).cloned().collect();
    if !waits.is_empty() && !task.is_settled() {
        row("waits for", joined(&waits, ""));
    }
    if let Some(persona) = &task.persona {
        row("persona", persona.clone());
    }
    rows.extend(agent_of(state, task));
    rows.extend(verification.iter().flat_map(|step| verify_steps::rows(&task.id, step)));
    let mut row = |name: &str, value: String| rows.push(vec![format!("{name}:"), value]);
    if let Some((merged, _)) = merged {
        row("merged", merged);
    }
    let workspace = state.restorable.workspaces.get(&task.id).map(|workspace| workspace.path.clone());
    let places = [("branch", branch.map(|branch| branch.short().to_owned())), ("workspace", workspace)];
    places.into_iter().filter_map(|(name, value)| Some((name, value?))).for_each(|(name, value)| row(name, value));
    if let Some(record) = state.record.tasks.get(&task.id).filter(|record| record.iterations > 0 || record.retry_count > 0) {
        rows.extend(spent(record));
    }
    rows.extend(used.iter().map(|used| vec!["budget:".to_owned(), used.in_words()]));
    let mut row = |name: &str, value: String| rows.push(vec![format!("{name}:"), value]);
    let standing = TaskStanding::of(groups, task);
    let mut time = |name: &str, at: Option<jiff::Timestamp>| {
        if let Some(at) = at {
            row(name, words::time(at));
        }
    };
    // Waiting for other tasks is in a line of its own, and has no beginning that anybody remembers.
    time("waits since", standing.waiting_since.filter(|since| *since != task.created_at));
    time("started", standing.started_at);
    time("last recorded", standing.last_checkpoint);
    if task.kind != TaskKind::Task {
        row("complete", format!("{} of {}", standing.parts.completed, standing.parts.total));
    }
    if let Some(sure) = standing.confidence {
        row("confidence", format!("{:.0}%", sure * 100.0));
    }
    row("added", words::time(task.created_at));
    if let Some(reports) = state.reports(&task.id) {
        rows.extend(reported::rows(&ReportedWork::of(reports)));
    }
    let mut text = StyledText::from(format!("{}: {}\n", task.id, visible::line(&task.title)));
    text.push_grid(facts(rows));
    text
}

/// What its agents are told, and what shows their work.
fn told_and_looks(state: &State, task: &Task, body: Option<&str>, has_work: bool) -> StyledText {
    let mut text = StyledText::new();
    if let Some(body) = body {
        // Indented, so that a line of the body cannot look like one of git axiom's own.
        text.push_str(&format!("\n  {}\n", visible::set_in(body.trim_end_matches('\n'), "  ")));
    }
    if state.record.tasks.get(&task.id).is_some_and(|record| record.iterations > 0) {
        text.push_str("\n");
        text.push_grid(StyledGrid::of(looks(&task.id).into_iter().skip(usize::from(!has_work))));
    }
    text
}

/// What else shows the work on a task.
fn looks(task: &TaskId) -> [Vec<String>; 3] {
    let row = |command: &str, shows: &str| vec![format!("git axiom {command} {task}"), shows.to_owned()];
    [row("diff", "what it changed"), row("output", "what its agents printed"), row("task audit", "its history")]
}

/// Who works on it, or did last.
fn agent_of(state: &State, task: &Task) -> Option<Vec<String>> {
    let last = state.record.tasks.get(&task.id).and_then(|record| record.last_agent.as_ref());
    let agent = state.agent_on(&task.id).map(|agent| &agent.id).or(last)?;
    Some(vec!["agent:".to_owned(), agent.to_string()])
}

/// The rows, of which the first is the status.
fn facts(rows: Vec<Vec<String>>) -> StyledGrid {
    let row = |(place, row): (usize, Vec<String>)| -> Vec<StyledCell> {
        row.into_iter().map(|cell| if place == 0 { StyledCell::status(cell) } else { cell.into() }).collect()
    };
    StyledGrid::of(rows.into_iter().enumerate().map(row)).folded()
}

/// Where its work is. A commit that is not its own says nothing about it. A human may have taken the target back by git alone.
fn merged_words(ctx: &Context, task: &TaskId, merged: &MergedTaskWork) -> (String, bool) {
    let target = merged.target.short();
    if had_nothing(ctx, task, merged) {
        return (format!("nothing to merge: {target} has all of it"), true);
    }
    let is_there = is_in_target(ctx, task, merged);
    let since = if is_there { "" } else { ", which does not have it any more" };
    (format!("{} into {target}{since}", merged.commit.short()), is_there)
}

/// What it needs of others before it begins.
fn needs_in_words(state: &State, task: &Task) -> Vec<String> {
    let words = |need: &NeededReadyPoint| {
        let is_open = needs::open(state, task).any(|open| open == need);
        let early = if task.start_early { "; begins once before it is" } else { "" };
        let words = match needs::ready(state, need) {
            Some(_) => format!("{need}, ready"),
            None if is_open => format!("{need}, not ready yet{early}"),
            None => format!("{need}, never reported; nothing waits for it any more"),
        };
        visible::line(&words).into_owned()
    };
    task.needs.iter().map(words).collect()
}

/// What was spent: tokens and cost as far as they are known.
fn spent(record: &TaskRecord) -> Vec<Vec<String>> {
    let tally = record.tally();
    let row = |name: &str, words: String, unknown: u64| {
        vec![format!("{name}:"), format!("{}{words}", if unknown > 0 { "at least " } else { "" })]
    };
    let certain = [
        vec!["iterations:".to_owned(), record.iterations.to_string()],
        vec!["retries:".to_owned(), record.retry_count.to_string()],
        row("duration", format!("{} s", record.duration_ms / 1000), tally.time_doubt),
    ];
    let tokens = tally.tokens.map(|tokens| row("tokens", thousands(tokens), tally.tokens_doubt.iterations));
    let cost = tally.cost.map(|cost| row("cost", cost.to_string(), tally.cost_doubt.iterations));
    certain.into_iter().chain(tokens).chain(cost).collect()
}
