//! `git axiom diff`.

use std::collections::BTreeSet;

use clap::Args;
use serde::Serialize;

use super::open_configured_for;
use crate::cli::screen::Screen;
use crate::cli::{patch, visible};
use crate::commands::grammar::arguments::GlobalArgs;
use crate::wording::diff::stat;
use axiom_agents::task_diff;
use axiom_agents::task_diff::{FileDiffStat, LoggedCommit, PatchColor};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_base::shell_word::shell_word;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::operation::change_json::FileChange;
use axiom_safety::attach::prompts;
use axiom_safety::attach::prompts::changed_by_others;
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;

use axiom_safety::history::work_diff::TaskDiff;
use axiom_safety::running::output::logs;

/// Arguments of `diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
Compares the task's workspace as it is now, with untracked files, with where its branch left the
target; without a workspace its merge, or the commits of its branch. The patch goes to your
pager on a terminal; to a pipe it goes as it is, for 'git apply'. Of binary files, and of files
over 2 MB, it only says that they differ.

With the number of a prompt: what happened in the worktree of an attached agent from this prompt
until its next one, or its rollback, or until now; 'git axiom prompts' lists them.")]
pub struct DiffArgs {
    /// The task, an agent (its newest task), or the number of a prompt
    #[arg(value_name = "TASK|AGENT|NUMBER", required_unless_present = "prompt")]
    task: Option<String>,
    /// What a prompt to an attached agent changed
    #[arg(long, value_name = "NUMBER", conflicts_with = "task")]
    prompt: Option<u32>,
    /// Name the files with their changed lines, and print no patch
    #[arg(long)]
    stat: bool,
}

/// A file that was changed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DiffFileJson<'a> {
    path: &'a RepoPath,
    change: FileChange,
    /// Lines; null for a binary file or one over 2 MB.
    insertions: Option<u64>,
    /// Lines; null for a binary file or one over 2 MB.
    deletions: Option<u64>,
    /// Whether a commit holds it as it is.
    committed: bool,
}

/// A commit.
#[derive(Debug, Serialize)]
pub(super) struct DiffCommitJson<'a> {
    id: &'a Oid,
    subject: &'a str,
}

/// A file whose change is not told.
#[derive(Debug, Serialize)]
pub(super) struct NotShownFileJson<'a> {
    path: &'a RepoPath,
    why: &'static str,
}

/// What a task or a prompt changed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiffJson<'a> {
    /// Not of a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a TaskId>,
    /// Of a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<u32>,
    /// The commit at which its branch left the target; of a prompt the tree of the files before it.
    base: &'a Oid,
    /// Its workspace, where that was looked at; of a prompt the worktree, where no later prompt ends it.
    workspace: Option<&'a str>,
    /// Newest first.
    commits: Vec<DiffCommitJson<'a>>,
    files: Vec<DiffFileJson<'a>>,
    /// What is in the workspace and in no list above.
    not_shown: Vec<NotShownFileJson<'a>>,
}

/// The files of a difference, in documents.
pub(super) fn files(diff: &TaskDiff) -> Vec<DiffFileJson<'_>> {
    let line = |file: &'_ FileDiffStat| (file.lines.map(|(added, _)| added), file.lines.map(|(_, deleted)| deleted));
    let uncommitted: BTreeSet<&RepoPath> = diff.uncommitted.iter().collect();
    let all = diff.files.iter().map(|file| (file, line(file)));
    all.map(|(file, (insertions, deletions))| DiffFileJson {
        path: &file.path,
        change: file.change,
        insertions,
        deletions,
        committed: !uncommitted.contains(&file.path),
    })
    .collect()
}

/// The commits of a difference, in documents.
pub(super) fn commits(commits: &[LoggedCommit]) -> Vec<DiffCommitJson<'_>> {
    commits.iter().map(|commit| DiffCommitJson { id: &commit.oid, subject: &commit.subject }).collect()
}

/// What a difference leaves out, in documents.
pub(super) fn not_shown(diff: &TaskDiff) -> Vec<NotShownFileJson<'_>> {
    diff.not_shown.iter().map(|(path, why)| NotShownFileJson { path, why }).collect()
}

/// The task or the prompt that is meant. A number is a prompt unless a task has that id.
fn named(args: &DiffArgs, ctx: &Context, screen: &mut Screen) -> Result<(Option<TaskId>, Option<u32>)> {
    let Some(text) = &args.task else { return Ok((None, args.prompt)) };
    let number = text.parse::<u32>().ok();
    let task = ctx.state().restorable.tasks.get(text.as_str()).map(|task| task.id.clone());
    match (task, number) {
        (Some(task), Some(number)) if prompts::is_known(ctx, number)? => {
            Err(Error::new(Code::AmbiguousName, format!("{task} is a task, and the number of a prompt"))
                .hint(format!("git axiom diff --prompt {number}    for the prompt"))
                .hint(format!("git axiom task show {task}    for the task")))
        }
        (Some(task), _) => Ok((Some(task), None)),
        (None, Some(number)) => Ok((None, Some(number))),
        (None, None) => match logs::newest_task_of(ctx, text) {
            Some(task) => {
                screen.note(&format!("note: the newest task of {text} is {task}"));
                Ok((Some(task), None))
            }
            None => Ok((Some(not_a_commit(text)?), None)),
        },
    }
}

/// A word that is no task may be a commit, for which git has a command.
fn not_a_commit(text: &str) -> Result<TaskId> {
    let is_a_commit = text == "HEAD" || text.starts_with("HEAD") || text.contains(['~', '^']);
    let error = || {
        Error::new(Code::UnknownTask, format!("there is no task '{text}'"))
            .hint(format!("git diff {}    compares with a commit", shell_word(text)))
            .hint("git axiom task list    lists the tasks, 'git axiom prompts' the prompts")
    };
    if is_a_commit { Err(error()) } else { TaskId::new(text) }
}

/// Shows what a task or a prompt changed.
pub fn run(args: &DiffArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let ctx = open_configured_for(VerbPurpose::Look, global, Vec::new(), screen)?;
    let (task, prompt) = named(args, &ctx, screen)?;
    let diff = match (&task, prompt) {
        (Some(task), _) => task_diff::of(&ctx, task)?,
        (None, Some(number)) => prompts::diff(&ctx, number)?,
        (None, None) => return Err(Error::new(Code::Usage, "neither a task nor a prompt is named")),
    };
    if let Some(number) = args.prompt {
        let paths: Vec<String> = diff.files.iter().map(|file| file.path.to_string()).collect();
        if let Some(note) = changed_by_others::among(&ctx, number, &paths)? {
            screen.note(&format!("note: {}", visible::line(&note)));
        }
    }
    if args.stat || screen.wants_json() {
        let answer = DiffJson {
            task_id: task.as_ref(),
            prompt,
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
    show_patch(|color| ctx.repo.history().patch(&diff.base, &diff.new, color), screen)?;
    Ok(Exit::Done)
}

/// Shows a patch: as it is in a pipe; in git's colours, and in the pager, on a terminal, which nothing that agents wrote reaches raw.
pub(super) fn show_patch(of: impl Fn(PatchColor) -> Result<Vec<u8>>, screen: &mut Screen) -> Result<()> {
    let plain = of(PatchColor::Plain)?;
    if plain.is_empty() || !screen.terminal().is_seen() {
        return screen.write(&plain);
    }
    let is_colored = screen.terminal().of_answer().colors.is_some_and(|colors| colors.colored_patches);
    let shown = if is_colored { patch::colored(&plain, &of(PatchColor::Colored)?) } else { visible::bytes(&plain) };
    screen.page(&shown)
}
