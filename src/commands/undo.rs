//! `git axiom undo` and `git axiom redo`.

mod told;

use clap::Args;

use self::told::Answer;
use super::open_configured;
use crate::cli::arguments::Global;
use crate::cli::screen::Screen;
use crate::cli::words;
use crate::domain::transaction::Transaction;
use crate::domain::undo::Asked;
use crate::error::{Code, Error, Exit, Result};
use crate::ops::context::Context;
use crate::ops::undo as op;

/// Arguments of `undo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without an id it is the last transaction of yours that can be undone and is no undo; again goes
further back. Only what the transaction changed goes back, and only if nobody changed it since.
'git axiom log --undoable' lists what can be undone; 'git axiom redo' takes an undo back.")]
pub struct Undo {
    /// Which one: an id of 'git axiom log', or a unique beginning of it
    transaction: Option<String>,
    #[command(flatten)]
    how: How,
}

/// Arguments of `redo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Only what the undo changed is put back as it was before it, and only if nobody changed it since.
Again goes further back; 'git axiom log' lists undos too, and 'git axiom undo ID' takes any of
them back.")]
pub struct Redo {
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct How {
    /// Show exactly what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Takes a transaction back.
///
/// # Errors
/// As [`op::choose`] and [`op::undo`]; `NEEDS_CONFIRMATION`, `DECLINED`.
pub fn undo(args: &Undo, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let asked = args.transaction.clone().map_or(Asked::Undo, Asked::Named);
    run(&asked, "undo", &args.how, global, screen)
}

/// Takes the last undo back.
///
/// # Errors
/// As [`undo`].
pub fn redo(args: &Redo, global: &Global, screen: &mut Screen) -> Result<Exit> {
    run(&Asked::Redo, "redo", &args.how, global, screen)
}

fn run(asked: &Asked, verb: &str, how: &How, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let mut context = open_configured(global, Vec::new(), screen)?;
    context.for_humans_only(verb)?;
    context.no_open_operation()?;
    let chosen = op::choose(&context, asked)?;
    if how.dry_run || !how.yes {
        let preview = op::check(&context, &chosen).map_err(|error| explain(&context, &chosen.transaction, error))?;
        let (answer, main) = (Answer::before(&chosen, &preview), context.repo.main_worktree()?);
        let plan = || answer.plan(&chosen, main.path());
        if how.dry_run {
            screen.answer(&answer, plan)?;
            return Ok(Exit::Done);
        }
        screen.note(plan().trim_end());
    }
    screen.confirm(if chosen.redo { "Do it again?" } else { "Take it back?" }, how.yes)?;
    let done = op::undo(&mut context, &chosen).map_err(|error| explain(&context, &chosen.transaction, error))?;
    let answer = Answer::after(&chosen, &done);
    screen.answer(&answer, || answer.outcome(&chosen))?;
    Ok(Exit::Done)
}

/// Adds to a conflict what changed since by whom, and which ways on there are.
fn explain(context: &Context, transaction: &Transaction, error: Error) -> Error {
    if error.code() != Code::ChangedMeanwhile {
        return error;
    }
    // Where the log cannot be read, the error says enough.
    let since = op::changed_since(context, &transaction.id).unwrap_or_default();
    let error = since.iter().filter(|one| one.matters()).take(3).fold(error, |error, later| {
        let Transaction { id, at, by, what, .. } = later;
        let way = if later.undoable() { format!("; to take that back first: git axiom undo {id}") } else { String::new() };
        error.hint(format!("since then: {what} ({}, {by}){way}", words::time(*at)))
    });
    error.hint("git axiom log --undoable    lists what can be taken back; git axiom undo ID    takes one of it back")
}
