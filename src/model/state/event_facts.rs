//! What is asked of an event of any kind: its name, and what it may change.

use super::event::Event;
use crate::base::ids::SessionId;
use crate::work::signals::signal::AgentSignal;

impl Event {
    /// The event's name, as in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TasksAdded { .. } => "tasksAdded",
            Self::TasksChanged { .. } => "tasksChanged",
            Self::Planned { .. } => "planned",
            Self::Audited { .. } => "audited",
            Self::HookRan { .. } => "hookRan",
            Self::SessionStarted { .. } => "sessionStarted",
            Self::SessionChanged { .. } => "sessionChanged",
            Self::ModeChanged { .. } => "modeChanged",
            Self::Requested { .. } => "requested",
            Self::RequestHandled { .. } => "requestHandled",
            Self::WorkspaceOpened { .. } => "workspaceOpened",
            Self::WorkspaceClosed { .. } => "workspaceClosed",
            Self::MergedBranchesLeave { .. } => "mergedBranchesLeave",
            Self::MergedBranchesLeft { .. } => "mergedBranchesLeft",
            Self::TaskClaimed { .. } => "taskClaimed",
            Self::IterationIntended { .. } => "iterationIntended",
            Self::IterationStarted { .. } => "iterationStarted",
            Self::Signalled { .. } => "signalled",
            Self::RecoveryDecided { .. } => "recoveryDecided",
            Self::IterationEnded { .. } => "iterationEnded",
            Self::VerificationFailed { .. } => "verificationFailed",
            Self::LookCutOff { .. } => "lookCutOff",
            Self::StepVerified { .. } => "stepVerified",
            Self::MergeVerified { .. } => "mergeVerified",
            Self::ConflictGivenBack { .. } => "conflictGivenBack",
            Self::Delayed { .. } => "delayed",
            Self::WorkReleased { .. } => "workReleased",
            Self::GateOpened { .. } => "gateOpened",
            Self::GateDecided { .. } => "gateDecided",
            Self::GateClosed { .. } => "gateClosed",
            Self::CheckpointIntended { .. } => "checkpointIntended",
            Self::CheckpointCreated { .. } => "checkpointCreated",
            Self::CheckpointAbandoned { .. } => "checkpointAbandoned",
            Self::Purged(_) => "purged",
            Self::CheckpointsDeleted { .. } => "checkpointsDeleted",
            Self::OperationBegan { .. } => "operationBegan",
            Self::OperationReversed { .. } => "operationReversed",
            Self::OperationEnded { .. } => "operationEnded",
            Self::StateAdopted { .. } => "stateAdopted",
            Self::RepositoryPlaced { .. } => "repositoryPlaced",
            Self::WorkspaceCaptured { .. } => "workspaceCaptured",
            Self::LearningEdited { .. } => "learningEdited",
            Self::LearningForgotten { .. } => "learningForgotten",
            Self::ConfigBackupRestored { .. } => "configBackupRestored",
            Self::LogRepaired { .. } => "logRepaired",
        }
    }

    /// The session that a `sessionStarted` event names, for callers that only follow sessions.
    pub fn session_id(&self) -> Option<&SessionId> {
        if let Self::SessionStarted { session } = self { Some(&session.id) } else { None }
    }
}

impl Event {
    /// Whether it may change the plan.
    pub const fn may_change_plan(&self) -> bool {
        matches!(self, Self::Planned { .. } | Self::StateAdopted { .. })
    }

    /// Whether it may change what is known of learnings.
    pub const fn may_change_learnings(&self) -> bool {
        if let Self::IterationEnded { report, .. } = self {
            return report.discarded;
        }
        matches!(
            self,
            Self::Signalled { signal: AgentSignal::Learning { .. }, .. }
                | Self::WorkReleased { discarded: true, .. }
                | Self::LearningEdited { .. }
                | Self::LearningForgotten { .. }
                | Self::StateAdopted { .. }
        )
    }
}
