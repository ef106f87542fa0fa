//! The steps of a session that can fail, and the classes of what they fail with.

use serde::{Deserialize, Serialize};

use axiom_base::error::Code;

/// A step of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionStep {
    /// The checkpoint of the session's start.
    Begin,
    /// Making the workspace of a task and claiming it.
    Claim,
    /// Starting an iteration: the workspace is looked at, the prompt is written, the keeper is started.
    Start,
    /// Looking at a running iteration.
    Watch,
    /// The end of an iteration: its work is committed.
    Finish,
    /// What follows an iteration: verification, a question, release.
    Settle,
    /// Merging a task.
    Merge,
    /// Verifying the result of a merge.
    VerifyMerge,
    /// Putting the workspace of a merged task aside.
    PutAside,
    /// Handling the request of a verb.
    Request,
    /// A checkpoint beside the work: every few tasks.
    Checkpoint,
    /// Copies of the state: snapshot and backups.
    Copies,
    /// Reading the log and appending to it.
    Log,
}

impl SessionStep {
    /// All steps, in the order of the documentation.
    pub const ALL: [Self; 13] = [
        Self::Begin,
        Self::Claim,
        Self::Start,
        Self::Watch,
        Self::Finish,
        Self::Settle,
        Self::Merge,
        Self::VerifyMerge,
        Self::PutAside,
        Self::Request,
        Self::Checkpoint,
        Self::Copies,
        Self::Log,
    ];

    /// The step in words, after "while".
    pub const fn words(self) -> &'static str {
        match self {
            Self::Begin => "the session begins",
            Self::Claim => "its workspace is made",
            Self::Start => "an iteration is started",
            Self::Watch => "its iteration is watched",
            Self::Finish => "its work is committed",
            Self::Settle => "the end of its iteration is handled",
            Self::Merge => "it is merged",
            Self::VerifyMerge => "its merge is verified",
            Self::PutAside => "its workspace is put aside",
            Self::Request => "a request is handled",
            Self::Checkpoint => "a checkpoint is made",
            Self::Copies => "copies of the state are written",
            Self::Log => "the log is written",
        }
    }
}

/// What kind of problem an error is, for the question whether to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// It may pass by itself; nobody knows.
    Transient,
    /// Something changed in between.
    Moved,
    /// There is no space.
    Full,
    /// Another process is at work and a lock is held, or a service has too much to do.
    Held,
    /// A workspace is broken.
    Workspace,
    /// A branch is missing, or has a conflict.
    Branch,
    /// Something that is the user's is in the way of this task.
    User,
    /// A filter of the user's fails or does not answer, or the repository is locked by one.
    Filter,
    /// Nothing works: the repository, the state, git or the configuration; or an interrupted operation waits for a human.
    Everything,
    /// It should not come from a step: a mistake of ours.
    Ours,
}

impl FailureClass {
    /// All classes, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Transient,
        Self::Moved,
        Self::Full,
        Self::Held,
        Self::Workspace,
        Self::Branch,
        Self::User,
        Self::Filter,
        Self::Everything,
        Self::Ours,
    ];

    /// The class in a word, for the documentation.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Moved => "moved",
            Self::Full => "full",
            Self::Held => "held",
            Self::Workspace => "workspace",
            Self::Branch => "branch",
            Self::User => "user",
            Self::Filter => "filter",
            Self::Everything => "everything",
            Self::Ours => "ours",
        }
    }

    /// The class of an error.
    pub const fn of(code: Code) -> Self {
        match code {
            Code::IoFailed | Code::GitFailed | Code::DiskCheckoutFailed | Code::KeeperFailed => Self::Transient,
            Code::ChangedMeanwhile | Code::InvalidTransition => Self::Moved,
            Code::DiskFull | Code::DiskCritical | Code::DiskEmergency => Self::Full,
            // It is only said.
            Code::DiskWarning => Self::Ours,
            Code::Busy | Code::GitLocked | Code::ModelBusy => Self::Held,
            Code::WorkspaceBroken => Self::Workspace,
            Code::TargetMissing | Code::MergeConflict => Self::Branch,
            Code::UnbornBranch
            | Code::DetachedHead
            | Code::InvalidId
            | Code::DuplicateId
            | Code::InvalidInput
            | Code::TooLarge
            | Code::NotTrusted
            | Code::SigningFailed
            | Code::VerifyFailed
            | Code::HookFailed
            | Code::HistoryMissing
            | Code::BranchNotOurs
            | Code::BranchInUse
            | Code::PermissionsLost
            | Code::InTheWay
            | Code::HoldsMount
            | Code::ProgramNotFound
            | Code::AgentFailed
            | Code::UsageUnknown
            | Code::WorkspaceInTheWay
            | Code::WorkspaceNotOurs
            | Code::CheckpointDamaged
            | Code::FileUnreadable => Self::User,
            Code::FilterFailed => Self::Filter,
            Code::NotARepository | Code::BareRepository | Code::GitTooOld | Code::GitMissing => Self::Everything,
            Code::RepositoryUnsupported | Code::IdentityMissing | Code::NotTheOwner => Self::Everything,
            Code::ConfigInvalid | Code::ConfigDamaged => Self::Everything,
            Code::EventLogCorrupted | Code::EventLogTruncated | Code::EventSchemaInvalid => Self::Everything,
            Code::EventLogTooNew | Code::EventLogTooOld | Code::OperationOpen => Self::Everything,
            Code::RecoveryNeeded | Code::RecoveryFailed => Self::Everything,
            Code::ConfigBackupRestored | Code::NoBackup => Self::Ours,
            Code::UnknownTask | Code::UnknownAgent | Code::UnknownGate | Code::UnknownLearning | Code::Usage => Self::Ours,
            Code::NoPlan | Code::PlanOpen | Code::PlanInvalid | Code::PlanNotApproved | Code::PlannerFailed => Self::Ours,
            Code::UnknownCheckpoint | Code::UnknownOperation | Code::AmbiguousName | Code::DependencyCycle => Self::Ours,
            Code::UnknownDependency
            | Code::NeedsConfirmation
            | Code::Declined
            | Code::Protected
            | Code::TooManyTasks
            | Code::NotForAgents
            | Code::NotPrivate
            | Code::NothingToUndo
            | Code::NotUndoable
            | Code::NoTaskCommits
            | Code::HasDependents
            | Code::NotSettled
            | Code::SupervisorRunning
            | Code::NoSupervisor
            | Code::NotIdle
            | Code::DemoFailed
            | Code::Interrupted
            | Code::Internal => Self::Ours,
        }
    }
}
