//! `git axiom task …`.

use clap::Subcommand;

use crate::cli::arguments::Global;
use crate::cli::screen::Screen;
use crate::error::{Exit, Result};

/// Verbs on cases.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Nothing yet
    List {},
}

/// Runs a verb on cases.
///
/// # Errors
/// Whatever the verb says.
pub fn run(_args: &Task, _global: &Global, _screen: &mut Screen) -> Result<Exit> {
    Ok(Exit::Done)
}
