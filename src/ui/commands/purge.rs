//! `git axiom purge`.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;
use serde::Serialize;

use super::{open_with_usable_config, purpose, working_dir};
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::grammar::consent::ConsentArgs;
use axiom_agents::purge;
use axiom_agents::purge::{PurgeReport, PurgeSubject, PurgedObjectsFate};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::{CheckpointName, TaskId};
use axiom_model::base::names::{Oid, RefName};
use axiom_safety::opening;

/// Arguments of `purge`.
#[derive(Debug, Args)]
#[command(after_help = "\
For a secret that got into what was saved. The file at PATH, or whatever has the content ID, is
taken out of all checkpoints, of captures of workspaces, of what is kept for undo, of the
trash; its longer lines and its values become as many letters x in the log, in texts of tasks
and in what agents printed; words that are also in paths, branches and ids stay. A task of
which a word was masked waits at its claim gate. Checkpoints stay, without that path: a
rollback leaves it alone. A checkpoint that holds commits with it, which no branch has any
more, goes as a whole; so does what undo would need. Then the objects are deleted that nothing
else holds.

It cannot be undone. What has it still is named: other saved files with the same value, a
branch, a remote, a stash, a reflog, an index, ORIG_HEAD, FETCH_HEAD, a rebase, the file in the
worktree, your hooks, what 'detach' puts back, what you approved, a log that nobody can read. A
secret that was ever pushed or seen should be changed all the same.

Clones made with --shared or --reference borrow objects of this repository, and may lose these;
no repository knows who borrows from it. --grace leaves the objects to git, which deletes them
after its own two weeks (gc.pruneExpire), --now deletes them at once. Without a terminal one of
the two has to be there, or --yes where no borrower is known.

No session, agent, watch or planner may run. After a crash, --continue completes it.")]
pub struct PurgeArgs {
    /// The path of a file or folder, or the id of a content (git hash-object FILE)
    #[arg(value_name = "PATH|ID", required_unless_present = "go_on")]
    what: Option<OsString>,
    /// Delete the objects at once, whoever borrows them
    #[arg(long, conflicts_with = "grace")]
    now: bool,
    /// Leave the objects to git, which deletes them after its own two weeks
    #[arg(long)]
    grace: bool,
    /// Complete an interrupted purge
    #[arg(long = "continue", conflicts_with_all = ["what", "dry_run", "now", "grace"])]
    go_on: bool,
    #[command(flatten)]
    consent: ConsentArgs,
}

/// What was taken out of all that we hold, or would be.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PurgeJson {
    dry_run: bool,
    /// Whether anything of ours had it.
    found: bool,
    /// The contents that are deleted, or left to git.
    contents: Vec<Oid>,
    /// Whether git deletes them when they are old enough (`--grace`).
    left_to_git: bool,
    /// The checkpoints that are made anew without it.
    made_anew: Vec<CheckpointName>,
    /// The checkpoints that go: commits that only they hold have it.
    gone: Vec<CheckpointName>,
    /// Other refs of ours that change or go: live captures, what undo would need, texts.
    refs: Vec<RefName>,
    /// Our files that had it.
    files: Vec<String>,
    /// The tasks whose text or verify steps were masked; those that may still run wait at their claim gates.
    masked_tasks: Vec<TaskId>,
    /// What has it still, in words.
    held_by: Vec<String>,
    /// Clones that are known to borrow this repository's objects, in words.
    borrowers: Vec<String>,
}

/// Takes it out, or shows what that would do.
pub fn run(args: &PurgeArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let here = working_dir(global)?;
    if args.go_on {
        let mut ctx = opening::open_to_purge(&here)?;
        let Some(purged) = purge::complete(&mut ctx)? else {
            return Err(Error::new(Code::InvalidInput, "no purge was interrupted"));
        };
        return told(purged, purge::known_borrowers(&ctx)?, false, screen);
    }
    let mut ctx = open_with_usable_config(purpose(args.consent.dry_run), global, screen)?;
    let fate = if args.grace { PurgedObjectsFate::LeftToGit } else { PurgedObjectsFate::Deleted };
    let borrowers = purge::known_borrowers(&ctx)?;
    let subject = PurgeSubject::of(&ctx, args.what.as_deref().unwrap_or_default(), &here)?;
    if args.consent.dry_run || !args.consent.yes {
        let would = purge::preview(&ctx, &subject, fate)?;
        if args.consent.dry_run || !would.found() {
            return told(would, borrowers, args.consent.dry_run, screen);
        }
        screen.note_text(in_words(&would, &borrowers, true).trim_end());
    }
    consent(args, &borrowers, screen)?;
    let purged = purge::purge(&mut ctx, &subject, fate)?;
    told(purged, borrowers, false, screen)
}

/// Asks at a terminal. Without one, whoever may borrow the objects is decided about in the call.
fn consent(args: &PurgeArgs, borrowers: &[String], screen: &mut Screen) -> Result<()> {
    let is_decided = args.now || args.grace;
    let is_asked = screen.can_ask() && !args.consent.yes;
    if is_asked {
        return screen.confirm("Take it out for good? Nothing brings it back.", false);
    }
    let what = match borrowers {
        _ if is_decided => return Ok(()),
        [] if args.consent.yes => return Ok(()),
        [] => "this needs a confirmation, and there is no terminal to ask at".to_owned(),
        some => format!("these borrow objects of this repository: {}", some.join(", ")),
    };
    Err(Error::new(Code::NeedsConfirmation, what)
        .why("clones made with --shared or --reference may lose what is deleted")
        .hint("git axiom purge --grace PATH    leaves the objects to git, which deletes them after two weeks (gc.pruneExpire)")
        .hint("git axiom purge --now PATH    deletes them at once"))
}

fn told(purged: PurgeReport, borrowers: Vec<String>, dry_run: bool, screen: &mut Screen) -> Result<Exit> {
    let text = in_words(&purged, &borrowers, dry_run);
    let found = purged.found();
    let PurgeReport { contents, fate, made_anew, gone, refs, files, masked, held_by } = purged;
    let files = files.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let left_to_git = fate == PurgedObjectsFate::LeftToGit;
    let answer = PurgeJson {
        dry_run,
        found,
        contents,
        left_to_git,
        made_anew,
        gone,
        refs,
        files,
        masked_tasks: masked,
        held_by,
        borrowers,
    };
    screen.answer(&answer, || text)?;
    Ok(Exit::Done)
}

fn in_words(purged: &PurgeReport, borrowers: &[String], would: bool) -> String {
    let (be, it, go) = if would { ("would be", "would be", "would go") } else { ("were", "was", "went") };
    let mut lines = Vec::new();
    if !purged.found() {
        lines.push("Nothing of ours has it.".to_owned());
    }
    let mut list = |what: String, names: Vec<String>| {
        if !names.is_empty() {
            lines.push(format!("{what}: {}", visible::line(&names.join(", "))));
        }
    };
    let names = |names: &[CheckpointName]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    list(format!("These checkpoints {be} made anew without it"), names(&purged.made_anew));
    list(format!("These checkpoints {go}: commits that only they hold have it"), names(&purged.gone));
    list(
        format!("These refs {}", if would { "would change or go" } else { "were changed, or went" }),
        purged.refs.iter().map(ToString::to_string).collect(),
    );
    let path = |path: &Path| path.to_string_lossy().into_owned();
    list(format!("It {it} masked in, or deleted from"), purged.files.iter().map(|file| path(file)).collect());
    list(
        format!(
            "These tasks {be} masked, and {} at their claim gates until a human has read them",
            if would { "would wait" } else { "wait" }
        ),
        purged.masked.iter().map(ToString::to_string).collect(),
    );
    let contents: Vec<String> = purged.contents.iter().map(|oid| oid.short().to_owned()).collect();
    let has_contents = !contents.is_empty();
    match purged.fate {
        PurgedObjectsFate::Deleted => list(format!("Deleted from the repository {be} these contents"), contents),
        PurgedObjectsFate::LeftToGit => {
            list(format!("Left to git, which deletes them after two weeks (gc.pruneExpire), {be} these contents"), contents)
        }
    }
    lines.extend(purged.held_by.iter().map(|what| format!("still there: {}", visible::line(what))));
    if has_contents && purged.fate == PurgedObjectsFate::Deleted {
        let lose = if would { "may lose" } else { "may have lost" };
        lines.push(format!("Clones made with --shared or --reference {lose} these objects: nobody can know that from here."));
    }
    lines.extend(borrowers.iter().map(|one| format!("known to borrow objects: {}", visible::line(one))));
    lines.join("\n") + "\n"
}
