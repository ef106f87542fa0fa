//! `git axiom plan add`.

use std::path::PathBuf;

use clap::Args;

use super::view::PlanJson;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::{input, open_configured};
use axiom_agents::plan::by_hand;
use axiom_agents::tasks::edit::{NewTaskRequest, TaskPrerequisites};
use axiom_agents::tasks::limits;
use axiom_base::error::{Exit, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::work::tasks::task::TaskKind;

/// Arguments of `plan add`.
#[derive(Debug, Args)]
#[command(after_help = "\
Prints the id. --parent and --after may name tasks of the plan, also later ones, and tasks that
exist; without --parent the task is a part of the goal. A task that the plan only outlines is
made by naming its id. At most 1,000 tasks.")]
pub struct PlanAddTaskArgs {
    /// What is to be done, in one line of at most 500 characters
    #[arg(value_name = "TITLE")]
    title: String,
    /// The id; without it, the next free one (task-001, task-002, …)
    #[arg(long)]
    id: Option<String>,
    /// group (of tasks) or task (what one agent works on)
    #[arg(long, value_name = "KIND", default_value = "task")]
    kind: String,
    /// The task it is a part of
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// A task that must be merged before it starts, or report NAME as ready; may be repeated
    #[arg(long, value_name = "ID[:NAME]")]
    after: Vec<String>,
    /// Which kind of agent works on it
    #[arg(long)]
    persona: Option<String>,
    /// A shell command, or @PERSONA, that must pass before it is done; may be repeated
    #[arg(long, value_name = "[NAME=]COMMAND")]
    verify: Vec<String>,
    /// The instructions for the agent
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,
    /// A file with the instructions, at most 16 MiB of UTF-8; - for standard input
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,
}

/// Adds a task to the plan and prints its id.
pub fn run(args: &PlanAddTaskArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let waits_for = TaskPrerequisites::of(input::after(&args.after)?, false);
    let new = NewTaskRequest {
        id: args.id.as_deref().map(TaskId::new).transpose()?,
        kind: args.kind.parse::<TaskKind>()?,
        body: input::text_or_file(args.body.as_ref(), args.body_file.as_ref(), global)?,
        parent: args.parent.as_deref().map(TaskId::new).transpose()?,
        waits_for,
        persona: args.persona.clone(),
        verify: args.verify.clone(),
        ..NewTaskRequest::titled(args.title.clone())
    };
    let mut ctx = match limits::name_persona(&new.verify) {
        true => open_configured(global, Vec::new(), screen)?,
        false => super::open_healed(global, screen)?,
    };
    let task = by_hand::add_task(&mut ctx, new)?;
    screen.answer(&PlanJson::of(&ctx)?, || format!("{}\n", task.id))?;
    Ok(Exit::Done)
}
