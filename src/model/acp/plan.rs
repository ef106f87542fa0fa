//! The plan that an agent tells, as parts of its task.

use serde_json::Value;

use crate::work::signals::signal::{AgentSignal, MAX_NAME};

/// The most parts of a plan that are told.
const MOST: usize = 100;

/// The parts of a plan as they were told last: each is told whole, again and again.
#[derive(Debug, Default)]
pub(super) struct AcpPlan(Vec<(String, String)>);

impl AcpPlan {
    /// What is new in a plan.
    pub fn changes(&mut self, update: &Value) -> Vec<AgentSignal> {
        let entries = update["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
        let part = |entry: &Value| {
            let words = entry["content"].as_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
            let name: String = words.chars().filter(|c| !c.is_control()).take(MAX_NAME / 8).collect();
            Some((name, entry["status"].as_str()?.to_owned())).filter(|(name, _)| !name.is_empty())
        };
        let parts: Vec<(String, String)> = entries.iter().take(MOST).filter_map(part).collect();
        let new = parts.iter().filter(|part| !self.0.contains(part));
        let signals = new.filter_map(|(name, status)| {
            let (done, planned) = match status.as_str() {
                "completed" => (true, false),
                "pending" => (false, true),
                "in_progress" => (false, false),
                _ => return None,
            };
            Some(AgentSignal::Subtask { name: name.clone(), done, planned })
        });
        let signals = signals.collect();
        self.0 = parts;
        signals
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_changed_is_told() {
        let mut plan = AcpPlan::default();
        let update = |two: &str| json!({"entries": [{"content": "one", "status": "completed"}, {"content": "two\n x", "status": two}, {"content": "odd", "status": "new"}, 7]});
        let part = |name: &str, done, planned| AgentSignal::Subtask { name: name.into(), done, planned };
        assert_eq!(plan.changes(&update("pending")), [part("one", true, false), part("two x", false, true)]);
        assert_eq!(plan.changes(&update("in_progress")), [part("two x", false, false)]);
        assert_eq!(plan.changes(&update("in_progress")), []);
        assert_eq!(plan.changes(&json!({"entries": 7})), []);
    }
}
