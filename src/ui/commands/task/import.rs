//! `git axiom task import`.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::cli::screen::Screen;
use crate::cli::words;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::{input, open_configured};
use axiom_agents::tasks::import;
use axiom_base::error::{Exit, Result};
use axiom_model::base::ids::TaskId;

/// The largest file that is accepted, in bytes.
const MAX_FILE: u64 = 1024 * 1024 * 1024;

/// Arguments of `task import`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each line is a JSON object with the keys of 'git axiom task list --json'; only title is needed:
  {\"id\": \"parser\", \"title\": \"Write the parser\", \"body\": \"…\"}
  {\"title\": \"Test it\", \"after\": [\"parser\"], \"verify\": [\"cargo test\"]}

Statuses may also be called todo, queued, doing, running and stuck. A task that is done counts
as merged in the commit that is checked out; one that is active becomes pending. References may
point forward in the file. If one line is wrong, nothing is imported; the error names the line.")]
pub struct TaskImportArgs {
    /// JSON lines, at most 100,000; - for standard input
    file: PathBuf,
}

/// The tasks that were made. The file has a line for each, with the keys of a task and `body`; only `title` is needed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskImportJson<'a> {
    /// In the order of the file.
    task_ids: &'a [TaskId],
}

/// Adds the tasks of a file.
pub fn run(args: &TaskImportArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let text = input::text_of(&input::resolve(&args.file, global)?, MAX_FILE)?;
    let mut ctx = open_configured(global, Vec::new(), screen)?;
    let imported = import::import(&mut ctx, &text)?;
    let answer = TaskImportJson { task_ids: &imported.ids };
    screen.answer(&answer, || imported.ids.iter().map(|id| format!("{id}\n")).collect::<String>())?;
    screen.note(&format!("{} imported.", words::count(imported.ids.len(), "task")));
    if imported.were_active > 0 {
        let (number, verb) = (imported.were_active, words::verb);
        let (were, are) = (verb(number, "was", "were"), verb(number, "is", "are"));
        let them = verb(number, "it", "them");
        screen.note(&format!("{number} of them {were} active and {are} pending here: no agent works on {them}."));
    }
    Ok(Exit::Done)
}
