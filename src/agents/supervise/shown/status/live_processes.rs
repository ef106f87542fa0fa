//! Which of the processes in the state are running, and what is to be recovered therefore.

use super::super::keeper_now::KeeperObservation;
use super::documents::RecoveryNeedJson;
use crate::plan;
use axiom_base::error::Result;
use axiom_model::base::ids::AgentId;
use axiom_model::state::current_state::State;
use axiom_safety::beside_log::session_lock;
use axiom_safety::context::handle::{Context, OpenOperationProgress};

/// Which of the processes in the state are running.
#[derive(Debug, Clone)]
pub struct LiveProcesses {
    /// Whether a process looks after agents: the supervisor, or a verb in its place.
    pub supervisor: bool,
    /// Whether that is the supervisor of the newest session.
    pub session: bool,
    /// Whether a process carries out the open operation; true where none is open.
    pub operation: bool,
    /// The agents whose work waits for a recovery, and of which nothing runs.
    pub unattended: Vec<AgentId>,
    /// Those whose programs still run although their keepers died.
    pub orphaned: Vec<AgentId>,
}

/// Looks which of the processes in the state are running.
pub(super) fn alive(ctx: &Context) -> Result<LiveProcesses> {
    let supervisor = ctx.supervisor_alive()?;
    let session = supervisor && session_lock::is_of(ctx.layout(), ctx.state().record.session.as_ref())?;
    let operation = !matches!(ctx.open_operation()?, Some((_, OpenOperationProgress::Interrupted)));
    let (mut unattended, mut orphaned) = (Vec::new(), Vec::new());
    for agent in ctx.state().busy_agents().filter(|_| !supervisor) {
        let seen = KeeperObservation::of(ctx, agent);
        let wants = agent.work.as_ref().is_some_and(|work| work.stage.wants_recovery(seen == KeeperObservation::Works));
        if seen == KeeperObservation::Orphaned {
            orphaned.push(agent.id.clone());
        } else if wants {
            unattended.push(agent.id.clone());
        }
    }
    Ok(LiveProcesses { supervisor, session, operation, unattended, orphaned })
}

/// What is to be recovered now: what a crash left, and what is damaged.
pub fn to_recover(ctx: &Context) -> Result<RecoveryNeedJson> {
    with_what_is_seen(ctx, recovery(ctx.state(), &alive(ctx)?))
}

/// The same with what the state does not say: planning that was cut off, and damage.
pub(super) fn with_what_is_seen(ctx: &Context, mut recovery: RecoveryNeedJson) -> Result<RecoveryNeedJson> {
    if let Some(plan) = ctx.state().open_plan().filter(|plan| plan.running.is_some())
        && !plan::planner_runs(ctx)?
    {
        (recovery.needed, recovery.next_run_does) = (true, false);
        let phase = plan.phase.as_str();
        recovery.reasons.push(format!("planning was cut off in the phase {phase} (git axiom plan recover)"));
    }
    if let Some(damage) = damaged(ctx)? {
        (recovery.needed, recovery.next_run_does) = (true, false);
        recovery.reasons.push(damage);
    }
    Ok(recovery)
}

/// What keeps checkpoints from being made, as far as it can be seen without reading objects: a main worktree whose commit, branch or
/// index is damaged.
fn damaged(ctx: &Context) -> Result<Option<String>> {
    let Ok(main) = ctx.repo.worktrees().main_worktree() else { return Ok(None) };
    let head = ctx.repo.workspace_damage().head_damage(&main)?;
    let damage = match head {
        Some(head) => Some(head),
        None => ctx.repo.workspace_damage().blank_index(&main)?,
    };
    Ok(damage.map(|damage| damage.words()))
}

pub(super) fn recovery(state: &State, who: &LiveProcesses) -> RecoveryNeedJson {
    let mut reasons = Vec::new();
    if let Some(open) = &state.record.open
        && !who.operation
    {
        reasons.push(format!("'{}' was interrupted", open.operation.title));
    }
    if !who.supervisor {
        if state.record.session.as_ref().is_some_and(|session| session.state.is_crash_without_supervisor()) {
            reasons.push("the last session ended unexpectedly".to_owned());
        }
        let named = |agents: &[AgentId]| agents.iter().map(AgentId::as_str).collect::<Vec<_>>().join(", ");
        if !who.unattended.is_empty() {
            reasons.push(format!("no supervisor attends to {}", named(&who.unattended)));
        }
        if !who.orphaned.is_empty() {
            reasons.push(format!("nobody looks after what {} started, and something of it still runs", named(&who.orphaned)));
        }
    }
    // An operation that was cut off has a way of its own.
    let next_run_does = !reasons.is_empty() && (state.record.open.is_none() || who.operation);
    RecoveryNeedJson { needed: !reasons.is_empty(), reasons, next_run_does }
}
