//! `git axiom gate show`: what a human looks at before a decision.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::cli::screen::{Screen, table};
use crate::cli::visible;
use crate::commands::diff::{self, CommitLine, FileLine, NotShown};
use crate::commands::verified::{self, Verified};
use crate::domain::base::names::{Oid, RefName, RepoPath};
use crate::domain::work::case::Case;
use crate::domain::work::gate::{GateKind, is_of_conflict, to_settle_first};
use crate::domain::work::gate_line::GateLine;
use crate::domain::work::verification::Checker;
use crate::error::Result;
use crate::ops::context::handle::Context;
use crate::ops::interventions::gates::{self, Look, Step};
use crate::ops::merge::sides::{Side, Sides};
use crate::ops::task_diff::TaskDiff;

/// How many commits are named.
const NAMED: usize = 20;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GateShowAnswer<'a> {
    gate: GateLine,
    commits: Vec<CommitLine<'a>>,
    files: Vec<FileLine<'a>>,
    not_shown: Vec<NotShown<'a>>,
    secrets: Vec<&'a RepoPath>,
    guarded: &'a [RepoPath],
    conflict: Option<ConflictLine<'a>>,
    verified: Option<bool>,
    verification: &'a [Verified<'a>],
    steps: Vec<StepLine<'a>>,
}

/// Both sides of a merge that conflicts.
#[derive(Serialize)]
struct ConflictLine<'a> {
    files: &'a [RepoPath],
    ours: SideLine<'a>,
    theirs: SideLine<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SideLine<'a> {
    branch: &'a RefName,
    commit: &'a Oid,
    task_ids: &'a BTreeSet<String>,
    commits: Vec<SideCommitLine<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SideCommitLine<'a> {
    id: &'a Oid,
    subject: &'a str,
    task_ids: &'a [String],
    files: &'a [RepoPath],
}

#[derive(Serialize)]
struct StepLine<'a> {
    command: &'a str,
    failure: Option<&'a str>,
}

/// Shows a gate with everything that helps to decide.
///
/// # Errors
/// `UNKNOWN_GATE`, `AMBIGUOUS_NAME`; those of reading the task's workspace.
pub(super) fn run(ctx: &Context, name: &str, screen: &mut Screen) -> Result<()> {
    let look = gates::look(ctx, name)?;
    let changed = look.diff.as_ref();
    let case = look.gate.task_id.as_ref().map(|task| ctx.state().case(task)).transpose()?;
    let verification = case.map(|case| verified::of(ctx, case)).unwrap_or_default();
    let answer = GateShowAnswer {
        gate: GateLine::from(&look.gate),
        commits: changed.map(|diff| diff::commits(&diff.commits)).unwrap_or_default(),
        files: changed.map(diff::files).unwrap_or_default(),
        not_shown: changed.map(diff::not_shown).unwrap_or_default(),
        secrets: changed.map(|diff| diff.secrets().collect()).unwrap_or_default(),
        guarded: &look.guarded,
        conflict: look.conflict.as_ref().map(conflict),
        verified: look.verified,
        verification: &verification,
        steps: look.steps.iter().map(|step| StepLine { command: &step.command, failure: step.failure.as_deref() }).collect(),
    };
    screen.answer(&answer, || in_words(&look, case, &verification))
}

fn conflict(sides: &Sides) -> ConflictLine<'_> {
    ConflictLine { files: &sides.files, ours: side(&sides.ours), theirs: side(&sides.theirs) }
}

fn side(side: &Side) -> SideLine<'_> {
    let commits = side.commits.iter().map(|commit| SideCommitLine {
        id: &commit.oid,
        subject: &commit.subject,
        task_ids: &commit.tasks,
        files: &commit.files,
    });
    SideLine { branch: &side.branch, commit: &side.tip, task_ids: &side.tasks, commits: commits.collect() }
}

fn in_words(look: &Look, case: Option<&Case>, verification: &[Verified<'_>]) -> String {
    let gate = &look.gate;
    let mut text = format!("{}: {}\n", gate.id, visible::line(&gate.reason));
    for detail in gate.detail_lines().into_iter().chain(to_settle_first(&gate.reason)) {
        text.push_str(&format!("  {}\n", visible::set_in(&detail, "    ")));
    }
    if let Some(changed) = &look.diff {
        text.push_str(&work(changed));
    }
    if !look.guarded.is_empty() {
        text.push_str(&format!("Guarded, and changed: {}\n", paths(&look.guarded)));
    }
    match &look.conflict {
        Some(conflict) => text.push_str(&both_sides(conflict)),
        None if gate.kind == GateKind::Merge && is_of_conflict(&gate.reason) => {
            text.push_str("It does not conflict any more: approving merges it.\n");
        }
        None => {}
    }
    for Step { by: _, command, failure } in look.steps.iter().filter(|step| step.by == Checker::Hook) {
        let how = failure.as_deref().map_or_else(|| "passed".to_owned(), |why| format!("FAILED, {why}"));
        text.push_str(&format!("Verified by '{}': {}\n", visible::line(command), visible::line(&how)));
    }
    if let Some(case) = case {
        let rows: Vec<Vec<String>> = verification.iter().flat_map(|step| verified::rows(&case.id, step)).collect();
        text.push_str(&table(&rows));
    }
    if gate.decision.is_none() {
        text.push_str(&format!("To continue: {}\n", gate.kind.command(gate.id.as_str())));
    }
    text
}

/// Who changed the files in conflict, and how.
fn both_sides(Sides { files, ours, theirs }: &Sides) -> String {
    let mut text = String::new();
    for side in [ours, theirs] {
        let tasks: Vec<&str> = side.tasks.iter().map(String::as_str).collect();
        let tasks = if tasks.is_empty() { String::new() } else { format!(", {}", tasks.join(", ")) };
        text.push_str(&format!(
            "Changed on {}:\n",
            visible::line(&format!("{} (at {}{tasks})", side.branch.short(), side.tip.short()))
        ));
        for commit in &side.commits {
            text.push_str(&format!("  {} {}\n", commit.oid.short(), visible::line(&commit.subject)));
            // Where only one file is in conflict, all of them changed it.
            if files.len() > 1 && !commit.files.is_empty() {
                text.push_str(&format!("    {}\n", paths(&commit.files)));
            }
        }
    }
    text
}

fn work(changed: &TaskDiff) -> String {
    let mut text = String::new();
    for commit in changed.commits.iter().take(NAMED) {
        text.push_str(&format!("{} {}\n", commit.oid.short(), visible::line(&commit.subject)));
    }
    if changed.commits.len() > NAMED {
        text.push_str(&format!("and {} more commits\n", changed.commits.len() - NAMED));
    }
    text.push_str(&diff::stat(changed));
    if !changed.uncommitted.is_empty() {
        text.push_str(&format!("Not committed: {}\n", paths(&changed.uncommitted)));
    }
    let secrets: Vec<RepoPath> = changed.secrets().cloned().collect();
    if !secrets.is_empty() {
        text.push_str(&format!("Look like secrets: {}\n", paths(&secrets)));
    }
    text
}

fn paths(all: &[RepoPath]) -> String {
    let shown = all.iter().take(NAMED).map(|path| visible::quoted(path.as_bytes()));
    let more = all.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}
