//! `git axiom purge`.

use clap::Args;
use serde::Serialize;

use super::{open_with_usable_config, purpose, working_dir};
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::arguments::Global;
use crate::commands::grammar::consent::Consent;
use crate::domain::base::ids::CheckpointName;
use crate::domain::base::names::RefName;
use crate::domain::base::plural::count_of;
use crate::error::{Code, Error, Exit, Result};
use crate::ops::context::handle::{Context, called_by_human};
use crate::ops::purge::{self, Purged, Subject};

/// Arguments of `purge`.
#[derive(Debug, Args)]
#[command(after_help = "\
For a secret that got into what was saved. The file at PATH, or whatever has the content ID, is
taken out of all checkpoints, of captures of workspaces, of what is kept for undo, of the trash;
its longer lines and its values are masked in the log, in texts of tasks and in what agents
printed; words that are also in paths, branches and ids stay. Checkpoints stay, without that
path: a rollback leaves it alone. A checkpoint that holds commits with it, which no branch has
any more, goes as a whole; so does what undo would need. Then the objects are deleted that
nothing else holds.

It cannot be undone. What has it still is named: a branch, a remote, a stash, a reflog, an index
with conflict stages, ORIG_HEAD, FETCH_HEAD, a rebase, the file in the worktree, a log that
nobody can read. Reflogs of our own refs are emptied. A secret that was ever pushed or seen
should be changed all the same.

No session, agent, watch or planner may run. After a crash, --continue completes it.")]
pub struct Purge {
    /// The path of a file or folder, or the id of a content (git hash-object FILE)
    #[arg(value_name = "PATH|ID", required_unless_present = "go_on")]
    what: Option<String>,
    /// Complete an interrupted purge
    #[arg(long = "continue", conflicts_with_all = ["what", "dry_run"])]
    go_on: bool,
    #[command(flatten)]
    consent: Consent,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PurgeAnswer {
    dry_run: bool,
    found: bool,
    contents: usize,
    made_anew: Vec<CheckpointName>,
    gone: Vec<CheckpointName>,
    refs: Vec<RefName>,
    files: usize,
    held_by: Vec<String>,
}

/// Takes it out, or shows what that would do.
///
/// # Errors
/// `NEEDS_CONFIRMATION`, `DECLINED`, `INVALID_INPUT`; as [`purge::purge`].
pub fn run(args: &Purge, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let here = working_dir(global)?;
    if args.go_on {
        called_by_human("purge", &here)?;
        let mut ctx = Context::open_to_purge(&here)?;
        let Some(purged) = purge::complete(&mut ctx)? else {
            return Err(Error::new(Code::InvalidInput, "no purge was interrupted"));
        };
        return told(purged, false, screen);
    }
    let mut ctx = open_with_usable_config(purpose(args.consent.dry_run), global, screen)?;
    ctx.for_humans_only("purge")?;
    let subject = Subject::of(&ctx, args.what.as_deref().unwrap_or_default(), &here)?;
    if args.consent.dry_run || !args.consent.yes {
        let would = purge::preview(&ctx, &subject)?;
        if args.consent.dry_run || !would.found() {
            return told(would, args.consent.dry_run, screen);
        }
        screen.note_text(in_words(&would, true).trim_end());
        screen.confirm("Take it out for good? Nothing brings it back.", false)?;
    }
    let purged = purge::purge(&mut ctx, &subject)?;
    told(purged, false, screen)
}

fn told(purged: Purged, dry_run: bool, screen: &mut Screen) -> Result<Exit> {
    let text = in_words(&purged, dry_run);
    let found = purged.found();
    let Purged { contents, made_anew, gone, refs, files, held_by } = purged;
    screen.answer(&PurgeAnswer { dry_run, found, contents, made_anew, gone, refs, files, held_by }, || text)?;
    Ok(Exit::Done)
}

fn in_words(purged: &Purged, would: bool) -> String {
    let (be, it, go) = if would { ("would be", "would be", "would go") } else { ("were", "was", "went") };
    let mut lines = Vec::new();
    if !purged.found() {
        lines.push("Nothing of ours has it.".to_owned());
    }
    let names = |names: &[CheckpointName]| names.iter().map(CheckpointName::as_str).collect::<Vec<_>>().join(", ");
    if !purged.made_anew.is_empty() {
        lines.push(format!("These checkpoints {be} made anew without it: {}", names(&purged.made_anew)));
    }
    if !purged.gone.is_empty() {
        lines.push(format!("These checkpoints {go}: commits that only they hold have it: {}", names(&purged.gone)));
    }
    for name in &purged.refs {
        lines.push(format!("{name} {}", if would { "would change or go" } else { "was changed, or went" }));
    }
    if purged.files > 0 {
        lines.push(format!("It {it} masked in, or deleted from, {}", count_of(purged.files, "file of ours", "files of ours")));
    }
    if purged.contents > 0 {
        lines.push(format!("Deleted from the repository {be}: {}", count_of(purged.contents, "content", "contents")));
    }
    lines.extend(purged.held_by.iter().map(|what| format!("still there: {}", visible::line(what))));
    lines.join("\n") + "\n"
}
