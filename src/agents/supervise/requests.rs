//! Handling requests of verbs: stop, kill, pause, resume, merge, quit.

use super::failing::reason_of;
use super::notice::SessionNotice;
use super::{HaltedTaskFate, IterationHalt, RedirectRequest, Supervisor};
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
            self.ctx.state().record.requests.iter().map(|(id, request)| (id.clone(), request.clone())).collect();
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
            self.step(Event::RequestHandled { id, done, message })?;
        }
        Ok(quit)
    }

    /// Handles one request; returns whether it was done, and the answer in words, once there is one.
    fn handle(&mut self, id: &RequestId, request: SupervisorRequest) -> Result<Option<(bool, String)>> {
        match request {
            SupervisorRequest::Redirect { agent, from, to, place, afterwards } => {
                self.redirect_or_ask(id, &RedirectRequest { agent, from, to, place, afterwards })
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
            SupervisorRequest::Resume if self.session_state() == SessionState::Running => {
                Ok((false, "nothing is paused".to_owned()))
            }
            SupervisorRequest::Resume => {
                self.change_session(SessionState::Running, "resumed")?;
                self.tell(SessionNotice::SessionChanges { why: "resumed".into() });
                Ok((true, "resumed".to_owned()))
            }
            SupervisorRequest::Merge { task } => self.approve_merge(&task),
            SupervisorRequest::Redirect { agent, from, to, place, afterwards } => {
                self.redirect(&RedirectRequest { agent, from, to, place, afterwards })
            }
            SupervisorRequest::Block { tasks, reason } => self.block_worked_on(&tasks, &reason),
            SupervisorRequest::Quit => Ok((true, "quitting".to_owned())),
        }
    }

    /// Ends these agents: their keepers are asked to end their programs, and their tasks are released when the keepers have
    /// reported. Tasks of agents without a running program are released at once.
    pub(super) fn end_agents(&mut self, how: &HaltRequest) -> Result<(bool, String)> {
        let busy: Vec<AgentId> = self.ctx.state().busy_agents().map(|agent| agent.id.clone()).collect();
        let wanted: Vec<AgentId> = busy.into_iter().filter(|agent| how.agents.is_empty() || how.agents.contains(agent)).collect();
        let held = how.held();
        if how.afterwards == AfterHalt::Again {
            self.counted_anew.extend(how.tasks.iter().cloned());
        }
        let mut failed = None;
        for agent in &wanted {
            match self.end_agent(agent, how.halt, HaltedTaskFate::of(held)) {
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
            self.hold_free(&how.tasks, held)?;
        }
        if how.agents.is_empty()
            && let Some(task) = self.merge_check.as_ref().map(|check| check.task.clone())
        {
            self.abandon_merge_check();
            self.wait_at_gate(&task, VERIFICATION_STOPPED.to_owned(), &[])?;
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let names: Vec<&str> = wanted.iter().map(AgentId::as_str).collect();
        let message = if names.is_empty() { "no agent was running".to_owned() } else { format!("stopping {}", names.join(", ")) };
        Ok((true, message))
    }

    /// Holds tasks that their agents had released before they could be stopped.
    pub(super) fn hold_free(&mut self, tasks: &[TaskId], held: TaskHoldReason) -> Result<()> {
        self.act()?;
        let now = env::now();
        self.ctx
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

    /// Stops running iterations; agents between two iterations keep their tasks. No human decided on these tasks, so none is
    /// held.
    pub(super) fn stop_running(&mut self, then: &HaltedTaskFate) -> Result<()> {
        self.stop_programs(then);
        for agent in self.running_agents() {
            if self.work_of(&agent).is_some_and(|work| work.stage.token().is_none()) {
                self.halt(&agent, TaskHalt::Stop, then.clone())?;
            }
        }
        Ok(())
    }

    /// Asks the keepers of running iterations, once, to end their programs. That needs no log.
    pub(super) fn stop_programs(&mut self, then: &HaltedTaskFate) {
        for agent in self.running_agents() {
            let Some(token) = self.work_of(&agent).and_then(|work| work.stage.token()).cloned() else { continue };
            if self.halted.get(&token).is_some_and(|halted| halted.asked) {
                continue;
            }
            if let Err(error) = self.end_program(&agent, &token, TaskHalt::Stop, then.clone()) {
                self.warn(format!("{agent} could not be asked to stop: {error}"));
            }
        }
    }

    pub(super) fn end_agent(&mut self, agent: &AgentId, halt: TaskHalt, then: HaltedTaskFate) -> Result<()> {
        let Some(work) = self.work_of(agent).cloned() else { return Ok(()) };
        if halt == TaskHalt::Kill {
            self.capture_first(&work.task);
        }
        match work.stage.token() {
            Some(token) => self.end_program(agent, token, halt, then),
            None => self.halt(agent, halt, then),
        }
    }

    /// Captures the workspace before its changes are discarded, to `refs/axiom/live/<task>`. A failed capture does not
    /// prevent the end of the agent.
    pub(super) fn capture_first(&mut self, task: &TaskId) {
        let apart = self.apart();
        if let Err(error) = self.ctx.patiently(|ctx| live::capture(ctx, task, apart.clone())) {
            self.warn(format!("the workspace of {task} could not be captured first: {error}"));
        }
    }

    /// Ends the program of an iteration, after which the agent begins no other one. A kill is not weakened to a stop by a
    /// later request.
    pub(super) fn end_program(&mut self, agent: &AgentId, token: &Token, halt: TaskHalt, then: HaltedTaskFate) -> Result<()> {
        // First: who gets an error as the answer has not asked for anything.
        let state = keeper_state(&self.ctx.layout().run_dir(agent, token))?;
        let before = self.halted.get(token);
        let since = before.map_or_else(env::now, |before| before.since);
        let how = if before.is_some_and(|before| before.how == TaskHalt::Kill) { TaskHalt::Kill } else { halt };
        let then = then.or(before.map(|before| before.then.clone()));
        self.halted.insert(token.clone(), IterationHalt { how, then, asked: false, since });
        if let KeeperState::Alive(record) = state {
            self.ask_to_end(agent, &record);
        }
        Ok(())
    }

    /// Asks a keeper, once, to end its program, if that is wanted: at once, or as soon as the keeper has started.
    pub(super) fn ask_to_end(&mut self, agent: &AgentId, record: &KeeperRecord) {
        let Some(halted) = self.halted.get_mut(&record.token).filter(|halted| !halted.asked) else { return };
        halted.asked = true;
        let asked = match halted.how {
            TaskHalt::Stop => control::stop(record),
            TaskHalt::Kill => control::kill(record),
        };
        // A keeper that does not answer is just ending; its record will show that soon.
        if let Err(error) = asked {
            self.warn(format!("{agent} could not be asked to stop: {error}"));
        }
    }

    /// Blocks tasks: agents that work on them are stopped, and their slots are free.
    pub(super) fn block_worked_on(&mut self, tasks: &[TaskId], reason: &str) -> Result<(bool, String)> {
        for task in tasks {
            let agent = self.ctx.state().agent_on(task).map(|agent| agent.id.clone());
            match agent {
                Some(agent) => self.end_agent(&agent, TaskHalt::Stop, HaltedTaskFate::Blocked(reason.to_owned()))?,
                // Its agent has let go of it by itself.
                None => self.block(task, TaskStatus::Pending, reason)?,
            }
        }
        Ok((true, format!("blocking {}", count_of(tasks.len(), "task", "tasks"))))
    }

    fn pause(&mut self, force: bool) -> Result<(bool, String)> {
        let running = self.running_agents().len();
        // First, as that is possible even where the pause cannot be recorded.
        if force {
            self.stop_programs(&HaltedTaskFate::GoesOn);
            self.abandon_starting();
        }
        self.change_session(SessionState::Pausing, "pausing")?;
        self.tell(SessionNotice::SessionChanges { why: "asked to pause".into() });
        if force {
            self.stop_running(&HaltedTaskFate::GoesOn)?;
        }
        Ok((true, format!("pausing, {} running", count_of(running, "agent is", "agents are"))))
    }

    fn approve_merge(&mut self, task: &TaskId) -> Result<(bool, String)> {
        let id = Gate::id_for(GateKind::Merge, task)?;
        let is_open = |state: &State| state.restorable.gates.contains_key(&id);
        let approve = || Event::GateDecided { id: id.clone(), decision: GateDecision::Approved, complete: None };
        Ok(match self.step_if(|state| is_open(state).then(approve))? {
            true => (true, format!("merging {task}")),
            false => (false, format!("{task} does not wait to be merged")),
        })
    }
}
