//! `git axiom deinit`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::{open_with_usable_config, purpose, repository, working_dir};
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::grammar::consent::ConsentArgs;
use crate::wording::checkpoints::size_text;
use axiom_agents::deinit;
use axiom_agents::deinit::DeinitReport;
use axiom_base::error::{Exit, Result};
use axiom_base::shell_word::shell_word;
use axiom_model::base::forms::plural::{count, count_of};
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::RefName;
use axiom_model::base::own_names::{BRANCHES, NOTES, REFS, TAGS};

/// Arguments of `deinit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Takes out our refs, tags and notes, the branches of merged tasks, workspaces, hooks of attached
programs, our lines in info/exclude and transfer.hideRefs, and the folder 'axiom' of the git
directory. All commits stay, and branches that are not merged. What stays is listed.

Nothing is lost: a checkpoint is made, and all that our refs hold goes into one bundle that git
reads without git axiom. It is put into a new folder beside the repository (where that lies in
another's worktree, beside the outermost one), and checked before anything is taken out. The
workspaces, the trash and the folder 'axiom' are moved there too. The commands that bring it
back are printed. After a crash the same command completes it.

No session, agent, watch or planner may run.")]
pub struct DeinitArgs {
    #[command(flatten)]
    consent: ConsentArgs,
    /// Make this folder for the bundle, instead of one beside the outermost worktree
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

/// What became of all that git axiom had in the repository.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeinitJson {
    dry_run: bool,
    /// False where nothing of git axiom is in the repository; then the rest is empty.
    found: bool,
    /// The folder beside the repository.
    folder: Option<String>,
    /// The file with all that our refs held.
    bundle: Option<String>,
    /// In bytes; null in a dry run.
    bundle_size: Option<u64>,
    /// The checkpoint that was made first.
    checkpoint: Option<CheckpointName>,
    /// How many refs are deleted.
    refs: usize,
    /// Those of them that are branches: of merged tasks.
    branches: Vec<RefName>,
    workspaces: Vec<DeinitWorkspaceJson>,
    /// Files of programs that lose our hooks, and of our skill.
    detached: Vec<String>,
    /// What is left alone, in words.
    stays: Vec<String>,
    /// The commands that bring it back, for a shell in the repository.
    restore: Vec<String>,
}

/// A workspace that is kept.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeinitWorkspaceJson {
    /// Where it was.
    path: String,
    /// Where it is.
    moved_to: String,
    /// How many paths of it the bundle does not have; null where it could not be captured.
    not_held: Option<u64>,
}

/// Takes git axiom out of the repository, or shows what that would do.
pub fn run(args: &DeinitArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let repo = repository(global)?;
    if let Some(journal) = deinit::interrupted(&repo)? {
        if !args.consent.dry_run {
            screen.note("note: git axiom is half out of this repository: an earlier call was interrupted");
            screen.confirm("Complete it?", args.consent.yes)?;
            let left = deinit::complete(&repo, journal)?;
            return told(&left, false, screen);
        }
        let left = DeinitReport {
            journal,
            stayed: Vec::new(),
            detached: Vec::new(),
            bundle_size: None,
            root: repo.common_dir().join("axiom"),
        };
        return told(&left, true, screen);
    }
    drop(repo);
    let mut ctx = open_with_usable_config(purpose(args.consent.dry_run), global, screen)?;
    if !deinit::is_here(&ctx)? {
        screen.answer(&nothing(args.consent.dry_run), || "Nothing of git axiom is in this repository.\n".to_owned())?;
        return Ok(Exit::Done);
    }
    let mut to = args.to.as_ref().map(|to| working_dir(global).map(|here| here.join(to))).transpose()?;
    if args.consent.dry_run || !args.consent.yes {
        let would = deinit::preview(&ctx, to.as_deref())?;
        if args.consent.dry_run {
            return told(&would, true, screen);
        }
        screen.note_text(in_words(&answer(&would, true), &would).trim_end());
        screen.confirm("Take git axiom out of this repository?", false)?;
        // The folder that was agreed to.
        to = Some(would.journal.folder);
    }
    let left = deinit::leave(&mut ctx, to.as_deref())?;
    told(&left, false, screen)
}

fn told(left: &DeinitReport, dry_run: bool, screen: &mut Screen) -> Result<Exit> {
    let answer = answer(left, dry_run);
    screen.answer(&answer, || in_words(&answer, left))?;
    Ok(Exit::Done)
}

fn nothing(dry_run: bool) -> DeinitJson {
    DeinitJson {
        dry_run,
        found: false,
        folder: None,
        bundle: None,
        bundle_size: None,
        checkpoint: None,
        refs: 0,
        branches: Vec::new(),
        workspaces: Vec::new(),
        detached: Vec::new(),
        stays: Vec::new(),
        restore: Vec::new(),
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn answer(left: &DeinitReport, dry_run: bool) -> DeinitJson {
    let journal = &left.journal;
    let is_branch = |name: &&RefName| name.as_str().starts_with(BRANCHES);
    let names = || journal.refs.iter().map(|gone| &gone.name).filter(|name| !left.stayed.contains(name));
    let workspaces = journal.workspaces.iter();
    let stayed = left.stayed.iter().map(|name| format!("{name}, which another process changed meanwhile"));
    DeinitJson {
        dry_run,
        found: true,
        folder: Some(text(&journal.folder)),
        bundle: Some(text(&journal.bundle())),
        bundle_size: left.bundle_size,
        checkpoint: journal.checkpoint.clone(),
        refs: names().count(),
        branches: names().filter(is_branch).cloned().collect(),
        workspaces: workspaces
            .map(|one| DeinitWorkspaceJson { path: text(&one.path), moved_to: text(&one.moved_to), not_held: one.not_held })
            .collect(),
        detached: left.detached.iter().map(|path| text(path)).collect(),
        stays: journal.stays.iter().cloned().chain(stayed).collect(),
        restore: restore(left),
    }
}

/// The commands that bring everything back.
fn restore(left: &DeinitReport) -> Vec<String> {
    let (bundle, state, root) = (left.journal.bundle(), left.journal.state(), &left.root);
    // Where others have notes in our ref, that stays, and ours are written again.
    let others_have_notes = !left.journal.notes.is_empty();
    let prefixes = [Some(REFS), Some(TAGS), (!others_have_notes).then_some(NOTES)].into_iter().flatten();
    let patterns: Vec<String> = prefixes
        .map(|prefix| if prefix.ends_with('/') { format!("'{prefix}*:{prefix}*'") } else { format!("{prefix}:{prefix}") })
        .collect();
    let mut commands = vec![
        format!("git fetch --no-tags {} {}", shell_word(&text(&bundle)), patterns.join(" ")),
        format!("mv {} {}", shell_word(&text(&state)), shell_word(&text(root))),
    ];
    if others_have_notes {
        commands.push("git axiom checkpoint verify --repair".to_owned());
    }
    commands
}

fn in_words(answer: &DeinitJson, left: &DeinitReport) -> String {
    let (folder, would) = (visible::line(answer.folder.as_deref().unwrap_or_default()).into_owned(), answer.dry_run);
    let mut lines = vec![if would {
        format!("git axiom would be taken out of this repository. In '{folder}' would be:")
    } else {
        format!("git axiom is out of this repository. In '{folder}' are:")
    }];
    let size = answer.bundle_size.map_or_else(String::new, |size| format!(", {}", size_text(Some(size))));
    let refs = deleted_refs(answer.refs, answer.checkpoint.as_ref(), would);
    lines.push(format!("  axiom.bundle  all that our refs held{size}; {refs}"));
    lines.push("  axiom         the log, the tasks, what agents printed".to_owned());
    if !left.journal.moves.is_empty() {
        lines.push("  trash         what rollbacks and merges put aside".to_owned());
    }
    for one in &answer.workspaces {
        let lacks = match one.not_held {
            Some(0) => "the bundle has its files too".to_owned(),
            Some(number) => format!("the bundle does not have {} of it", count_of(number, "path", "paths")),
            None => "the bundle does not have its files".to_owned(),
        };
        lines.push(format!("  workspaces    '{}': {lacks}", visible::line(&one.path)));
    }
    lines.extend(
        answer.branches.iter().map(|branch| format!("deleted with it: the branch {}: all of it is merged", branch.short())),
    );
    lines.extend(answer.detached.iter().map(|path| format!("detached: '{}'", visible::line(path))));
    lines.push("What stays:".to_owned());
    lines.extend(answer.stays.iter().map(|what| format!("  {}", visible::line(what))));
    lines.push("These bring it back:".to_owned());
    lines.extend(answer.restore.iter().map(|command| format!("  {}", visible::line(command))));
    if !would {
        lines.push(format!("If nobody needs it: rm -r {}", visible::line(&shell_word(&text(&left.journal.folder)))));
    }
    lines.join("\n") + "\n"
}

/// How many refs go. The plan cannot count those of the checkpoint that is made first.
fn deleted_refs(refs: usize, checkpoint: Option<&CheckpointName>, would: bool) -> String {
    let refs_in_words = count(refs, "ref");
    match (checkpoint, refs) {
        (Some(_), _) if would => format!("{refs_in_words} would be deleted"),
        (None, _) if would => format!("{refs_in_words} would be deleted, and those of a checkpoint that is made first"),
        (Some(name), _) => format!("{refs_in_words} are deleted, with those of the checkpoint {name}, made first"),
        (None, 1) => format!("{refs_in_words} is deleted"),
        (None, _) => format!("{refs_in_words} are deleted"),
    }
}
