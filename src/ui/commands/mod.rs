//! The verbs, one in each file or folder: arguments and help, one call of `safety` or `agents`, and what is printed. No effects and no
//! decisions: those are in `safety`, `agents` and `model`. The grammar of the command line is in `grammar`. Begin reading with `command_line`
//! and [`dispatch`].

pub mod acp;
pub mod agents;
pub mod answers;
pub mod attach;
mod callers;
pub mod checkpoint;
pub mod command_line;
pub mod completions;
pub mod config;
pub mod debug;
pub mod deinit;
pub mod demo;
pub mod diff;
pub mod disk;
pub mod events;
pub mod foreground;
pub mod gate;
pub mod grammar;
pub mod graph;
pub mod help;
pub mod hook;
pub mod hooks;
pub mod init;
pub mod input;
pub mod keeper;
pub mod learnings;
pub mod lock;
pub mod log;
pub mod man;
pub mod merge;
pub mod mode;
pub mod output;
pub mod panel;
pub mod pause;
pub mod plan;
pub mod progress;
pub mod prompts;
pub mod purge;
pub mod quit;
pub mod recover;
pub mod redirect;
pub mod rollback;
pub mod run;
pub mod signal;
pub mod stats;
pub mod status;
pub mod statusline;
pub mod stop;
pub mod task;
mod taste;
pub mod trust;
pub mod undo;
mod version;
pub mod watch;

use std::path::{Path, PathBuf};

use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::{Cli, GlobalArgs, Verb};
use axiom_base::env;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_safety::context::Repository;
use axiom_safety::context::configure::ConfigMessages;
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::opening;

/// What a command line ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbExit {
    /// An exit status of git axiom's own.
    Ours(Exit),
    /// The exit status of a program that was run for the user.
    Program(u8),
}

impl VerbExit {
    /// The exit status of this process.
    pub fn status(self) -> u8 {
        match self {
            Self::Ours(exit) => exit as u8,
            Self::Program(status) => status,
        }
    }
}

/// Runs a verb.
pub fn dispatch(cli: Cli, screen: &mut Screen) -> Result<VerbExit> {
    let Cli { global, verb } = cli;
    let Some(verb) = verb else {
        return help::overview(screen).map(VerbExit::Ours);
    };
    callers::may_call(&global, screen)?;
    let exit = match verb {
        // It ends as the command does that it runs.
        Verb::Lock(args) => return lock::run(args.0, &global, screen),
        Verb::Acp(args) => return acp::run(args.0, &global, screen),
        Verb::Hook(args) => return hook::run(&args),
        Verb::Init(args) => init::run(&args, &global, screen),
        Verb::Checkpoint(args) => checkpoint::run(&args, &global, screen),
        Verb::Attach(args) => attach::run(&args, &global, screen),
        Verb::Detach(args) => attach::detach(&args, &global, screen),
        Verb::Purge(args) => purge::run(&args, &global, screen),
        Verb::Deinit(args) => deinit::run(&args, &global, screen),
        Verb::Debug(args) => debug::run(&args, &global, screen),
        Verb::Diff(args) => diff::run(&args, &global, screen),
        Verb::Merge(args) => merge::run(&args, &global, screen),
        Verb::Rollback(args) => rollback::run(&args, &global, screen),
        Verb::Restore(args) => rollback::restore(&args, &global, screen),
        Verb::Undo(args) => undo::undo(&args, &global, screen),
        Verb::Redo(args) => undo::redo(&args, &global, screen),
        Verb::Task(args) => task::run(&args, &global, screen),
        Verb::Plan(args) => plan::run(&args, &global, screen),
        Verb::Status(args) => status::run(&args, &global, screen),
        Verb::Statusline(args) => statusline::run(&args, &global, screen),
        Verb::Panel(args) => panel::run(&args, &global, screen),
        Verb::Graph(args) => graph::run(&args, &global, screen),
        Verb::Log(args) => log::run(&args, &global, screen),
        Verb::Events(args) => events::run(&args, &global, screen),
        Verb::Run(args) => run::run(&args, &global, screen),
        Verb::Stop(args) => stop::stop(&args, &global, screen),
        Verb::Kill(args) => stop::run(&args, TaskHalt::Kill, &global, screen),
        Verb::Output(args) => output::run(&args, &global, screen),
        Verb::Recover(args) => recover::run(&args, &global, screen),
        Verb::Pause(args) => pause::pause(&args, &global, screen),
        Verb::Resume(_) => pause::resume(&global, screen),
        Verb::Redirect(args) => redirect::run(&args, &global, screen),
        Verb::Quit(args) => quit::run(&args, &global, screen),
        Verb::Mode(args) => mode::run(&args, &global, screen),
        Verb::Gate(verb) => gate::run(verb.0, &global, screen),
        Verb::Signal(verb) => signal::run(verb.0, screen),
        Verb::Keeper(args) => keeper::run(&args),
        Verb::Disk(args) => disk::run(&args, &global, screen),
        Verb::Trust(args) => trust::run(&args, &global, screen),
        Verb::Agents(args) => agents::run(&args.0, &global, screen),
        Verb::Learnings(args) => learnings::run(&args, &global, screen),
        Verb::Prompts(args) => prompts::run(&args, &global, screen),
        Verb::Sessions(args) => prompts::run_sessions(&args, &global, screen),
        Verb::Watch(args) => watch::run(&args, &global, screen),
        Verb::Stats(args) => stats::run(&args, &global, screen),
        Verb::Hooks(verb) => hooks::run(verb.0, &global, screen),
        Verb::Config(args) => config::run(&args, &global, screen),
        Verb::Completions(args) => completions::run(&args, &global, screen),
        Verb::Demo(args) => demo::run(&args, screen),
        Verb::Man(args) => man::run(&args, &global, screen),
        Verb::Help(args) => help::run(&args, &global, screen),
    };
    exit.map(VerbExit::Ours)
}

/// The folder in which the verb was called, after `-C`.
pub fn working_dir(global: &GlobalArgs) -> Result<PathBuf> {
    let here = env::current_dir()?;
    // As in git, an empty path changes nothing.
    global
        .directory
        .iter()
        .filter(|path| !path.as_os_str().is_empty())
        .try_fold(here, |here, path| here.join(path).canonicalize().map_err(|e| Error::io("change to", Path::new(path), e)))
}

/// The repository and its state, for verbs that may write.
pub fn open(global: &GlobalArgs, screen: &mut Screen) -> Result<Context> {
    open_for(VerbPurpose::Write, global, screen)
}

/// The repository and its state, for verbs that only look.
pub fn look(global: &GlobalArgs, screen: &mut Screen) -> Result<Context> {
    open_for(VerbPurpose::Look, global, screen)
}

/// The purpose of a verb with a dry run.
pub fn purpose(dry_run: bool) -> VerbPurpose {
    if dry_run { VerbPurpose::Look } else { VerbPurpose::Write }
}

/// The repository and its state. Prints notes about the repository's place, if it was moved, restored or copied.
pub fn open_for(purpose: VerbPurpose, global: &GlobalArgs, screen: &mut Screen) -> Result<Context> {
    let ctx = open_to_choose(purpose, global, screen)?;
    placement::main_is_chosen(&ctx)?;
    Ok(ctx)
}

/// As [`open_for`], for `init`, which chooses the main worktree of a bare repository.
pub fn open_to_choose(purpose: VerbPurpose, global: &GlobalArgs, screen: &mut Screen) -> Result<Context> {
    let mut ctx = opening::open(&working_dir(global)?, purpose)?;
    for what in std::mem::take(&mut ctx.found.said) {
        screen.note(&format!("note: {what}"));
    }
    ctx.repo.bare().not_in_a_bare_one()?;
    // Verbs that only look change nothing, and what they see may be a line that is just being written.
    if purpose == VerbPurpose::Write {
        ctx.mend_log().iter().for_each(|warning| warn(warning, screen));
    }
    Ok(ctx)
}

/// Says what needs an identity, where git knows none: before it matters.
pub fn tell_of_missing_identity(ctx: &Context, screen: &mut Screen) -> Result<()> {
    let missing = match ctx.repo.identities().committer() {
        Err(error) if error.code() == Code::IdentityMissing => error,
        outcome => return outcome.map(drop),
    };
    screen.note(&format!("note: {missing}: checkpoints need no name, work of agents is merged and taken back only with one"));
    missing.hints().iter().for_each(|hint| screen.note(&format!("hint: {hint}")));
    Ok(())
}

/// Says what was found damaged and did not keep the verb from its work.
pub fn warn(warning: &Error, screen: &mut Screen) {
    screen.complain(&format!("warning[{}]: {warning}", warning.code()));
}

/// The repository without its state, for verbs that need no state.
pub fn repository(global: &GlobalArgs) -> Result<Repository> {
    Repository::discover(&working_dir(global)?)
}

/// As [`open`], with the configuration; `command_line` are keys (`section.name`) and values from the command line.
pub fn open_configured(global: &GlobalArgs, command_line: Vec<(String, String)>, screen: &mut Screen) -> Result<Context> {
    open_configured_for(VerbPurpose::Write, global, command_line, screen)
}

/// As [`open_for`], with the configuration.
pub fn open_configured_for(
    purpose: VerbPurpose,
    global: &GlobalArgs,
    command_line: Vec<(String, String)>,
    screen: &mut Screen,
) -> Result<Context> {
    let mut ctx = open_for(purpose, global, screen)?;
    let told = match ctx.load_config(command_line.clone()) {
        Err(error) if error.code() == Code::ConfigDamaged && screen.can_ask() => {
            config::broken::ask(&ctx.repo, error, screen)?;
            ctx.load_config(command_line)?
        }
        loaded => loaded?,
    };
    tell(&mut ctx, &told, purpose, screen);
    Ok(ctx)
}

/// As [`open_for`], with what can be used of the configuration: for verbs that have to work whatever it says.
pub fn open_with_usable_config(purpose: VerbPurpose, global: &GlobalArgs, screen: &mut Screen) -> Result<Context> {
    let mut ctx = open_for(purpose, global, screen)?;
    let told = ctx.load_usable_config()?;
    tell(&mut ctx, &told, purpose, screen);
    Ok(ctx)
}

/// Says what the user is to be told of the configuration; a verb that writes also records what stands in for a part of it.
fn tell(ctx: &mut Context, told: &ConfigMessages, purpose: VerbPurpose, screen: &mut Screen) {
    told.warnings.iter().for_each(|warning| screen.warn_of(warning));
    told.notes.iter().for_each(|note| screen.note(note));
    if purpose == VerbPurpose::Write {
        ctx.record_restored(told);
    }
}
