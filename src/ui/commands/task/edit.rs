//! `git axiom task edit`.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::budget::BudgetArgs;
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::{input, open, open_configured, working_dir};
use axiom_agents::tasks::{edit, in_editor};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::operation::change_json;
use axiom_model::state::audit::change_text;
use axiom_model::work::tasks::task::TaskFieldChange;

/// Arguments of `task edit`.
#[derive(Debug, Args)]
#[command(after_help = "\
An empty value clears a field: --parent '', --body '', --persona ''; --after '' and --verify
'' empty the list, --max-cost none takes a limit away. A list that is given replaces the old
one. 'git axiom undo' takes the edit back. While an agent works on the task, the change is in
force from its next iteration on, whose prompt says what has changed. --editor is the one that
git uses ('git var GIT_EDITOR').")]
pub struct TaskEditArgs {
    /// The task
    id: String,
    /// The new title
    #[arg(long)]
    title: Option<String>,
    /// The task it is a part of
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// The tasks it comes after, instead of the present ones; may be repeated, or several with commas
    #[arg(long, value_name = "ID[:NAME]")]
    after: Option<Vec<String>>,
    /// Whether it begins, once, before what is named by --after ID:NAME is ready
    #[arg(long, value_name = "true|false")]
    start_early: Option<bool>,
    /// Which kind of agent works on it
    #[arg(long)]
    persona: Option<String>,
    /// Shell commands that must pass before it is done, instead of the present ones; may be repeated
    #[arg(long, value_name = "[NAME=]COMMAND")]
    verify: Option<Vec<String>>,
    #[command(flatten)]
    budget: BudgetArgs,
    /// The instructions for the agent
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,
    /// A file with the instructions; - for standard input
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,
    /// Edit the instructions in your editor, as at a terminal where nothing is given
    #[arg(long, conflicts_with_all = ["body", "body_file"])]
    editor: bool,
}

/// What was changed of a task.
#[derive(Serialize)]
struct TaskEditJson<'a> {
    /// The task.
    id: &'a TaskId,
    #[serde(serialize_with = "change_json::fields")]
    changes: &'a [TaskFieldChange],
}

fn unless_empty<T>(text: &str, make: impl FnOnce(&str) -> Result<T>) -> Result<Option<T>> {
    if text.is_empty() { Ok(None) } else { make(text).map(Some) }
}

/// The fields that are given; `None` where nothing is.
fn asked(args: &TaskEditArgs, global: &GlobalArgs) -> Result<Option<edit::TaskEditRequest>> {
    let body = input::text_or_file(args.body.as_ref(), args.body_file.as_ref(), global)?;
    let edit = edit::TaskEditRequest {
        title: args.title.clone(),
        body: body.map(|text| Some(text).filter(|text| !text.is_empty())),
        parent: args.parent.as_deref().map(|text| unless_empty(text, |text| TaskId::new(text))).transpose()?,
        after: args.after.as_deref().map(input::after).transpose()?,
        start_early: args.start_early,
        persona: args.persona.as_deref().map(|text| unless_empty(text, |text| Ok(text.to_owned()))).transpose()?,
        verify: args.verify.as_ref().map(|all| all.iter().filter(|command| !command.is_empty()).cloned().collect()),
        limits: args.budget.read()?,
    };
    let nothing = edit.title.is_none()
        && edit.body.is_none()
        && edit.parent.is_none()
        && edit.after.is_none()
        && edit.start_early.is_none()
        && edit.persona.is_none()
        && edit.verify.is_none()
        && edit.limits.is_empty();
    Ok(Some(edit).filter(|_| !nothing))
}

/// Changes fields of a task, and prints the changes. Where none is given, a terminal opens the editor.
pub fn run(args: &TaskEditArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let id = TaskId::new(args.id.as_str())?;
    let given = asked(args, global)?;
    let by_editor = args.editor || given.is_none() && screen.can_ask();
    if given.is_none() && !by_editor {
        return Err(Error::new(Code::Usage, "nothing to change was given").hint("git axiom task edit -h    lists what can be"));
    }
    let mut edit = given.unwrap_or_default();
    let decides = !edit.limits.is_empty() || edit.persona.is_some() || edit.verify.is_some();
    let mut ctx = if decides { open_configured(global, Vec::new(), screen)? } else { open(global, screen)? };
    if by_editor {
        edit.body = Some(in_editor::body(&ctx, &id, &working_dir(global)?)?);
    }
    let changes = edit::edit(&mut ctx, &id, edit)?;
    screen.answer(&TaskEditJson { id: &id, changes: &changes }, || {
        if changes.is_empty() {
            return format!("{id}: nothing to change, it has these values already\n");
        }
        changes.iter().map(|change| format!("{id}: {}\n", visible::line(&change_text(change)))).collect()
    })?;
    Ok(Exit::Done)
}
