//! The reasons of gates in words, and what is known again by them.

use super::GateKind;
use crate::base::ids::TaskId;
use crate::work::tasks::branch_names;

/// Whether the gate with this id is a question of a planner.
pub fn asks_of_planner(id: &str) -> bool {
    id.starts_with(PLANNING_QUESTION)
}

/// How the ids of gates begin that a planner's question opens.
pub const PLANNING_QUESTION: &str = "planning-question-";

/// The reason of a gate at which a merge waits because of guarded files.
pub fn changes_guarded(task: &TaskId, reasons: &str) -> String {
    format!("{task}{CHANGES_GUARDED}{reasons}")
}

/// The reason of the gate of a task whose merge was undone; `then` says what comes of it.
pub fn taken_back(then: &str) -> String {
    format!("{TAKEN_BACK}{then}")
}

/// Whether it is such a reason.
pub(super) fn is_taken_back(reason: &str) -> bool {
    reason.starts_with(TAKEN_BACK)
}

/// The reason of a gate at which a merge waits that conflicted with its target when it was tried: so it stays true once a human has settled
/// that, or the other side was taken back.
pub fn conflicts(task: &TaskId, target: &str) -> String {
    format!("{task}{CONFLICTS}{target}")
}

/// The reason of a gate at which a merge waits that was tried: what was the matter may be over by the time that somebody reads it.
pub fn could_not_be_merged(why: &str) -> String {
    format!("could not be merged: {why}")
}

/// Whether a gate has that reason.
pub fn is_of_conflict(reason: &str) -> bool {
    reason.contains(CONFLICTS)
}

const CONFLICTS: &str = " conflicted with ";

const TAKEN_BACK: &str = "its merge was taken back; ";
const CHANGES_GUARDED: &str = " changes guarded files: ";

/// What the user has to do by hand before approving: look at guarded files; settle a conflict, or the merge would only conflict
/// again.
pub fn to_settle_first(reason: &str) -> Option<String> {
    if let Some((task, _)) = reason.split_once(CHANGES_GUARDED) {
        let task = task.strip_prefix(TAKEN_BACK).unwrap_or(task);
        let branch = branch_names::branch_of(&TaskId::new(task).ok()?);
        return Some(format!("first look at them: git diff HEAD...{}", branch.short()));
    }
    let (task, target) = reason.split_once(CONFLICTS)?;
    let id = TaskId::new(task).ok()?;
    let branch = branch_names::branch_of(&id);
    Some(format!(
        "first, unless that is done, on {} (in its workspace, where git axiom task show {task} names one): git merge {target} (if none is in progress), \
         resolve it, commit",
        branch.short()
    ))
}

/// The reason of a gate at which a task waits because nobody approved the project's files as they are; `what` is the matter.
pub fn wants_trust(what: &str) -> String {
    format!("{what}{WANTS_TRUST}")
}

/// Why a merge waits because nobody approved the project's files as they are; `what` is the matter.
pub fn merge_wants_trust(what: &str) -> String {
    format!("{what}{MERGE_WANTS_TRUST}")
}

/// Whether a gate has such a reason: approved before the files are, it would only open again.
pub fn is_for_trust(reason: &str) -> bool {
    reason.ends_with(WANTS_TRUST) || reason.contains(MERGE_WANTS_TRUST)
}

/// The command with which a human begins at a gate: where the project's files have to be approved first, that one.
pub fn first_command(kind: GateKind, id: &str, reason: &str) -> String {
    if is_for_trust(reason) { "git axiom trust".to_owned() } else { kind.command(id) }
}

/// What such gates say once the files are approved, and whether a human has decided at them since; `None` for other reasons.
pub fn once_trusted(reason: &str, is_decided: bool) -> Option<String> {
    let then = match reason.ends_with(WANTS_TRUST) {
        _ if is_decided => "",
        true => "; approve to ask its hook again",
        false => "; approve to merge it",
    };
    is_for_trust(reason).then(|| format!("the project's files are approved by now{then}"))
}

const MERGE_WANTS_TRUST: &str = ", so nobody can say whether this may be merged";

const WANTS_TRUST: &str = " (git axiom trust); approve to ask it again";
