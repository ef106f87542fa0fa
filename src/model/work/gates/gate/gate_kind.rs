//! What a gate asks, and why it holds a task.

use serde::{Deserialize, Serialize};

use super::gate_reasons::asks_of_planner;

/// The kind of decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// A task is ready to be claimed (mode semi-auto).
    Claim,
    /// A task is ready to be merged, or its merge has a conflict.
    Merge,
    /// An agent asks a question.
    Question,
    /// A human has to look at something.
    HumanReview,
    /// A recovery decision is left to a human.
    Recovery,
    /// A plan is to be approved.
    Planning,
    /// A budget is used up.
    Budget,
    /// An agent asks whether it may make a tool call.
    Permission,
    /// There is too little space to start anything. It closes by itself once there is enough.
    Disk,
}

impl GateKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Claim,
        Self::Merge,
        Self::Question,
        Self::HumanReview,
        Self::Recovery,
        Self::Planning,
        Self::Budget,
        Self::Permission,
        Self::Disk,
    ];

    /// The kind of the gate with this id: the id begins with the kind.
    pub fn of_gate(id: &str) -> Option<Self> {
        let begins = |kind: &Self| id.strip_prefix(&kind.as_str().replace('_', "-")).is_some_and(|rest| rest.starts_with('-'));
        Self::ALL.into_iter().find(begins)
    }

    /// The command that approves or answers the gate with this id.
    pub fn command(self, id: &str) -> String {
        match self {
            Self::Planning if asks_of_planner(id) => format!("git axiom gate answer {id} TEXT"),
            Self::Question => format!("git axiom gate answer {id} TEXT"),
            Self::Claim
            | Self::Merge
            | Self::HumanReview
            | Self::Recovery
            | Self::Planning
            | Self::Budget
            | Self::Permission
            | Self::Disk => {
                format!("git axiom gate approve {id}")
            }
        }
    }

    /// The word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Merge => "merge",
            Self::Question => "question",
            Self::HumanReview => "human_review",
            Self::Recovery => "recovery",
            Self::Planning => "planning",
            Self::Budget => "budget",
            Self::Permission => "permission",
            Self::Disk => "disk",
        }
    }
}

/// Why a task waits at its claim gate for a human, in autopilot too: mostly because of what a human did to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskHoldReason {
    /// Its agent was stopped.
    Stopped,
    /// Its agent was killed.
    Killed,
    /// Its agent was sent to another task.
    Redirected,
    /// It was rolled back.
    RolledBack,
    /// Its workspace is broken, and a human has to decide about it.
    Broken,
    /// A step for it failed again and again, and a human has to look at the reason.
    Failed,
    /// A purge masked words of its text or of its verify steps: they may no longer say what was meant.
    Masked,
}

impl TaskHoldReason {
    /// All reasons.
    pub const ALL: [Self; 7] =
        [Self::Stopped, Self::Killed, Self::Redirected, Self::RolledBack, Self::Broken, Self::Failed, Self::Masked];

    pub(super) const fn in_words(self) -> &'static str {
        match self {
            Self::Stopped => "was stopped",
            Self::Killed => "was killed",
            Self::Redirected => "was left for another task",
            Self::RolledBack => "was taken back",
            Self::Broken => "has an unusable workspace",
            Self::Failed => "could not go on",
            Self::Masked => "has words that a purge masked (see 'git axiom task show')",
        }
    }
}

/// What happens to a task after a human took it from its agent or rolled it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AfterHalt {
    /// It waits at a claim gate, in every mode.
    #[default]
    Waits,
    /// An agent may claim it again at once, and its iterations are counted anew: `--retry`.
    Again,
    /// It goes on when nothing else holds it, such as its group or a pause, and its iterations are counted on.
    GoesOn,
}

impl AfterHalt {
    /// The value for the option `--retry`.
    pub const fn with_retry(retry: bool) -> Self {
        if retry { Self::Again } else { Self::Waits }
    }

    /// Whether it is the value that is left out.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The reason for holding the task; `None` where the task is not held.
    pub const fn holds(self, held: TaskHoldReason) -> Option<TaskHoldReason> {
        match self {
            Self::Waits => Some(held),
            Self::Again | Self::GoesOn => None,
        }
    }
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
}
