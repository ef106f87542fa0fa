//! What a session tries again later, for people, and how long that is true. Pure.

use serde::{Deserialize, Serialize};

use crate::base::defaults::is_default;
use crate::work::endings::failures::{MOST_TRIES, SessionStep};

/// A step of a task that failed and will be tried again: for people. The session's own counts are in its memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DelayedSessionStep {
    /// The step.
    pub step: SessionStep,
    /// The code of its error.
    pub code: String,
    /// The error in words.
    pub why: String,
    /// How often it was tried in vain, as far as that counts; absent where it only waits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tried: u32,
    /// When it failed first.
    pub failed_at: jiff::Timestamp,
    /// When it is tried again, where the model's service refuses for now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<jiff::Timestamp>,
}

impl DelayedSessionStep {
    /// What is waited for, in words.
    pub fn in_words(&self) -> String {
        format!("{}: {}", self.in_short(), self.why)
    }

    /// The same without the error's own words, which may be many lines.
    pub fn in_short(&self) -> String {
        let Self { step, code, why: _, tried, failed_at: _, until: _ } = self;
        match tried {
            0 => format!("waits while {}: {code}", step.words()),
            tried => format!("is tried again while {} (failed {tried} of {MOST_TRIES} times): {code}", step.words()),
        }
    }

    /// Whether it is the same wait, so that it need not be recorded again.
    pub fn is_same_wait(&self, other: &Self) -> bool {
        (self.step, &self.code, self.tried) == (other.step, &other.code, other.tried)
    }
}
