//! Ctrl+C, SIGTERM and requests to quit: pause, wait until iterations end, stop what still runs.

use std::time::Instant;

use super::core::desk::SessionDesk;
use super::core::work_ends::HaltedTaskFate;
use super::interrupts::{BOUNDARY, longest_end};
use super::shown::keeper_now::KeeperObservation;
use super::shown::notice::SessionNotice;
use super::{AgentTurnsUntil, Supervisor};
use axiom_base::error::Result;
use axiom_model::base::ids::AgentId;
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::sessions::session::SessionState;
use axiom_process::keeper_state;
use axiom_process::run_folder::records::KeeperState;
use axiom_safety::context::handle::Context;

impl Supervisor<'_> {
    /// Ends the session's work: no new tasks, five seconds for iterations to end, then running ones are stopped. A stopped
    /// agent's work is committed at the end of its iteration; its task becomes pending without a retry counted, or gets the
    /// status that the agent has reported by then. An agent that waits for an answer keeps its task and its question.
    pub(crate) fn shut_down(&mut self) -> Result<()> {
        let since = self.interrupts.begin_to_end();
        let ends_by = since + longest_end(self.core.desk.ctx.config.agents.grace_seconds);
        self.ends_by = Some(ends_by);
        self.core.desk.tell(SessionNotice::SessionChanges { why: "shutting down".into() });
        self.merges.abandon_merge_check(&mut self.core.leaving);
        self.claims.abandon_starting(&mut self.core);
        self.tell_doing();
        let Err(error) = self.wind_down(since, ends_by) else { return Ok(()) };
        self.core.desk.warn(format!("agents are stopped without a record: {}: {error}", error.code()));
        self.core.runs.stop_programs(&mut self.core.desk, &HaltedTaskFate::Free);
        self.wait_for_programs(ends_by);
        // By now there may be space again.
        self.wind_down(since, ends_by)
    }

    fn wind_down(&mut self, since: Instant, ends_by: Instant) -> Result<()> {
        self.interrupts.set_running(&self.core.runs.running_agents(self.core.desk.ctx));
        self.core.desk.ctx.store.refresh()?;
        if self.core.desk.session_state() != SessionState::Ending {
            self.core.desk.change_session(SessionState::Ending, "shutting down")?;
        }
        self.wait_for_boundary(since + BOUNDARY)?;
        if !self.core.runs.running_agents(self.core.desk.ctx).is_empty() {
            self.core.stop_running(&HaltedTaskFate::Free)?;
            self.wait_for_boundary(ends_by)?;
        }
        let idle = self.core.desk.ctx.state().busy_agents().filter(|agent| !agent.waits_for_an_answer());
        let idle: Vec<_> = idle.map(|agent| agent.id.clone()).collect();
        for agent in idle {
            if !self.core.runs.running_agents(self.core.desk.ctx).contains(&agent) {
                self.core.halt(&agent, TaskHalt::Stop, HaltedTaskFate::Free, None)?;
            }
        }
        let left = self.core.runs.running_agents(self.core.desk.ctx);
        let (running, ended): (Vec<AgentId>, Vec<AgentId>) =
            left.iter().cloned().partition(|agent| may_run(self.core.desk.ctx, agent));
        let names = |agents: &[AgentId]| agents.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        if !running.is_empty() {
            self.core.desk.warn(format!("still running: {}; 'git axiom kill --all' ends them", names(&running)));
        }
        if !ended.is_empty() {
            self.core
                .desk
                .warn(format!("ended, and not taken up yet: {}; 'git axiom run' takes up what they did", names(&ended)));
        }
        if !left.is_empty() {
            name_folders(&mut self.core.desk, &left);
        }
        Ok(())
    }

    /// Waits until no keeper runs a program any more, and until then at most. Records nothing.
    fn wait_for_programs(&mut self, until: Instant) {
        while programs_run(self.core.desk.ctx) && Instant::now() < until {
            // A keeper that was just starting can be asked by now.
            self.core.runs.stop_programs(&mut self.core.desk, &HaltedTaskFate::Free);
            self.wait_at_most(until.saturating_duration_since(Instant::now()));
        }
    }

    /// Looks after the agents until none runs any more, and until then at most.
    fn wait_for_boundary(&mut self, until: Instant) -> Result<()> {
        loop {
            self.core.desk.ctx.store.refresh()?;
            let busy = self.look_after_agents(AgentTurnsUntil::AllWere)?;
            self.interrupts.set_running(&self.core.runs.running_agents(self.core.desk.ctx));
            if self.core.runs.running_agents(self.core.desk.ctx).is_empty() || Instant::now() > until {
                return Ok(());
            }
            if !busy {
                self.wait_at_most(until.saturating_duration_since(Instant::now()));
            }
        }
    }
}

/// Whether the program of an agent may still run: its keeper has recorded no end.
fn may_run(ctx: &Context, agent: &AgentId) -> bool {
    let agent = ctx.state().restorable.agents.get(agent);
    agent.is_none_or(|agent| KeeperObservation::of(ctx, agent) != KeeperObservation::Ended)
}

/// What these agents did is in their folders, and is committed by the next session.
fn name_folders(desk: &mut SessionDesk<'_>, agents: &[AgentId]) {
    for agent in agents {
        let Some(task) = desk.work_of(agent).map(|work| work.task.clone()) else { continue };
        let Some(workspace) = desk.ctx.state().restorable.workspaces.get(&task) else { continue };
        let text = format!("what {agent} did on {task} is not committed yet: it stays in '{}'", workspace.path);
        desk.warn(text);
    }
}

fn programs_run(ctx: &Context) -> bool {
    let mut tokens = ctx.state().busy_agents().filter_map(|agent| Some((&agent.id, agent.token()?)));
    tokens.any(|(agent, token)| {
        let state = keeper_state(&ctx.layout().agents().run(agent, token));
        matches!(state, Ok(KeeperState::Starting | KeeperState::Alive(_)))
    })
}
