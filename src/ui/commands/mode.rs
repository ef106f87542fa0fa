//! `git axiom mode`.

use clap::Args;
use serde::Serialize;

use super::open_configured;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_agents::interventions;
use axiom_base::error::{Exit, Result};
use axiom_model::work::sessions::session::SessionMode;

/// Arguments of `mode`.
#[derive(Debug, Args)]
#[command(after_help = "\
semi-auto   each claim and each merge waits at a gate until you approve it: git axiom gate list
review      tasks are claimed automatically; each merge waits at a gate
autopilot   tasks are claimed and merged automatically; questions and merges that conflict wait

Tasks that you stopped, killed, redirected away from or took back wait at their gates in every
mode.

The mode belongs to the repository and stays until it is changed, also for later sessions. A
running supervisor follows at once. Before autopilot begins, a checkpoint is made
(checkpoints.beforeAutopilot).")]
pub struct ModeArgs {
    /// semi-auto, review or autopilot; without it, shows the mode
    mode: Option<SessionMode>,
}

/// The mode as it is now.
#[derive(Serialize)]
struct ModeJson {
    mode: SessionMode,
}

/// Shows or changes the mode. Before autopilot begins, a checkpoint is made if that is configured.
pub fn run(args: &ModeArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_configured(global, Vec::new(), screen)?;
    let old = ctx.state().restorable.mode;
    let mode = args.mode.unwrap_or(old);
    if mode != old {
        interventions::change_mode(&mut ctx, mode)?;
    }
    screen.answer(&ModeJson { mode }, || format!("{}\n", mode.as_str()))?;
    Ok(Exit::Done)
}
