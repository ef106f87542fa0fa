//! The command line's grammar: global options and the list of verbs. Each verb's own options stand beside its code.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands;

/// The safety net and control room for people who let coding agents work in their git repository.
#[derive(Debug, Parser)]
#[command(name = "git-axiom", bin_name = "git axiom", version, disable_help_subcommand = true, infer_subcommands = false)]
pub struct Cli {
    /// Options that every verb takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Options that every verb takes.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Run as if started in PATH
    #[arg(short = 'C', value_name = "PATH", global = true)]
    pub directory: Option<PathBuf>,
    /// Print one JSON document on standard output
    #[arg(long, global = true)]
    pub json: bool,
}

/// The verbs, in the order of the help.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Prepare this repository (safe to repeat)
    Init(commands::init::Init),
    /// Add, list, show and change cases: the planned work
    #[command(subcommand)]
    Task(commands::task::Task),
    /// Save everything, and look at what was saved
    #[command(subcommand, visible_alias = "checkpoints")]
    Checkpoint(commands::checkpoint::Checkpoint),
    /// Merge the work of a task that is done into the target branch
    Merge(commands::merge::Merge),
    /// Go back to a checkpoint, or end a rollback that was interrupted
    Rollback(commands::rollback::Rollback),
}

impl Verb {
    /// The verb's name, for reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Init(_) => "init",
            Self::Task(_) => "task",
            Self::Checkpoint(_) => "checkpoint",
            Self::Merge(_) => "merge",
            Self::Rollback(_) => "rollback",
        }
    }
}
