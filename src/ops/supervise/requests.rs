//! Requests of verbs: stop, kill, pause, resume, merge, quit.

use super::Supervisor;
use super::notice::Notice;
use crate::domain::event::Event;
use crate::domain::gate::{Decision, GateKind};
use crate::domain::ids::{AgentId, RequestId};
use crate::domain::session::{Request, SessionState};
use crate::error::Result;
use crate::process::spec::KeeperState;
use crate::process::{control, keeper_state};

/// How agents are ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// The adapter's signal, grace, SIGKILL.
    Stop,
    /// SIGKILL.
    Kill,
}

impl Supervisor<'_> {
    /// Deals with all requests; says whether the session is to end.
    pub(super) fn handle_requests(&mut self) -> Result<bool> {
        let requests: Vec<(RequestId, Request)> =
            self.context.state().record.requests.iter().map(|(id, request)| (id.clone(), request.clone())).collect();
        let mut quit = false;
        for (id, request) in requests {
            let outcome = match request {
                Request::Stop { agents } => Some(self.end_agents(&agents, How::Stop)?),
                Request::Kill { agents } => Some(self.end_agents(&agents, How::Kill)?),
                Request::Pause { force } => Some(self.pause(force)?),
                Request::Resume => {
                    self.change_session(SessionState::Running, "resumed")?;
                    Some((true, "resumed".to_owned()))
                }
                Request::Merge { task } => Some(self.approve_merge(&task)?),
                Request::Quit => {
                    quit = true;
                    Some((true, "quitting".to_owned()))
                }
            };
            if let Some((done, message)) = outcome {
                self.step(Event::RequestHandled { id, done, message })?;
            }
        }
        Ok(quit)
    }

    /// Asks the keepers of these agents (of all, where empty) to end their programs. Their tasks become pending when the
    /// keepers have reported.
    pub(super) fn end_agents(&mut self, agents: &[AgentId], how: How) -> Result<(bool, String)> {
        let running = self.running_agents();
        let wanted: Vec<AgentId> = if agents.is_empty() { running.clone() } else { agents.to_vec() };
        let mut ended = Vec::new();
        for agent in wanted {
            if !running.contains(&agent) {
                self.release_idle(&agent)?;
                continue;
            }
            if self.verifying.remove(&agent).is_some() {
                self.release(&agent, crate::domain::case::Status::Pending, "stopped", false)?;
            } else {
                self.end_program(&agent, how)?;
            }
            ended.push(agent.to_string());
        }
        let message = if ended.is_empty() { "no agent was running".to_owned() } else { format!("stopping {}", ended.join(", ")) };
        Ok((true, message))
    }

    /// An agent that holds a task between iterations gives it back.
    fn release_idle(&mut self, agent: &AgentId) -> Result<()> {
        let holds = self.context.state().restorable.agents.get(agent).is_some_and(|agent| agent.work.is_some());
        if holds { self.release(agent, crate::domain::case::Status::Pending, "stopped", false) } else { Ok(()) }
    }

    fn end_program(&mut self, agent: &AgentId, how: How) -> Result<()> {
        let work = self.context.state().restorable.agents.get(agent).and_then(|agent| agent.work.as_ref());
        let Some(token) = work.and_then(|work| work.stage.token()).cloned() else { return Ok(()) };
        let dir = self.context.layout().run_dir(agent, &token);
        if let KeeperState::Alive(record) = keeper_state(&dir)? {
            let asked = match how {
                How::Stop => control::stop(&record),
                How::Kill => control::kill(&record),
            };
            // A keeper that does not answer is just ending; its record tells soon.
            if let Err(error) = asked {
                self.warn(format!("{agent} could not be asked to stop: {error}"));
            }
        }
        Ok(())
    }

    fn pause(&mut self, force: bool) -> Result<(bool, String)> {
        let running = self.running_agents().len();
        self.change_session(SessionState::Pausing, "pausing")?;
        self.tell(Notice::Pausing { why: "asked to pause".into() });
        if force {
            self.end_agents(&[], How::Stop)?;
        }
        Ok((true, format!("pausing, {running} agents are running")))
    }

    fn approve_merge(&mut self, task: &crate::domain::ids::CaseId) -> Result<(bool, String)> {
        match self.gate(GateKind::Merge, task).map(|gate| gate.id.clone()) {
            Some(id) => {
                self.step(Event::GateDecided { id, decision: Decision::Approved })?;
                Ok((true, format!("merging {task}")))
            }
            None => Ok((false, format!("{task} does not wait to be merged"))),
        }
    }
}
