//! `git axiom quit`.

use clap::Args;
use serde::Serialize;

use super::open_with_usable_config;
use crate::cli::prompt;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::Global;
use crate::domain::base::ids::CheckpointName;
use crate::domain::base::plural::count_of;
use crate::error::{Code, Error, Exit, Result};
use crate::ops::context::placement::Purpose;
use crate::ops::interventions::pausing::{self, Working};
use crate::ops::interventions::quitting::{self, Before};

/// How many agents a question names.
const NAMED: usize = 6;

/// Arguments of `quit`.
#[derive(Debug, Args)]
#[command(after_help = "\
No task is started any more; agents get 5 seconds to end their iteration and are stopped then.
What they left is committed on their branches, and their tasks are pending again. 'git axiom
run' begins the next session. On a terminal it asks first where agents run.")]
pub struct Quit {
    /// Make a checkpoint first
    #[arg(long)]
    checkpoint: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct QuitAnswer {
    message: &'static str,
    checkpoint: Option<CheckpointName>,
}

/// Ends the session as Ctrl+C does.
///
/// # Errors
/// `DECLINED`; as [`quitting::quit`].
pub fn run(args: &Quit, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(Purpose::Write, global, screen)?;
    let running = pausing::agents(ctx.state()).running;
    let asks = !args.yes && !args.checkpoint && screen.can_ask() && !running.is_empty() && ctx.supervisor_alive()?;
    let before = match asks {
        true => ask(&running)?,
        false if args.checkpoint => Before::Checkpoint,
        false => Before::Nothing,
    };
    let checkpoint = quitting::quit(&mut ctx, before)?;
    let answer = QuitAnswer { message: "quitting", checkpoint };
    screen.answer(&answer, || {
        let made = answer.checkpoint.as_ref().map(|name| format!("Checkpoint: {name}\n"));
        format!("{}Quitting: agents get 5 seconds to end their iterations.\n", made.unwrap_or_default())
    })?;
    Ok(Exit::Done)
}

fn ask(running: &[Working]) -> Result<Before> {
    let named = running.iter().take(NAMED).map(|working| {
        let percent = working.progress.map_or_else(String::new, |percent| format!(" ({percent}%)"));
        format!("{} on {}{percent}", working.agent, working.task)
    });
    let more = running.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    let heading = format!(
        "{}: {}{more}",
        count_of(running.len(), "agent is running", "agents are running"),
        named.collect::<Vec<_>>().join(", ")
    );
    let items = ["Quit: what they did is committed", "Make a checkpoint, then quit", "Cancel"];
    match prompt::one_of("Quit?", Some(&heading), &items, 0)? {
        Some(0) => Ok(Before::Nothing),
        Some(1) => Ok(Before::Checkpoint),
        Some(_) | None => Err(Error::new(Code::Declined, "the session goes on")),
    }
}
