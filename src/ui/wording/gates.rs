//! What helps to decide at a gate, in words.

use std::collections::BTreeSet;

use crate::cli::grid::StyledGrid;
use crate::cli::styled::StyledText;
use crate::cli::visible;
use axiom_agents::interventions::gates::{GateInspection, GateStepResult};
use axiom_agents::merge::conflict_sides::MergeConflictSides;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::RepoPath;
use axiom_model::base::screen_colors::ColoredPart;
use axiom_model::queries::gate_line::OpenGateDecisionJson;
use axiom_model::work::gates::gate::{GateDecision, GateKind, first_command, is_of_conflict};
use axiom_model::work::tasks::task::Task;
use axiom_model::work::verifying::verification::VerifyChecker;
use axiom_safety::history::work_diff::TaskDiff;

use super::counted_sections::listed;
use super::diff;
use super::verify_steps::{self, LoggedVerifyStep};

/// How many commits are named.
const NAMED: usize = 20;

/// The gate, the work that it is about, and how it can continue.
pub fn in_words(look: &GateInspection, task: Option<&Task>, verification: &[LoggedVerifyStep<'_>]) -> StyledText {
    let gate = &look.gate;
    let is_decided = gate.decision.is_some();
    let mut text = StyledText::new();
    text.push((!is_decided).then_some(ColoredPart::Waiting), gate.id.as_str());
    text.push_str(&format!(": {}\n", visible::line(&gate.reason)));
    for detail in gate.lines_below() {
        text.push_str(&format!("  {}\n", visible::set_in(&detail, "    ")));
    }
    if let Some((task, body)) = task.zip(look.body.as_deref()) {
        text.push_str(&to_do(task, body));
    }
    if let Some(changed) = &look.diff {
        text.append(work(changed, gate.task_id.as_ref()));
    }
    if !look.guarded.is_empty() {
        text.push_str(&format!("Guarded, and changed: {}\n", paths(&look.guarded)));
    }
    match &look.conflict {
        Some(conflict) => {
            text.push_str(&both_sides(conflict));
            let workspace = look.diff.as_ref().and_then(|diff| diff.workspace.as_deref());
            workspace.iter().for_each(|path| text.push_str(&format!("To resolve it: {}\n", visible::line(path))));
        }
        None if gate.kind == GateKind::Merge && is_of_conflict(&gate.reason) => {
            // Markers that are left may keep it up, for example.
            let then = match (is_decided, look.is_clear) {
                (true, true) => "it is merged once a session does that",
                (true, false) => "a session tries to merge it",
                (false, true) => "approving merges it",
                (false, false) => "approving tries to merge it",
            };
            text.push_str(&format!("It does not conflict any more: {then}.\n"));
        }
        None if look.is_clear => text.push_str("Nothing is in its way any more: approving merges it.\n"),
        None => {}
    }
    for GateStepResult { by: _, command, failure } in look.steps.iter().filter(|step| step.by == VerifyChecker::Hook) {
        let how = failure.as_deref().map_or_else(|| "passed".to_owned(), |why| format!("FAILED, {why}"));
        text.push_str(&format!("Verified by '{}': {}\n", visible::line(command), visible::line(&how)));
    }
    let earlier = verification.iter().find_map(LoggedVerifyStep::target).filter(|_| look.conflict.is_some());
    if let Some(target) = earlier {
        text.push_str(&format!("What follows is of an earlier merge, into {}:\n", target.short()));
    }
    if let Some(task) = task {
        let rows: Vec<Vec<String>> = verification.iter().flat_map(|step| verify_steps::rows(&task.id, step)).collect();
        text.push_grid(StyledGrid::of(rows));
    }
    text.push_str(&match &gate.decision {
        Some(decision) => {
            format!("Decided, for the session or the next 'git axiom run' to carry out: {}\n", visible::line(&decided(decision)))
        }
        None => format!("To continue: {}\n", first_command(gate.kind, gate.id.as_str(), &gate.reason)),
    });
    text
}

/// What the agent is to do, which is what an approval starts.
fn to_do(task: &Task, body: &str) -> String {
    let lines: Vec<&str> = body.trim_end_matches('\n').lines().collect();
    // Indented, so that a line of the body cannot look like one of git axiom's own.
    let shown = lines.iter().take(NAMED).map(|line| format!("  {}\n", visible::line(line))).collect::<String>();
    let more = lines.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!("  … and {more} more lines: git axiom task show {}\n", task.id) } else { String::new() };
    format!("To do:\n{shown}{rest}")
}

/// What was decided, in words.
fn decided(decision: &GateDecision) -> String {
    let OpenGateDecisionJson { is, text } = OpenGateDecisionJson::from(decision);
    text.map_or_else(|| is.to_owned(), |text| format!("{is}: {text}"))
}

/// Who changed the files in conflict, and how.
fn both_sides(MergeConflictSides { files, ours, theirs }: &MergeConflictSides) -> String {
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

fn work(changed: &TaskDiff, task: Option<&TaskId>) -> StyledText {
    let mut text = StyledText::new();
    for commit in changed.commits.iter().take(NAMED) {
        text.push_str(&format!("{} {}\n", commit.oid.short(), visible::line(&commit.subject)));
    }
    if changed.commits.len() > NAMED {
        text.push_str(&format!("and {} more commits\n", changed.commits.len() - NAMED));
    }
    // Its branch may have begun at a merge that was taken back since.
    let named = changed.commits.iter().flat_map(|commit| &commit.tasks);
    let others: BTreeSet<&str> = named.map(String::as_str).filter(|of| task.is_none_or(|task| task.as_str() != *of)).collect();
    if !others.is_empty() {
        let others = listed(others.into_iter().map(|of| visible::line(of).into_owned()), NAMED);
        text.push_str(&format!("With the work of {others}, which the target does not have: merging this brings it too\n"));
    }
    text.append(diff::stat(changed));
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
    listed(all.iter().map(|path| visible::quoted(path.as_bytes())), NAMED)
}
