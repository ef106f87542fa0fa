//! Taking over from a supervisor that crashed: its session is closed, its open steps are finished, half-made workspaces and
//! dead locks are removed. The loop finds agents that still run from their keepers.

use super::Supervisor;
use super::core::SessionCore;
use super::shown::notice::SessionNotice;
use crate::repair;
use crate::repair::OnHumanOperation;
use axiom_base::error::Result;
use axiom_model::base::forms::plural::count_of;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::agent::Agent;
use axiom_model::work::sessions::session::SessionState;
use axiom_process::client::leftovers;
use axiom_safety::beside_log::supervisor_requests::HAD_ENDED;
use axiom_safety::running::steps;

impl Supervisor<'_> {
    pub(crate) fn take_over(&mut self, humans: OnHumanOperation) -> Result<()> {
        self.doing.recovers(true);
        self.tell_doing();
        let taken = take_over_from_crash(&mut self.core, humans);
        self.doing.recovers(false);
        self.tell_doing();
        taken
    }
}

fn take_over_from_crash(core: &mut SessionCore<'_>, humans: OnHumanOperation) -> Result<()> {
    let open = core.desk.ctx.state().record.session.as_ref().is_some_and(|session| session.state.is_open());
    core.desk.ctx.act_as(EventAuthor::Recovery)?;
    let report = repair::repair(core.desk.ctx, humans)?;
    for what in report.done {
        core.desk.tell(SessionNotice::Recovered { what });
    }
    for what in report.left {
        core.desk.warn(what);
    }
    // Temporary files that the last supervisor would have removed. Runs of agents that still have work are left alone.
    let working: Vec<_> = core.desk.ctx.state().busy_agents().filter_map(Agent::token).cloned().collect();
    let (agents, checks) = (core.desk.ctx.layout().agents().folder(), core.desk.ctx.layout().checks_dir());
    let left = leftovers::runs_with_runtime(&agents, &checks)?.into_iter();
    core.runs.ended.extend(left.filter(|run| !working.iter().any(|token| run.ends_with(token.as_str()))));
    if open {
        let marker = steps::marker(core.desk.ctx.repo.common_dir());
        let ended = leftovers::end_marked(&marker)?.ended.len();
        if ended > 0 {
            core.desk.tell(SessionNotice::Recovered {
                what: format!("{} ended", count_of(ended, "process of a verification was", "processes of a verification were")),
            });
        }
        let left = core.desk.session_state() == SessionState::Ending;
        let (state, how) = match left {
            true => (SessionState::Interrupted, "was left at once"),
            false => (SessionState::Crashed, "crashed"),
        };
        core.desk.ctx.append(Event::SessionChanged {
            state,
            reason: if left { "the last session was left at once" } else { "the last session ended by a crash" }.into(),
        })?;
        let taken = match core.runs.running_agents(core.desk.ctx).len() {
            0 => "no agent of it runs any more".to_owned(),
            some => format!("{} at work", count_of(some, "agent was", "agents were")),
        };
        core.desk.tell(SessionNotice::Recovered { what: format!("the last session {how}; {taken}") });
    }
    if let Err(error) = core.desk.count_cut_off(None) {
        core.desk.warn(format!("what personas used whose looks were cut off is not counted yet: {error}"));
    }
    // Requests to a supervisor that has ended: the verb that made one has ended too, or makes it again.
    let stale: Vec<_> = core.desk.ctx.state().record.requests.keys().cloned().collect();
    for id in stale {
        core.desk.ctx.append(Event::RequestHandled { id, done: false, message: HAD_ENDED.into() })?;
    }
    Ok(())
}
