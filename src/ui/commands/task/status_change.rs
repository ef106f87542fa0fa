//! `git axiom task block`, `unblock` and `archive`.

use clap::Args;
use serde::Serialize;

use crate::cli::screen::Screen;
use crate::commands::foreground::tell_hooks;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::progress::ProgressPrinter;
use crate::commands::{input, open, open_with_usable_config};
use axiom_agents::interventions::blocking;
use axiom_agents::interventions::blocking::BlockReport;
use axiom_agents::tasks::edit;
use axiom_base::error::{Exit, Result};
use axiom_model::base::ids::TaskId;
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;

/// Arguments of `task block`.
#[derive(Debug, Args)]
#[command(after_help = "\
Pending, blocked and failed tasks can be blocked, and those that an agent works on: the agent is
stopped, what it did is committed, its workspace stays, and its slot is free. 'git axiom task
unblock ID' makes them pending again.

A group holds all that is in it, nested groups too, as long as it is blocked: agents at work
there are stopped, and nothing of it is claimed.")]
pub struct TaskBlockArgs {
    /// The tasks
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Why
    #[arg(long, value_name = "REASON")]
    reason: String,
}

/// Arguments of `task unblock`.
#[derive(Debug, Args)]
#[command(after_help = "\
All or none. Agents claim them again as soon as a session runs and what they come after is
merged. The next attempt continues with the branch axiom/ID and the workspace of the earlier
ones. A task whose gate was just rejected can be unblocked at once.")]
pub struct TaskUnblockArgs {
    /// The tasks
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Arguments of `task archive`.
#[derive(Debug, Args)]
#[command(after_help = "\
Archived tasks stay on record; 'git axiom undo' restores them. A group is archived with all that
is in it and not merged; agents at work there are stopped, and what they did is committed.")]
pub struct TaskArchiveArgs {
    /// The tasks
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Which tasks have another status now.
#[derive(Serialize)]
struct TaskStatusChangeJson<'a> {
    /// Ids of tasks.
    changed: &'a [TaskId],
    /// Ids of tasks.
    unchanged: Vec<&'a TaskId>,
}

fn report(screen: &mut Screen, asked: &[TaskId], changed: &[TaskId], done: &str) -> Result<Exit> {
    let unchanged: Vec<&TaskId> = asked.iter().filter(|id| !changed.contains(id)).collect();
    let answer = TaskStatusChangeJson { changed, unchanged };
    screen.answer(&answer, || {
        let made = changed.iter().map(|id| format!("{id}: {done}\n"));
        made.chain(answer.unchanged.iter().map(|id| format!("{id}: was {done} already\n"))).collect::<String>()
    })?;
    Ok(Exit::Done)
}

fn restate(
    ids: &[String],
    global: &GlobalArgs,
    screen: &mut Screen,
    done: &str,
    change: impl FnOnce(&mut Context, &[TaskId]) -> Result<Vec<TaskId>>,
) -> Result<Exit> {
    let ids = input::ids(ids)?;
    let mut ctx = open(global, screen)?;
    let changed = change(&mut ctx, &ids)?;
    report(screen, &ids, &changed, done)
}

/// Blocks tasks, also those that agents work on.
pub fn block(args: &TaskBlockArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let ids = input::ids(&args.ids)?;
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    let BlockReport { changed, stopped } = blocking::block(&mut ctx, &ids, &args.reason, &mut ProgressPrinter::new(false))?;
    for agent in &stopped {
        screen.note(&format!("{agent} leaves its task; its workspace stays"));
    }
    report(screen, &ids, &changed, "blocked")?;
    tell_hooks(&mut ctx, screen);
    Ok(Exit::Done)
}

/// Makes blocked or failed tasks pending again.
pub fn unblock(args: &TaskUnblockArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    restate(&args.ids, global, screen, "pending", edit::unblock)
}

/// Archives tasks.
pub fn archive(args: &TaskArchiveArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let ids = input::ids(&args.ids)?;
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    let BlockReport { changed, stopped } = blocking::archive(&mut ctx, &ids, &mut ProgressPrinter::new(false))?;
    for agent in &stopped {
        screen.note(&format!("{agent} leaves its task; its workspace stays"));
    }
    report(screen, &ids, &changed, "archived")?;
    tell_hooks(&mut ctx, screen);
    Ok(Exit::Done)
}
