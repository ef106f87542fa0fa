//! `git axiom diff`.

use std::collections::BTreeSet;

use clap::Args;
use serde::Serialize;

use super::open_configured_for;
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::arguments::Global;
use crate::domain::base::ids::CaseId;
use crate::domain::base::listed::FileChange;
use crate::domain::base::names::{Oid, RepoPath};
use crate::error::{Code, Error, Exit, Result};
use crate::ops::attach::prompts;
use crate::ops::context::placement::Purpose;
use crate::ops::pager;
use crate::ops::task_diff::{self, FileLines, LoggedCommit, TaskDiff};
use crate::told::diff::stat;

/// Arguments of `diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
Compares the task's workspace as it is now, with untracked files, with where its branch left the
target; without a workspace its merge, or the commits of its branch. The patch goes to your
pager on a terminal; to a pipe it goes as it is, for 'git apply'. Of binary files, and of files
over 2 MB, it only says that they differ.

With --prompt: what happened in the worktree of an attached agent from this prompt until its
next one, or until now; 'git axiom prompts' lists them.")]
pub struct Diff {
    /// The task
    #[arg(required_unless_present = "prompt")]
    task: Option<CaseId>,
    /// What a prompt to an attached agent changed
    #[arg(long, value_name = "NUMBER", conflicts_with = "task")]
    prompt: Option<u32>,
    /// Name the files with their changed lines, and print no patch
    #[arg(long)]
    stat: bool,
}

/// A file with its lines, in documents.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileLine<'a> {
    path: &'a RepoPath,
    change: FileChange,
    insertions: Option<u64>,
    deletions: Option<u64>,
    committed: bool,
}

/// A commit, in documents.
#[derive(Debug, Serialize)]
pub(super) struct CommitLine<'a> {
    id: &'a Oid,
    subject: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct NotShown<'a> {
    path: &'a RepoPath,
    why: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiffAnswer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a CaseId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<u32>,
    base: &'a Oid,
    workspace: Option<&'a str>,
    commits: Vec<CommitLine<'a>>,
    files: Vec<FileLine<'a>>,
    not_shown: Vec<NotShown<'a>>,
}

/// The files of a difference, in documents.
pub(super) fn files(diff: &TaskDiff) -> Vec<FileLine<'_>> {
    let line = |file: &'_ FileLines| (file.lines.map(|(added, _)| added), file.lines.map(|(_, deleted)| deleted));
    let uncommitted: BTreeSet<&RepoPath> = diff.uncommitted.iter().collect();
    let all = diff.files.iter().map(|file| (file, line(file)));
    all.map(|(file, (insertions, deletions))| FileLine {
        path: &file.path,
        change: file.change,
        insertions,
        deletions,
        committed: !uncommitted.contains(&file.path),
    })
    .collect()
}

/// The commits of a difference, in documents.
pub(super) fn commits(commits: &[LoggedCommit]) -> Vec<CommitLine<'_>> {
    commits.iter().map(|commit| CommitLine { id: &commit.oid, subject: &commit.subject }).collect()
}

/// What a difference leaves out, in documents.
pub(super) fn not_shown(diff: &TaskDiff) -> Vec<NotShown<'_>> {
    diff.not_shown.iter().map(|(path, why)| NotShown { path, why }).collect()
}

/// Shows what a task or a prompt changed.
///
/// # Errors
/// As [`task_diff::of`] and [`prompts::diff`].
pub fn run(args: &Diff, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let ctx = open_configured_for(Purpose::Look, global, Vec::new(), screen)?;
    let diff = match (&args.task, args.prompt) {
        (Some(task), _) => task_diff::of(&ctx, task)?,
        (None, Some(number)) => prompts::diff(&ctx, number)?,
        (None, None) => return Err(Error::new(Code::Usage, "neither a task nor a prompt is named")),
    };
    if args.stat || screen.wants_json() {
        let answer = DiffAnswer {
            task_id: args.task.as_ref(),
            prompt: args.prompt,
            base: &diff.base,
            workspace: diff.workspace.as_deref(),
            commits: commits(&diff.commits),
            files: files(&diff),
            not_shown: not_shown(&diff),
        };
        screen.answer(&answer, || stat(&diff))?;
        return Ok(Exit::Done);
    }
    for (path, why) in &diff.not_shown {
        screen.note(&format!("not shown: {} ({why})", visible::quoted(path.as_bytes())));
    }
    let patch = ctx.repo.history().patch(&diff.base, &diff.new)?;
    if !screen.shows_terminal() {
        screen.write(&patch)?;
    } else if !patch.is_empty() {
        // What agents wrote must not reach the terminal raw.
        let shown = visible::bytes(&patch);
        if !pager::show(&ctx.repo, &shown) {
            screen.write(shown.as_bytes())?;
        }
    }
    Ok(Exit::Done)
}
