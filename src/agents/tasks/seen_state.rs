//! The state as it is seen now: with what agents have said and no supervisor has recorded yet, and with the iterations that run. For whoever
//! shows it; nothing of it is written.

use std::borrow::Cow;

use jiff::Timestamp;

use super::usage;
use axiom_base::error::Result;
use axiom_model::base::ids::{TaskId, Token};
use axiom_model::base::names::RefName;
use axiom_model::state::current_state::State;
use axiom_model::work::agent::Agent;
use axiom_model::work::signals::signal::AgentSignal;
use axiom_model::work::tasks::branch_names;
use axiom_process::{KeeperState, read_signals};
use axiom_safety::context::handle::Context;

/// The state, where nobody attends to agents with what their keepers have of them that is not recorded.
pub fn with_what_was_said(ctx: &Context) -> Result<Cow<'_, State>> {
    let mut seen = Cow::Borrowed(ctx.state());
    if ctx.supervisor_alive()? {
        return Ok(seen);
    }
    for (agent, token) in in_iterations(ctx.state()) {
        let Some(work) = &agent.work else { continue };
        // What cannot be read tells nothing.
        let said = read_signals(&ctx.layout().agents().run(&agent.id, token), 0).unwrap_or_default().signals;
        let reports = said.iter().filter(|received| !matches!(received.signal, AgentSignal::Seen(_)));
        let recorded = usize::try_from(work.signals).unwrap_or(usize::MAX);
        for received in reports.skip(recorded) {
            seen.to_mut().signalled(&agent.id, token, &received.signal, received.at)?;
        }
    }
    Ok(seen)
}

/// As [`with_what_was_said`], and the iterations that run count as if they ended now.
pub fn with_what_runs(ctx: &Context, now: Timestamp) -> Result<Cow<'_, State>> {
    let mut seen = with_what_was_said(ctx)?;
    for (agent, token) in in_iterations(ctx.state()) {
        let Some(work) = &agent.work else { continue };
        let run = ctx.layout().agents().run(&agent.id, token);
        let keeper = usage::keeper_of(&run);
        if matches!(keeper, KeeperState::NotStarted | KeeperState::Starting) {
            continue;
        }
        let ran = usage::ran((&run, &keeper), now, None);
        let is_cut_off = usage::is_cut_off(&run, &keeper);
        let record = seen.to_mut().record.tasks.entry(work.task.clone()).or_default();
        record.iterations = record.iterations.saturating_add(1);
        record.duration_ms = record.duration_ms.saturating_add(ran);
        record.time_doubt = record.time_doubt.saturating_add(u64::from(is_cut_off));
    }
    Ok(seen)
}

fn in_iterations(state: &State) -> impl Iterator<Item = (&Agent, &Token)> {
    state.busy_agents().filter_map(|agent| Some((agent, agent.token()?)))
}

/// The branch with the work of a task, also where it has no workspace any more.
pub fn branch_of(ctx: &Context, task: &TaskId) -> Result<Option<RefName>> {
    if let Some(workspace) = ctx.state().restorable.workspaces.get(task) {
        return Ok(Some(workspace.branch.clone()));
    }
    let own = branch_names::branch_of(task);
    let is_there = ctx.state().made_branch(&own) && ctx.repo.refs().read_ref(&own)?.is_some();
    Ok(is_there.then_some(own))
}
