//! `git axiom gate show`: what a human looks at before a decision.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::cli::screen::Screen;
use crate::commands::diff::{self, CommitLine, FileLine, NotShown};
use crate::domain::base::names::{Oid, RefName, RepoPath};
use crate::domain::work::gate_line::GateLine;
use crate::error::Result;
use crate::ops::context::handle::Context;
use crate::ops::interventions::gates;
use crate::ops::merge::sides::{Side, Sides};
use crate::told::gates::in_words;
use crate::told::verified::{self, Verified};

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
