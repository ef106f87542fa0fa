//! Gates: what waits for a human.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ids::{CaseId, GateId};

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
    /// Since when.
    pub opened_at: Timestamp,
    /// What the human decided, until the supervisor has acted on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
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
