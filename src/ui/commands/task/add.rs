//! `git axiom task add`.

use std::path::PathBuf;

use clap::Args;

use super::budget::BudgetArgs;
use super::view::TaskJson;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::{input, open, open_configured};
use axiom_agents::tasks::edit;
use axiom_agents::tasks::edit::{NewTaskRequest, TaskPrerequisites};
use axiom_agents::tasks::limits;
use axiom_base::error::{Exit, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::queries::groups::TaskGroupTree;
use axiom_model::work::money::budget::BudgetLimits;
use axiom_model::work::tasks::task::TaskKind;

/// Arguments of `task add`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git axiom task add 'Write the parser' --body-file parser.md
  git axiom task add 'Test it' --after task-001 --verify 'unit=cargo test' --verify 'cargo doc'
  git axiom task add 'Call it' --after task-001:api --body 'Use the functions that it has.'
  id=$(git axiom task add 'Release' --kind group)
  git axiom task add 'Tag it' --parent $id --body 'git tag v1'

A task that comes after ID:NAME gets TEXT in its prompt, and is merged after ID. With
--start-early its first iteration begins at once, and is told what is not ready; the next one
begins when it is.

The NAME of a verify step is of lower-case letters, digits and hyphens, and COMMAND follows
the = directly. FOO=1 make and n=$(ls | wc -l) have no name: there the shell sets a variable.
For a variable in lower case write: env mode=fast make.

@PERSONA in place of COMMAND: the agent program of that persona (personas.NAME.agent and
.prompt) looks at the work in the workspace, and passes it with 'git axiom signal complete' or
not with 'git axiom signal blocked REASON'. If it changes anything there, it has not passed.

A verify step may write its results to the file $AXIOM_VERIFY_JUNIT (as JUnit does), and append
lines of JSON {\"score\", \"percent\", \"last\", \"next\"} to the file $AXIOM_VERIFY_REPORT. Where it is
cut off and runs again on the same commit, it finds its lines there. Only steps that failed or
that have not passed on this commit are run again; after recovery.maxRetries verifications that
failed, the task waits for a human.

With the preset 'shell', the body is the script that is run.")]
pub struct TaskAddArgs {
    /// What is to be done, in one line of at most 500 characters
    #[arg(value_name = "TITLE")]
    title: String,
    /// The id; without it, the next free one (task-001, task-002, …)
    #[arg(long)]
    id: Option<String>,
    /// goal (the top of a plan), group (of tasks) or task (what one agent works on)
    #[arg(long, value_name = "KIND", default_value = "task")]
    kind: String,
    /// The task it is a part of
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// A task that must be merged before it starts, or report NAME as ready; may be repeated
    #[arg(long, value_name = "ID[:NAME]")]
    after: Vec<String>,
    /// Begin, once, before what is named by --after ID:NAME is ready
    #[arg(long)]
    start_early: bool,
    /// Which kind of agent works on it: agents are called PERSONA-NNN
    #[arg(long)]
    persona: Option<String>,
    /// A shell command, or @PERSONA, that must pass before it is done; may be repeated
    #[arg(long, value_name = "[NAME=]COMMAND")]
    verify: Vec<String>,
    #[command(flatten)]
    budget: BudgetArgs,
    /// The instructions for the agent
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,
    /// A file with the instructions, at most 16 MiB of UTF-8; - for standard input
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,
}

/// Adds a task and prints its id.
pub fn run(args: &TaskAddArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let waits_for = TaskPrerequisites::of(input::after(&args.after)?, args.start_early);
    let new = NewTaskRequest {
        id: args.id.as_deref().map(TaskId::new).transpose()?,
        kind: args.kind.parse::<TaskKind>()?,
        body: input::text_or_file(args.body.as_ref(), args.body_file.as_ref(), global)?,
        parent: args.parent.as_deref().map(TaskId::new).transpose()?,
        waits_for,
        persona: args.persona.clone(),
        verify: args.verify.clone(),
        limits: args.budget.read()?.on(BudgetLimits::default()),
        ..NewTaskRequest::titled(args.title.clone())
    };
    let asks_configuration = !new.limits.is_empty() || limits::name_persona(&new.verify);
    let mut ctx = if asks_configuration { open_configured(global, Vec::new(), screen)? } else { open(global, screen)? };
    let task = edit::add(&mut ctx, new)?;
    screen.answer(&TaskJson::of(&TaskGroupTree::of(ctx.state()), &task), || format!("{}\n", task.id))?;
    Ok(Exit::Done)
}
