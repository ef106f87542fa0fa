//! What the session does now besides the programs of agents, gathered from what is under way, and written where others see it: for
//! `status`, the panel and `pause`, and for whoever waits for the end of this very process.

use super::Supervisor;
use crate::domain::base::ids::TaskId;
use crate::domain::work::agent::Agent;
use crate::domain::work::supervisor_activity::{SupervisorActivity, SupervisorActivityKind};
use crate::env;
use crate::error::Result;
use crate::ops::context::handle::Context;
use crate::ops::plan;
use crate::process::os::foreground;
use crate::store;

/// What is being done now in this repository, by its session and its planner.
///
/// # Errors
/// `IO_FAILED` where a lock cannot be looked at.
pub fn now(ctx: &Context) -> Result<Vec<SupervisorActivity>> {
    let mut all = match ctx.supervisor_alive()? {
        true => store::doing::read(ctx.layout(), foreground::is_alive),
        false => Vec::new(),
    };
    all.extend(plan::planner_doing(ctx)?);
    Ok(all)
}

/// What was written last.
#[derive(Debug, Default)]
pub(super) struct RecordedActivity {
    last: Vec<SupervisorActivity>,
    /// The merge that is being made: the loop does that itself.
    merging: Option<SupervisorActivity>,
}

impl Supervisor<'_> {
    /// What is under way.
    fn doing(&self) -> Vec<SupervisorActivity> {
        let mut all: Vec<SupervisorActivity> = self.makings.doing().chain(self.starting_doing()).collect();
        let state = self.ctx.state();
        let task_of = |agent| Some(state.restorable.agents.get(agent)?.work.as_ref()?.task.clone());
        for (agent, verifying) in &self.verifying {
            let Some((task, now)) = task_of(agent).zip(verifying.now()) else { continue };
            let doing = SupervisorActivity::of_task(SupervisorActivityKind::Verifies, &task, now.since).by(agent);
            all.push(doing.step(&now.name, (now.place, now.of), now.limit));
        }
        if let Some((check, now)) = self.merge_check.as_ref().and_then(|check| Some((check, check.now()?))) {
            let doing = SupervisorActivity::of_task(SupervisorActivityKind::VerifiesMerge, &check.task, now.since);
            all.push(doing.step(&now.name, (now.place, now.of), now.limit));
        }
        for (agent, running) in &self.evaluating {
            let Some((task, now)) = task_of(agent).zip(running.now()) else { continue };
            all.push(SupervisorActivity {
                limit_seconds: Some(now.limit.as_secs()),
                ..SupervisorActivity::of_task(SupervisorActivityKind::Evaluates, &task, now.since).by(agent)
            });
        }
        let filters = self.filters.iter().map(|(token, filters)| (SupervisorActivityKind::Filters, token, filters.since()));
        // Who stores what its agent left has ended it.
        let ending = self.halted.iter().filter(|(token, _)| !self.filters.contains_key(*token));
        let ending = ending.map(|(token, halted)| (SupervisorActivityKind::Ends, token, halted.since));
        for (what, token, since) in filters.chain(ending) {
            let is_its = |agent: &&Agent| agent.token() == Some(token);
            let agent = state.busy_agents().find(is_its);
            let Some((agent, work)) = agent.and_then(|agent| Some((&agent.id, agent.work.as_ref()?))) else { continue };
            all.push(SupervisorActivity::of_task(what, &work.task, since).by(agent));
        }
        all.extend(self.reporting_doing());
        all.extend(self.doing.merging.clone());
        all
    }

    /// Says what is under way, where that is not what was said last. Nothing depends on it.
    pub(super) fn tell_doing(&mut self) {
        let now = self.doing();
        if now == self.doing.last {
            return;
        }
        self.interrupts.set_doing(&now);
        if self.lock.is_some()
            && let Some(own) = foreground::own_id()
            && let Err(error) = store::doing::write(self.ctx.layout(), own, now.clone())
        {
            tracing::info!(%error, "nobody sees what the session does");
        }
        self.doing.last = now;
    }

    /// A merge begins, which the loop itself makes, or has ended.
    pub(super) fn tell_merging(&mut self, task: Option<&TaskId>) {
        self.doing.merging = task.map(|task| SupervisorActivity::of_task(SupervisorActivityKind::Merges, task, env::now()));
        self.tell_doing();
    }
}
