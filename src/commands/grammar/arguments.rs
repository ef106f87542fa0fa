//! The grammar of the command line: global options and the list of verbs. Each verb's own options are in the file of its
//! code.

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};

use super::later::Later;
use crate::commands;

/// The width of help on a terminal that is wider, in columns.
pub const MAX_WIDTH: usize = 100;

/// The safety net and control room for people who let coding agents work in their git repository
#[derive(Debug, Parser)]
#[command(name = "git-axiom", bin_name = "git axiom", version, disable_help_subcommand = true)]
#[command(arg_required_else_help = false, max_term_width = MAX_WIDTH)]
pub struct Cli {
    /// Options that every verb takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do; an overview where it is left out.
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// Options that every verb takes.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Run as if started in PATH; may be repeated, each relative to the one before
    #[arg(short = 'C', value_name = "PATH", global = true, action = clap::ArgAction::Append)]
    pub directory: Vec<OsString>,
    /// Print one JSON document on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Ask nothing, as without a terminal
    #[arg(long, global = true)]
    pub non_interactive: bool,
}

/// The verbs, in the order of the help. The table of verbs (`domain::verbs`) says what each does.
#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // what each does is in the table of verbs
pub enum Verb {
    Init(Later<commands::init::Init>),
    Demo(Later<commands::demo::Demo>),
    #[command(subcommand)]
    Task(Later<commands::task::Task>),
    #[command(subcommand)]
    Plan(Later<commands::plan::Plan>),
    Run(Later<commands::run::Run>),
    Panel(Later<commands::panel::PanelArgs>),
    Status(Later<commands::status::Status>),
    Output(Later<commands::output::Output>),
    Log(Later<commands::log::Log>),
    Graph(Later<commands::graph::Graph>),
    Events(Later<commands::events::Events>),
    Pause(Later<commands::pause::Pause>),
    #[command(after_help = "\
Takes back 'git axiom pause': agents begin their next iterations, and ready tasks are claimed
again. It does not start a session that has ended or crashed: 'git axiom run' does.")]
    Resume(Later<commands::pause::NoArguments>),
    Stop(Later<commands::stop::Stop>),
    Kill(Later<commands::stop::Stop>),
    Redirect(Later<commands::redirect::RedirectArgs>),
    Mode(Later<commands::mode::ModeArgs>),
    #[command(subcommand)]
    Gate(Later<commands::gate::GateVerb>),
    Debug(Later<commands::debug::Debug>),
    Diff(Later<commands::diff::Diff>),
    Merge(Later<commands::merge::Merge>),
    Quit(Later<commands::quit::Quit>),
    #[command(subcommand)]
    Checkpoint(Later<commands::checkpoint::Checkpoint>),
    Rollback(Later<commands::rollback::Rollback>),
    Restore(Later<commands::rollback::Checkpoint>),
    Undo(Later<commands::undo::Undo>),
    Redo(Later<commands::undo::Redo>),
    Recover(Later<commands::recover::Recover>),
    #[command(subcommand)]
    Signal(Later<commands::signal::SignalVerb>),
    Agents(Later<commands::agents::Agents>),
    Learnings(Later<commands::learnings::Learnings>),
    Attach(Later<commands::attach::Attach>),
    Detach(Later<commands::attach::Detach>),
    Prompts(Later<commands::prompts::Prompts>),
    Sessions(Later<commands::prompts::Sessions>),
    Watch(Later<commands::watch::Watch>),
    Stats(Later<commands::stats::Stats>),
    Disk(Later<commands::disk::Disk>),
    Purge(Later<commands::purge::Purge>),
    Deinit(Later<commands::deinit::Deinit>),
    Trust(Later<commands::trust::Trust>),
    #[command(subcommand)]
    Hooks(Later<commands::hooks::Hooks>),
    Lock(Later<commands::lock::Lock>),
    #[command(subcommand)]
    Config(Later<commands::config::Config>),
    Completions(Later<commands::completions::Completions>),
    Man(Later<commands::man::Man>),
    Help(Later<commands::help::Help>),
    Hook(Later<commands::hook::Hook>),
    Keeper(Later<commands::keeper::Keeper>),
}
