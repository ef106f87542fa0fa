//! Handling requests of verbs: stop, kill, pause, resume, merge, quit.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use super::agent_runs::{AgentRuns, HaltedTaskFate, IterationHalt};
use super::core::SessionCore;
use super::desk::SessionDesk;
use super::failing::reason_of;
use super::merging::wait_at_gate;
use super::notice::SessionNotice;
use super::redirecting::redirect_or_ask;
use super::running_hooks::RunningHooks;
use super::{RedirectRequest, Supervisor};
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::forms::plural::count_of;
use axiom_model::base::ids::{AgentId, RequestId, TaskId, Token};
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::work::endings::failures::{FailureResponse, SessionStep, StepFailureCounts, what_follows};
use axiom_model::work::endings::outcome::TaskHalt;
use axiom_model::work::gates::gate::{AfterHalt, Gate, GateDecision, GateKind, TaskHoldReason, VERIFICATION_STOPPED};
use axiom_model::work::sessions::session::{SessionState, SupervisorRequest};
use axiom_model::work::tasks::task::TaskStatus;
use axiom_process::client::control;
use axiom_process::keeper::spec::{KeeperRecord, KeeperState};
use axiom_process::keeper_state;
use axiom_safety::checkpoint::live;

/// What is known of requests while a session lasts.
#[derive(Debug)]
pub(super) struct HumanRequests {
    /// Requests to send an agent elsewhere, about which hooks are asked first.
    pub(super) redirects: HashMap<RequestId, RunningHooks>,
    /// Tasks that hooks have let start when they were asked before an agent was sent there.
    pub(super) may_start: HashSet<TaskId>,
    /// When it was last looked whether a human asks for something.
    pub(super) looked_at_log: Instant,
}

impl HumanRequests {
    pub(super) fn new() -> Self {
        Self { redirects: HashMap::new(), may_start: HashSet::new(), looked_at_log: Instant::now() }
    }
}

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
    pub(super) fn handle_requests(&mut self) -> Result<bool> {
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
    pub(super) fn end_agents(&mut self, how: &HaltRequest) -> Result<(bool, String)> {
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

impl SessionCore<'_> {
    /// Stops running iterations; agents between two iterations keep their tasks. No human decided on these tasks, so none is
    /// held.
    pub(super) fn stop_running(&mut self, then: &HaltedTaskFate) -> Result<()> {
        self.runs.stop_programs(&mut self.desk, then);
        for agent in self.runs.running_agents(self.desk.ctx) {
            if self.desk.work_of(&agent).is_some_and(|work| work.stage.token().is_none()) {
                self.halt(&agent, TaskHalt::Stop, then.clone())?;
            }
        }
        Ok(())
    }

    pub(super) fn end_agent(&mut self, agent: &AgentId, halt: TaskHalt, then: HaltedTaskFate) -> Result<()> {
        let Some(work) = self.desk.work_of(agent).cloned() else { return Ok(()) };
        if halt == TaskHalt::Kill {
            self.desk.capture_first(&work.task);
        }
        match work.stage.token() {
            Some(token) => self.runs.end_program(&mut self.desk, agent, token, halt, then),
            None => self.halt(agent, halt, then),
        }
    }

    /// Blocks tasks: agents that work on them are stopped, and their slots are free.
    pub(super) fn block_worked_on(&mut self, tasks: &[TaskId], reason: &str) -> Result<(bool, String)> {
        for task in tasks {
            let agent = self.desk.ctx.state().agent_on(task).map(|agent| agent.id.clone());
            match agent {
                Some(agent) => self.end_agent(&agent, TaskHalt::Stop, HaltedTaskFate::Blocked(reason.to_owned()))?,
                // Its agent has let go of it by itself.
                None => self.desk.block(task, TaskStatus::Pending, reason)?,
            }
        }
        Ok((true, format!("blocking {}", count_of(tasks.len(), "task", "tasks"))))
    }
}

impl AgentRuns {
    /// Asks the keepers of running iterations, once, to end their programs. That needs no log.
    pub(super) fn stop_programs(&mut self, desk: &mut SessionDesk<'_>, then: &HaltedTaskFate) {
        for agent in self.running_agents(desk.ctx) {
            let Some(token) = desk.work_of(&agent).and_then(|work| work.stage.token()).cloned() else { continue };
            if self.halt_of(&agent, &token).is_some_and(|halted| halted.asked) {
                continue;
            }
            if let Err(error) = self.end_program(desk, &agent, &token, TaskHalt::Stop, then.clone()) {
                desk.warn(format!("{agent} could not be asked to stop: {error}"));
            }
        }
    }

    /// Ends the program of an iteration, after which the agent begins no other one. A kill is not weakened to a stop by a
    /// later request.
    pub(super) fn end_program(
        &mut self,
        desk: &mut SessionDesk<'_>,
        agent: &AgentId,
        token: &Token,
        halt: TaskHalt,
        then: HaltedTaskFate,
    ) -> Result<()> {
        // First: who gets an error as the answer has not asked for anything.
        let state = keeper_state(&desk.ctx.layout().run_dir(agent, token))?;
        let before = self.halt_of(agent, token);
        let since = before.map_or_else(env::now, |before| before.since);
        let how = if before.is_some_and(|before| before.how == TaskHalt::Kill) { TaskHalt::Kill } else { halt };
        let then = then.or(before.map(|before| before.then.clone()));
        self.at(agent).halt = Some((token.clone(), IterationHalt { how, then, asked: false, since }));
        if let KeeperState::Alive(record) = state {
            self.ask_to_end(desk, agent, &record);
        }
        Ok(())
    }

    /// Asks a keeper, once, to end its program, if that is wanted: at once, or as soon as the keeper has started.
    pub(super) fn ask_to_end(&mut self, desk: &mut SessionDesk<'_>, agent: &AgentId, record: &KeeperRecord) {
        let Some(halted) = self.halt_mut(agent, &record.token).filter(|halted| !halted.asked) else { return };
        halted.asked = true;
        let asked = match halted.how {
            TaskHalt::Stop => control::stop(record),
            TaskHalt::Kill => control::kill(record),
        };
        // A keeper that does not answer is just ending; its record will show that soon.
        if let Err(error) = asked {
            desk.warn(format!("{agent} could not be asked to stop: {error}"));
        }
    }
}

impl SessionDesk<'_> {
    /// Captures the workspace before its changes are discarded, to `refs/axiom/live/<task>`. A failed capture does not
    /// prevent the end of the agent.
    pub(super) fn capture_first(&mut self, task: &TaskId) {
        let apart = self.apart();
        if let Err(error) = self.ctx.patiently(|ctx| live::capture(ctx, task, apart.clone())) {
            self.warn(format!("the workspace of {task} could not be captured first: {error}"));
        }
    }
}

/// Holds tasks that their agents had released before they could be stopped.
pub(super) fn hold_free(desk: &mut SessionDesk<'_>, tasks: &[TaskId], held: TaskHoldReason) -> Result<()> {
    desk.act()?;
    let now = env::now();
    desk.ctx
        .append_with(|state| {
            let free = tasks.iter().filter(|task| {
                let case = state.restorable.tasks.get(*task);
                let id = Gate::id_for(GateKind::Claim, task).ok();
                let open = id.and_then(|id| state.restorable.gates.get(&id));
                case.is_some_and(|case| case.status == TaskStatus::Pending) && !open.is_some_and(Gate::holds)
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
