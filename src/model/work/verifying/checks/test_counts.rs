//! How many tests a step ran.

use serde::{Deserialize, Serialize};

/// The longest name of a test, in characters.
const LONGEST: usize = 200;

/// How many tests ran, and how they ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestCounts {
    /// Those that passed.
    pub passed: u64,
    /// Those that failed, or broke down.
    pub failed: u64,
    /// Those that were left out.
    pub skipped: u64,
    /// All that there are, where that is more than those: some never ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<u64>,
    /// The name of the last test that ended, where the output names tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

impl TestCounts {
    /// How many there are, without those that were left out.
    pub fn total(&self) -> u64 {
        let ran = self.passed.saturating_add(self.failed);
        ran.max(self.planned.unwrap_or(0).saturating_sub(self.skipped))
    }

    /// In words: `15/20 passed`.
    pub fn in_words(&self) -> String {
        let left_out = if self.skipped == 0 { String::new() } else { format!(", {} skipped", self.skipped) };
        format!("{}/{} passed{left_out}", self.passed, self.total())
    }

    pub(super) fn name_last(&mut self, name: &str) {
        let name: String = name.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
        if !name.is_empty() {
            self.last = Some(name);
        }
    }
}
