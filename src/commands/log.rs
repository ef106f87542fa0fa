//! `git axiom log`.

use clap::Args;
use jiff::Timestamp;
use serde::Serialize;

use super::open;
use crate::cli::arguments::Global;
use crate::cli::screen::{Screen, table};
use crate::domain::case::CaseEdit;
use crate::domain::ids::{CaseId, CheckpointName, TxnId};
use crate::domain::operation::RefChange;
use crate::domain::transaction::{Progress, Transaction};
use crate::error::{Exit, Result};
use crate::ops::history;

/// Arguments of `log`.
#[derive(Debug, Args)]
#[command(after_help = "\
A transaction is one command of yours, or one step of the supervisor. 'git axiom undo ID' takes one back; those that
cannot be taken back say why with --json.")]
pub struct Log {
    /// Show at most this many
    #[arg(short = 'n', long = "max-count", value_name = "NUMBER")]
    count: Option<usize>,
    /// Only what can be undone
    #[arg(long)]
    undoable: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    transactions: Vec<View<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct View<'a> {
    id: &'a TxnId,
    at: Timestamp,
    by: String,
    what: &'a str,
    undoable: bool,
    obstacle: Option<&'static str>,
    state: Progress,
    undo_of: Option<&'a TxnId>,
    undone_by: Option<&'a TxnId>,
    refs: &'a [RefChange],
    worktrees: Vec<&'a str>,
    added: &'a [CaseId],
    edits: &'a [CaseEdit],
    checkpoints: &'a [CheckpointName],
}

fn view(transaction: &Transaction) -> View<'_> {
    View {
        id: &transaction.id,
        at: transaction.at,
        by: transaction.by.to_string(),
        what: &transaction.what,
        undoable: transaction.undoable(),
        obstacle: transaction.obstacle(),
        state: transaction.progress,
        undo_of: transaction.undo_of.as_ref(),
        undone_by: transaction.undone_by.as_ref(),
        refs: &transaction.refs,
        worktrees: transaction.worktrees.iter().map(|worktree| worktree.path.as_str()).collect(),
        added: &transaction.added,
        edits: &transaction.edits,
        checkpoints: &transaction.checkpoints,
    }
}

/// Lists transactions, newest first.
///
/// # Errors
/// As [`history::transactions`].
pub fn run(args: &Log, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let context = open(global)?;
    let all = history::transactions(&context)?;
    let newest = all.iter().rev().filter(|transaction| !args.undoable || transaction.undoable());
    let shown: Vec<&Transaction> = newest.take(args.count.unwrap_or(usize::MAX)).collect();
    let answer = Answer { transactions: shown.iter().map(|transaction| view(transaction)).collect() };
    screen.answer(&answer, || {
        let rows = shown.iter().map(|transaction| {
            let note = match (transaction.progress, &transaction.undone_by) {
                (Progress::Open, _) => "  (not finished)",
                (Progress::Aborted, _) => "  (reversed)",
                (Progress::Done, Some(_)) => "  (undone)",
                (Progress::Done, None) => "",
            };
            let Transaction { id, at, by, what, .. } = transaction;
            vec![id.to_string(), at.to_string(), by.to_string(), format!("{what}{note}")]
        });
        table(&rows.collect::<Vec<_>>())
    })?;
    Ok(Exit::Done)
}
