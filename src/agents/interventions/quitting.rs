//! Quit: the session ends as at Ctrl+C.

use std::time::{Duration, Instant};

use super::pausing;
use crate::supervise::doing;
use crate::supervise::notice::{SessionNotice, SessionWatcher};
use axiom_base::error::{Code, Error, Result, some_of};
use axiom_model::base::ids::CheckpointName;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::work::sessions::session::SupervisorRequest;
use axiom_safety::beside_log::supervisor_requests::{RequestOutcome, ask_supervisor};
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::CheckpointRequest;
use axiom_safety::context::event_waiter::LogEventWaiter;
use axiom_safety::context::handle::Context;

/// After how long is said what the end of a session waits for.
const SAYS_AFTER: Duration = Duration::from_secs(1);

/// How many agents an error names.
const NAMED: usize = 6;

/// What is saved before a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaveBeforeQuit {
    /// Nothing in addition: what agents did is committed in any case.
    Nothing,
    /// Everything, in a checkpoint.
    Checkpoint,
}

/// Ends the session. Returns the checkpoint that was made before.
pub fn quit(ctx: &mut Context, before: SaveBeforeQuit) -> Result<Option<CheckpointName>> {
    if !ctx.supervisor_alive()? {
        return Err(nothing_to_quit(ctx, before));
    }
    let made = match before {
        SaveBeforeQuit::Nothing => None,
        SaveBeforeQuit::Checkpoint => {
            let by = ctx.by().clone();
            let made = |ctx: &mut Context| checkpoint::create(ctx, &CheckpointRequest::by(CheckpointTrigger::Manual));
            // A line of its own in the log, as whoever makes one by hand finds it there.
            Some(ctx.in_its_own_transaction(by, made)?.name)
        }
    };
    let RequestOutcome { done, message } = ask_supervisor(ctx, SupervisorRequest::Quit)?;
    if done { Ok(made) } else { Err(Error::new(Code::InvalidTransition, message).hint("see 'git axiom status'")) }
}

/// Waits until the session has ended, and says what it waits for where that takes long.
pub fn wait(ctx: &mut Context, watcher: &mut dyn SessionWatcher) -> Result<()> {
    let (begun, mut waiting, mut is_said) = (Instant::now(), LogEventWaiter::begin(), false);
    while ctx.supervisor_alive()? {
        if !is_said && begun.elapsed() > SAYS_AFTER {
            is_said = true;
            let agents = pausing::agents(ctx)?.running.into_iter().map(|one| format!("{} to end", one.agent));
            let besides = doing::now(ctx)?.into_iter().filter(|doing| doing.verb.is_none()).map(|doing| doing.what_in_words());
            let all: Vec<String> = agents.chain(besides).collect();
            if !all.is_empty() {
                watcher.notice(SessionNotice::WaitingFor { what: some_of(&all, NAMED) });
            }
        }
        waiting.for_events(ctx)?;
    }
    ctx.store.refresh().map(drop)
}

/// The error where no session runs. Agents that one left may run all the same.
fn nothing_to_quit(ctx: &Context, before: SaveBeforeQuit) -> Error {
    let error = Error::new(Code::NoSupervisor, "no supervisor runs in this repository, so there is no session to quit");
    let left: Vec<String> =
        pausing::agents(ctx).unwrap_or_default().running.iter().map(|one| format!("{} on {}", one.agent, one.task)).collect();
    let error = match left.as_slice() {
        [] => error.hint("git axiom status    says what there is"),
        left => error.hint(format!("git axiom stop --all    ends what a session left: {}", some_of(left, NAMED))),
    };
    match before {
        SaveBeforeQuit::Nothing => error,
        SaveBeforeQuit::Checkpoint => error.hint("git axiom checkpoint create    makes a checkpoint"),
    }
}
