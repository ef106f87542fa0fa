//! Taking over from a supervisor that crashed: its session is closed, its open steps are finished, half-made workspaces and
//! dead locks are removed. The loop finds agents that still run from their keepers.

use super::Supervisor;
use super::notice::SessionNotice;
use crate::repair;
use crate::repair::OnHumanOperation;
use axiom_base::error::Result;
use axiom_model::base::forms::plural::count_of;
use axiom_model::state::event::{Event, EventAuthor};
use axiom_model::work::agent::{Agent, AgentWork};
use axiom_model::work::sessions::session::SessionState;
use axiom_process::client::leftovers;
use axiom_safety::running::steps;

impl Supervisor<'_> {
    pub(super) fn take_over(&mut self, humans: OnHumanOperation) -> Result<()> {
        self.tell_recovering(true);
        let taken = self.take_over_from_crash(humans);
        self.tell_recovering(false);
        taken
    }

    fn take_over_from_crash(&mut self, humans: OnHumanOperation) -> Result<()> {
        let open = self.ctx.state().record.session.as_ref().is_some_and(|session| session.state.is_open());
        self.ctx.act_as(EventAuthor::Recovery)?;
        let report = repair::repair(self.ctx, humans)?;
        for what in report.done {
            self.tell(SessionNotice::Recovered { what });
        }
        for what in report.left {
            self.warn(what);
        }
        // Temporary files that the last supervisor would have removed. Runs of agents that still have work are left alone.
        let working: Vec<_> = self.ctx.state().busy_agents().filter_map(Agent::token).cloned().collect();
        let (agents, checks) = (self.ctx.layout().agents_dir(), self.ctx.layout().checks_dir());
        let left = leftovers::runs_with_runtime(&agents, &checks)?.into_iter();
        self.ended_runs.extend(left.filter(|run| !working.iter().any(|token| run.ends_with(token.as_str()))));
        if open {
            let marker = steps::marker(self.ctx.repo.common_dir());
            let ended = leftovers::end_marked(&marker)?.ended.len();
            if ended > 0 {
                self.tell(SessionNotice::Recovered {
                    what: format!(
                        "{} ended",
                        count_of(ended, "process of a verification was", "processes of a verification were")
                    ),
                });
            }
            let left = self.session_state() == SessionState::Ending;
            let (state, how) = match left {
                true => (SessionState::Interrupted, "was left at once"),
                false => (SessionState::Crashed, "crashed"),
            };
            self.ctx.append(Event::SessionChanged {
                state,
                reason: if left { "the last session was left at once" } else { "the last session ended by a crash" }.into(),
            })?;
            let only = self.options.after_crash.only.as_ref();
            let is_looked_after = |work: &&AgentWork| only.is_none_or(|only| only.contains(&work.task));
            let running = self.running_agents();
            let adopted = running.iter().filter_map(|agent| self.work_of(agent)).filter(is_looked_after).count();
            let taken = match adopted {
                0 => "no agent of it runs any more".to_owned(),
                some => format!("{} at work", count_of(some, "agent was", "agents were")),
            };
            self.tell(SessionNotice::Recovered { what: format!("the last session {how}; {taken}") });
        }
        if let Err(error) = self.count_cut_off(None) {
            self.warn(format!("what personas used whose looks were cut off is not counted yet: {error}"));
        }
        // Requests to a supervisor that has ended: the verb that made one has ended too, or makes it again.
        let stale: Vec<_> = self.ctx.state().record.requests.keys().cloned().collect();
        for id in stale {
            self.ctx.append(Event::RequestHandled { id, done: false, message: "no supervisor was running".into() })?;
        }
        Ok(())
    }
}
