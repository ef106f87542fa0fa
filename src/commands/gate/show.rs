//! `git axiom gate show`: what a human looks at before a decision.

use serde::Serialize;

use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::diff::{self, CommitLine, FileLine, NotShown};
use crate::domain::base::names::RepoPath;
use crate::domain::work::gate::to_settle_first;
use crate::domain::work::gate_line::GateLine;
use crate::error::Result;
use crate::ops::context::handle::Context;
use crate::ops::interventions::gates::{self, Look, Step};
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
    verified: Option<bool>,
    steps: Vec<StepLine<'a>>,
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
    let answer = GateShowAnswer {
        gate: GateLine::from(&look.gate),
        commits: changed.map(|diff| diff::commits(&diff.commits)).unwrap_or_default(),
        files: changed.map(diff::files).unwrap_or_default(),
        not_shown: changed.map(diff::not_shown).unwrap_or_default(),
        secrets: changed.map(|diff| diff.secrets().collect()).unwrap_or_default(),
        guarded: &look.guarded,
        verified: look.verified,
        steps: look.steps.iter().map(|step| StepLine { command: &step.command, failure: step.failure.as_deref() }).collect(),
    };
    screen.answer(&answer, || in_words(&look))
}

fn in_words(look: &Look) -> String {
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
    for Step { command, failure } in &look.steps {
        let how = failure.as_deref().map_or_else(|| "passed".to_owned(), |why| format!("FAILED, {why}"));
        text.push_str(&format!("Verified by '{}': {}\n", visible::line(command), visible::line(&how)));
    }
    match (look.verified, look.steps.is_empty()) {
        (Some(true), true) => text.push_str("Its verify steps have passed.\n"),
        (Some(false), true) => text.push_str("Its verify steps have not passed.\n"),
        (Some(_), false) | (None, _) => {}
    }
    if gate.decision.is_none() {
        text.push_str(&format!("To continue: {}\n", gate.kind.command(gate.id.as_str())));
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
