//! `git axiom merge`.

use std::path::Path;

use clap::Args;
use serde::Serialize;

use super::foreground::{VerbSpinner, tell_hooks};
use super::{open_configured_for, purpose};
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::wording::changes::{ComingFiles, add_all, totals};
use crate::wording::counted_sections::CountedSections;
use axiom_agents::merge::merge_verification::merge_verified;
use axiom_agents::merge::preview::{MergePreview, MergePreviewOutcome, preview};
use axiom_agents::merge::{LEFT_MARKERS, MergeOutcome, unheeded_settings};
use axiom_base::error::{Code, Error, Exit, Result, some_of};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::work::guarded::AllowedGuardedFiles;
use axiom_model::work::verifying::verification::MergeVerification;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::workspace_submodules::on_no_remote;
use axiom_safety::operation::planned_changes::{PlannedChanges, here};

/// Arguments of `merge`.
#[derive(Debug, Args)]
#[command(after_help = "\
The merge is computed in memory: a conflict changes nothing. Where the branches conflict, the
task's commits are tried one by one, without those that the target has in another form; then
the task's own verify steps must pass on the result too. If the target branch is checked out,
its files are updated too; your staged or uncommitted changes there stay as they are, and a
merge that would overwrite them is refused. 'git axiom undo' takes a merge back.

The task's workspace goes to the trash then, and its branch, whose commits the target has, is
deleted; with agents.keepMerged both stay.

A merge that changes guarded files is refused without --allow-guarded: other programs run or
obey them (.claude, .github/workflows; 'git axiom config show merge.guarded' lists them), git
axiom itself reads .axiom, and .gitattributes that set filter, diff or merge make git run
programs.

The pre-merge hooks are asked first. If merge.verify names commands, they run on the result
then, in a worktree of their own. Nothing is merged unless all pass; Ctrl+C ends them.")]
pub struct MergeArgs {
    /// The task: it has to be done
    task: TaskId,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Let the merge change guarded files (merge.guarded, .axiom, drivers in .gitattributes)
    #[arg(long, alias = "allow-axiom")]
    allow_guarded: bool,
}

impl MergeArgs {
    fn allowed(&self) -> AllowedGuardedFiles {
        if self.allow_guarded { AllowedGuardedFiles::Everything } else { AllowedGuardedFiles::Nothing }
    }
}

/// What was merged. The keys of the changes, and `verify`, come with `--dry-run` alone.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MergeJson<'a> {
    task_id: &'a TaskId,
    /// `null` where it is not made yet.
    commit: Option<&'a Oid>,
    target: &'a RefName,
    was_merged_before: bool,
    dry_run: bool,
    undo: Option<String>,
    #[serde(flatten)]
    foreseen: Option<MergePreviewJson<'a>>,
}

/// What a dry run tells beside.
#[derive(Serialize)]
struct MergePreviewJson<'a> {
    /// Of refs, branches that are deleted: the target has their commits then.
    #[serde(flatten)]
    changes: &'a PlannedChanges,
    /// The commands that have to pass first.
    verify: &'a [String],
}

/// Merges a task.
pub fn run(args: &MergeArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_configured_for(purpose(args.dry_run), global, Vec::new(), screen)?;
    if args.dry_run {
        return foresee(args, &ctx, screen);
    }
    let ended = merge(args, &mut ctx, screen);
    tell_hooks(&mut ctx, screen);
    ended
}

fn merge(args: &MergeArgs, ctx: &mut Context, screen: &mut Screen) -> Result<Exit> {
    let task = &args.task;
    let outcome = merge_verified(ctx, task, &args.allowed(), &mut VerbSpinner::default())?;
    let undo = || Some(format!("git axiom undo {}", ctx.txn()));
    let (merged, was_merged_before, undo) = match outcome {
        MergeOutcome::Merged(merged) => (merged, false, undo()),
        MergeOutcome::Noted(merged) => (merged, true, undo()),
        MergeOutcome::NothingToMerge(merged) => (merged, true, None),
        other @ (MergeOutcome::Conflict { .. }
        | MergeOutcome::InTheWay { .. }
        | MergeOutcome::Guarded { .. }
        | MergeOutcome::Unverified { .. }
        | MergeOutcome::TargetMissing { .. }) => return Err(refused(task, other)),
    };
    let (commit, target) = (Some(&merged.commit), merged.target.short());
    if let Some(what) = unheeded_settings(ctx, &merged.target)? {
        screen.note(&format!("note: {}", visible::line(&what)));
    }
    let (name, dry_run) = (&merged.target, false);
    for said in on_no_remote(ctx, &merged.commit).unwrap_or_default() {
        screen.note(&format!("note: {}", visible::line(&said)));
    }
    let answer = MergeJson { task_id: task, commit, target: name, was_merged_before, dry_run, undo, foreseen: None };
    screen.answer(&answer, || {
        let commit = merged.commit.short();
        let mut text = match was_merged_before {
            true => format!("{target} has all of '{task}' already ({commit})\n"),
            false => format!("Merged '{task}' into {target} ({commit})\n"),
        };
        if let Some(undo) = &answer.undo {
            text.push_str(&format!("To take it back: {undo}\n"));
        }
        text
    })?;
    Ok(Exit::Done)
}

/// Shows what the merge would change.
fn foresee(args: &MergeArgs, ctx: &Context, screen: &mut Screen) -> Result<Exit> {
    let preview = match preview(ctx, &args.task, &args.allowed())? {
        MergePreviewOutcome::Preview(preview) => preview,
        MergePreviewOutcome::Refused(outcome) => return Err(refused(&args.task, *outcome)),
    };
    let MergePreview { task_id, target, commit, was_merged_before, changes, verify } = &*preview;
    let answer = MergeJson {
        task_id,
        commit: was_merged_before.then_some(commit),
        target,
        was_merged_before: *was_merged_before,
        dry_run: true,
        undo: None,
        foreseen: Some(MergePreviewJson { changes, verify }),
    };
    screen.answer(&answer, || foretold(&preview, &here(ctx)))?;
    Ok(Exit::Done)
}

fn foretold(preview: &MergePreview, here: &Path) -> String {
    let MergePreview { task_id, target, commit, was_merged_before, changes, verify } = preview;
    let (target, commit) = (target.short(), commit.short());
    if *was_merged_before {
        return format!("{target} has all of '{task_id}' already ({commit})\n");
    }
    let mut parts = CountedSections::below(&format!("Would merge '{task_id}' into {target} (at {commit})"));
    parts.add("command verifies the result first", "commands verify the result first", verify.clone());
    add_all(&mut parts, changes, ComingFiles::New, here);
    parts.into_text() + &totals(changes, ComingFiles::New)
}

fn refused(task: &TaskId, outcome: MergeOutcome) -> Error {
    match outcome {
        MergeOutcome::Merged(_) | MergeOutcome::Noted(_) | MergeOutcome::NothingToMerge(_) => {
            Error::new(Code::Internal, "a merge that was made was reported as refused")
        }
        MergeOutcome::Conflict { files, target } => conflict(task, &files, target.short()),
        MergeOutcome::InTheWay { what } => {
            let hint = match what.contains(LEFT_MARKERS) {
                true => format!("git axiom gate approve merge-{task}    in a session; git merge axiom/{task} takes it as it is"),
                false => "commit, stash or move what is in the way, then run the command again".to_owned(),
            };
            Error::new(Code::InTheWay, format!("'{task}' was not merged")).why(what).hint(hint)
        }
        MergeOutcome::Guarded { files } => {
            Error::new(Code::InTheWay, format!("the work of '{task}' changes guarded files ({})", files.reasons()))
                .why(some_of(&files.paths(), 100))
                .hint(format!("look at them, then: git axiom merge --allow-guarded {task}"))
        }
        MergeOutcome::Unverified { of: _, failed } => not_verified(task, failed.as_deref()),
        MergeOutcome::TargetMissing { target } => {
            Error::new(Code::TargetMissing, format!("the branch {} does not exist", target.short()))
                .hint("create it again with 'git branch', or set merge.target")
        }
    }
}

fn conflict(task: &TaskId, files: &[RepoPath], target: &str) -> Error {
    Error::new(Code::MergeConflict, format!("'{task}' conflicts with the target at {target}"))
        .why(some_of(files, 20))
        .hint(format!("merge the target into axiom/{task} by hand, resolve the conflict there, then run the command again"))
}

fn not_verified(task: &TaskId, failed: Option<&MergeVerification>) -> Error {
    let why = failed.and_then(MergeVerification::summary).unwrap_or_else(|| "merge.verify has not passed".to_owned());
    let lines = failed.and_then(MergeVerification::failed).map(|step| step.lines.join("\n")).unwrap_or_default();
    let error = Error::new(Code::VerifyFailed, format!("'{task}' was not merged: {why}"));
    let error = if lines.is_empty() { error } else { error.why(format!("its last lines:\n{lines}")) };
    error.hint(format!("fix it on the branch axiom/{task}, then: git axiom merge {task}"))
}
