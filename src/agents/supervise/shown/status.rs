//! The present status of session, agents and tasks, from the state and the supervisor's lock. Opens no git objects.

mod agent_view;
mod documents;
mod live_processes;
mod view;

use std::collections::BTreeSet;

use agent_view::{planner_view, whole_seconds};
use documents::{DEAD, ENDED, VERIFYING};
use jiff::Timestamp;
use live_processes::{alive, with_what_is_seen};

use super::doing;
use super::keeper_now::{KeeperObservation, worked_until};
use crate::merge::lost_merges::lost_merges;
use crate::revert_task::settling;
use crate::supervise::target;
use crate::tasks::{seen_state, usage};
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::queries::gate_line::OpenGateJson;
use axiom_model::queries::project::LiveSessionStatus;
use axiom_model::queries::view::open_gates;
use axiom_model::work::agent::{Agent, IterationStage};
use axiom_model::work::money::budget::{BudgetUsage, BudgetUsageJson};
use axiom_model::work::sessions::supervisor_activity::{SupervisorActivity, SupervisorActivityKind};
use axiom_model::work::usd::Usd;
use axiom_safety::attach::attach_status::attached;
use axiom_safety::context::handle::Context;
use axiom_safety::running::output::last::last_printed;
use axiom_safety::running::steps::cut_off::UncountedLook;
use axiom_safety::settings::trust;
pub use documents::{
    AgentStatusJson, DelayedTaskJson, MergeQueueJson, ORPHANED, ProjectMetadataJson, ProjectStatusJson, RecoveryNeedJson,
    SessionMetadataJson, SessionStatusJson, StatusDocument, StuckTaskJson, SupervisorStatusJson,
};
pub use live_processes::{LiveProcesses, to_recover};
pub use view::view;

/// The status, from the state when it was last read. `now` is for durations.
pub fn status(ctx: &Context, now: Timestamp) -> Result<StatusDocument> {
    let who = alive(ctx)?;
    let said = seen_state::with_what_was_said(ctx)?;
    let mut status = StatusDocument { settling: settling(ctx)?, ..view(&said, (&who, lost_merges(ctx)), now) };
    status.recovery = with_what_is_seen(ctx, status.recovery)?;
    status.attached = attached(ctx);
    let gates = status.gates.iter_mut().chain(&mut status.decided);
    trust::say_what_is_approved(ctx, gates.map(OpenGateJson::reason_and_decided));
    if !status.decided.is_empty() {
        let approved = open_gates(ctx.state()).into_iter().filter(|gate| gate.is_approved());
        status.decided_by = target::command_for(ctx, approved);
    }
    status.doing = doing::now(ctx)?;
    // A session is at rest once its verifications have ended, too.
    if status.session.state == LiveSessionStatus::Paused && status.doing.iter().any(SupervisorActivity::is_verification) {
        status.session.state = LiveSessionStatus::Pausing;
    }
    let planner = status.doing.iter().find(|doing| doing.what == SupervisorActivityKind::Plans).map(planner_view);
    status.agents.extend(planner);
    for view in &mut status.agents {
        let of_agent = |doing: &&SupervisorActivity| doing.agent_id.as_ref().is_some_and(|agent| agent.as_str() == view.id);
        // What is said of what is done may be a moment older than the state.
        let doing = status.doing.iter().find(of_agent).filter(|doing| doing.task_id.is_none() || view.task_id.is_some());
        view.doing = doing.map(SupervisorActivity::what_in_words);
        match doing.map(|doing| doing.what) {
            Some(SupervisorActivityKind::Ends) => view.state = "stopping",
            Some(SupervisorActivityKind::HoldsAgent) => view.state = "held",
            Some(SupervisorActivityKind::Verifies) => view.state = VERIFYING,
            Some(_) | None => {}
        }
        let waits_for_us = view.state == "paused" || view.state == "waiting" && view.waiting_since.is_none();
        if view.doing.is_some() && waits_for_us {
            // Its program does not run, and what is done for it is waited for.
            view.state = "running";
        }
        let Some(agent) = ctx.state().restorable.agents.get(view.id.as_str()) else { continue };
        let seen = KeeperObservation::of(ctx, agent);
        match (seen, status.attended) {
            (KeeperObservation::Orphaned, _) => view.state = ORPHANED,
            (KeeperObservation::Dead, true) => view.state = DEAD,
            // Nobody has seen its end yet, or what it left is being stored.
            (KeeperObservation::Ended, attended) if !attended || view.state == "running" => view.state = ENDED,
            (seen, false) if seen.leaves(agent) => view.state = DEAD,
            (_, _) => {}
        }
        if let Some(task) = agent.work.as_ref().and_then(|work| ctx.state().restorable.tasks.get(&work.task)) {
            let used = usage::used_of(ctx, task, now);
            view.limits = used.iter().map(BudgetUsageJson::from).collect();
            view.budget = (!used.is_empty()).then(|| used.iter().map(BudgetUsage::in_words).collect::<Vec<_>>().join("; "));
        }
        let Some(work) = &agent.work else { continue };
        // The status does not fail because of a log that cannot be read.
        let printed = last_printed(&ctx.layout().agents().log(&agent.id, &work.task), &ctx.config, work.iteration);
        // Iterations are numbered in each attempt: a line of an earlier one is nothing that it does now.
        let printed = printed.ok().flatten().filter(|printed| printed.at >= work.claimed_at);
        view.last_activity = view.last_activity.max(printed.as_ref().map(|printed| printed.at));
        view.last_line = printed.and_then(|printed| printed.line);
        let is_over = !status.attended || seen == KeeperObservation::Ended;
        if let Some(sign) = view.last_activity.filter(|_| is_over && view.waiting_since.is_none()) {
            view.worked_until = worked_until(ctx, agent, sign);
            view.duration = Some(whole_seconds(work.claimed_at, view.worked_until.unwrap_or(now)));
        }
    }
    let looks = looks(ctx, &status);
    let (tokens, cost) = usage::of_all_running(ctx, &looks, status.session.limits.unwrap_or_default(), now);
    let session = &mut status.session;
    session.tokens_used = sum(session.tokens_used, tokens, u64::saturating_add);
    session.cost_usd = sum(session.cost_usd, cost.map(Usd::dollars), |one, other| one + other);
    let until = ran_until(ctx, &status, now);
    if until.is_some() || !looks.is_empty() {
        let mut time = ctx.state().record.session_time.clone();
        looks.iter().for_each(|look| time.ran(look.began, look.until));
        status.session.time_used_ms = time.millis(until.unwrap_or(now));
    }
    let is_least = !status.cut_off().is_empty() || looks.iter().any(|look| look.used.end_unseen);
    status.session.time_used_is_least |= is_least;
    Ok(status)
}

fn sum<T>(one: Option<T>, other: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(add(one, other)),
        (one, other) => one.or(other),
    }
}

/// The looks of personas that run, or that a crash cut off: at the work on a task, or at the result of a merge.
fn looks(ctx: &Context, status: &StatusDocument) -> Vec<UncountedLook> {
    let busy = ctx.state().busy_agents().filter_map(|agent| Some(&agent.work.as_ref()?.task));
    let verified = status.doing.iter().filter(|doing| doing.is_verification()).filter_map(|doing| doing.task_id.as_ref());
    let tasks: BTreeSet<&TaskId> = busy.chain(verified).collect();
    tasks.into_iter().flat_map(|task| usage::looks_at(ctx, task)).collect()
}

/// Until when the programs have run that the log has as running.
fn ran_until(ctx: &Context, status: &StatusDocument, now: Timestamp) -> Option<Timestamp> {
    let runs = |agent: &&Agent| agent.work.as_ref().is_some_and(|work| matches!(work.stage, IterationStage::Running { .. }));
    let running = ctx.state().restorable.agents.values().filter(runs);
    let shown = |agent: &Agent| status.agents.iter().find(|view| view.id == agent.id.as_str());
    // Who waits for a human has a program that runs, as long as somebody attends to it.
    let until = |view: &AgentStatusJson| view.worked_until.filter(|_| !status.attended || view.state == ENDED).unwrap_or(now);
    running.filter_map(shown).map(until).max()
}
