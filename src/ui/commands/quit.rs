//! `git axiom quit`.

use clap::Args;
use serde::Serialize;

use super::open_with_usable_config;
use crate::cli::prompt;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::progress::ProgressPrinter;
use crate::wording::interventions::{QUITTING, at_work, quitting as quitting_in_words};
use axiom_agents::interventions::pausing;
use axiom_agents::interventions::pausing::WorkingAgent;
use axiom_agents::interventions::quitting;
use axiom_agents::interventions::quitting::SaveBeforeQuit;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::CheckpointName;
use axiom_safety::context::placement::VerbPurpose;

/// Arguments of `quit`.
#[derive(Debug, Args)]
#[command(after_help = "\
No task is started any more; agents get 5 seconds to end their iteration and are stopped then.
What they left is committed on their branches, and their tasks are pending again. 'git axiom
run' begins the next session. On a terminal it asks first where agents run.")]
pub struct QuitArgs {
    /// Make a checkpoint first
    #[arg(long)]
    checkpoint: bool,
    /// Return when the session has ended
    #[arg(long)]
    wait: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// How the session ends.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct QuitJson {
    /// What came of it.
    message: &'static str,
    /// Whether the session has ended by now: with `--wait`.
    ended: bool,
    /// The checkpoint that was made before.
    checkpoint: Option<CheckpointName>,
}

/// Ends the session as Ctrl+C does.
pub fn run(args: &QuitArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    let running = pausing::agents(&ctx)?.running;
    let asks = !args.yes && !args.checkpoint && screen.can_ask() && !running.is_empty() && ctx.supervisor_alive()?;
    let before = match asks {
        true => ask(&running)?,
        false if args.checkpoint => SaveBeforeQuit::Checkpoint,
        false => SaveBeforeQuit::Nothing,
    };
    let checkpoint = quitting::quit(&mut ctx, before)?;
    if args.wait {
        quitting::wait(&mut ctx, &mut ProgressPrinter::new(false))?;
    }
    let answer = QuitJson { message: if args.wait { "ended" } else { "quitting" }, ended: args.wait, checkpoint };
    screen.answer(&answer, || quitting_in_words(answer.checkpoint.as_ref(), answer.ended))?;
    Ok(Exit::Done)
}

fn ask(running: &[WorkingAgent]) -> Result<SaveBeforeQuit> {
    let items: Vec<&str> = QUITTING.iter().map(|(_, words)| *words).collect();
    match prompt::one_of("Quit?", Some(&at_work(running)), &items, 0)?.and_then(|place| QUITTING.get(place)) {
        Some((Some(before), _)) => Ok(*before),
        Some((None, _)) | None => Err(Error::new(Code::Declined, "the session goes on")),
    }
}
