//! `git axiom task …`: one verb in each file, and the forms of a task in JSON and in words in `view`. What the verbs do to
//! tasks is not here but in `agents::tasks`. Begin reading with `add`.

mod add;
mod audit;
pub(super) mod budget;
mod edit;
mod import;
mod list;
mod show;
mod status_change;
pub(super) mod view;

use clap::Subcommand;

use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::error::{Exit, Result};

/// Verbs on tasks.
#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // what each does is in the table of verbs
pub enum TaskVerb {
    Add(add::TaskAddArgs),
    List(list::TaskListArgs),
    Show(show::TaskShowArgs),
    Edit(edit::TaskEditArgs),
    Block(status_change::TaskBlockArgs),
    Unblock(status_change::TaskUnblockArgs),
    Archive(status_change::TaskArchiveArgs),
    Audit(audit::TaskAuditArgs),
    Import(import::TaskImportArgs),
}

/// Runs a verb on tasks.
pub fn run(args: &TaskVerb, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    match args {
        TaskVerb::Add(args) => add::run(args, global, screen),
        TaskVerb::List(args) => list::run(args, global, screen),
        TaskVerb::Show(args) => show::run(args, global, screen),
        TaskVerb::Edit(args) => edit::run(args, global, screen),
        TaskVerb::Block(args) => status_change::block(args, global, screen),
        TaskVerb::Unblock(args) => status_change::unblock(args, global, screen),
        TaskVerb::Archive(args) => status_change::archive(args, global, screen),
        TaskVerb::Audit(args) => audit::run(args, global, screen),
        TaskVerb::Import(args) => import::run(args, global, screen),
    }
}
