//! Until when an iteration worked whose keeper recorded no end, and where it was.

use std::path::Path;

use jiff::Timestamp;

use crate::crashed_tasks::orphans::last_sign;
use crate::crashed_tasks::scan;
use crate::supervise::core::agent_runs::AgentRuns;
use crate::tasks::usage;
use axiom_base::env;
use axiom_model::base::ids::AgentId;
use axiom_model::work::agent::AgentWork;
use axiom_model::work::iteration_marker::{CutOffPoint, LastHeard};
use axiom_process::client::leftovers::worked_until;
use axiom_process::run_folder::records::KeeperState;
use axiom_safety::context::handle::Context;

impl AgentRuns {
    /// Where an iteration was that is ending by a crash.
    pub(crate) fn cut_off(&self, ctx: &Context, agent: &AgentId, work: &AgentWork, run: &Path) -> CutOffPoint {
        let watch = self.watch(agent);
        let saved_at = watch.and_then(|watch| watch.last_sign).unwrap_or_else(|| self.last_sign(ctx, agent, work));
        let workspace = ctx.state().restorable.workspaces.get(&work.task);
        let log = ctx.layout().agents().log(agent, &work.task);
        let (marker, progress_at) = watch.map_or((None, None), |watch| (watch.marker.clone(), watch.progress_at));
        scan::cut_off(run, &log, workspace, LastHeard { marker, saved_at, progress_at })
    }

    /// How long an iteration ran whose keeper recorded no end, in milliseconds, and until when: at least so long.
    pub(crate) fn ran_until_cut_off(
        &self,
        ctx: &Context,
        agent: &AgentId,
        work: &AgentWork,
        run: &Path,
    ) -> (u64, Option<Timestamp>) {
        let sign = self.watch(agent).and_then(|watch| watch.last_sign).unwrap_or_else(|| self.last_sign(ctx, agent, work));
        let keeper = usage::keeper_of(run);
        let began = match &keeper {
            KeeperState::Dead(record) | KeeperState::Unproved(record) => Some(record.started_at),
            KeeperState::NotStarted | KeeperState::Starting | KeeperState::Alive(_) | KeeperState::Ended(_) => None,
        };
        // Of one that was not started, its lock says nothing: whoever withdraws it holds that.
        let Some(began) = began else { return (0, Some(sign)) };
        let until = worked_until(run, &keeper, sign).unwrap_or_else(env::now);
        (u64::try_from(until.duration_since(began).as_millis()).unwrap_or(0), Some(until))
    }

    pub(crate) fn last_sign(&self, ctx: &Context, agent: &AgentId, work: &AgentWork) -> Timestamp {
        last_sign(ctx, (agent, work), self.watch(agent).and_then(|watch| watch.heard_at))
    }
}
