//! Handling requests of verbs: stop, kill, pause, resume, merge, quit.

use super::claims::redirecting::redirect_or_ask;
use super::core::desk::SessionDesk;
use super::core::failures::reason_of;
use super::core::work_ends::HaltedTaskFate;
use super::merges::merge_gates::wait_at_gate;
use super::shown::notice::SessionNotice;
use super::{RedirectRequest, Supervisor};
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::forms::plural::count_of;
use axiom_model::base::ids::{AgentId, RequestId, TaskId};
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::endings::failures::{FailureResponse, SessionStep, StepFailureCounts, what_follows};
use axiom_model::work::gates::gate::{AfterHalt, Gate, GateDecision, GateKind, TaskHoldReason, VERIFICATION_STOPPED};
use axiom_model::work::sessions::session::{SessionState, SupervisorRequest};
use axiom_model::work::tasks::task::TaskStatus;

/// A request to end agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HaltRequest {
    /// The agents; all with a task, where empty.
    pub agents: Vec<AgentId>,
    /// The tasks that they worked on at the request.
    pub tasks: Vec<TaskId>,
    /// Whether to stop or kill them.
    pub halt: TaskHalt,
    /// What happens to their tasks.
    pub afterwards: AfterHalt,
}

impl HaltRequest {
    fn held(&self) -> Option<TaskHoldReason> {
        let held = match self.halt {
            TaskHalt::Stop => TaskHoldReason::Stopped,
            TaskHalt::Kill => TaskHoldReason::Killed,
        };
        self.afterwards.holds(held)
    }
}

impl Supervisor<'_> {
    /// Handles all requests; returns whether the session is to end.
    pub(crate) fn handle_requests(&mut self) -> Result<bool> {
        let requests: Vec<(RequestId, SupervisorRequest)> =
            self.core.desk.ctx.state().record.requests.iter().map(|(id, request)| (id.clone(), request.clone())).collect();
        let mut quit = false;
        for (id, request) in requests {
            quit |= matches!(request, SupervisorRequest::Quit);
            let (done, message) = match self.handle(&id, request) {
                Ok(Some(answer)) => answer,
                // A hook is asked first, and others get their turn.
                Ok(None) => continue,
                Err(error) => match what_follows(SessionStep::Request, error.code(), StepFailureCounts::default()) {
                    FailureResponse::Answer => (false, reason_of(&error)),
                    // The log cannot be written, for the answer neither.
                    FailureResponse::Retry { .. }
                    | FailureResponse::Wait { .. }
                    | FailureResponse::Again
                    | FailureResponse::Gate(_)
                    | FailureResponse::Block
                    | FailureResponse::GoOn
                    | FailureResponse::EndSession => return Err(error),
                },
            };
            self.core.desk.step(Event::RequestHandled { id, done, message })?;
        }
        Ok(quit)
    }

    /// Handles one request; returns whether it was done, and the answer in words, once there is one.
    fn handle(&mut self, id: &RequestId, request: SupervisorRequest) -> Result<Option<(bool, String)>> {
        match request {
            SupervisorRequest::Redirect { agent, from, to, place, afterwards } => {
                redirect_or_ask(&mut self.core, id, &RedirectRequest { agent, from, to, place, afterwards })
            }
            other @ (SupervisorRequest::Stop { .. }
            | SupervisorRequest::Kill { .. }
            | SupervisorRequest::Pause { .. }
            | SupervisorRequest::Resume
            | SupervisorRequest::Merge { .. }
            | SupervisorRequest::Block { .. }
            | SupervisorRequest::Quit) => self.handle_now(other).map(Some),
        }
    }

    fn handle_now(&mut self, request: SupervisorRequest) -> Result<(bool, String)> {
        match request {
            SupervisorRequest::Stop { agents, tasks, afterwards } => {
                self.end_agents(&HaltRequest { agents, tasks, halt: TaskHalt::Stop, afterwards })
            }
            SupervisorRequest::Kill { agents, tasks, afterwards } => {
                self.end_agents(&HaltRequest { agents, tasks, halt: TaskHalt::Kill, afterwards })
            }
            SupervisorRequest::Pause { force } => self.pause(force),
            SupervisorRequest::Resume if self.core.desk.session_state() == SessionState::Running => {
                Ok((false, "nothing is paused".to_owned()))
            }
            SupervisorRequest::Resume => {
                self.core.desk.change_session(SessionState::Running, "resumed")?;
                self.core.desk.tell(SessionNotice::SessionChanges { why: "resumed".into() });
                Ok((true, "resumed".to_owned()))
            }
            SupervisorRequest::Merge { task } => approve_merge(&mut self.core.desk, &task),
            SupervisorRequest::Redirect { agent, from, to, place, afterwards } => {
                self.core.redirect(&RedirectRequest { agent, from, to, place, afterwards })
            }
            SupervisorRequest::Block { tasks, reason } => self.core.block_worked_on(&tasks, &reason),
            SupervisorRequest::Quit => Ok((true, "quitting".to_owned())),
        }
    }

    /// Ends these agents: their keepers are asked to end their programs, and their tasks are released when the keepers have
    /// reported. Tasks of agents without a running program are released at once.
    pub(crate) fn end_agents(&mut self, how: &HaltRequest) -> Result<(bool, String)> {
        let busy: Vec<AgentId> = self.core.desk.ctx.state().busy_agents().map(|agent| agent.id.clone()).collect();
        let wanted: Vec<AgentId> = busy.into_iter().filter(|agent| how.agents.is_empty() || how.agents.contains(agent)).collect();
        let held = how.held();
        if how.afterwards == AfterHalt::Again {
            self.core.tasks.counted_anew.extend(how.tasks.iter().cloned());
        }
        let mut failed = None;
        for agent in &wanted {
            match self.core.end_agent(agent, how.halt, HaltedTaskFate::of(held)) {
                Err(error)
                    if what_follows(SessionStep::Request, error.code(), StepFailureCounts::default())
                        == FailureResponse::Answer =>
                {
                    // The others are ended all the same.
                    failed.get_or_insert_with(|| error.context(format!("{agent} could not be asked to end")));
                }
                outcome => outcome?,
            }
        }
        if let Some(held) = held {
            hold_free(&mut self.core.desk, &how.tasks, held)?;
        }
        if how.agents.is_empty()
            && let Some(task) = self.merges.merge_check.as_ref().map(|check| check.task.clone())
        {
            self.merges.abandon_merge_check(&mut self.core.leaving);
            wait_at_gate(&mut self.core.desk, &task, VERIFICATION_STOPPED.to_owned(), &[])?;
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let names: Vec<&str> = wanted.iter().map(AgentId::as_str).collect();
        let message = if names.is_empty() { "no agent was running".to_owned() } else { format!("stopping {}", names.join(", ")) };
        Ok((true, message))
    }

    fn pause(&mut self, force: bool) -> Result<(bool, String)> {
        let running = self.core.runs.running_agents(self.core.desk.ctx).len();
        // First, as that is possible even where the pause cannot be recorded.
        if force {
            self.core.runs.stop_programs(&mut self.core.desk, &HaltedTaskFate::GoesOn);
            self.claims.abandon_starting(&mut self.core);
        }
        self.core.desk.change_session(SessionState::Pausing, "pausing")?;
        self.core.desk.tell(SessionNotice::SessionChanges { why: "asked to pause".into() });
        if force {
            self.core.stop_running(&HaltedTaskFate::GoesOn)?;
        }
        Ok((true, format!("pausing, {} running", count_of(running, "agent is", "agents are"))))
    }
}

/// Holds tasks that their agents had released before they could be stopped.
pub(crate) fn hold_free(desk: &mut SessionDesk<'_>, tasks: &[TaskId], held: TaskHoldReason) -> Result<()> {
    desk.act()?;
    let now = env::now();
    desk.ctx
        .append_with(|state| {
            let free = tasks.iter().filter(|task| {
                let case = state.restorable.tasks.get(*task);
                case.is_some_and(|case| case.status == TaskStatus::Pending) && !state.is_held(task)
            });
            let gates = free.filter_map(|task| Gate::holding(task, held, now));
            Ok(gates.map(|gate| Event::GateOpened { gate: Box::new(gate) }).collect())
        })
        .map(drop)
}

fn approve_merge(desk: &mut SessionDesk<'_>, task: &TaskId) -> Result<(bool, String)> {
    let id = Gate::id_for(GateKind::Merge, task)?;
    let is_open = |state: &State| state.restorable.gates.contains_key(&id);
    let approve = || Event::GateDecided { id: id.clone(), decision: GateDecision::Approved, complete: None };
    Ok(match desk.step_if(|state| is_open(state).then(approve))? {
        true => (true, format!("merging {task}")),
        false => (false, format!("{task} does not wait to be merged")),
    })
}
