//! `git axiom undo` and `git axiom redo`. Their output is in `crate::wording`.

use clap::Args;

use super::foreground::tell_hooks;
use super::{open_with_usable_config, purpose};
use crate::cli::screen::Screen;
use crate::cli::{visible, words};
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::grammar::consent::ConsentArgs;
use crate::wording::undo::{UndoOutcomeJson, explain, with_possible};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::operation::operation_record::OperationRecord;
use axiom_model::operation::undo::UndoSelector;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_safety::attach::at_work;
use axiom_safety::context::handle::Context;
use axiom_safety::operation::planned_changes::here;
use axiom_safety::undo as op;

/// Arguments of `undo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without an id, undo takes back the last operation that changed refs, files or tasks and is not
undone yet, whoever made it; repeat it to go further back. If the operation is not yours (a
merge of the supervisor), --yes needs its id. Only what it changed is restored, and only if
nothing changed it since. 'git axiom log --undoable' lists what can be undone; 'git axiom redo'
undoes an undo.")]
pub struct UndoArgs {
    /// Which one: an id of 'git axiom log', or a unique beginning of it
    operation: Option<String>,
    #[command(flatten)]
    consent: ConsentArgs,
}

/// Arguments of `redo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Only what the undo changed is put back as it was before it, and only if nothing changed it
since. Repeat it to go further back; 'git axiom log' lists undos too, and 'git axiom undo ID'
takes back any of them.")]
pub struct RedoArgs {
    #[command(flatten)]
    consent: ConsentArgs,
}

/// Undoes an operation.
pub fn undo(args: &UndoArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let asked = args.operation.clone().map_or(UndoSelector::Undo, UndoSelector::Named);
    run(&asked, &args.consent, global, screen)
}

/// Undoes the last undo.
pub fn redo(args: &RedoArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    run(&UndoSelector::Redo, &args.consent, global, screen)
}

fn run(asked: &UndoSelector, consent: &ConsentArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(purpose(consent.dry_run), global, screen)?;
    let ended = undo_with(&mut ctx, asked, consent, screen);
    tell_hooks(&mut ctx, screen);
    ended
}

fn undo_with(ctx: &mut Context, asked: &UndoSelector, consent: &ConsentArgs, screen: &mut Screen) -> Result<Exit> {
    ctx.no_open_operation()?;
    let chosen = op::choose(ctx, asked).map_err(|error| with_possible(ctx, asked, error))?;
    let others = *asked == UndoSelector::Undo && chosen.transaction.by != EventAuthor::User;
    let explain = |ctx: &Context, error| with_possible(ctx, asked, explain(ctx, &chosen.transaction, error));
    if others && consent.yes && !consent.dry_run {
        // The command that the error suggests has to work, so this is checked first.
        op::check(ctx, &chosen).map_err(|error| explain(ctx, error))?;
        return Err(not_yours(&chosen.transaction));
    }
    let is_touched = |worktree: &str| chosen.transaction.changes.worktrees.iter().any(|change| change.path == worktree);
    for line in at_work::notes(ctx, &is_touched)? {
        screen.note(&format!("note: {}", visible::line(&line)));
    }
    if consent.dry_run || !consent.yes {
        let preview = op::check(ctx, &chosen).map_err(|error| explain(ctx, error))?;
        let answer = UndoOutcomeJson::before(&chosen, &preview);
        let plan = || answer.plan(&chosen, &here(ctx));
        if consent.dry_run {
            screen.answer(&answer, plan)?;
            return Ok(Exit::Done);
        }
        screen.note_text(plan().trim_end());
    }
    screen.confirm(if chosen.redo { "Do it again?" } else { "Take it back?" }, consent.yes).map_err(|error| {
        if others && error.code() == Code::NeedsConfirmation { not_yours(&chosen.transaction) } else { error }
    })?;
    let done = op::undo(ctx, &chosen).map_err(|error| explain(ctx, error))?;
    let answer = UndoOutcomeJson::after(&chosen, &done);
    screen.answer(&answer, || answer.outcome(&chosen, &here(ctx)))?;
    Ok(Exit::Done)
}

/// Without an id, the newest change is meant. If the user did not make it, the id is needed to show that the user knows.
fn not_yours(transaction: &OperationRecord) -> Error {
    let OperationRecord { id, at, by, what, .. } = transaction;
    Error::new(Code::NeedsConfirmation, format!("the last operation was made by {by}, not by you: {what} ({})", words::time(*at)))
        .hint(format!("git axiom undo {id} --yes    takes it back; with --dry-run instead of --yes, it shows what changes"))
        .hint("git axiom log --undoable    lists what else can be taken back")
}
