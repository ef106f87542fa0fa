//! `git axiom task block`, `unblock` and `archive`.

use clap::Args;
use serde::Serialize;

use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::Global;
use crate::commands::{input, open};
use crate::domain::base::ids::CaseId;
use crate::error::{Exit, Result};
use crate::ops::cases::edit;
use crate::ops::context::handle::Context;

/// Arguments of `task block`.
#[derive(Debug, Args)]
#[command(after_help = "\
Pending, blocked and failed cases can be blocked; if an agent works on one, use 'git axiom stop
AGENT' first. All or none. 'git axiom task unblock ID' makes them pending again, and so does
'git axiom undo'.")]
pub struct Block {
    /// The cases
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
pub struct Unblock {
    /// The cases
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Arguments of `task archive`.
#[derive(Debug, Args)]
#[command(after_help = "Archived cases stay on record; 'git axiom undo' restores them.")]
pub struct Archive {
    /// The cases
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

#[derive(Serialize)]
struct TaskRestateAnswer<'a> {
    changed: &'a [CaseId],
    unchanged: Vec<&'a CaseId>,
}

fn report(screen: &mut Screen, asked: &[CaseId], changed: &[CaseId], done: &str) -> Result<Exit> {
    let unchanged: Vec<&CaseId> = asked.iter().filter(|id| !changed.contains(id)).collect();
    let answer = TaskRestateAnswer { changed, unchanged };
    screen.answer(&answer, || {
        let made = changed.iter().map(|id| format!("{id}: {done}\n"));
        made.chain(answer.unchanged.iter().map(|id| format!("{id}: was {done} already\n"))).collect()
    })?;
    Ok(Exit::Done)
}

fn restate(
    ids: &[String],
    global: &Global,
    screen: &mut Screen,
    done: &str,
    change: impl FnOnce(&mut Context, &[CaseId]) -> Result<Vec<CaseId>>,
) -> Result<Exit> {
    let ids = input::ids(ids)?;
    let mut ctx = open(global, screen)?;
    let changed = change(&mut ctx, &ids)?;
    report(screen, &ids, &changed, done)
}

/// Blocks cases.
///
/// # Errors
/// As [`edit::block`].
pub fn block(args: &Block, global: &Global, screen: &mut Screen) -> Result<Exit> {
    restate(&args.ids, global, screen, "blocked", |ctx, ids| edit::block(ctx, ids, &args.reason))
}

/// Makes blocked or failed cases pending again.
///
/// # Errors
/// As [`edit::unblock`].
pub fn unblock(args: &Unblock, global: &Global, screen: &mut Screen) -> Result<Exit> {
    restate(&args.ids, global, screen, "pending", edit::unblock)
}

/// Archives cases.
///
/// # Errors
/// As [`edit::archive`].
pub fn archive(args: &Archive, global: &Global, screen: &mut Screen) -> Result<Exit> {
    restate(&args.ids, global, screen, "archived", edit::archive)
}
