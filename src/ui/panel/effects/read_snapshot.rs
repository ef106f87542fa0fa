//! Reads what the panel shows: from the state, which is in memory, and from locks and logs. Opens no git objects.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;

use super::recovery_and_trust::{self, PanelTrustCheck};
use crate::panel::snapshot::{
    AgentRow, AgentRowRunner, HeardOfAgent, PanelSession, PanelSnapshot, PanelTaskCounts, ShownUsage, ShownWorkspace, TaskRow,
    TaskRowStatus, WaitingRow, WaitingRowKind,
};
use crate::wording::checkpoints::size_text;
use axiom_agents::merge::lost_merges::groups_of;
use axiom_agents::supervise::status;
use axiom_agents::supervise::status::{AgentStatusJson, StatusDocument};
use axiom_agents::tasks::seen_state;
use axiom_base::error::Result;
use axiom_model::base::forms::natural;
use axiom_model::base::ids::TaskId;
use axiom_model::queries::displayed_status::DisplayedTaskStatus;
use axiom_model::queries::gate_line::OpenGateDecisionJson;
use axiom_model::queries::groups::TaskGroupTree;
use axiom_model::queries::unblocking::unblocking_power;
use axiom_model::queries::view::open_gates;
use axiom_model::state::current_state::State;
use axiom_model::work::gates::gate::{GateKind, asks_of_planner};
use axiom_model::work::sessions::supervisor_activity::SupervisorActivity;
use axiom_model::work::tasks::task::{Task, TaskStatus};
use axiom_safety::attach::sessions::attached_session::AttachedSession;
use axiom_safety::attach::{prompts, sessions};
use axiom_safety::context::handle::Context;
use axiom_safety::folders::disk_space;

/// How many prompts of a session are among the agents.
const PROMPTS: usize = 3;
/// Among so many of the newest checkpoints they are looked for.
const MOST_PROMPTS: usize = 100;

/// What is on disk. `before` is what was seen last: what depends on events alone is taken from it where none came.
pub fn seen(ctx: &Context, now: Timestamp, before: Option<PanelSnapshot>, files: &mut PanelTrustCheck) -> Result<PanelSnapshot> {
    let report = status::status(ctx, now)?;
    let state = ctx.state();
    let (tasks, gates) = match before {
        Some(PanelSnapshot { seq, tasks, waiting, .. })
            if seq == state.seq && !says_more(ctx, &report) && fits_what_is_seen(&tasks, &report) =>
        {
            (tasks, waiting.into_iter().filter(|row| matches!(row.what, WaitingRowKind::Gate(_))).collect())
        }
        Some(_) | None => {
            (tasks(seen_state::with_what_was_said(ctx)?.as_ref(), report.cut_off(), &report.lost_merges), gates(state))
        }
    };
    let waiting = recovery_and_trust::with_gates(&report.recovery, gates, files.why_not(ctx));
    let counts = counts(&report);
    let mut agents: Vec<AgentRow> = report.agents.iter().map(agent).collect();
    agents.sort_by(|one, other| natural::compare(&one.id, &other.id));
    agents.extend(attached(ctx));
    let recovery = if report.recovery.needed { report.recovery.reasons.clone() } else { Vec::new() };
    Ok(PanelSnapshot { seq: state.seq, session: session(ctx, &report), agents, tasks, waiting, recovery, counts })
}

/// Whether agents may say something of which no event tells: nobody attends to them.
fn says_more(ctx: &Context, report: &StatusDocument) -> bool {
    !report.attended && ctx.state().busy_agents().any(|agent| agent.token().is_some())
}

/// Whether these and no others were seen to be cut off, or no longer in their targets: no event tells of it.
fn fits_what_is_seen(rows: &[TaskRow], report: &StatusDocument) -> bool {
    let cut_off = report.cut_off();
    let seen = rows.iter().filter(|row| row.status.is_cut_off());
    let lost = rows.iter().filter(|row| row.status.is_lost);
    seen.clone().count() == cut_off.len()
        && seen.clone().all(|row| cut_off.contains(row.id.as_str()))
        && lost.clone().count() == report.lost_merges.len()
        && lost.clone().all(|row| report.lost_merges.iter().any(|task| task.as_str() == row.id))
}

fn session(ctx: &Context, report: &StatusDocument) -> PanelSession {
    let of = &report.session;
    PanelSession {
        now: of.state,
        supervised: report.supervisor.alive,
        mode: ctx.state().restorable.mode,
        target: of.metadata.target.as_ref().map(|name| name.short().to_owned()),
        tokens: of.tokens_used,
        cost: of.cost_usd,
        disk: free(ctx),
        last_action: of.last_action.clone(),
        doing: report.doing.iter().filter(|doing| doing.agent_id.is_none()).map(SupervisorActivity::what_in_words).collect(),
    }
}

/// The space that is left where git axiom writes, where it is least.
fn free(ctx: &Context) -> Option<String> {
    let least = disk_space::file_systems(ctx).ok()?.into_iter().map(|one| one.space.free).min()?;
    Some(format!("{} free", size_text(Some(least))))
}

fn counts(report: &StatusDocument) -> PanelTaskCounts {
    PanelTaskCounts {
        total: report.progress.total,
        merged: report.progress.merged,
        blocked: report.tasks.blocked,
        failed: report.tasks.failed,
    }
}

fn agent(view: &AgentStatusJson) -> AgentRow {
    AgentRow {
        id: view.id.clone(),
        runner: AgentRowRunner::Agent,
        state: view.state.to_owned(),
        works: view.works(),
        task: view.task_id.clone(),
        title: view.title.clone().unwrap_or_default(),
        iteration: (view.iteration, view.max_iterations),
        since: view.claimed_at,
        until: view.worked_until,
        used: ShownUsage { tokens: view.tokens_used, cost: view.cost_usd, budget: view.budget.clone() },
        heard: HeardOfAgent {
            at: view.last_activity,
            doing: view.doing.clone().or_else(|| view.last_line.clone()),
            phase: view.phase.clone(),
            progress: view.progress,
        },
        workspace: ShownWorkspace { path: view.workspace.clone(), lines: view.insertions.zip(view.deletions) },
    }
}

/// The agents that humans run, each with its newest prompts.
fn attached(ctx: &Context) -> Vec<AgentRow> {
    let alive: Vec<_> = sessions::list(ctx).into_iter().filter(AttachedSession::is_alive).collect();
    if alive.is_empty() {
        return Vec::new();
    }
    let prompts = prompts::newest(ctx, MOST_PROMPTS).unwrap_or_default();
    alive
        .into_iter()
        .flat_map(|one| {
            let own = prompts.iter().filter(|prompt| prompt.session == one.id).take(PROMPTS).map(prompt).collect::<Vec<_>>();
            std::iter::once(session_row(one)).chain(own)
        })
        .collect()
}

fn session_row(one: AttachedSession) -> AgentRow {
    let short: String = one.id.chars().take(6).collect();
    let prompts = crate::cli::words::count(one.prompts, "prompt");
    let state = if one.unprotected.is_some() { "UNPROTECTED" } else { "attached" };
    AgentRow {
        state: state.to_owned(),
        title: format!("{prompts} in {}", one.worktree),
        since: Some(one.since),
        heard: HeardOfAgent {
            at: Some(one.last_activity),
            doing: Some(format!("{prompts} in {}", one.worktree)),
            ..HeardOfAgent::default()
        },
        workspace: ShownWorkspace { path: Some(one.worktree), lines: None },
        ..nobody(
            format!("{}-{short}", one.agent.as_deref().unwrap_or(one.program.title()).to_lowercase().replace(' ', "-")),
            AgentRowRunner::Human { unprotected: one.unprotected },
        )
    }
}

/// A prompt below its session: what it was, and how long ago.
fn prompt(one: &prompts::PromptHeader) -> AgentRow {
    let text = one.text.clone().unwrap_or_else(|| "its first line is not kept".to_owned());
    AgentRow {
        state: "prompt".to_owned(),
        title: text.clone(),
        since: Some(one.at),
        heard: HeardOfAgent { doing: Some(text), ..HeardOfAgent::default() },
        ..nobody(format!("  {}", one.number), AgentRowRunner::Prompt { checkpoint: one.checkpoint.clone() })
    }
}

/// A row of which nothing more is known.
fn nobody(id: String, runner: AgentRowRunner) -> AgentRow {
    AgentRow {
        id,
        runner,
        state: String::new(),
        works: false,
        task: None,
        title: String::new(),
        iteration: (0, None),
        since: None,
        until: None,
        used: ShownUsage::default(),
        heard: HeardOfAgent::default(),
        workspace: ShownWorkspace::default(),
    }
}

/// The tasks as a tree: each after the group that it is a part of, in the order of their names.
fn tasks(state: &State, cut_off: HashSet<TaskId>, lost: &[TaskId]) -> Vec<TaskRow> {
    let groups = TaskGroupTree::with_cut_off(state, cut_off);
    let open_groups = groups_of(state, lost);
    let power = unblocking_power(state);
    let open = state.restorable.tasks.values().filter(|task| task.status != TaskStatus::Archived);
    let cases: Vec<&Task> = natural::sorted(open, |task| task.id.as_str());
    let known: HashMap<&TaskId, &Task> = cases.iter().map(|task| (&task.id, *task)).collect();
    let agents: HashMap<&TaskId, String> =
        state.busy_agents().filter_map(|agent| agent.work.as_ref().map(|work| (&work.task, agent.id.to_string()))).collect();
    let mut parts: BTreeMap<Option<&TaskId>, Vec<&Task>> = BTreeMap::new();
    for task in &cases {
        let parent = task.parent.as_ref().filter(|parent| known.contains_key(parent));
        parts.entry(parent).or_default().push(task);
    }
    let row = |task: &Task, depth: usize| TaskRow {
        id: task.id.to_string(),
        title: task.title.clone(),
        kind: task.kind,
        depth,
        status: TaskRowStatus {
            stored: task.status,
            shown: DisplayedTaskStatus::of(&groups, task).unless_lost(open_groups.contains(&task.id)),
            merged: task.merged.is_some() && task.status == TaskStatus::Done && !lost.contains(&task.id),
            is_lost: lost.contains(&task.id),
        },
        progress: groups.progress(task),
        after: task.after.iter().map(ToString::to_string).collect(),
        unblocks: power.get(&task.id).copied().filter(|_| !groups.is_in_target(&task.id)).unwrap_or(0),
        agent: agents.get(&task.id).cloned(),
        reason: task.reason.clone(),
        workspace: state.restorable.workspaces.get(&task.id).map(|workspace| workspace.path.clone()),
    };
    let mut rows = Vec::with_capacity(cases.len());
    let mut open: Vec<(&Task, usize)> = parts.get(&None).into_iter().flatten().rev().map(|task| (*task, 0)).collect();
    while let Some((task, depth)) = open.pop() {
        rows.push(row(task, depth));
        let below = parts.get(&Some(&task.id)).into_iter().flatten().rev();
        open.extend(below.map(|part| (*part, depth + 1)));
    }
    rows
}

fn gates(state: &State) -> Vec<WaitingRow> {
    let gates = natural::sorted(open_gates(state).into_iter().filter(|gate| !gate.goes_on()), |gate| gate.id.as_str());
    let row = |gate: &axiom_model::work::gates::gate::Gate| WaitingRow {
        id: gate.id.to_string(),
        what: WaitingRowKind::Gate(gate.kind),
        task: gate.task_id.as_ref().map(ToString::to_string),
        reason: gate.reason.clone(),
        details: gate.lines_below(),
        since: Some(gate.opened_at),
        decided: gate.decision.as_ref().map(|decision| OpenGateDecisionJson::from(decision).is.to_owned()),
        asks: gate.kind == GateKind::Question || asks_of_planner(gate.id.as_str()),
        always: gate.always.is_some() && gate.decision.is_none(),
    };
    gates.into_iter().map(row).collect()
}
