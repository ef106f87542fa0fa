//! The events that hooks are run at, and the variables that a hook of each event gets.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::forms::nearest;
use axiom_base::error::{Code, Error, Result};

/// An event that hooks are run at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookEvent {
    /// An agent is about to claim a task. Its failure keeps that from happening.
    PreTaskStart,
    /// The work on a task has ended: it is done, or it cannot go on.
    PostTaskComplete,
    /// A task is about to be merged. Its failure keeps that from happening.
    PreMerge,
    /// A task was merged.
    PostMerge,
    /// A merge has conflicts.
    OnConflict,
    /// An agent reported something worth knowing.
    OnLearning,
    /// A session pauses or is interrupted.
    OnPause,
    /// Something failed.
    OnError,
    /// A checkpoint was made.
    PostCheckpoint,
    /// Something waits for a human.
    OnGate,
    /// A session has nothing to do: all is finished, or what is left waits for a human.
    OnIdle,
}

/// Whether a hook decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookPower {
    /// Its failure keeps the step from happening.
    Veto,
    /// It is only told.
    Report,
}

/// A variable of a hook's environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // `name` has the words
pub enum HookVariable {
    TaskId,
    Agent,
    Worktree,
    Status,
    Duration,
    Branch,
    Target,
    MergeTree,
    CommitHash,
    Files,
    Level,
    LearningId,
    Scope,
    Content,
    Reason,
    RunningTasks,
    ErrorType,
    Message,
    Checkpoint,
    Trigger,
    Gate,
    Kind,
    Command,
}

impl HookEvent {
    /// All events, in the order of the documentation.
    pub const ALL: [Self; 11] = [
        Self::PreTaskStart,
        Self::PostTaskComplete,
        Self::PreMerge,
        Self::PostMerge,
        Self::OnConflict,
        Self::OnLearning,
        Self::OnPause,
        Self::OnError,
        Self::PostCheckpoint,
        Self::OnGate,
        Self::OnIdle,
    ];

    /// The name of the event, and of its hooks.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreTaskStart => "pre-task-start",
            Self::PostTaskComplete => "post-task-complete",
            Self::PreMerge => "pre-merge",
            Self::PostMerge => "post-merge",
            Self::OnConflict => "on-conflict",
            Self::OnLearning => "on-learning",
            Self::OnPause => "on-pause",
            Self::OnError => "on-error",
            Self::PostCheckpoint => "post-checkpoint",
            Self::OnGate => "on-gate",
            Self::OnIdle => "on-idle",
        }
    }

    /// Whether its hooks decide.
    pub const fn power(self) -> HookPower {
        match self {
            Self::PreTaskStart | Self::PreMerge => HookPower::Veto,
            Self::PostTaskComplete
            | Self::PostMerge
            | Self::OnConflict
            | Self::OnLearning
            | Self::OnPause
            | Self::OnError
            | Self::PostCheckpoint
            | Self::OnGate
            | Self::OnIdle => HookPower::Report,
        }
    }

    /// The variables that its hooks get; one without a value is empty.
    pub const fn variables(self) -> &'static [HookVariable] {
        use HookVariable;
        match self {
            Self::PreTaskStart => &[HookVariable::TaskId, HookVariable::Agent, HookVariable::Worktree],
            Self::PostTaskComplete => {
                &[HookVariable::TaskId, HookVariable::Agent, HookVariable::Status, HookVariable::Duration, HookVariable::Branch]
            }
            Self::PreMerge => &[HookVariable::TaskId, HookVariable::Branch, HookVariable::Target, HookVariable::MergeTree],
            Self::PostMerge => &[HookVariable::TaskId, HookVariable::CommitHash],
            Self::OnConflict => &[HookVariable::TaskId, HookVariable::Files, HookVariable::Level],
            Self::OnLearning => &[HookVariable::LearningId, HookVariable::Scope, HookVariable::Content],
            Self::OnPause => &[HookVariable::Reason, HookVariable::RunningTasks],
            Self::OnError => &[HookVariable::ErrorType, HookVariable::Message, HookVariable::TaskId],
            Self::PostCheckpoint => &[HookVariable::Checkpoint, HookVariable::Trigger, HookVariable::CommitHash],
            Self::OnGate => {
                &[HookVariable::Gate, HookVariable::Kind, HookVariable::TaskId, HookVariable::Reason, HookVariable::Command]
            }
            Self::OnIdle => &[HookVariable::Status, HookVariable::Reason, HookVariable::Command],
        }
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for HookEvent {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let names = Self::ALL.map(Self::as_str);
        Self::ALL.into_iter().find(|event| event.as_str() == text).ok_or_else(|| {
            let error = Error::new(Code::InvalidInput, format!("'{text}' is not an event of hooks"));
            nearest::hinted(error, text, names, &format!("events are {}", names.join(", ")))
        })
    }
}

impl HookVariable {
    /// All variables.
    pub const ALL: [Self; 23] = [
        Self::TaskId,
        Self::Agent,
        Self::Worktree,
        Self::Status,
        Self::Duration,
        Self::Branch,
        Self::Target,
        Self::MergeTree,
        Self::CommitHash,
        Self::Files,
        Self::Level,
        Self::LearningId,
        Self::Scope,
        Self::Content,
        Self::Reason,
        Self::RunningTasks,
        Self::ErrorType,
        Self::Message,
        Self::Checkpoint,
        Self::Trigger,
        Self::Gate,
        Self::Kind,
        Self::Command,
    ];

    /// Its name in the environment.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TaskId => "AXIOM_TASK_ID",
            Self::Agent => "AXIOM_AGENT",
            Self::Worktree => "AXIOM_WORKTREE",
            Self::Status => "AXIOM_STATUS",
            Self::Duration => "AXIOM_DURATION",
            Self::Branch => "AXIOM_BRANCH",
            Self::Target => "AXIOM_TARGET",
            Self::MergeTree => "AXIOM_MERGE_TREE",
            Self::CommitHash => "AXIOM_COMMIT_HASH",
            Self::Files => "AXIOM_FILES",
            Self::Level => "AXIOM_LEVEL",
            Self::LearningId => "AXIOM_LEARNING_ID",
            Self::Scope => "AXIOM_SCOPE",
            Self::Content => "AXIOM_CONTENT",
            Self::Reason => "AXIOM_REASON",
            Self::RunningTasks => "AXIOM_RUNNING_TASKS",
            Self::ErrorType => "AXIOM_ERROR_TYPE",
            Self::Message => "AXIOM_MESSAGE",
            Self::Checkpoint => "AXIOM_CHECKPOINT",
            Self::Trigger => "AXIOM_TRIGGER",
            Self::Gate => "AXIOM_GATE",
            Self::Kind => "AXIOM_KIND",
            Self::Command => "AXIOM_COMMAND",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_mistyped_ones_are_told() {
        for event in HookEvent::ALL {
            assert_eq!(event.as_str().parse::<HookEvent>().unwrap(), event);
            assert_eq!(serde_json::to_value(event).unwrap(), event.as_str());
            assert_eq!(event.power() == HookPower::Veto, event.as_str().starts_with("pre-"));
        }
        let error = "pre-merg".parse::<HookEvent>().unwrap_err();
        assert!(error.hints().iter().any(|hint| hint.contains("pre-merge")), "{error}");
    }

    #[test]
    fn every_variable_is_of_some_event() {
        for variable in HookVariable::ALL {
            assert!(HookEvent::ALL.iter().any(|event| event.variables().contains(&variable)), "{variable:?}");
        }
    }
}
