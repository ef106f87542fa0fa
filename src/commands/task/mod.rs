//! `git axiom task …`: one verb in each file, and the forms of a case in JSON and in words in `view`. What the verbs do to
//! tasks is not here but in `ops`. Begin reading with `add`.

mod add;
mod audit;
pub(super) mod budget;
mod edit;
mod import;
mod list;
mod restate;
mod show;
pub(super) mod view;

use clap::Subcommand;

use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::Global;
use crate::error::{Exit, Result};

/// Verbs on cases.
#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // what each does is in the table of verbs
pub enum Task {
    Add(add::Add),
    List(list::List),
    Show(show::Show),
    Edit(edit::Edit),
    Block(restate::Block),
    Unblock(restate::Unblock),
    Archive(restate::Archive),
    Audit(audit::Audit),
    Import(import::Import),
}

/// Runs a verb on cases.
///
/// # Errors
/// Those of the verb.
pub fn run(args: &Task, global: &Global, screen: &mut Screen) -> Result<Exit> {
    match args {
        Task::Add(args) => add::run(args, global, screen),
        Task::List(args) => list::run(args, global, screen),
        Task::Show(args) => show::run(args, global, screen),
        Task::Edit(args) => edit::run(args, global, screen),
        Task::Block(args) => restate::block(args, global, screen),
        Task::Unblock(args) => restate::unblock(args, global, screen),
        Task::Archive(args) => restate::archive(args, global, screen),
        Task::Audit(args) => audit::run(args, global, screen),
        Task::Import(args) => import::run(args, global, screen),
    }
}
