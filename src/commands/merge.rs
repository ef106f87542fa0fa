//! `git axiom merge`.

use clap::Args;
use serde::Serialize;

use super::open_configured;
use crate::cli::arguments::Global;
use crate::cli::screen::Screen;
use crate::domain::ids::CaseId;
use crate::domain::names::RepoPath;
use crate::error::{Code, Error, Exit, Result, some_of};
use crate::ops::configure;
use crate::ops::merge::{MergeOutcome, merge_task};

/// Arguments of `merge`.
#[derive(Debug, Args)]
#[command(after_help = "\
The merge is computed in memory: a conflict changes nothing. Where the target branch is checked
out, its files move with it; what you have staged, changed or not committed there stays as it
is, and a merge that would write over it is refused. 'git axiom undo' takes a merge back.")]
pub struct Merge {
    /// The task: it has to be done
    task: CaseId,
    /// Let the merge change files below .axiom/, which git axiom itself reads
    #[arg(long)]
    allow_axiom: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    task_id: &'a CaseId,
    commit: &'a str,
    target: &'a str,
    was_merged_before: bool,
    undo: Option<String>,
}

/// Merges a task.
///
/// # Errors
/// `MERGE_CONFLICT`, `IN_THE_WAY`, `TARGET_MISSING`, and what `merge_task` says.
pub fn run(args: &Merge, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let mut context = open_configured(global, Vec::new(), screen)?;
    context.for_humans_only("merge")?;
    configure::load(&context.repo, Vec::new())?.merges_unverified()?;
    let task = &args.task;
    let outcome = merge_task(&mut context, task, args.allow_axiom)?;
    let (merged, was_merged_before) = match &outcome {
        MergeOutcome::Merged(merged) => (merged, false),
        MergeOutcome::NothingToMerge(merged) => (merged, true),
        MergeOutcome::Conflict { files, target } => return Err(conflict(task, files, target.short())),
        MergeOutcome::InTheWay { what } => {
            return Err(Error::new(Code::InTheWay, format!("'{task}' was not merged"))
                .why(what.clone())
                .hint("commit, stash or move what is in the way, then run the command again"));
        }
        MergeOutcome::TouchesAxiom { files } => {
            return Err(Error::new(Code::InTheWay, format!("the work of '{task}' changes what git axiom itself reads"))
                .why(some_of(files, 20))
                .hint(format!("look at it, then: git axiom merge --allow-axiom {task}")));
        }
        MergeOutcome::TargetMissing { target } => {
            return Err(Error::new(Code::TargetMissing, format!("the branch {} does not exist", target.short()))
                .hint("make it again with 'git branch', or set merge.target"));
        }
    };
    let undo = (!was_merged_before).then(|| format!("git axiom undo {}", context.txn()));
    let (commit, target) = (merged.commit.as_str(), merged.target.short());
    let answer = Answer { task_id: task, commit, target: merged.target.as_str(), was_merged_before, undo };
    screen.answer(&answer, || {
        if was_merged_before {
            return format!("{target} has all of '{task}' already ({})\n", merged.commit.short());
        }
        let undo = answer.undo.as_deref().unwrap_or_default();
        format!("Merged '{task}' into {target} ({})\nTo take it back: {undo}\n", merged.commit.short())
    })?;
    Ok(Exit::Done)
}

fn conflict(task: &CaseId, files: &[RepoPath], target: &str) -> Error {
    Error::new(Code::MergeConflict, format!("'{task}' conflicts with the target at {target}"))
        .why(some_of(files, 20))
        .hint(format!("merge the target into axiom/{task} by hand, settle the conflict there, then run the command again"))
}
