//! What a keeper asks about a tool call of its agent, and the answer: stored forms.

use serde::{Deserialize, Serialize};

use super::permission_rule::PermissionRule;

/// What the policy says of a tool call by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionStanding {
    /// A human has to say.
    #[default]
    Asked,
    /// It is allowed, and only waits for its checkpoint.
    Allowed,
    /// A rule forbids it: nobody is asked.
    Forbidden,
}

impl PermissionStanding {
    fn is_asked(&self) -> bool {
        *self == Self::Asked
    }
}

/// A tool call that an agent may not make before somebody has answered, or at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionQuestion {
    /// Its number within the iteration, from 1.
    pub number: u64,
    /// What the agent wants to do, in one line.
    pub about: String,
    /// The command, or the lines that would change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// Why it is asked about, or may not be done.
    pub why: String,
    /// What it could destroy: a checkpoint is made before it is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// What the policy says of it.
    #[serde(default, skip_serializing_if = "PermissionStanding::is_asked")]
    pub standing: PermissionStanding,
    /// The rule by which it is always allowed to this task, if a human wants that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<PermissionRule>,
}

/// The answer to such a question, for the keeper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionAnswer {
    /// The question's number.
    pub number: u64,
    /// Whether the agent may do it.
    pub allowed: bool,
    /// What holds for the rest of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<PermissionRule>,
}

/// How a question came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionEnd {
    /// The agent may do it.
    Allowed,
    /// It may not.
    Rejected,
    /// Nobody answered in time: it may not.
    Unanswered,
    /// The agent does not wait for it any more: its turn ended.
    Cancelled,
}

impl PermissionEnd {
    /// In words.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Rejected => "rejected",
            Self::Unanswered => "rejected, nobody answered",
            Self::Cancelled => "not asked any more",
        }
    }
}
