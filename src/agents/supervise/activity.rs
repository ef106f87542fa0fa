//! What the loop does now besides the programs of agents, gathered from what is under way, and written where others see it: for
//! `status`, the panel and `pause`, and for whoever waits for the end of this very process. What verbs do without it:
//! `safety::running::telling`.

use super::Supervisor;
use super::core::desk::SessionDesk;
use super::core::running_hooks::RunningHooks;
use crate::merge::merge_verification::RunningMergeCheck;
use axiom_base::env;
use axiom_model::base::ids::TaskId;
use axiom_model::work::agent::Agent;
use axiom_model::work::sessions::supervisor_activity::{SupervisorActivity, SupervisorActivityKind};
use axiom_safety::running::telling;

/// What was written last.
#[derive(Debug, Default)]
pub(crate) struct RecordedActivity {
    last: Vec<SupervisorActivity>,
    /// The merge that is being made: the loop does that itself.
    merging: Option<SupervisorActivity>,
    /// What a crash left is being taken up.
    recovering: Option<SupervisorActivity>,
}

impl RecordedActivity {
    /// A merge begins, which the loop itself makes, or has ended.
    pub(crate) fn merges(&mut self, task: Option<&TaskId>) {
        self.merging = task.map(|task| SupervisorActivity::of_task(SupervisorActivityKind::Merges, task, env::now()));
    }

    /// From now on, or no longer, what an earlier session left is looked through.
    pub(crate) fn recovers(&mut self, begins: bool) {
        self.recovering = begins.then(|| SupervisorActivity::of_session(SupervisorActivityKind::Recovers, env::now()));
    }
}

impl Supervisor<'_> {
    /// What is under way.
    pub(crate) fn doing(&self) -> Vec<SupervisorActivity> {
        let mut all: Vec<SupervisorActivity> = self.core.makings.doing().chain(self.claims.doing()).collect();
        all.extend(self.core.requests.redirects.values().filter_map(RunningHooks::doing));
        let state = self.core.desk.ctx.state();
        let task_of = |agent| Some(state.restorable.agents.get(agent)?.work.as_ref()?.task.clone());
        for (agent, verifying) in self.core.runs.all().filter_map(|(agent, run)| Some((agent, run.verifying.as_ref()?))) {
            let Some((task, now)) = task_of(agent).zip(verifying.now()) else { continue };
            let doing = SupervisorActivity::of_task(SupervisorActivityKind::Verifies, &task, now.since).by(agent);
            all.push(doing.step(&now.name, (now.place, now.of), now.limit));
        }
        all.extend(self.merges.merge_check.as_ref().and_then(RunningMergeCheck::doing));
        for (agent, running) in self.core.runs.all().filter_map(|(agent, run)| Some((agent, run.evaluating.as_ref()?))) {
            let Some((task, now)) = task_of(agent).zip(running.now()) else { continue };
            all.push(SupervisorActivity {
                limit_seconds: Some(now.limit.as_secs()),
                ..SupervisorActivity::of_task(SupervisorActivityKind::Evaluates, &task, now.since).by(agent)
            });
        }
        let filters = self.core.runs.all().filter_map(|(_, run)| run.filters.as_ref());
        let filters = filters.map(|(token, filters)| (SupervisorActivityKind::Filters, token, filters.since()));
        // Who stores what its agent left has ended it.
        let ending = self.core.runs.all().filter_map(|(_, run)| run.halt.as_ref().filter(|(token, _)| !run.stores(token)));
        let ending = ending.map(|(token, halted)| (SupervisorActivityKind::Ends, token, halted.since));
        for (what, token, since) in filters.chain(ending) {
            let is_its = |agent: &&Agent| agent.token() == Some(token);
            let agent = state.busy_agents().find(is_its);
            let Some((agent, work)) = agent.and_then(|agent| Some((&agent.id, agent.work.as_ref()?))) else { continue };
            all.push(SupervisorActivity::of_task(what, &work.task, since).by(agent));
        }
        all.extend(self.hooks.doing());
        all.extend(self.doing.merging.iter().chain(&self.doing.recovering).cloned());
        // Who has no session's lock is a verb, or a session that has ended.
        if self.core.setup.lock.is_none() { all.into_iter().map(telling::by_this_verb).collect() } else { all }
    }

    /// Says what is under way, where that is not what was said last. Nothing depends on it.
    pub(crate) fn tell_doing(&mut self) {
        let now = self.doing();
        if now == self.doing.last {
            return;
        }
        self.interrupts.set_doing(&now);
        telling::write(self.core.desk.ctx.layout(), now.clone());
        self.doing.last = now;
    }
}

/// Nothing is done any more.
pub(crate) fn tell_end(desk: &mut SessionDesk<'_>) {
    telling::write(desk.ctx.layout(), Vec::new());
}
