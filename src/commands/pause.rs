//! `git axiom pause`, `resume`, `quit`.

use clap::Args;
use serde::Serialize;

use super::open;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::Global;
use crate::domain::work::session::{Request, SessionState};
use crate::error::{Code, Error, Exit, Result};
use crate::ops::context::waiting::Waiting;
use crate::ops::interventions;

/// Arguments of `pause`.
#[derive(Debug, Args)]
#[command(after_help = "\
Running agents finish their iteration; then no agent starts, no task is claimed, and the session
stays. Approved merges are still done. 'git axiom resume' lets agents continue; 'git axiom quit'
ends the session. Needs a running supervisor: 'git axiom status' says whether there is one.")]
pub struct Pause {
    /// Stop running agents instead of letting their iterations end
    #[arg(long)]
    force: bool,
    /// Return when no agent runs any more
    #[arg(long)]
    wait: bool,
}

/// Arguments of verbs that take none.
#[derive(Debug, Args)]
pub struct NoArguments {}

#[derive(Serialize)]
struct PauseAnswer {
    message: String,
}

fn ask(request: Request, global: &Global, screen: &mut Screen, wait_paused: bool) -> Result<Exit> {
    let mut ctx = open(global, screen)?;
    let handled = interventions::ask_supervisor(&mut ctx, request)?;
    let mut waiting = Waiting::begin();
    while wait_paused && ctx.supervisor_alive()? {
        let pausing = ctx.state().record.session.as_ref().is_some_and(|session| session.state == SessionState::Pausing);
        if !pausing {
            break;
        }
        waiting.for_events(&mut ctx)?;
    }
    if !handled.done {
        return Err(Error::new(Code::InvalidTransition, handled.message).hint("see 'git axiom status'"));
    }
    let answer = PauseAnswer { message: handled.message };
    screen.answer(&answer, || format!("{}\n", answer.message))?;
    Ok(Exit::Done)
}

/// Pauses the agents when their iterations end.
///
/// # Errors
/// As [`interventions::ask_supervisor`].
pub fn pause(args: &Pause, global: &Global, screen: &mut Screen) -> Result<Exit> {
    ask(Request::Pause { force: args.force }, global, screen, args.wait)
}

/// Lets the agents continue.
///
/// # Errors
/// As [`interventions::ask_supervisor`].
pub fn resume(global: &Global, screen: &mut Screen) -> Result<Exit> {
    ask(Request::Resume, global, screen, false)
}

/// Ends the session as Ctrl+C does.
///
/// # Errors
/// As [`interventions::ask_supervisor`].
pub fn quit(global: &Global, screen: &mut Screen) -> Result<Exit> {
    ask(Request::Quit, global, screen, false)
}
