//! The rollback menu: the checkpoints, what a rollback to one would change, and making a new one. Escape at any prompt
//! changes nothing.

use super::checkpoint;
use crate::cli::screen::Screen;
use crate::cli::{prompt, words};
use crate::commands::grammar::consent::ConsentArgs;
use crate::wording::checkpoints::{menu_lines, type_and_trigger};
use crate::wording::rollback::{KEPT, nothing_changes, people};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::CheckpointName;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::work::tasks::task::{TaskKind, TaskStatus};
use axiom_safety::attach::prompts;
use axiom_safety::checkpoint as op;
use axiom_safety::checkpoint::{CheckpointListing, CheckpointRequest};
use axiom_safety::context::handle::Context;
use axiom_safety::operation::planned_changes::here;
use axiom_safety::rollback;

/// Shows the menu until the user has rolled back or leaves.
pub(super) fn run(ctx: &mut Context, screen: &mut Screen) -> Result<Exit> {
    if !screen.can_ask() {
        return Err(Error::new(Code::Usage, "the rollback menu needs a terminal")
            .hint("git axiom rollback checkpoint NAME, task ID or session")
            .hint("see -h for the options"));
    }
    ctx.no_open_operation()?;
    loop {
        ctx.store.refresh()?;
        let mut all = op::list(ctx, None)?;
        all.reverse();
        counts(ctx).iter().for_each(|counts| screen.note(counts));
        let (heading, mut items) = menu_lines(&all, &prompts::texts(ctx)?, screen.terminal().columns());
        let heading = Some(heading).filter(|_| !all.is_empty());
        items.push("Make a new checkpoint".to_owned());
        let question = "Roll back to which checkpoint? (Escape changes nothing)";
        let Some(chosen) = prompt::one_of(question, heading.as_deref(), &items, 0)? else {
            screen.note("Nothing was changed.");
            return Ok(Exit::Done);
        };
        match all.get(chosen) {
            Some(one) => {
                if let Some(exit) = offer(ctx, screen, one)? {
                    return Ok(exit);
                }
            }
            None => create(ctx, screen)?,
        }
    }
}

/// The options after a confirmation in the menu: no second question.
const AGREED: super::RollbackCommonArgs = super::RollbackCommonArgs {
    consent: ConsentArgs { dry_run: false, yes: true },
    no_stop: false,
    refs: false,
    no_refs: false,
    retry: false,
    mode: None,
};

/// The tasks, where there are any.
fn counts(ctx: &Context) -> Option<String> {
    let tasks = &ctx.state().restorable.tasks;
    let count = |status| tasks.values().filter(|task| task.kind == TaskKind::Task && task.status == status).count();
    let (done, active, pending) = (count(TaskStatus::Done), count(TaskStatus::Active), count(TaskStatus::Pending));
    (!tasks.is_empty()).then(|| format!("Tasks: {done} done, {active} in progress, {pending} pending"))
}

/// Shows what a rollback to a checkpoint changes, asks, and rolls back; `None` where the user declines.
pub(in crate::commands) fn offer(ctx: &mut Context, screen: &mut Screen, one: &CheckpointListing) -> Result<Option<Exit>> {
    if !agreed(ctx, screen, one)? {
        return Ok(None);
    }
    checkpoint(ctx, screen, AGREED.wish(one.name.as_str(), rollback::RollbackScope::Whole), &AGREED).map(Some)
}

/// Shows the details of a checkpoint and what a rollback to it changes, and asks.
fn agreed(ctx: &mut Context, screen: &mut Screen, one: &CheckpointListing) -> Result<bool> {
    let preview = rollback::preview(ctx, AGREED.wish(one.name.as_str(), rollback::RollbackScope::Whole))?;
    if preview.changes_nothing {
        screen.note_text(nothing_changes(&preview, &here(ctx)).trim_end());
        return Ok(false);
    }
    screen.note(&format!("Time: {}", words::time(one.created_at)));
    screen.note(&format!("Type: {}", type_and_trigger(one.kind, one.trigger)));
    screen.note_text(people(&preview, "Would go", &here(ctx)).trim_end());
    screen.note(KEPT);
    match screen.confirm("Go back?", false) {
        Ok(()) => Ok(true),
        Err(error) if error.code() == Code::Declined => Ok(false),
        Err(error) => Err(error),
    }
}

/// Asks for a name, and makes a checkpoint.
pub(in crate::commands) fn create(ctx: &mut Context, screen: &mut Screen) -> Result<()> {
    let Some(name) = prompt::line("Its name (empty: made up from the time)")? else { return Ok(()) };
    let name = match name.trim() {
        "" => None,
        name => Some(CheckpointName::new(name)),
    };
    let made = name.transpose().and_then(|name| {
        ctx.act_as(ctx.by().clone())?;
        op::create(ctx, &CheckpointRequest { name, ..CheckpointRequest::by(CheckpointTrigger::Manual) })
    });
    match made {
        Ok(record) => screen.note(&format!("Made checkpoint {}", record.name)),
        // A name that is taken does not end the menu.
        Err(error) => screen.complain_of(&error),
    }
    ctx.act_as(ctx.by().clone())
}
