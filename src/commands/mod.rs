//! The verbs, one a file: arguments and help, one operation, what is printed.

pub mod checkpoint;
pub mod init;
pub mod merge;
pub mod rollback;
pub mod task;

use std::path::PathBuf;

use crate::cli::arguments::{Cli, Global, Verb};
use crate::cli::screen::Screen;
use crate::env;
use crate::error::{Error, Exit, Result};
use crate::ops::context::Context;

/// Runs a verb.
///
/// # Errors
/// Whatever the verb says.
pub fn dispatch(cli: Cli, screen: &mut Screen) -> Result<Exit> {
    let Cli { global, verb } = cli;
    match verb {
        Verb::Init(args) => init::run(&args, &global, screen),
        Verb::Checkpoint(args) => checkpoint::run(&args, &global, screen),
        Verb::Merge(args) => merge::run(&args, &global, screen),
        Verb::Rollback(args) => rollback::run(&args, &global, screen),
        Verb::Task(args) => task::run(&args, &global, screen),
    }
}

/// The folder in which the verb was called, `-C` respected.
///
/// # Errors
/// `IO_FAILED`.
pub fn working_dir(global: &Global) -> Result<PathBuf> {
    let here = env::current_dir()?;
    match &global.directory {
        Some(path) => here.join(path).canonicalize().map_err(|e| Error::io("change to", path, e)),
        None => Ok(here),
    }
}

/// The repository and its state, as every verb needs them.
///
/// # Errors
/// As [`Context::open`].
pub fn open(global: &Global) -> Result<Context> {
    Context::open(&working_dir(global)?)
}
