//! `git axiom debug`.

use clap::Args;
use serde::Serialize;

use super::open_with_usable_config;
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_agents::interventions::debugging;
use axiom_agents::interventions::debugging::DebugReport;
use axiom_base::error::{Exit, Result};
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_safety::context::placement::VerbPurpose;

/// Arguments of `debug`.
#[derive(Debug, Args)]
#[command(after_help = "\
Opens the folder in the editor that git uses ('git var GIT_EDITOR': GIT_EDITOR, core.editor,
VISUAL, EDITOR). If an agent works there, its processes are held until the editor has ended;
they go on too if this command is killed. What you change there is committed with the agent's
work at the end of its iteration.")]
pub struct DebugArgs {
    /// The task
    task: TaskId,
}

/// What happened while the workspace was open in the editor.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DebugJson<'a> {
    task_id: &'a TaskId,
    workspace: String,
    /// The agent that was held meanwhile.
    held: Option<&'a AgentId>,
    /// What happened to the task meanwhile, oldest first.
    meanwhile: Vec<String>,
}

/// Opens the workspace of a task in the user's editor.
pub fn run(args: &DebugArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    let DebugReport { workspace, held, meanwhile } = debugging::debug(&mut ctx, &args.task)?;
    let workspace = workspace.to_string_lossy().into_owned();
    let answer = DebugJson { task_id: &args.task, workspace, held: held.as_ref(), meanwhile };
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
