//! Why a checkpoint was made.

use serde::{Deserialize, Serialize};

/// Who wanted a checkpoint: retention has a rule for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckpointType {
    /// Made by a trigger.
    Auto,
    /// Named by a user.
    Named,
}

impl CheckpointType {
    /// The word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Named => "named",
        }
    }
}

/// Why a checkpoint was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // the words say it; `as_str` has them
pub enum CheckpointTrigger {
    Manual,
    Periodic,
    BeforeAutopilot,
    BeforeMerge,
    AfterMerge,
    SessionStart,
    BeforeRollback,
    BeforeUndo,
    BeforeRedirect,
    BeforeAbandon,
    BeforeDeinit,
    BeforeCleanup,
    BeforeRecovery,
    Prompt,
    BeforeShell,
    AnnouncedShell,
    Edits,
    Turn,
    AttachedStart,
}

impl CheckpointTrigger {
    /// The word used in JSON and in automatic names.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Periodic => "periodic",
            Self::BeforeAutopilot => "before-autopilot",
            Self::BeforeMerge => "before-merge",
            Self::AfterMerge => "after-merge",
            Self::SessionStart => "session-start",
            Self::BeforeRollback => "before-rollback",
            Self::BeforeUndo => "before-undo",
            Self::BeforeRedirect => "before-redirect",
            Self::BeforeAbandon => "before-abandon",
            Self::BeforeDeinit => "before-deinit",
            Self::BeforeCleanup => "before-cleanup",
            Self::BeforeRecovery => "before-recovery",
            Self::Prompt => "prompt",
            Self::BeforeShell => "before-shell",
            Self::AnnouncedShell => "announced-shell",
            Self::Edits => "edits",
            Self::Turn => "turn",
            Self::AttachedStart => "attached-start",
        }
    }

    /// Whether an agent that a human runs led to it.
    pub const fn is_attached(self) -> bool {
        match self {
            Self::Prompt | Self::BeforeShell | Self::AnnouncedShell | Self::Edits | Self::Turn | Self::AttachedStart => true,
            Self::Manual
            | Self::Periodic
            | Self::BeforeAutopilot
            | Self::BeforeMerge
            | Self::AfterMerge
            | Self::SessionStart
            | Self::BeforeRollback
            | Self::BeforeUndo
            | Self::BeforeRedirect
            | Self::BeforeAbandon
            | Self::BeforeDeinit
            | Self::BeforeCleanup
            | Self::BeforeRecovery => false,
        }
    }
}

/// Whether the checkpoint was made before an operation so that it can be undone. Making such a checkpoint removes no others.
pub fn is_safety(trigger: CheckpointTrigger) -> bool {
    match trigger {
        CheckpointTrigger::BeforeRollback
        | CheckpointTrigger::BeforeUndo
        | CheckpointTrigger::BeforeRedirect
        | CheckpointTrigger::BeforeAbandon
        | CheckpointTrigger::BeforeDeinit
        | CheckpointTrigger::BeforeCleanup
        | CheckpointTrigger::BeforeRecovery => true,
        CheckpointTrigger::Manual
        | CheckpointTrigger::Periodic
        | CheckpointTrigger::BeforeAutopilot
        | CheckpointTrigger::BeforeMerge
        | CheckpointTrigger::AfterMerge
        | CheckpointTrigger::SessionStart
        | CheckpointTrigger::Prompt
        | CheckpointTrigger::BeforeShell
        | CheckpointTrigger::AnnouncedShell
        | CheckpointTrigger::Edits
        | CheckpointTrigger::Turn
        | CheckpointTrigger::AttachedStart => false,
    }
}
