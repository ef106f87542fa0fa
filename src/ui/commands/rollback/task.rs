//! `git axiom rollback task`.

use std::path::Path;

use clap::Args;
use serde::Serialize;

use super::say_who_is_stopped;
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::consent::ConsentArgs;
use crate::commands::progress::ProgressPrinter;
use crate::wording::counted_sections;
use crate::wording::task_rollback::{in_conflict, people};
use axiom_agents::interventions::task_rollback;
use axiom_agents::revert_task as op;
use axiom_agents::revert_task::{TaskRollbackOutcome, TaskRollbackPreview, TaskRollbackRequest};
use axiom_agents::supervise::SupervisorOptions;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_base::shell_word::shell_word;
use axiom_model::base::ids::{GateId, TaskId};
use axiom_model::work::gates::gate::AfterHalt;
use axiom_safety::context::handle::Context;
use axiom_safety::operation::planned_changes::here;

/// Arguments of `rollback task`.
#[derive(Debug, Args)]
#[command(after_help = "\
The task's commits are those that name it, by an 'Axiom-Task:' trailer or by '#TASK @AGENT' in
the subject, those that were merged by a merge that names it, and those recorded by its
iterations. They are reverted, newest first; nothing is rewritten. The task is then pending
again, on a new branch, once its claim gate is approved. A conflict changes nothing, and is
listed with the commits that cause it.

With --resolve, a conflict gets a worktree of its own with the git revert in progress; the exit
status is 4. Resolve it there (edit, 'git add', 'git revert --continue') and repeat the command:
the branch moves to what you committed. To give up: 'git worktree remove --force'.")]
pub(super) struct RollbackTaskArgs {
    /// The task; if git axiom does not know it, commits that name it are enough
    task: TaskId,
    /// Also take back tasks that were begun on top of it
    #[arg(long)]
    cascade: bool,
    /// The branch on which commits are reverted, if not the one that the task was merged into
    #[arg(long, value_name = "BRANCH")]
    target: Option<String>,
    /// Make a worktree to resolve a conflict in; when repeated, use the resolution from it
    #[arg(long)]
    resolve: bool,
    /// Refuse if an agent works on it, instead of stopping the agent
    #[arg(long)]
    no_stop: bool,
    /// Let agents start the task again at once, instead of holding it at a claim gate
    #[arg(long)]
    retry: bool,
    #[command(flatten)]
    consent: ConsentArgs,
}

impl RollbackTaskArgs {
    /// Whether it only shows what would be done.
    pub(super) fn is_dry_run(&self) -> bool {
        self.consent.dry_run
    }
}

/// What a rollback of a task changed, or would change; with `error` in conflict: then nothing is done. Of refs, branches that are
/// deleted are told.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RollbackTaskJson<'a> {
    #[serde(flatten)]
    preview: &'a TaskRollbackPreview,
    dry_run: bool,
    safety: Option<String>,
    undo: Option<String>,
    /// As in `rollback`.
    moved_aside: Vec<String>,
    /// As in `rollback`.
    gate_ids: Vec<GateId>,
    /// The worktree to settle the conflict in.
    resolve_in: Option<String>,
}

impl<'a> RollbackTaskJson<'a> {
    fn of(preview: &'a TaskRollbackPreview, dry_run: bool) -> Self {
        Self { preview, dry_run, safety: None, undo: None, moved_aside: Vec::new(), gate_ids: Vec::new(), resolve_in: None }
    }
}

/// Rolls back a task.
pub(super) fn run(args: &RollbackTaskArgs, ctx: &mut Context, screen: &mut Screen) -> Result<Exit> {
    let RollbackTaskArgs { task, cascade, target, resolve, .. } = args;
    let afterwards = AfterHalt::with_retry(args.retry);
    let wanted =
        TaskRollbackRequest { task: task.clone(), cascade: *cascade, target: target.clone(), resolve: *resolve, afterwards };
    if args.no_stop {
        op::nobody_works(ctx, &wanted)?;
    }
    if args.consent.dry_run || !args.consent.yes {
        let preview = op::preview(ctx, &wanted)?;
        // Creating a worktree for resolving the conflict changes nothing that exists.
        let is_conflict = !preview.conflicts.is_empty();
        if is_conflict && (args.consent.dry_run || !args.resolve) {
            return conflict(screen, &preview, args.consent.dry_run);
        }
        if args.consent.dry_run {
            screen.answer(&RollbackTaskJson::of(&preview, true), || people(&preview, "Would take", &here(ctx)))?;
            return Ok(Exit::Done);
        }
        if !is_conflict {
            screen.note_text(people(&preview, "Would take", &here(ctx)).trim_end());
            screen.confirm("Take it back?", false)?;
        }
    }
    let stop = (!args.no_stop).then(SupervisorOptions::attending);
    if stop.is_some() {
        say_who_is_stopped(screen, &op::to_stop(ctx, &wanted)?);
    }
    let done = match task_rollback::roll_back(ctx, &wanted, stop, &mut ProgressPrinter::new(false))? {
        TaskRollbackOutcome::Conflict(preview) => return conflict(screen, &preview, false),
        TaskRollbackOutcome::ToSettle(preview, path) => return to_settle(screen, &preview, &path),
        TaskRollbackOutcome::Done(done) => done,
    };
    let undo = format!("git axiom undo {}", done.txn);
    let answer = RollbackTaskJson {
        safety: Some(done.safety.to_string()),
        undo: Some(undo.clone()),
        moved_aside: done.moved_aside.iter().map(|moved| moved.now_at.display().to_string()).collect(),
        gate_ids: done.gates.clone(),
        ..RollbackTaskJson::of(&done.preview, false)
    };
    screen.answer(&answer, || {
        people(&done.preview, "Took", &here(ctx))
            + &counted_sections::ending(&answer.moved_aside, &answer.gate_ids, done.safety.as_str(), &undo)
    })?;
    Ok(Exit::Done)
}

fn to_settle(screen: &mut Screen, preview: &TaskRollbackPreview, path: &Path) -> Result<Exit> {
    let place = path.display().to_string();
    let answer = RollbackTaskJson { resolve_in: Some(place.clone()), ..RollbackTaskJson::of(preview, false) };
    let error =
        Error::new(Code::MergeConflict, format!("'{}' is not taken back before its conflict is resolved", preview.task_id))
            .why(format!("a git revert is in progress in {place}"))
            .hint(format!("resolve it there, then: {}", preview.resolve));
    screen.answer_with(&answer, &error, || {
        let files: Vec<String> =
            preview.conflicts.iter().map(|conflict| format!("  {}\n", visible::line(&conflict.path.to_string()))).collect();
        format!(
            "'{0}' conflicts with what was done since. Resolve it in {place}, where a git revert is in progress:\n{1}\
             There: edit, git add, git revert --continue. Then: {2}\n\
             To give it up: git worktree remove --force {3}\n",
            preview.task_id,
            files.concat(),
            preview.resolve,
            shell_word(&place)
        )
    })?;
    // The error is part of the text that was printed.
    Ok(error.code().exit())
}

/// Reports a conflict. With `--json`, the whole document is printed, so that a script can read which files are in conflict.
fn conflict(screen: &mut Screen, preview: &TaskRollbackPreview, dry_run: bool) -> Result<Exit> {
    let error = in_conflict(preview);
    screen.answer_with(&RollbackTaskJson::of(preview, dry_run), &error, String::new)?;
    Err(error)
}
