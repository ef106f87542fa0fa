//! `git axiom run --detach`.

use serde::Serialize;

use crate::cli::screen::Screen;
use axiom_agents::supervise::detach;
use axiom_base::error::{Exit, Result};
use axiom_safety::context::handle::Context;

/// The session in the background.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunDetachJson {
    /// The supervisor.
    pid: u32,
    session_id: String,
    /// The file with what it prints.
    log: String,
    /// Whether it has ended already.
    ended: bool,
}

/// Starts the session in the background, for the panel.
pub(super) fn begin(ctx: &mut Context) -> Result<()> {
    detach::start(ctx).map(drop)
}

/// Starts the session in the background, and prints its process id and log.
pub(super) fn run(ctx: &mut Context, screen: &mut Screen) -> Result<Exit> {
    let begun = detach::start(ctx)?;
    let log = begun.log.display().to_string();
    let answer = RunDetachJson { pid: begun.pid, session_id: begun.session.to_string(), log, ended: begun.ended };
    screen.answer(&answer, || {
        let RunDetachJson { pid, session_id, log, ended } = &answer;
        let (state, hint) = match ended {
            true => ("has begun and ended", "git axiom log    shows what it did"),
            false => ("runs in the background", "git axiom status --watch    shows it; git axiom quit    ends it"),
        };
        format!("Session {session_id} {state} (process {pid}).\nWhat it prints: {log}\n{hint}\n")
    })?;
    Ok(Exit::Done)
}
