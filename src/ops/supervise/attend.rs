//! Looking after agents without a session: for `stop` and `recover` when no supervisor runs.
//!
//! The same loop with the session closed, so that no iteration and no claim begins.

use std::time::{Duration, Instant};

use super::notice::Watcher;
use super::requests::HaltRequest;
use super::{Interrupts, Options, Supervisor};
use crate::error::{Code, Error, Result};
use crate::files::{FileLock, LockAttempt};
use crate::ops::context::handle::Context;
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
    // No iteration is started and nothing is merged, so no target branch is needed: HEAD may be detached.
    let mut supervisor = Supervisor::new(ctx, watcher, &interrupts, options, None)?;
    supervisor.take_over(match what {
        Attend::TakeUp => HumansOperation::Finish,
        // A user who stops agents has not decided how an interrupted operation ends.
        Attend::End(_) => HumansOperation::Leave,
    })?;
    supervisor.attend(what)?;
    drop(lock);
    Ok(())
}

impl Supervisor<'_> {
    fn attend(&mut self, what: &Attend) -> Result<()> {
        match what {
            Attend::TakeUp => {}
            Attend::End(wanted) => drop(self.end_agents(wanted)?),
        }
        let patience = match what {
            Attend::TakeUp => Duration::ZERO,
            Attend::End(_) => Duration::from_secs(self.ctx.config.agents.grace_seconds + 30),
        };
        let started = Instant::now();
        loop {
            self.ctx.store.refresh()?;
            let busy = self.look_after_agents()?;
            let waits = match what {
                Attend::TakeUp => false,
                Attend::End(HaltRequest { agents, .. }) => {
                    self.running_agents().iter().any(|agent| agents.is_empty() || agents.contains(agent))
                }
            };
            self.clear_ended_runs();
            // A lock of git's can be proved dead only after a while.
            let blocked = self.backs_off() && started.elapsed() < LOCKS;
            if !busy
                && !blocked
                && self.verifying.is_empty()
                && self.evaluating.is_empty()
                && (!waits || started.elapsed() > patience)
            {
                return self.ctx.store.save_snapshot();
            }
            if !busy {
                self.wait();
            }
        }
    }
}
