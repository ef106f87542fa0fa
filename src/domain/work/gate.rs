//! Gates: what waits for a human.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::base::ids::{CaseId, GateId, MAX_ID_LENGTH};
use crate::error::Result;

/// Why something waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// A task is ready to be claimed (mode semi-auto).
    Claim,
    /// A task is ready to be merged, or its merge has a conflict.
    Merge,
    /// An agent asks.
    Question,
    /// Something is unclear.
    HumanReview,
    /// A recovery decision is left to a human.
    Recovery,
    /// A plan is to be approved.
    Planning,
    /// A budget is used up.
    Budget,
}

impl GateKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Claim, Self::Merge, Self::Question, Self::HumanReview, Self::Recovery, Self::Planning, Self::Budget];

    /// The kind of the gate of this id, which begins with it.
    pub fn of_gate(id: &str) -> Option<Self> {
        let begins = |kind: &Self| id.strip_prefix(&kind.as_str().replace('_', "-")).is_some_and(|rest| rest.starts_with('-'));
        Self::ALL.into_iter().find(begins)
    }

    /// The command that lets go on what waits at the gate of this id.
    pub fn command(self, id: &str) -> String {
        match self {
            Self::Question => format!("git axiom gate answer {id} TEXT"),
            Self::Claim | Self::Merge | Self::HumanReview | Self::Recovery | Self::Planning | Self::Budget => {
                format!("git axiom gate approve {id}")
            }
        }
    }

    /// The word as in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Merge => "merge",
            Self::Question => "question",
            Self::HumanReview => "human_review",
            Self::Recovery => "recovery",
            Self::Planning => "planning",
            Self::Budget => "budget",
        }
    }
}

/// Why a task waits at its claim gate for a human's word, in autopilot too: mostly what a human did to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Held {
    /// Its agent was stopped.
    Stopped,
    /// Its agent was killed.
    Killed,
    /// Its agent was sent to another task.
    Redirected,
    /// It was taken back.
    RolledBack,
    /// Its workspace is broken, and what to do about that is for a human to say.
    Broken,
}

impl Held {
    const fn in_words(self) -> &'static str {
        match self {
            Self::Stopped => "was stopped",
            Self::Killed => "was killed",
            Self::Redirected => "was left for another task",
            Self::RolledBack => "was taken back",
            Self::Broken => "has a workspace that nobody can work in",
        }
    }
}

/// What becomes of a task that a human takes from its agent, or takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Afterwards {
    /// It waits at a claim gate, whatever the mode.
    #[default]
    Waits,
    /// An agent may take it up again at once: `--retry`.
    Again,
}

impl Afterwards {
    /// What the option `--retry` asks for.
    pub const fn with_retry(retry: bool) -> Self {
        if retry { Self::Again } else { Self::Waits }
    }

    /// Whether it is what older logs do not say.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// As what the task is held, where it waits.
    pub const fn holds(self, held: Held) -> Option<Held> {
        match self {
            Self::Waits => Some(held),
            Self::Again => None,
        }
    }
}

/// What a human is to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Cause {
    /// What comes of a merge did not pass its verification.
    VerifyFailed,
}

/// Something that waits for a human.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// Its id: `<kind>-<task>` for gates of tasks, so that the same wait is never opened twice.
    pub id: GateId,
    /// Why it waits.
    pub kind: GateKind,
    /// The task concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<CaseId>,
    /// One line for the human.
    pub reason: String,
    /// What helps to decide: conflicting files, the question's context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// What a review is about, where that is known by a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Since when.
    pub opened_at: Timestamp,
    /// What the human decided, until the supervisor has acted on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Why a task waits to be claimed that a human took from its agent, or took back: no mode claims it by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
}

/// What has to be done by hand before approving helps: a merge that conflicts would only conflict again.
pub fn to_settle_first(reason: &str) -> Option<String> {
    let (task, target) = reason.split_once(" conflicts with ")?;
    (CaseId::new(task).is_ok())
        .then(|| format!("first, in the workspace of {task} (git axiom task show {task}): git merge {target}, settle it, commit"))
}

impl Gate {
    /// The id of the gate of a task: the same wait is never opened twice.
    ///
    /// # Errors
    /// `INVALID_ID`, which no task's id leads to.
    pub fn id_for(kind: GateKind, task: &CaseId) -> Result<GateId> {
        let kind = kind.as_str().replace('_', "-");
        // The id has to stay within its limit, whatever the task is called.
        let room = MAX_ID_LENGTH - kind.len() - 1;
        let task = &task.as_str()[..task.as_str().len().min(room)];
        GateId::new(format!("{kind}-{task}"))
    }

    /// The gate at which a task waits whose merge was taken back.
    pub fn for_undone_merge(task: &CaseId, now: Timestamp) -> Option<Self> {
        Some(Self {
            id: Self::id_for(GateKind::Merge, task).ok()?,
            kind: GateKind::Merge,
            task_id: Some(task.clone()),
            reason: format!("its merge was taken back; approve to merge {task} again"),
            details: Vec::new(),
            cause: None,
            opened_at: now,
            decision: None,
            held: None,
        })
    }

    /// The claim gate at which a task waits for the human who took it from its agent, or took it back.
    pub fn holding(task: &CaseId, held: Held, now: Timestamp) -> Option<Self> {
        Some(Self {
            id: Self::id_for(GateKind::Claim, task).ok()?,
            kind: GateKind::Claim,
            task_id: Some(task.clone()),
            reason: format!("{task} {}; approve to start it again", held.in_words()),
            details: Vec::new(),
            cause: None,
            opened_at: now,
            decision: None,
            held: Some(held),
        })
    }

    /// Whether it keeps its task from being claimed until a human decides.
    pub fn holds(&self) -> bool {
        self.held.is_some() && self.decision.is_none()
    }

    /// Whether this is the very wait that `other` is, decided at or not.
    pub fn is_same_wait(&self, other: &Self) -> bool {
        self.id == other.id && self.held == other.held && self.opened_at == other.opened_at
    }
}

/// What a human decided at a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// Go on.
    Approved,
    /// Do not; the task is blocked with this reason.
    Rejected {
        /// Why.
        reason: String,
    },
    /// The answer to a question.
    Answered {
        /// The human's words.
        text: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_fits_the_kind_that_the_id_begins_with() {
        let command = |id: &str| GateKind::of_gate(id).map(|kind| kind.command(id));
        assert_eq!(command("question-ask").unwrap(), "git axiom gate answer question-ask TEXT");
        assert_eq!(command("human-review-x").unwrap(), "git axiom gate approve human-review-x");
        assert_eq!(command("merge-question-x").unwrap(), "git axiom gate approve merge-question-x");
        assert_eq!(command("merger-x"), None);
    }

    #[test]
    fn a_conflict_is_settled_before_its_gate_is_approved() {
        assert!(to_settle_first("three conflicts with main").unwrap().contains("git merge main"));
        assert_eq!(to_settle_first("merge three into main"), None);
        assert_eq!(to_settle_first("what is there conflicts with main"), None);
    }
}
