//! `git axiom checkpoint manage`: shows the checkpoints and offers the usual actions on them. Escape at any prompt changes
//! nothing.

use super::list::people;
use super::remove::tell;
use crate::cli::prompt;
use crate::cli::screen::Screen;
use crate::cli::screen_look::ScreenLook;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::open_with_usable_config;
use crate::commands::rollback::menu;
use crate::wording::checkpoints::{compacted, grid, menu_lines, summary};
use axiom_base::error::{Code, Error, Exit, Result, some_of};
use axiom_model::base::ids::CheckpointName;
use axiom_safety::attach::prompts;
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::{CheckpointDeletionReport, CheckpointListing, HealDepth};
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;

/// The actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckpointMenuAction {
    Create,
    Show,
    RollBack,
    Delete,
    DeleteOld,
    Compact,
    Leave,
}

const ACTIONS: &[(CheckpointMenuAction, &str)] = &[
    (CheckpointMenuAction::Create, "Make a checkpoint"),
    (CheckpointMenuAction::Show, "Show what one holds"),
    (CheckpointMenuAction::RollBack, "Roll back to a checkpoint"),
    (CheckpointMenuAction::Delete, "Delete selected checkpoints"),
    (CheckpointMenuAction::DeleteOld, "Delete all older than some days"),
    (CheckpointMenuAction::Compact, "Compact: pack the objects of checkpoints"),
    (CheckpointMenuAction::Leave, "Leave"),
];

/// Shows the checkpoints and asks for an action, until the user leaves.
pub(super) fn manage(global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    if !screen.can_ask() {
        return Err(Error::new(Code::NeedsConfirmation, "the checkpoint manager needs a terminal")
            .hint("git axiom checkpoint create, list, show, delete, cleanup and compact do the same without one"));
    }
    ctx.no_open_operation()?;
    checkpoint::heal_at_once(&mut ctx, HealDepth::Names);
    loop {
        ctx.store.refresh()?;
        let all = checkpoint::list(&ctx, None)?;
        screen.note_text(&overview(&ctx, &all, screen.terminal().columns())?);
        let labels: Vec<&str> = ACTIONS.iter().map(|(_, label)| *label).collect();
        let chosen = prompt::one_of("What next?", None, &labels, 0)?;
        match chosen.and_then(|place| ACTIONS.get(place)).map_or(CheckpointMenuAction::Leave, |(action, _)| *action) {
            CheckpointMenuAction::Create => menu::create(&mut ctx, screen)?,
            CheckpointMenuAction::Show => show(&ctx, screen, &all)?,
            CheckpointMenuAction::Delete => delete(&mut ctx, screen, &all)?,
            CheckpointMenuAction::DeleteOld => delete_old(&mut ctx, screen)?,
            CheckpointMenuAction::Compact => {
                let done = checkpoint::compact(&mut ctx)?;
                screen.note_text(compacted(&done).trim_end());
            }
            CheckpointMenuAction::RollBack => {
                if let Some(exit) = roll_back(&mut ctx, screen, &all)? {
                    return Ok(exit);
                }
            }
            CheckpointMenuAction::Leave => return Ok(Exit::Done),
        }
    }
}

/// The table of checkpoints, their number, and the disk space.
fn overview(ctx: &Context, all: &[CheckpointListing], columns: Option<usize>) -> Result<String> {
    let table = if all.is_empty() { String::new() } else { grid(all).laid_out(ScreenLook { columns, colors: None }) };
    Ok(format!("{table}{}", summary(all, ctx.config.checkpoints.max_count, &checkpoint::space(ctx)?)))
}

/// Whether there is one to choose; where there is none, that is said.
fn any(all: &[CheckpointListing], screen: &mut Screen) -> bool {
    if all.is_empty() {
        screen.note("There is no checkpoint yet.");
    }
    !all.is_empty()
}

fn show(ctx: &Context, screen: &mut Screen, all: &[CheckpointListing]) -> Result<()> {
    if !any(all, screen) {
        return Ok(());
    }
    let (heading, labels) = menu_lines(all, &prompts::texts(ctx)?, screen.terminal().columns());
    let chosen = prompt::one_of("Show which one? Escape leaves", Some(&heading), &labels, all.len() - 1)?;
    if let Some(one) = chosen.and_then(|place| all.get(place)) {
        let shown = checkpoint::show(ctx, one.name.as_str())?;
        screen.note_text(
            people(ctx, &shown).laid_out(ScreenLook { columns: screen.terminal().columns(), colors: None }).trim_end(),
        );
    }
    Ok(())
}

fn delete(ctx: &mut Context, screen: &mut Screen, all: &[CheckpointListing]) -> Result<()> {
    if !any(all, screen) {
        return Ok(());
    }
    let (heading, labels) = menu_lines(all, &prompts::texts(ctx)?, screen.terminal().columns());
    let Some(chosen) = prompt::some_of("Space selects, Enter deletes, Escape leaves", Some(&heading), &labels)? else {
        return Ok(());
    };
    let names: Vec<String> = chosen.iter().filter_map(|place| all.get(*place)).map(|one| one.name.to_string()).collect();
    let mut records = Vec::new();
    let mut protected = Vec::new();
    for name in names {
        match checkpoint::chosen(ctx, std::slice::from_ref(&name), false) {
            Ok(found) => records.extend(found),
            Err(error) if error.code() == Code::Protected => protected.push(name),
            Err(error) => return Err(error),
        }
    }
    if !protected.is_empty() {
        screen.note(&format!("Protected: {}", some_of(&protected, 20)));
        if prompt::confirm("Delete the protected ones too?")? {
            records.extend(checkpoint::chosen(ctx, &protected, true)?);
        }
    }
    remove(ctx, screen, records.into_iter().map(|record| record.name).collect(), checkpoint::delete)
}

fn delete_old(ctx: &mut Context, screen: &mut Screen) -> Result<()> {
    let days = prompt::line("Older than how many days (empty: none)")?.unwrap_or_default();
    let days = days.trim();
    if days.is_empty() {
        return Ok(());
    }
    let Ok(days) = days.trim_end_matches('d').parse::<u16>() else {
        screen.note(&format!("'{days}' is not a number of days; nothing was deleted."));
        return Ok(());
    };
    let age = jiff::SignedDuration::from_hours(24 * i64::from(days));
    let names = checkpoint::cleanup_plan(ctx, Some(age), None, false)?;
    remove(ctx, screen, names, checkpoint::clean_up)
}

fn remove(
    ctx: &mut Context,
    screen: &mut Screen,
    names: Vec<CheckpointName>,
    delete: fn(&mut Context, &[CheckpointName]) -> Result<CheckpointDeletionReport>,
) -> Result<()> {
    if names.is_empty() {
        screen.note("There is nothing to delete.");
        return Ok(());
    }
    screen.note(&format!("Deletes {}", some_of(&names, 50)));
    if !prompt::confirm("Delete?")? {
        return Ok(());
    }
    ctx.act_as(ctx.by().clone())?;
    let deleted = delete(ctx, &names)?;
    tell(screen, &deleted)
}

fn roll_back(ctx: &mut Context, screen: &mut Screen, all: &[CheckpointListing]) -> Result<Option<Exit>> {
    if !any(all, screen) {
        return Ok(None);
    }
    let (heading, labels) = menu_lines(all, &prompts::texts(ctx)?, screen.terminal().columns());
    let chosen = prompt::one_of("Roll back to which one? Escape leaves", Some(&heading), &labels, all.len() - 1)?;
    match chosen.and_then(|place| all.get(place)) {
        Some(one) => menu::offer(ctx, screen, one),
        None => Ok(None),
    }
}
