//! `git axiom task …`: one verb in each file, and the forms of a case in JSON and in words in `view`. What the verbs do to
//! tasks is not here but in `ops`. Begin reading with `add`.

mod add;
mod audit;
pub(super) mod budget;
mod edit;
mod import;
mod list;
mod reported;
mod restate;
mod show;
pub(super) mod view;

use clap::Subcommand;

use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::Global;
use crate::error::{Exit, Result};

/// Verbs on cases.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Add a case and print its id
    Add(add::Add),
    /// List the cases
    List(list::List),
    /// Show everything about a case
    Show(show::Show),
    /// Change fields of a case
    Edit(edit::Edit),
    /// Keep agents from claiming cases
    Block(restate::Block),
    /// Make blocked or failed cases pending again
    Unblock(restate::Unblock),
    /// Archive cases; nothing waits for them any more
    Archive(restate::Archive),
    /// Show the history of a case
    Audit(audit::Audit),
    /// Add the cases of a file, all or none
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
