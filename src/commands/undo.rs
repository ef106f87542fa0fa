//! `git axiom undo` and `git axiom redo`.

use std::path::Path;

use clap::Args;
use serde::Serialize;

use super::open_configured;
use crate::cli::arguments::Global;
use crate::cli::screen::Screen;
use crate::cli::words;
use crate::domain::operation::AsideChange;
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
    /// Show what would be undone, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    undid: &'a str,
    what: &'a str,
    dry_run: bool,
    safety: Option<String>,
    undo: Option<String>,
    moved_aside: Vec<String>,
    brought_back: Vec<String>,
    still_aside: Vec<String>,
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
    let transaction = op::choose(&context, asked)?;
    let Transaction { id, at, by, what, .. } = &transaction;
    let which = format!("{id}: {what} ({}, {by})", words::time(*at));
    if how.dry_run || !how.yes {
        op::check(&context, &transaction).map_err(|error| explain(&context, &transaction, error))?;
    }
    if how.dry_run {
        let (undid, moved_aside) = (id.as_str(), Vec::new());
        // Where they come back to, if nothing else is there by then.
        let place = |change: &AsideChange| Path::new(&change.worktree).join(change.path.to_path()).display().to_string();
        let brought_back = transaction.asides.iter().map(place).collect();
        let (safety, undo, still_aside) = (None, None, Vec::new());
        let answer = Answer { undid, what, dry_run: true, safety, undo, moved_aside, brought_back, still_aside };
        screen.answer(&answer, || {
            let back = answer.brought_back.iter().map(|place| format!("  would put back what was out of the way: {place}\n"));
            format!("Would take back {which}\n{}", back.collect::<String>())
        })?;
        return Ok(Exit::Done);
    }
    if !how.yes {
        screen.note(&format!("Would take back {which}"));
    }
    screen.confirm("Take it back?", how.yes)?;
    let done = op::undo(&mut context, &transaction).map_err(|error| explain(&context, &transaction, error))?;
    let undo = format!("git axiom undo {}", done.txn);
    let answer = Answer {
        undid: id.as_str(),
        what,
        dry_run: false,
        safety: done.safety.map(|name| name.to_string()),
        undo: Some(undo.clone()),
        moved_aside: done.moved_aside.iter().map(|moved| moved.now_at.display().to_string()).collect(),
        brought_back: done.brought_back.iter().map(|place| place.display().to_string()).collect(),
        still_aside: done.still_aside.iter().map(|moved| moved.now_at.display().to_string()).collect(),
    };
    screen.answer(&answer, || {
        let mut text = format!("Took back {which}\n");
        for place in &answer.moved_aside {
            text.push_str(&format!("moved out of the way: {place}\n"));
        }
        for place in &answer.brought_back {
            text.push_str(&format!("put back what was out of the way: {place}\n"));
        }
        for place in &answer.still_aside {
            text.push_str(&format!("still out of the way, for its place is taken: {place}\n"));
        }
        if let Some(name) = &answer.safety {
            text.push_str(&format!("What was there before is in checkpoint {name}.\n"));
        }
        text.push_str(&format!("To take the undo back: {undo}\n"));
        text
    })?;
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
