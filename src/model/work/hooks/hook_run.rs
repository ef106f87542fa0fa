//! The record of one run of a hook.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::ids::TaskId;
use crate::work::hooks::hook_event::HookEvent;

/// One run of a hook, as `log --all` and `hooks log` show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookRun {
    /// The event.
    pub event: HookEvent,
    /// The hook's file, as it is shown.
    pub hook: String,
    /// The task, where the event is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// How long it took, in milliseconds; `None` where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// Where it is recorded much later, when it began, or when that happened of which it was to be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Why it failed; `None` where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The last lines of its output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// Whether a human tried it, and nothing had happened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trial: bool,
}

impl HookRun {
    /// One line for people.
    pub fn summary(&self) -> String {
        let trial = if self.trial { " (a trial)" } else { "" };
        let about = self.task.as_ref().map_or_else(String::new, |task| format!(" for {task}"));
        let how = self.failure.as_deref().unwrap_or("passed");
        format!("hook {} {}{about} {how}{trial}", self.event, self.hook)
    }
}
