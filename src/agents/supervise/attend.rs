//! Looking after agents without a session: for `stop` and `recover` when no supervisor runs.
//!
//! The same loop with the session closed, so that no iteration and no claim begins.

use std::time::{Duration, Instant};

use super::activity::tell_end;
use super::core::agent_runs::AgentRun;
use super::core::failures::reason_of;
use super::requests::HaltRequest;
use super::setup::options::SupervisorOptions;
use super::shown::notice::SessionWatcher;
use super::{AgentTurnsUntil, InterruptCounter, RedirectRequest, Supervisor};
use crate::repair::OnHumanOperation;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::LockAttempt;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::sessions::session::SupervisorRequest;
use axiom_process::os::bell::LONGEST;
use axiom_safety::beside_log::supervisor_requests;
use axiom_safety::context::handle::Context;
use axiom_safety::running::programs::SessionPrograms;

/// How long to wait for results that cannot be committed yet.
const LOCKS: Duration = Duration::from_secs(10);

/// What to do with the agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttendRequest {
    /// Handle the results of ended iterations; leave running agents alone.
    TakeUp,
    /// End agents.
    End(HaltRequest),
    /// End an agent, which the next session sends to another task.
    Redirect(RedirectRequest),
    /// End the agents that work on these tasks, and block them with this reason.
    Block(Vec<TaskId>, String),
}

impl AttendRequest {
    /// What a human asks for, as a session would be asked.
    fn request(&self) -> Option<SupervisorRequest> {
        match self {
            Self::TakeUp => None,
            Self::End(HaltRequest { agents, tasks, halt, afterwards }) => {
                let (agents, tasks, afterwards) = (agents.clone(), tasks.clone(), *afterwards);
                Some(match halt {
                    TaskHalt::Stop => SupervisorRequest::Stop { agents, tasks, afterwards },
                    TaskHalt::Kill => SupervisorRequest::Kill { agents, tasks, afterwards },
                })
            }
            Self::Redirect(RedirectRequest { agent, from, to, place, afterwards }) => Some(SupervisorRequest::Redirect {
                agent: agent.clone(),
                from: from.clone(),
                to: to.clone(),
                place: *place,
                afterwards: *afterwards,
            }),
            Self::Block(tasks, reason) => Some(SupervisorRequest::Block { tasks: tasks.clone(), reason: reason.clone() }),
        }
    }
}

/// Repairs, handles the results of iterations that ended, and ends agents as requested.
pub fn attend(
    ctx: &mut Context,
    what: &AttendRequest,
    options: SupervisorOptions,
    watcher: &mut dyn SessionWatcher,
) -> Result<()> {
    ctx.layout().ensure()?;
    let LockAttempt::Taken(lock) = axiom_safety::beside_log::session_lock::take(ctx.layout(), super::LOCK_PATIENCE)? else {
        return Err(Error::new(Code::SupervisorRunning, "a supervisor runs in this repository"));
    };
    ctx.store.refresh()?;
    let interrupts = InterruptCounter::default();
    // What programs tell of their use is read as it is configured.
    let programs = SessionPrograms::configured(&ctx.config).unwrap_or_else(|_| SessionPrograms::none());
    let options = SupervisorOptions { programs, ..options };
    // A human's verb does all of it itself, as one transaction; what is taken up after a crash is recovery.
    let (by, within) = match what {
        AttendRequest::TakeUp => (EventAuthor::Recovery, None),
        AttendRequest::End(_) | AttendRequest::Redirect(_) | AttendRequest::Block(..) => {
            (ctx.by().clone(), Some(ctx.txn().clone()))
        }
    };
    // No iteration is started and nothing is merged, so no target branch is needed: HEAD may be detached.
    let mut supervisor = Supervisor::new(ctx, watcher, &interrupts, options, None)?;
    (supervisor.core.desk.by, supervisor.core.desk.within) = (by, within);
    let ended = supervisor.take_over_and_attend(what);
    tell_end(&mut supervisor.core.desk);
    drop(lock);
    ended
}

impl Supervisor<'_> {
    fn take_over_and_attend(&mut self, what: &AttendRequest) -> Result<()> {
        self.take_over(match what {
            AttendRequest::TakeUp => OnHumanOperation::Finish,
            // A user who stops agents has not decided how an interrupted operation ends.
            AttendRequest::End(_) | AttendRequest::Redirect(_) | AttendRequest::Block(..) => OnHumanOperation::Leave,
        })?;
        self.doing.recovers(*what == AttendRequest::TakeUp);
        self.tell_doing();
        self.attend(what)
    }

    fn attend(&mut self, what: &AttendRequest) -> Result<()> {
        let awaited = self.begin_as_asked(what)?;
        let patience = match what {
            AttendRequest::TakeUp => Duration::ZERO,
            AttendRequest::End(_) | AttendRequest::Redirect(_) | AttendRequest::Block(..) => {
                Duration::from_secs(self.core.desk.ctx.config.agents.grace_seconds + 30)
            }
        };
        let started = Instant::now();
        loop {
            self.core.desk.ctx.store.refresh()?;
            let busy = self.look_after_agents(AgentTurnsUntil::AllWere)?;
            let waits = self.core.runs.running_agents(self.core.desk.ctx).iter().any(|agent| awaited.contains(agent));
            self.core.runs.clear_ended();
            // A lock of git's can be proved dead only after a while.
            let blocked = self.core.backs_off() && started.elapsed() < LOCKS;
            if !busy
                && !blocked
                && !self.core.runs.any(AgentRun::is_checked)
                // An iteration has ended only once its filters have.
                && !self.core.runs.any(|run| run.filters.is_some())
                && (!waits || started.elapsed() > patience)
            {
                return self.core.desk.ctx.store.save_snapshot();
            }
            if !busy {
                self.wait_at_most(LONGEST);
            }
        }
    }

    /// Records what a human asked for, does it, and returns the agents whose end is awaited. The log says the same with a session.
    fn begin_as_asked(&mut self, what: &AttendRequest) -> Result<Vec<AgentId>> {
        let Some(request) = what.request() else { return Ok(Vec::new()) };
        self.core.desk.act()?;
        let id = supervisor_requests::make(self.core.desk.ctx, request)?;
        let begun = self.begin_attending(what);
        let (done, message) = match &begun {
            Ok((_, message)) => (true, message.clone()),
            Err(error) => (false, reason_of(error)),
        };
        self.core.desk.step(Event::RequestHandled { id, done, message })?;
        Ok(begun?.0)
    }

    /// Does what was asked for, and returns the agents whose end is awaited, and what is done in words.
    fn begin_attending(&mut self, what: &AttendRequest) -> Result<(Vec<AgentId>, String)> {
        let busy: Vec<AgentId> = self.core.desk.ctx.state().busy_agents().map(|agent| agent.id.clone()).collect();
        match what {
            AttendRequest::TakeUp => Ok((Vec::new(), String::new())),
            AttendRequest::End(wanted) => {
                let (_, message) = self.end_agents(wanted)?;
                let is_meant = |agent: &AgentId| wanted.agents.is_empty() || wanted.agents.contains(agent);
                Ok((busy.into_iter().filter(is_meant).collect(), message))
            }
            AttendRequest::Redirect(wanted) => match self.core.redirect(wanted)? {
                (true, message) => Ok((vec![wanted.agent.clone()], message)),
                (false, why) => Err(Error::new(Code::ChangedMeanwhile, why).hint("git axiom status    shows what runs")),
            },
            AttendRequest::Block(tasks, reason) => {
                let agents =
                    busy.into_iter().filter(|agent| self.core.desk.work_of(agent).is_some_and(|work| tasks.contains(&work.task)));
                let agents = agents.collect();
                let (_, message) = self.core.block_worked_on(tasks, reason)?;
                Ok((agents, message))
            }
        }
    }
}
