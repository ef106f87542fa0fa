//! `git axiom rollback …` and `git axiom restore`. The rollback of a task is in `task`, the menu in `menu`, the texts in
//! `crate::wording`.

mod arguments;
pub(in crate::commands) mod menu;
mod restore;
mod task;

pub use arguments::RollbackArgs;
use arguments::{RollbackCommonArgs, RollbackVerb, RollbackWhereArgs};
pub use restore::{RestoreArgs, restore};

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::foreground::tell_hooks;
use super::{open_with_usable_config, purpose, working_dir};
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::wording::counted_sections;
use crate::wording::rollback::{nothing_changes, people};
use axiom_base::env;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::GateId;
use axiom_safety::attach::prompts::changed_by_others;
use axiom_safety::attach::{at_work, prompts};
use axiom_safety::context::handle::Context;
use axiom_safety::operation::planned_changes::{FileLossLine, here};
use axiom_safety::operation::{EndedOperation as Closed, put_back};
use axiom_safety::rollback::{RollbackPreview, RollbackRequest, RollbackScope, StoppedAgentLine};
use axiom_safety::{checkpoint as op, rollback};

/// What a rollback changed; with `--dry-run`, what it would change.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RollbackJson<'a> {
    #[serde(flatten)]
    preview: &'a RollbackPreview,
    dry_run: bool,
    safety: Option<String>,
    undo: Option<String>,
    /// What no checkpoint holds and was in the way: where it is now; with `--dry-run` where it would be moved from.
    moved_aside: Vec<String>,
    /// The claim gates at which tasks wait that are to be done again; empty with `--dry-run`.
    gate_ids: Vec<GateId>,
}

/// What became of an operation that was interrupted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RollbackEndJson {
    /// What was open, in words.
    open_operation: Option<String>,
    /// `none`, `done` or `reversed`.
    outcome: &'static str,
    /// What somebody else changed meanwhile: it is left as it is.
    left: Vec<String>,
    /// What could not be put back.
    not_put_back: Vec<String>,
}

/// Rolls back, or continues or aborts an interrupted operation.
pub fn run(args: &RollbackArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let dry_run = match &args.to {
        Some(RollbackVerb::Task(args)) => args.is_dry_run(),
        Some(RollbackVerb::Checkpoint(to)) => to.place.how.consent.dry_run,
        Some(RollbackVerb::Session(how)) => how.consent.dry_run,
        None => args.place.how.consent.dry_run,
    };
    let mut ctx = open_with_usable_config(purpose(dry_run), global, screen)?;
    let ended = roll_back(args, &mut ctx, global, screen);
    tell_hooks(&mut ctx, screen);
    ended
}

fn roll_back(args: &RollbackArgs, ctx: &mut Context, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    match &args.to {
        Some(RollbackVerb::Task(args)) => task::run(args, ctx, screen),
        Some(RollbackVerb::Checkpoint(to)) => to_named(to.name.as_deref(), &to.place, ctx, global, screen),
        Some(RollbackVerb::Session(how)) => to_session(how, ctx, screen),
        None if args.abort => ended(screen, rollback::abort(ctx)?, "reversed"),
        None if args.go_on => ended(screen, rollback::go_on(ctx)?, "done"),
        None if args.session => to_session(&args.place.how, ctx, screen),
        None => match (&args.name, args.place.names_one()) {
            (Some(name), _) => {
                let exact = rollback::named_exactly(ctx, name)?.name.to_string();
                to_named(Some(&exact), &args.place, ctx, global, screen)
            }
            (None, true) => to_named(None, &args.place, ctx, global, screen),
            (None, false) => {
                args.place.says_nothing()?;
                menu::run(ctx, screen)
            }
        },
    }
}

/// Goes back to the beginning of the last session.
fn to_session(how: &RollbackCommonArgs, ctx: &mut Context, screen: &mut Screen) -> Result<Exit> {
    let session = ctx.state().record.session.as_ref();
    let Some(name) = session.and_then(|session| session.start_checkpoint.clone()) else {
        return Err(Error::new(Code::UnknownCheckpoint, "no session has made a checkpoint at its start")
            .hint("git axiom checkpoint list    lists the checkpoints")
            .hint("git axiom prompts    lists the prompts to agents that you run yourself"));
    };
    checkpoint(ctx, screen, how.wish(name.as_str(), RollbackScope::Whole), how)
}

/// The worktree that the user named.
fn worktree_at(global: &GlobalArgs, path: &Path) -> Result<PathBuf> {
    let place = working_dir(global)?.join(path);
    match place.canonicalize() {
        Ok(found) => Ok(found),
        // A worktree that does not exist any more can be named too: a checkpoint may hold it.
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let above = place.parent().and_then(|above| above.canonicalize().ok());
            Ok(above.zip(place.file_name()).map_or(place.clone(), |(above, name)| above.join(name)))
        }
        Err(e) => Err(Error::io("find the worktree", &place, e)),
    }
}

/// An empty list of paths (`-- $FILES` in a script) must not mean everything.
fn names_some_path(paths: &[PathBuf]) -> Result<()> {
    if paths.is_empty() && env::arguments().last().is_some_and(|last| last == "--") {
        return Err(Error::new(Code::Usage, "no path is given after '--'")
            .hint("without '--' a rollback goes back whole; with paths after it, only these"));
    }
    Ok(())
}

fn to_named(
    name: Option<&str>,
    to: &RollbackWhereArgs,
    ctx: &mut Context,
    global: &GlobalArgs,
    screen: &mut Screen,
) -> Result<Exit> {
    names_some_path(&to.paths)?;
    let prompt = to.prompt.map(|prompt| prompt.number(ctx)).transpose()?;
    if let Some(number) = prompt.filter(|_| to.paths.is_empty() && !to.all_worktrees) {
        return to_prompt(number, to, ctx, screen);
    }
    let name = match name {
        Some(name) => name.to_owned(),
        None => chosen(ctx, prompt, to.at.as_deref())?,
    };
    let here = working_dir(global)?;
    let paths: Vec<PathBuf> = to.paths.iter().map(|path| here.join(path)).collect();
    let only = to.worktree.as_deref().map(|path| worktree_at(global, path)).transpose()?;
    let part = match &only {
        Some(path) => RollbackScope::Worktree(path),
        None if to.all_worktrees => RollbackScope::Everywhere,
        None if paths.is_empty() => RollbackScope::Whole,
        None => RollbackScope::Paths(&paths),
    };
    checkpoint(ctx, screen, to.how.wish(&name, part), &to.how)
}

/// The checkpoint of a prompt, or of a time.
fn chosen(ctx: &Context, prompt: Option<u32>, at: Option<&str>) -> Result<String> {
    match prompt {
        Some(number) => Ok(prompts::find(ctx, number)?.0.name.to_string()),
        None => Ok(op::newest_at(ctx, ctx.repo.time_of(at.unwrap_or_default())?)?.name.to_string()),
    }
}

/// The worktree of the session as it was before its prompt. HEAD and branch go back too as long as only the session itself has
/// committed since; else only the files come back.
fn to_prompt(number: u32, to: &RollbackWhereArgs, ctx: &mut Context, screen: &mut Screen) -> Result<Exit> {
    let name = prompts::find(ctx, number)?.0.name.to_string();
    let back = prompts::back(ctx, &name)?;
    for (place, note) in back.notes().iter().enumerate() {
        screen.note(&format!("note: {}", visible::line(note)));
        // The first is of HEAD, where there are any.
        let commits = back.commits().iter().filter(|_| place == 0).map(|commit| format!("  {}\n", visible::line(commit)));
        let commits: String = commits.collect();
        if !commits.is_empty() {
            screen.note_text(&commits);
        }
    }
    if let Some(paths) = changed_by_others::note(ctx, number, back.worktrees())? {
        screen.note(&format!("note: {}", visible::line(&paths)));
    }
    checkpoint(ctx, screen, to.how.wish(&name, back.part()), &to.how)
}

fn ended(screen: &mut Screen, ended: Option<Closed>, outcome: &'static str) -> Result<Exit> {
    let Some(mut closed) = ended else {
        let none = RollbackEndJson { open_operation: None, outcome: "none", left: Vec::new(), not_put_back: Vec::new() };
        screen.answer(&none, || "No operation is open.\n".to_owned())?;
        return Ok(Exit::Done);
    };
    if let Some(error) = closed.turned_back.take() {
        return Err(put_back(error, Some(&closed)));
    }
    let Closed { open, left, not_put_back, .. } = closed;
    // `--continue` does not change the direction of a reversal that has begun.
    let outcome = if open.reversing { "reversed" } else { outcome };
    let answer = RollbackEndJson { open_operation: Some(open.operation.title.clone()), outcome, left, not_put_back };
    screen.answer(&answer, || {
        let was = if outcome == "done" { "finished" } else { outcome };
        let mut text = format!("'{}' was {was}.\n", open.operation.title);
        for what in &answer.left {
            text.push_str(&format!("changed by another process meanwhile, and left alone: {}\n", visible::line(what)));
        }
        for what in &answer.not_put_back {
            text.push_str(&format!("could not be put back: {}\n", visible::line(what)));
        }
        text
    })?;
    Ok(Exit::Done)
}

fn checkpoint(ctx: &mut Context, screen: &mut Screen, wish: RollbackRequest<'_>, how: &RollbackCommonArgs) -> Result<Exit> {
    if how.no_stop {
        rollback::nobody_works(ctx)?;
    }
    for line in at_work::before_rollback(ctx, wish.part)? {
        screen.note(&format!("note: {}", visible::line(&line)));
    }
    if how.consent.dry_run || !how.consent.yes || rollback::may_change_nothing(ctx, wish)? {
        let preview = rollback::preview(ctx, wish)?;
        if preview.changes_nothing {
            let (moved_aside, gate_ids) = (Vec::new(), Vec::new());
            let answer =
                RollbackJson { preview: &preview, dry_run: how.consent.dry_run, safety: None, undo: None, moved_aside, gate_ids };
            screen.answer(&answer, || nothing_changes(&preview, &here(ctx)))?;
            return Ok(Exit::Done);
        }
        if how.consent.dry_run {
            let moved_aside = preview.moves_aside.iter().map(FileLossLine::place).collect();
            let answer =
                RollbackJson { preview: &preview, dry_run: true, safety: None, undo: None, moved_aside, gate_ids: Vec::new() };
            screen.answer(&answer, || people(&preview, "Would go", &here(ctx)))?;
            return Ok(Exit::Done);
        }
        if !how.consent.yes {
            screen.note_text(people(&preview, "Would go", &here(ctx)).trim_end());
            screen.confirm("Go back?", false)?;
        }
    }
    if !how.no_stop {
        say_who_is_stopped(screen, &rollback::agents_at_work(ctx)?);
    }
    let done = rollback::to_checkpoint(ctx, wish, !how.no_stop)?;
    let undo = format!("git axiom undo {}", done.txn);
    let moved_aside = done.moved_aside.iter().map(|moved| moved.now_at.display().to_string()).collect();
    let answer = RollbackJson {
        preview: &done.preview,
        dry_run: false,
        safety: Some(done.safety.to_string()),
        undo: Some(undo.clone()),
        moved_aside,
        gate_ids: done.gates.clone(),
    };
    screen.answer(&answer, || {
        people(&done.preview, "Went", &here(ctx))
            + &counted_sections::ending(&answer.moved_aside, &answer.gate_ids, done.safety.as_str(), &undo)
    })?;
    Ok(Exit::Done)
}

/// Tells a user at a terminal which agents are stopped first, because that takes time.
fn say_who_is_stopped(screen: &mut Screen, agents: &[StoppedAgentLine]) {
    if !agents.is_empty() {
        let names: Vec<&str> = agents.iter().map(|agent| agent.id.as_str()).collect();
        screen.note(&format!("Stopping these agents first: {}", names.join(", ")));
    }
}
