//! `git axiom gate show`: what a human looks at before a decision.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::cli::screen::Screen;
use crate::commands::diff;
use crate::commands::diff::{DiffCommitJson, DiffFileJson, NotShownFileJson};
use crate::wording::gates::in_words;
use crate::wording::verify_steps;
use crate::wording::verify_steps::LoggedVerifyStep;
use axiom_agents::interventions::gates;
use axiom_agents::merge::conflict_sides::{MergeConflictSide, MergeConflictSides};
use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::queries::gate_line::OpenGateJson;
use axiom_safety::context::handle::Context;
use axiom_safety::settings::trust;

/// A gate, and what helps to decide.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GateShowJson<'a> {
    gate: OpenGateJson,
    /// Those of its task, newest first.
    commits: Vec<DiffCommitJson<'a>>,
    /// Those that its task changed.
    files: Vec<DiffFileJson<'a>>,
    not_shown: Vec<NotShownFileJson<'a>>,
    /// Changed files that look like secrets.
    secrets: Vec<&'a RepoPath>,
    /// Guarded files that the merge would change.
    guarded: &'a [RepoPath],
    /// Of a merge that conflicts now: both sides.
    conflict: Option<GateConflictJson<'a>>,
    /// Whether the task's verify steps have passed, where there were some.
    verified: Option<bool>,
    /// As in `task show`.
    verification: &'a [LoggedVerifyStep<'a>],
    /// Hooks and commands that were run on the result of the merge.
    steps: Vec<GateStepJson<'a>>,
}

/// Both sides of a merge that conflicts.
#[derive(Serialize)]
struct GateConflictJson<'a> {
    /// Those in conflict.
    files: &'a [RepoPath],
    /// The task.
    ours: GateConflictSideJson<'a>,
    /// The target since the task's branch began.
    theirs: GateConflictSideJson<'a>,
}

/// One side of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GateConflictSideJson<'a> {
    branch: &'a RefName,
    /// The commit of the branch.
    commit: &'a Oid,
    /// The tasks whose commits changed the files.
    task_ids: &'a BTreeSet<String>,
    /// Those that changed the files, newest first, at most 20.
    commits: Vec<GateConflictCommitJson<'a>>,
}

/// A commit that changed files in conflict.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GateConflictCommitJson<'a> {
    id: &'a Oid,
    subject: &'a str,
    /// The tasks that it names.
    task_ids: &'a [String],
    /// Those in conflict that it changed.
    files: &'a [RepoPath],
}

/// A hook or command that was run on the result of a merge.
#[derive(Serialize)]
struct GateStepJson<'a> {
    /// The command, or the file of a hook.
    command: &'a str,
    /// Why it did not pass.
    failure: Option<&'a str>,
}

/// Shows a gate with everything that helps to decide.
pub(super) fn run(ctx: &Context, name: &str, screen: &mut Screen) -> Result<()> {
    let mut look = gates::look(ctx, name)?;
    let is_decided = look.gate.decision.is_some();
    trust::say_what_is_approved(ctx, [(&mut look.gate.reason, is_decided)].into_iter());
    let changed = look.diff.as_ref();
    let case = look.gate.task_id.as_ref().map(|task| ctx.state().task(task)).transpose()?;
    let verification = case.map(|case| verify_steps::of(ctx, case)).unwrap_or_default();
    let answer = GateShowJson {
        gate: OpenGateJson::from(&look.gate),
        commits: changed.map(|diff| diff::commits(&diff.commits)).unwrap_or_default(),
        files: changed.map(diff::files).unwrap_or_default(),
        not_shown: changed.map(diff::not_shown).unwrap_or_default(),
        secrets: changed.map(|diff| diff.secrets().collect()).unwrap_or_default(),
        guarded: &look.guarded,
        conflict: look.conflict.as_ref().map(conflict),
        verified: look.verified,
        verification: &verification,
        steps: look.steps.iter().map(|step| GateStepJson { command: &step.command, failure: step.failure.as_deref() }).collect(),
    };
    screen.answer(&answer, || in_words(&look, case, &verification))
}

fn conflict(sides: &MergeConflictSides) -> GateConflictJson<'_> {
    GateConflictJson { files: &sides.files, ours: side(&sides.ours), theirs: side(&sides.theirs) }
}

fn side(side: &MergeConflictSide) -> GateConflictSideJson<'_> {
    let commits = side.commits.iter().map(|commit| GateConflictCommitJson {
        id: &commit.oid,
        subject: &commit.subject,
        task_ids: &commit.tasks,
        files: &commit.files,
    });
    GateConflictSideJson { branch: &side.branch, commit: &side.tip, task_ids: &side.tasks, commits: commits.collect() }
}
