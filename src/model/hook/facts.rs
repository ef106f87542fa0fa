//! What a hook is told: the facts of one event, as variables of its environment and as JSON on its standard input.

use jiff::Timestamp;
use serde::Serialize;

use crate::base::ids::{AgentId, CheckpointName, GateId, TaskId};
use crate::base::names::{Oid, RefName};
use crate::checkpoint::trigger::CheckpointTrigger;
use crate::work::endings::conflict::ConflictLevel;
use crate::work::gates::gate::GateKind;
use crate::work::hooks::hook_event::{HookEvent, HookVariable};
use axiom_base::error::Code;

/// The longest value of a variable, in bytes: systems limit them. The JSON has all of it.
const LONGEST: usize = 64 * 1024;
/// At most so many files or tasks are listed.
const MOST: usize = 10_000;
/// At most so many bytes of names of files are listed.
const MOST_BYTES: usize = 1024 * 1024;

/// How the work on a task ended; of a session that has nothing to do, how it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum HookCompletion {
    /// It is done.
    Done,
    /// It cannot go on.
    Failed,
    /// Every task is merged.
    Finished,
    /// What is left waits for a human.
    Waiting,
}

impl HookCompletion {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Finished => "finished",
            Self::Waiting => "waiting",
        }
    }
}

/// The facts of one event. Those that its variables do not have are in the JSON alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // the names are the source table's
pub struct HookFacts {
    pub event: HookEvent,
    /// When it happened.
    pub at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// The workspace of the task: hooks run there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<HookCompletion>,
    /// In seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<RefName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<RefName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge_tree: Option<Oid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_hash: Option<Oid>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learning_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub running_tasks: Vec<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<CheckpointTrigger>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_id: Option<GateId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<GateKind>,
    /// What answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Whether a human tries the hook, and nothing of it happened.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trial: bool,
}

impl HookFacts {
    /// The facts of an event of which nothing more is known.
    pub fn new(event: HookEvent, at: Timestamp) -> Self {
        Self {
            event,
            at,
            task_id: None,
            title: None,
            agent: None,
            worktree: None,
            status: None,
            duration: None,
            branch: None,
            target: None,
            merge_tree: None,
            commit_hash: None,
            files: Vec::new(),
            level: None,
            learning_id: None,
            scope: None,
            content: None,
            reason: None,
            running_tasks: Vec::new(),
            error_type: None,
            message: None,
            checkpoint: None,
            trigger: None,
            gate_id: None,
            kind: None,
            command: None,
            trial: false,
        }
    }

    /// The same, of files in conflict, and who settles it. Of very many, the first.
    #[must_use]
    pub fn in_conflict(self, files: Vec<String>, level: ConflictLevel) -> Self {
        let mut room = MOST_BYTES;
        let fits = |file: &String| {
            let left = room.checked_sub(file.len());
            room = left.unwrap_or(0);
            left.is_some()
        };
        let files = files.into_iter().take(MOST).take_while(fits).collect();
        Self { files, level: Some(level.as_str()), ..self }
    }

    /// The same, of an error, by its code and words.
    #[must_use]
    pub fn with_error(self, code: Code, message: String) -> Self {
        Self { error_type: Some(code.as_str().to_owned()), message: Some(message), ..self }
    }

    /// The variables of the event with their values, which no system refuses.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.event.variables().iter().map(|variable| (variable.name(), for_environment(self.value(*variable))))
    }

    fn value(&self, variable: HookVariable) -> String {
        fn text<T: ToString>(value: Option<&T>) -> String {
            value.map_or_else(String::new, T::to_string)
        }
        match variable {
            HookVariable::TaskId => text(self.task_id.as_ref()),
            HookVariable::Agent => text(self.agent.as_ref()),
            HookVariable::Worktree => text(self.worktree.as_ref()),
            HookVariable::Status => self.status.map_or("", HookCompletion::as_str).to_owned(),
            HookVariable::Duration => text(self.duration.as_ref()),
            HookVariable::Branch => self.branch.as_ref().map_or("", RefName::short).to_owned(),
            HookVariable::Target => self.target.as_ref().map_or("", RefName::short).to_owned(),
            HookVariable::MergeTree => text(self.merge_tree.as_ref()),
            HookVariable::CommitHash => text(self.commit_hash.as_ref()),
            HookVariable::Files => self.files.join("\n"),
            HookVariable::Level => self.level.unwrap_or_default().to_owned(),
            HookVariable::LearningId => text(self.learning_id.as_ref()),
            HookVariable::Scope => text(self.scope.as_ref()),
            HookVariable::Content => text(self.content.as_ref()),
            HookVariable::Reason => text(self.reason.as_ref()),
            HookVariable::RunningTasks => self.running_tasks.iter().map(TaskId::as_str).collect::<Vec<_>>().join("\n"),
            HookVariable::ErrorType => text(self.error_type.as_ref()),
            HookVariable::Message => text(self.message.as_ref()),
            HookVariable::Checkpoint => text(self.checkpoint.as_ref()),
            HookVariable::Trigger => self.trigger.map_or("", CheckpointTrigger::as_str).to_owned(),
            HookVariable::Gate => text(self.gate_id.as_ref()),
            HookVariable::Kind => self.kind.map_or("", GateKind::as_str).to_owned(),
            HookVariable::Command => text(self.command.as_ref()),
        }
    }
}

/// No environment can hold a null byte, or a value of any length.
fn for_environment(mut value: String) -> String {
    value.retain(|c| c != '\0');
    let mut end = value.len().min(LONGEST);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    value.truncate(end);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_gets_the_variables_of_its_event_and_no_others() {
        let task = TaskId::new("t").unwrap();
        let files = vec!["a b".to_owned(), "c".to_owned()];
        let facts = HookFacts { task_id: Some(task), ..HookFacts::new(HookEvent::OnConflict, Timestamp::UNIX_EPOCH) }
            .in_conflict(files, ConflictLevel::Human);
        let variables: Vec<_> = facts.variables().collect();
        let expected = [("AXIOM_TASK_ID", "t"), ("AXIOM_FILES", "a b\nc"), ("AXIOM_LEVEL", "human")];
        assert_eq!(variables, expected.map(|(name, value)| (name, value.to_owned())));
        let json = serde_json::to_value(&facts).unwrap();
        assert_eq!(json["files"], serde_json::json!(["a b", "c"]));
        assert!(json.get("agent").is_none() && json["event"] == "on-conflict");
    }

    #[test]
    fn an_error_is_told_by_its_code_and_words() {
        let facts = HookFacts::new(HookEvent::OnError, Timestamp::UNIX_EPOCH).with_error(Code::DiskFull, "it is full".to_owned());
        let json = serde_json::to_value(&facts).unwrap();
        assert_eq!((&json["errorType"], &json["message"]), (&"DISK_FULL".into(), &"it is full".into()));
    }

    #[test]
    fn a_value_fits_into_any_environment() {
        let content = Some(format!("a\0{}", "ä".repeat(LONGEST)));
        let facts = HookFacts { content, ..HookFacts::new(HookEvent::OnLearning, Timestamp::UNIX_EPOCH) };
        let values: Vec<_> = facts.variables().collect();
        assert!(values.iter().all(|(_, value)| value.len() <= LONGEST && !value.contains('\0')));
        assert_eq!(values[2].1.chars().count(), LONGEST / 2);
    }
}
