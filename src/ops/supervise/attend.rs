//! Looking after agents without a session: for `stop` and `recover` when no supervisor runs.
//!
//! The same loop with the session closed, so that no iteration and no claim begins.

use std::time::{Duration, Instant};

use super::notice::Watcher;
use super::requests::HaltRequest;
use super::{Interrupts, Options, Redirect, Supervisor, Until};
use crate::domain::base::ids::{AgentId, CaseId};
use crate::error::{Code, Error, Result};
use crate::files::{FileLock, LockAttempt};
use crate::ops::context::handle::Context;
use crate::ops::programs::Programs;
use crate::ops::recover::repair::HumansOperation;

/// How long to wait for results that cannot be committed yet.
const LOCKS: Duration = Duration::from_secs(10);

/// What to do with the agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attend {
    /// Handle the results of ended iterations; leave running agents alone.
    TakeUp,
    /// End agents.
    End(HaltRequest),
    /// End an agent, which the next session sends to another task.
    Redirect(Redirect),
    /// End the agents that work on these tasks, and block them with this reason.
    Block(Vec<CaseId>, String),
}

/// Repairs, handles the results of iterations that ended, and ends agents as requested.
///
/// # Errors
/// `SUPERVISOR_RUNNING`: then the caller has to send a request to the supervisor. Otherwise as [`super::run`].
pub fn attend(ctx: &mut Context, what: &Attend, options: Options, watcher: &mut dyn Watcher) -> Result<()> {
    ctx.layout().ensure()?;
    let LockAttempt::Taken(lock) = FileLock::take(&ctx.layout().supervisor_lock(), super::LOCK_PATIENCE)? else {
        return Err(Error::new(Code::SupervisorRunning, "a supervisor runs in this repository"));
    };
    ctx.store.refresh()?;
    let interrupts = Interrupts::default();
    // What programs tell of their use is read as it is configured.
    let programs = Programs::configured(&ctx.config).unwrap_or_else(|_| Programs::none());
    let options = Options { programs, ..options };
    // No iteration is started and nothing is merged, so no target branch is needed: HEAD may be detached.
    let mut supervisor = Supervisor::new(ctx, watcher, &interrupts, options, None)?;
    supervisor.take_over(match what {
        Attend::TakeUp => HumansOperation::Finish,
        // A user who stops agents has not decided how an interrupted operation ends.
        Attend::End(_) | Attend::Redirect(_) | Attend::Block(..) => HumansOperation::Leave,
    })?;
    supervisor.attend(what)?;
    drop(lock);
    Ok(())
}

impl Supervisor<'_> {
    fn attend(&mut self, what: &Attend) -> Result<()> {
        let awaited = self.begin_attending(what)?;
        let patience = match what {
            Attend::TakeUp => Duration::ZERO,
            Attend::End(_) | Attend::Redirect(_) | Attend::Block(..) => {
                Duration::from_secs(self.ctx.config.agents.grace_seconds + 30)
            }
        };
        let started = Instant::now();
        loop {
            self.ctx.store.refresh()?;
            let busy = self.look_after_agents(Until::AllWere)?;
            let waits = self.running_agents().iter().any(|agent| awaited.contains(agent));
            self.clear_ended_runs();
            // A lock of git's can be proved dead only after a while.
            let blocked = self.backs_off() && started.elapsed() < LOCKS;
            if !busy
                && !blocked
                && self.verifying.is_empty()
                && self.evaluating.is_empty()
                // An iteration has ended only once its filters have.
                && self.filters.is_empty()
                && (!waits || started.elapsed() > patience)
            {
                return self.ctx.store.save_snapshot();
            }
            if !busy {
                self.wait();
            }
        }
    }

    /// Does what was asked for, and returns the agents whose end is awaited.
    fn begin_attending(&mut self, what: &Attend) -> Result<Vec<AgentId>> {
        let busy: Vec<AgentId> = self.ctx.state().busy_agents().map(|agent| agent.id.clone()).collect();
        match what {
            Attend::TakeUp => Ok(Vec::new()),
            Attend::End(wanted) => {
                self.end_agents(wanted)?;
                Ok(busy.into_iter().filter(|agent| wanted.agents.is_empty() || wanted.agents.contains(agent)).collect())
            }
            Attend::Redirect(wanted) => match self.redirect(wanted)? {
                (true, _) => Ok(vec![wanted.agent.clone()]),
                (false, why) => Err(Error::new(Code::ChangedMeanwhile, why).hint("git axiom status    shows what runs")),
            },
            Attend::Block(tasks, reason) => {
                let agents = busy.into_iter().filter(|agent| self.work_of(agent).is_some_and(|work| tasks.contains(&work.task)));
                let agents = agents.collect();
                self.block_worked_on(tasks, reason)?;
                Ok(agents)
            }
        }
    }
}
