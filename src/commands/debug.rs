//! `git axiom debug`.

use clap::Args;
use serde::Serialize;

use super::open_with_usable_config;
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::arguments::Global;
use crate::domain::base::ids::{AgentId, CaseId};
use crate::error::{Exit, Result};
use crate::ops::context::placement::Purpose;
use crate::ops::interventions::debugging::{self, Debugged};

/// Arguments of `debug`.
#[derive(Debug, Args)]
#[command(after_help = "\
Opens the folder in the editor that git uses ('git var GIT_EDITOR': GIT_EDITOR, core.editor,
VISUAL, EDITOR). If an agent works there, its processes are held until the editor has ended;
they go on too if this command is killed. What you change there is committed with the agent's
work at the end of its iteration.")]
pub struct Debug {
    /// The task
    task: CaseId,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DebugAnswer<'a> {
    task_id: &'a CaseId,
    workspace: String,
    held: Option<&'a AgentId>,
    meanwhile: Vec<String>,
}

/// Opens the workspace of a task in the user's editor.
///
/// # Errors
/// As [`debugging::debug`].
pub fn run(args: &Debug, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(Purpose::Write, global, screen)?;
    let Debugged { workspace, held, meanwhile } = debugging::debug(&mut ctx, &args.task)?;
    let workspace = workspace.to_string_lossy().into_owned();
    let answer = DebugAnswer { task_id: &args.task, workspace, held: held.as_ref(), meanwhile };
    screen.answer(&answer, || {
        let what = match answer.held {
            Some(agent) => format!("{agent} goes on in {}\n", answer.workspace),
            None => format!("Closed {}\n", answer.workspace),
        };
        let lines = answer.meanwhile.iter().map(|text| format!("  meanwhile: {}\n", visible::line(text)));
        what + &lines.collect::<String>()
    })?;
    Ok(Exit::Done)
}
