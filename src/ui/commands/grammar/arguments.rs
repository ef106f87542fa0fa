//! The grammar of the command line: global options and the list of verbs. Each verb's own options are in the file of its
//! code.

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};

use super::lazy_args::LazyArgs;
use super::lazy_args::MAX_WIDTH;
use crate::commands;

/// The heading of the options that every verb takes.
const EVERY_VERB: &str = "With every verb";

/// The safety net and control room for people who let coding agents work in their git repository
#[derive(Debug, Parser)]
#[command(name = "git-axiom", bin_name = "git axiom", version, disable_help_subcommand = true)]
#[command(arg_required_else_help = false, max_term_width = MAX_WIDTH)]
pub struct Cli {
    /// Options that every verb takes.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do; an overview where it is left out.
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// Options that every verb takes.
#[derive(Debug, Clone, Args)]
pub struct GlobalArgs {
    /// Run as if started in PATH; may be repeated, each relative to the one before
    #[arg(short = 'C', value_name = "PATH", global = true, help_heading = EVERY_VERB, action = clap::ArgAction::Append)]
    pub directory: Vec<OsString>,
    /// Print one JSON document on standard output
    #[arg(long, global = true, help_heading = EVERY_VERB)]
    pub json: bool,
    /// Ask nothing, as without a terminal
    #[arg(long, global = true, help_heading = EVERY_VERB)]
    pub non_interactive: bool,
}

/// The verbs, in the order of the help. The table of verbs (`model::verbs`) says what each does.
#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // what each does is in the table of verbs
pub enum Verb {
    Init(LazyArgs<commands::init::InitArgs>),
    Demo(LazyArgs<commands::demo::DemoArgs>),
    #[command(subcommand)]
    Task(LazyArgs<commands::task::TaskVerb>),
    #[command(subcommand)]
    Plan(LazyArgs<commands::plan::PlanVerb>),
    Run(LazyArgs<commands::run::RunArgs>),
    Panel(LazyArgs<commands::panel::PanelArgs>),
    Status(LazyArgs<commands::status::StatusArgs>),
    Statusline(LazyArgs<commands::statusline::StatuslineArgs>),
    Output(LazyArgs<commands::output::OutputArgs>),
    Log(LazyArgs<commands::log::LogArgs>),
    Graph(LazyArgs<commands::graph::GraphArgs>),
    Events(LazyArgs<commands::events::EventsArgs>),
    Pause(LazyArgs<commands::pause::PauseArgs>),
    #[command(after_help = "\
Takes back 'git axiom pause': agents begin their next iterations, and ready tasks are claimed
again. It does not start a session that has ended or crashed: 'git axiom run' does.")]
    Resume(LazyArgs<commands::pause::NoArgs>),
    Stop(LazyArgs<commands::stop::StopArgs>),
    Kill(LazyArgs<commands::stop::EndAgentsArgs>),
    Redirect(LazyArgs<commands::redirect::RedirectArgs>),
    Mode(LazyArgs<commands::mode::ModeArgs>),
    #[command(subcommand)]
    Gate(LazyArgs<commands::gate::GateVerb>),
    #[command(name = "open")]
    Debug(LazyArgs<commands::debug::DebugArgs>),
    Diff(LazyArgs<commands::diff::DiffArgs>),
    Merge(LazyArgs<commands::merge::MergeArgs>),
    Quit(LazyArgs<commands::quit::QuitArgs>),
    #[command(subcommand)]
    Checkpoint(LazyArgs<commands::checkpoint::CheckpointVerb>),
    Rollback(LazyArgs<commands::rollback::RollbackArgs>),
    Restore(LazyArgs<commands::rollback::RestoreArgs>),
    Undo(LazyArgs<commands::undo::UndoArgs>),
    Redo(LazyArgs<commands::undo::RedoArgs>),
    Recover(LazyArgs<commands::recover::RecoverArgs>),
    #[command(subcommand)]
    Signal(LazyArgs<commands::signal::SignalVerb>),
    Agents(LazyArgs<commands::agents::AgentsArgs>),
    Learnings(LazyArgs<commands::learnings::LearningsArgs>),
    Attach(LazyArgs<commands::attach::AttachArgs>),
    Detach(LazyArgs<commands::attach::DetachArgs>),
    Acp(LazyArgs<commands::acp::AcpArgs>),
    Prompts(LazyArgs<commands::prompts::PromptsArgs>),
    Sessions(LazyArgs<commands::prompts::SessionsArgs>),
    Watch(LazyArgs<commands::watch::WatchArgs>),
    Stats(LazyArgs<commands::stats::StatsArgs>),
    Disk(LazyArgs<commands::disk::DiskArgs>),
    Purge(LazyArgs<commands::purge::PurgeArgs>),
    Deinit(LazyArgs<commands::deinit::DeinitArgs>),
    Trust(LazyArgs<commands::trust::TrustArgs>),
    #[command(subcommand)]
    Hooks(LazyArgs<commands::hooks::HooksVerb>),
    Lock(LazyArgs<commands::lock::LockArgs>),
    #[command(subcommand)]
    Config(LazyArgs<commands::config::ConfigVerb>),
    Completions(LazyArgs<commands::completions::CompletionsArgs>),
    Man(LazyArgs<commands::man::ManArgs>),
    Help(LazyArgs<commands::help::HelpArgs>),
    Hook(LazyArgs<commands::hook::HookArgs>),
    Keeper(LazyArgs<commands::keeper::KeeperArgs>),
}
