//! `git axiom log`.

use clap::Args;
use jiff::Timestamp;
use serde::Serialize;

use super::open_for;
use crate::cli::grid::{StyledCell, StyledGrid};
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::words;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::error::{Exit, Result};
use axiom_model::base::ids::{OperationId, TaskId};
use axiom_model::base::ref_change::RefChange;
use axiom_model::base::screen_colors::ColoredPart;
use axiom_model::base::text::ValueChange;
use axiom_model::operation::change_json;
use axiom_model::operation::change_json::CheckpointNameJson;
use axiom_model::operation::operation_record::{JournaledChanges, OperationRecord, OperationRecordState};
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::tasks::task::TaskChangeSet;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::history;
use axiom_safety::undo::UndoabilityCheck;

/// Arguments of `log`.
#[derive(Debug, Args)]
#[command(after_help = "\
An operation is one command of yours, or one step of the supervisor. The list has the requests
of people and agents, merges, rollbacks, undos, checkpoints, and the start and end of sessions;
the steps in between (claims, iterations, gates) and what is saved before each prompt ('git
axiom prompts') are listed only with --all.

'git axiom undo ID' undoes one if UNDO says yes; a unique beginning of the id is enough. It says
no if something changed since, - if there is nothing to undo or another verb takes it back, and
gone if the objects are no longer there (they are kept for checkpoints.keepDeletedDays); --json
gives the reason under 'obstacle'.")]
pub struct LogArgs {
    /// Show at most this many
    #[arg(short = 'n', long = "max-count", value_name = "NUMBER")]
    count: Option<usize>,
    /// Only what can be undone
    #[arg(long)]
    undoable: bool,
    /// Every step of the supervisor too
    #[arg(long)]
    all: bool,
}

/// The operations.
#[derive(Serialize)]
struct LogJson<'a> {
    /// Newest first; the supervisor's steps in between only with `--all`.
    operations: Vec<OperationJson<'a>>,
}

/// An operation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OperationJson<'a> {
    id: &'a OperationId,
    at: Timestamp,
    by: String,
    what: &'a str,
    /// Whether `undo` takes it back now.
    undoable: bool,
    /// Why it does not.
    obstacle: Option<&'a str>,
    state: OperationRecordState,
    /// The operation that it takes back.
    undo_of: Option<&'a OperationId>,
    /// The operation that takes it back.
    undone_by: Option<&'a OperationId>,
    #[serde(serialize_with = "change_json::refs")]
    refs: Vec<RefChange>,
    /// Those in which files changed.
    worktrees: Vec<&'a str>,
    /// Ids of tasks.
    added: Vec<&'a TaskId>,
    #[serde(serialize_with = "change_json::tasks")]
    tasks: &'a [TaskChangeSet],
    /// Those that it made.
    checkpoints: Vec<CheckpointNameJson<'a>>,
}

/// An operation, and why it cannot be undone now.
struct OperationLogRow<'a> {
    transaction: &'a OperationRecord,
    obstacle: Option<String>,
}

fn view<'a>(shown: &'a OperationLogRow<'_>) -> OperationJson<'a> {
    let OperationLogRow { transaction, obstacle } = shown;
    OperationJson {
        id: &transaction.id,
        at: transaction.at,
        by: transaction.by.to_string(),
        what: &transaction.what,
        undoable: obstacle.is_none(),
        obstacle: obstacle.as_deref(),
        state: transaction.progress,
        undo_of: transaction.undo.of.as_ref(),
        undone_by: transaction.undo.by.as_ref(),
        refs: refs(&transaction.changes),
        worktrees: worktrees(&transaction.changes),
        added: transaction.tasks.added.keys().collect(),
        tasks: &transaction.tasks.edits,
        checkpoints: transaction.checkpoints.iter().map(|name| CheckpointNameJson { name }).collect(),
    }
}

/// All refs that it moved, including branches that are checked out in a worktree.
fn refs(changes: &JournaledChanges) -> Vec<RefChange> {
    let advanced = changes.advances.iter().map(|advance| RefChange {
        name: advance.branch.clone(),
        value: ValueChange::new(Some(advance.commit.old.clone()), Some(advance.commit.new.clone())),
    });
    advanced.chain(changes.refs.iter().cloned()).collect()
}

/// All worktrees whose files it changed.
fn worktrees(changes: &JournaledChanges) -> Vec<&str> {
    let advanced = changes.advances.iter().map(|advance| advance.path.as_str());
    advanced.chain(changes.worktrees.iter().map(|worktree| worktree.path.as_str())).collect()
}

/// Lists operations, newest first.
pub fn run(args: &LogArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let purpose = if args.count.is_some() && !args.undoable { VerbPurpose::LookBack } else { VerbPurpose::Look };
    let mut ctx = open_for(purpose, global, screen)?;
    // The log is shown even with a configuration that cannot be read: it only provides how long things are kept.
    if let Err(error) = ctx.load_config(Vec::new()) {
        tracing::debug!(%error, "the configuration was not read");
    }
    let is_listed = |one: &OperationRecord| args.all || one.matters();
    let all = match args.count {
        // Whether one can be undone is known only once git was asked.
        Some(most) if !args.undoable => {
            history::newest_transactions(&ctx, |known| known.iter().filter(|one| is_listed(one)).count() >= most)?
        }
        Some(_) | None => history::transactions(&ctx)?,
    };
    let standing = UndoabilityCheck::new(&ctx, &all)?;
    let candidates = all.iter().rev().filter(|one| is_listed(one) && (!args.undoable || one.undoable()));
    let looked_at = candidates.map(|transaction| OperationLogRow { transaction, obstacle: standing.obstacle(transaction) });
    let listed = looked_at.filter(|one| !args.undoable || one.obstacle.is_none());
    let mut shown: Vec<OperationLogRow<'_>> = listed.take(args.count.unwrap_or(usize::MAX)).collect();
    // A recovery records what happened before it.
    let is_by_recovery = |row: &OperationLogRow<'_>| row.transaction.by == EventAuthor::Recovery;
    for recorded in shown.chunk_by_mut(|one, next| is_by_recovery(one) && is_by_recovery(next)) {
        recorded.sort_by_key(|row| std::cmp::Reverse(row.transaction.at));
    }
    let answer = LogJson { operations: shown.iter().map(view).collect() };
    screen.answer(&answer, || if shown.is_empty() { StyledText::new() } else { in_words(&shown, &standing) })?;
    let steps = all.iter().filter(|one| !one.matters()).count();
    if all.is_empty() {
        screen.note("There is no operation yet.");
    } else if shown.is_empty() && args.undoable {
        screen.note("Nothing can be undone.");
    } else if steps > 0 && !args.all && !args.undoable && args.count.is_none() {
        screen.note(&format!("{} in between, shown with --all", words::count(steps, "step")));
    }
    Ok(Exit::Done)
}

fn in_words(shown: &[OperationLogRow<'_>], standing: &UndoabilityCheck<'_>) -> StyledText {
    let mut rows = vec![["ID", "TIME", "BY", "UNDO", "WHAT"].map(StyledCell::from).to_vec()];
    for OperationLogRow { transaction, obstacle } in shown {
        let OperationRecord { id, at, by, what, .. } = transaction;
        let note = match transaction.progress {
            OperationRecordState::Open => " (not finished)",
            OperationRecordState::Aborted => " (reversed)",
            OperationRecordState::Done => "",
        };
        let undo = match &transaction.undo.by {
            Some(_) => "undone",
            None if obstacle.is_none() => "yes",
            None if standing.lost_need(transaction).is_some() => "gone",
            None if transaction.undoable() => "no",
            None => "-",
        };
        let undo = StyledCell::of((undo == "undone").then_some(ColoredPart::Faint), undo);
        let what = StyledCell::of((!note.is_empty()).then_some(ColoredPart::Failed), format!("{what}{note}"));
        rows.push(vec![id.to_string().into(), words::time(*at).into(), by.to_string().into(), undo, what]);
    }
    StyledGrid::of(rows).headed().cut(&[4]).at_least(32).may_go(&[2]).into()
}
