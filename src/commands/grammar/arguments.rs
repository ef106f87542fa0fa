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

/// The verbs, in the order of the help.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Prepare this repository (safe to repeat)
    Init(Later<commands::init::Init>),
    /// Show the main job in a scratch repository: crash, recovery, rollback, undo
    Demo(Later<commands::demo::Demo>),
    /// Add, list, show and change cases: the planned work
    #[command(subcommand)]
    Task(Later<commands::task::Task>),
    /// Turn a goal into cases, by hand or with a planner
    #[command(subcommand)]
    Plan(Later<commands::plan::Plan>),
    /// Run agents on the tasks: the supervisor
    Run(Later<commands::run::Run>),
    /// See and do everything on one screen, while agents work
    #[command(visible_alias = "ui")]
    Panel(Later<commands::panel::PanelArgs>),
    /// Show what is happening right now
    Status(Later<commands::status::Status>),
    /// Print the output of an agent
    #[command(alias = "logs")]
    Output(Later<commands::output::Output>),
    /// List what was done, newest first: the transactions that undo works on
    Log(Later<commands::log::Log>),
    /// Draw what happened: tasks, checkpoints, merges, rollbacks
    Graph(Later<commands::graph::Graph>),
    /// Print the events of the log, oldest first
    Events(Later<commands::events::Events>),
    /// Pause all agents when their iterations end
    Pause(Later<commands::pause::Pause>),
    /// Let paused agents continue
    #[command(after_help = "\
Takes back 'git axiom pause': agents begin their next iterations, and ready tasks are claimed
again. It does not start a session that has ended or crashed: 'git axiom run' does.")]
    Resume(Later<commands::pause::NoArguments>),
    /// Stop agents: their signal, a grace time, then SIGKILL
    Stop(Later<commands::stop::Stop>),
    /// End agents at once with SIGKILL
    Kill(Later<commands::stop::Stop>),
    /// Send an agent to another task
    Redirect(Later<commands::redirect::RedirectArgs>),
    /// Show or change the mode
    Mode(Later<commands::mode::ModeArgs>),
    /// List what waits for you, and decide
    #[command(subcommand)]
    Gate(Later<commands::gate::GateVerb>),
    /// Open the workspace of a task in your editor
    Debug(Later<commands::debug::Debug>),
    /// Show what a task changed
    Diff(Later<commands::diff::Diff>),
    /// Merge the work of a task that is done into the target branch
    Merge(Later<commands::merge::Merge>),
    /// End the session as Ctrl+C does
    Quit(Later<commands::quit::Quit>),
    /// Save everything, and look at what was saved
    #[command(subcommand, visible_alias = "checkpoints")]
    Checkpoint(Later<commands::checkpoint::Checkpoint>),
    /// Go back to a checkpoint, or finish an interrupted rollback
    Rollback(Later<commands::rollback::Rollback>),
    /// Restore files from a checkpoint: short for 'rollback checkpoint NAME -- PATH'
    Restore(Later<commands::rollback::Checkpoint>),
    /// Undo the last transaction, or the one that you name
    Undo(Later<commands::undo::Undo>),
    /// Undo the last undo
    Redo(Later<commands::undo::Redo>),
    /// Show what a crash left, and repair it
    Recover(Later<commands::recover::Recover>),
    /// Report to the supervisor (for agents)
    #[command(subcommand)]
    Signal(Later<commands::signal::SignalVerb>),
    /// List the agent programs, and what would run
    Agents(Later<commands::agents::Agents>),
    /// List what agents learnt, change or forget it
    Learnings(Later<commands::learnings::Learnings>),
    /// Have an agent program that you run yourself save each prompt
    Attach(Later<commands::attach::Attach>),
    /// Take our hooks out of a program's configuration again
    Detach(Later<commands::attach::Detach>),
    /// List the prompts to agents that you run yourself, and what each changed
    Prompts(Later<commands::prompts::Prompts>),
    /// List the agents that you run yourself and that are attached
    Sessions(Later<commands::prompts::Sessions>),
    /// Save what changes in this worktree, whoever changes it
    Watch(Later<commands::watch::Watch>),
    /// Sum up tokens, cost, time, iterations and what became of the work
    Stats(Later<commands::stats::Stats>),
    /// Show who uses the disk space, and make some
    Disk(Later<commands::disk::Disk>),
    /// Take a secret out of everything that was saved, for good
    Purge(Later<commands::purge::Purge>),
    /// Take everything of git axiom out of this repository; commits stay
    Deinit(Later<commands::deinit::Deinit>),
    /// Approve the configuration and hooks that a project brings with it
    Trust(Later<commands::trust::Trust>),
    /// List, try and install hooks
    #[command(subcommand)]
    Hooks(Later<commands::hooks::Hooks>),
    /// Run a command, one or so many at a time on this machine
    Lock(Later<commands::lock::Lock>),
    /// Show, check and change the configuration
    #[command(subcommand)]
    Config(Later<commands::config::Config>),
    /// Print a script that completes verbs, options and ids in a shell
    Completions(Later<commands::completions::Completions>),
    /// Print or write the pages of the manual
    Man(Later<commands::man::Man>),
    /// Print the help of a verb, or list all verbs
    Help(Later<commands::help::Help>),
    /// Save what an agent that you run changes (called by its program)
    #[command(hide = true)]
    Hook(Later<commands::hook::Hook>),
    /// Own one agent program
    #[command(hide = true)]
    Keeper(Later<commands::keeper::Keeper>),
}

impl Verb {
    /// The name of the verb, for reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Init(_) => "init",
            Self::Demo(_) => "demo",
            Self::Task(_) => "task",
            Self::Plan(_) => "plan",
            Self::Panel(_) => "panel",
            Self::Status(_) => "status",
            Self::Graph(_) => "graph",
            Self::Log(_) => "log",
            Self::Events(_) => "events",
            Self::Disk(_) => "disk",
            Self::Trust(_) => "trust",
            Self::Hooks(_) => "hooks",
            Self::Agents(_) => "agents",
            Self::Learnings(_) => "learnings",
            Self::Stats(_) => "stats",
            Self::Config(_) => "config",
            Self::Lock(_) => "lock",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
            Self::Help(_) => "help",
            Self::Checkpoint(_) => "checkpoint",
            Self::Attach(_) => "attach",
            Self::Detach(_) => "detach",
            Self::Deinit(_) => "deinit",
            Self::Purge(_) => "purge",
            Self::Debug(_) => "debug",
            Self::Diff(_) => "diff",
            Self::Merge(_) => "merge",
            Self::Rollback(_) => "rollback",
            Self::Restore(_) => "restore",
            Self::Undo(_) => "undo",
            Self::Redo(_) => "redo",
            Self::Run(_) => "run",
            Self::Stop(_) => "stop",
            Self::Kill(_) => "kill",
            Self::Output(_) => "output",
            Self::Recover(_) => "recover",
            Self::Pause(_) => "pause",
            Self::Resume(_) => "resume",
            Self::Quit(_) => "quit",
            Self::Redirect(_) => "redirect",
            Self::Mode(_) => "mode",
            Self::Gate(_) => "gate",
            Self::Signal(_) => "signal",
            Self::Keeper(_) => "keeper",
            Self::Hook(_) => "hook",
            Self::Prompts(_) => "prompts",
            Self::Sessions(_) => "sessions",
            Self::Watch(_) => "watch",
        }
    }
}
