//! Stopping the agents before files move under them.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::domain::event::Event;
use crate::domain::ids::RequestId;
use crate::domain::session::{Request, SessionState};
use crate::env;
use crate::error::{Code, Error, Result};
use crate::ops::context::Context;
use crate::process::{KeeperRecord, KeeperState, control, keeper_state};

/// How long agents may take to stop.
const PATIENCE: Duration = Duration::from_secs(90);
/// How often it is looked whether they have.
const LOOK: Duration = Duration::from_millis(100);

/// Who was paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) enum Paused {
    /// Nobody had to be.
    Nothing,
    /// The supervisor, which has to be told to go on.
    BySupervisor,
}

/// Stops all agents: through the supervisor where one lives, else by asking their keepers.
///
/// # Errors
/// `BUSY` where they do not stop in time; `KEEPER_FAILED`.
pub(in crate::ops) fn stop_agents(ctx: &mut Context) -> Result<Paused> {
    if ctx.supervisor_alive()? {
        let was_running = session_is(ctx, SessionState::Running);
        request(ctx, Request::Pause { force: true })?;
        // An agent between two iterations keeps its task while the session is paused, but nothing of it runs.
        let stopped = wait(ctx, |ctx| {
            let (living, starting) = living(ctx)?;
            Ok(living.is_empty() && !starting && session_is(ctx, SessionState::Paused))
        });
        return match (stopped, was_running) {
            (Ok(()), true) => Ok(Paused::BySupervisor),
            // Somebody had paused it before: it stays paused.
            (Ok(()), false) => Ok(Paused::Nothing),
            (Err(error), true) => resume(ctx).and(Err(error)),
            (Err(error), false) => Err(error),
        };
    }
    let mut asked = BTreeSet::new();
    wait(ctx, |ctx| {
        let (living, starting) = living(ctx)?;
        for record in &living {
            if asked.insert(record.token.clone()) {
                control::stop(record)?;
            }
        }
        Ok(living.is_empty() && !starting)
    })?;
    Ok(Paused::Nothing)
}

/// Makes sure that no agent is at work.
///
/// # Errors
/// `BUSY` where one is, or where a session runs, which may start one at any moment.
pub(in crate::ops) fn nobody_works(ctx: &mut Context) -> Result<Paused> {
    ctx.store.refresh()?;
    let (living, starting) = living(ctx)?;
    let may_start = ctx.supervisor_alive()? && session_is(ctx, SessionState::Running);
    if living.is_empty() && !starting && !may_start {
        return Ok(Paused::Nothing);
    }
    let what = if may_start { "a session runs" } else { "agents are at work" };
    Err(Error::new(Code::Busy, what).hint("without --no-stop agents are stopped first; 'git axiom pause' holds a session"))
}

fn session_is(ctx: &Context, wanted: SessionState) -> bool {
    ctx.state().record.session.as_ref().is_some_and(|session| session.state == wanted)
}

/// The keepers that have a program running, and whether one is just about to.
fn living(ctx: &Context) -> Result<(Vec<KeeperRecord>, bool)> {
    let (mut living, mut starting) = (Vec::new(), false);
    for agent in ctx.state().busy_agents() {
        let Some(token) = agent.token() else { continue };
        match keeper_state(&ctx.layout().run_dir(&agent.id, token))? {
            KeeperState::Alive(record) => living.push(record),
            KeeperState::Starting => starting = true,
            KeeperState::NotStarted | KeeperState::Ended(_) | KeeperState::Dead(_) => {}
        }
    }
    Ok((living, starting))
}

fn wait(ctx: &mut Context, mut is_over: impl FnMut(&Context) -> Result<bool>) -> Result<()> {
    let mut waited = Duration::ZERO;
    loop {
        ctx.store.refresh()?;
        if is_over(ctx)? {
            return Ok(());
        }
        if waited >= PATIENCE {
            return Err(Error::new(Code::Busy, "agents do not stop; nothing was changed")
                .hint("git axiom kill --all    ends them, then run the command again"));
        }
        std::thread::sleep(LOOK);
        waited += LOOK;
    }
}

/// Lets the supervisor go on.
pub(in crate::ops) fn resume(ctx: &mut Context) -> Result<()> {
    request(ctx, Request::Resume)
}

fn request(ctx: &mut Context, request: Request) -> Result<()> {
    let id = RequestId::new(format!("r{}", env::fresh_id()))?;
    ctx.append(Event::Requested { id, request }).map(drop)
}
