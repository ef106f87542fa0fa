//! `git axiom watch`.

use clap::Args;
use serde::Serialize;

use super::open;
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::error::{Exit, Result};
use axiom_model::base::forms::plural::count;
use axiom_safety::attach::watching;
use axiom_safety::attach::watching::WatchEndReason;
use axiom_safety::attach::watching::watch_record;
use axiom_safety::attach::watching::watch_record::{WatchRecord, WatchStatus};
use axiom_safety::context::handle::Context;
use axiom_safety::context::recorded_place;

/// Arguments of `watch`.
#[derive(Debug, Args)]
#[command(after_help = "\
For everything that calls no hooks: aider, an editor, you. When the files of this worktree have
settled for a second, what changed is saved as a checkpoint, as after an edit of an attached
agent. Ignored files are left out. It ends with the worktree, with --stop, or with Ctrl+C.

At most a quarter of the folders that the system lets you watch are watched; the others are
looked at now and then. 'git axiom sessions' and 'git axiom status' say what is watched.")]
pub struct WatchArgs {
    /// Watch in the background, and return when it has begun
    #[arg(long)]
    detach: bool,
    /// End the watch of this worktree
    #[arg(long, conflicts_with = "detach")]
    stop: bool,
    /// This is the process in the background
    #[arg(long, hide = true, conflicts_with_all = ["detach", "stop"])]
    in_background: bool,
}

/// A watch. Without `--detach` and `--stop`, the document comes when it has begun, and the program goes on.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WatchJson<'a> {
    worktree: &'a str,
    /// `watching`, `stopped` or `notWatched`.
    state: &'a str,
    /// Not with `--stop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    watch: Option<WatchStatus>,
}

/// Watches the worktree, or ends that.
pub fn run(args: &WatchArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    if args.in_background {
        axiom_base::own_process::session::begin_session()?;
    }
    let ctx = open(global, screen)?;
    if args.stop {
        return stop(&ctx, screen);
    }
    // The joiner saves only in a repository that is prepared.
    ctx.layout().ensure()?;
    recorded_place::write_down(ctx.layout(), &ctx.repo)?;
    if args.detach {
        let watcher = watching::detach(&ctx)?;
        told(&watcher, screen)?;
        screen.note("git axiom watch --stop    ends it");
        return Ok(Exit::Done);
    }
    match watching::run(&ctx, |watcher| told(watcher, screen))? {
        WatchEndReason::WithTheWorktree | WatchEndReason::Stopped => Ok(Exit::Done),
        WatchEndReason::Signal => Ok(Exit::Interrupted),
    }
}

fn told(watcher: &WatchRecord, screen: &mut Screen) -> Result<()> {
    let answer = WatchJson {
        worktree: &watcher.worktree,
        state: "watching",
        watch: Some(WatchStatus { watcher: watcher.clone(), alive: true }),
    };
    screen.answer(&answer, || format!("Watching {}: {}.\n", visible::line(&watcher.worktree), in_words(watcher)))
}

/// How many folders are looked after, and how.
pub(super) fn in_words(watcher: &WatchRecord) -> String {
    let all = count(usize::try_from(watcher.watched + watcher.scanned).unwrap_or(usize::MAX), "folder");
    match watcher.scanned {
        0 => all,
        scanned => format!("{all}, {scanned} of them only looked at now and then: the system watches no more"),
    }
}

fn stop(ctx: &Context, screen: &mut Screen) -> Result<Exit> {
    let (path, was_there) = watch_record::stop(ctx)?;
    let (state, text) = match was_there {
        true => ("stopped", "is no longer watched"),
        false => ("notWatched", "was not watched"),
    };
    screen.answer(&WatchJson { worktree: &path, state, watch: None }, || format!("{} {text}.\n", visible::line(&path)))?;
    Ok(Exit::Done)
}
