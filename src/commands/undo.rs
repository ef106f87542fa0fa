//! `git axiom undo` and `git axiom redo`.

use clap::Args;
use serde::Serialize;

use super::open;
use crate::cli::arguments::Global;
use crate::cli::screen::Screen;
use crate::domain::transaction::Transaction;
use crate::domain::undo::Asked;
use crate::error::{Exit, Result};
use crate::ops::undo as op;

/// Arguments of `undo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without an id it is the last transaction of yours that can be undone and is no undo; again goes further back. Only what the
transaction changed goes back, and only if nobody changed it since. An undo is taken back by 'git axiom redo'.")]
pub struct Undo {
    /// Which one: an id of 'git axiom log', or a unique beginning of it
    transaction: Option<String>,
    #[command(flatten)]
    how: How,
}

/// Arguments of `redo`.
#[derive(Debug, Args)]
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
    let mut context = open(global)?;
    context.for_humans_only(verb)?;
    let transaction = op::choose(&context, asked)?;
    let Transaction { id, what, .. } = &transaction;
    if how.dry_run {
        op::check(&context, &transaction)?;
        let (undid, moved_aside) = (id.as_str(), Vec::new());
        let answer = Answer { undid, what, dry_run: true, safety: None, undo: None, moved_aside };
        screen.answer(&answer, || format!("Would take back {id}: {what}\n"))?;
        return Ok(Exit::Done);
    }
    screen.note(&format!("Takes back {id}: {what}"));
    screen.confirm("Take it back?", how.yes)?;
    let done = op::undo(&mut context, &transaction)?;
    let undo = format!("git axiom undo {}", done.txn);
    let answer = Answer {
        undid: id.as_str(),
        what,
        dry_run: false,
        safety: done.safety.map(|name| name.to_string()),
        undo: Some(undo.clone()),
        moved_aside: done.moved_aside.iter().map(|moved| moved.now_at.display().to_string()).collect(),
    };
    screen.answer(&answer, || {
        let mut text = format!("Took back {id}: {what}\n");
        for place in &answer.moved_aside {
            text.push_str(&format!("moved out of the way: {place}\n"));
        }
        if let Some(name) = &answer.safety {
            text.push_str(&format!("What was there before is in checkpoint {name}.\n"));
        }
        text.push_str(&format!("To take the undo back: {undo}\n"));
        text
    })?;
    Ok(Exit::Done)
}
