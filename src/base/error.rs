//! Errors: stable codes, exit statuses, and messages that name what happened, why, and what to do next.
//!
//! Lives here: [`Error`], [`Code`], [`Exit`], lists for messages. Does not live here: printing (see `ui::cli::report`).

use std::fmt;
use std::path::Path;

/// The result of everything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Exit status of the process, as documented in docs/COMMANDS.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The command succeeded.
    Done = 0,
    /// The command failed.
    Failed = 1,
    /// The command line, an id or an input cannot be used.
    Usage = 2,
    /// Refused: needs a confirmation, trust, or a human.
    Refused = 3,
    /// Conflicts with something that changed meanwhile; nothing was changed.
    Conflict = 4,
    /// Another process holds what is needed.
    Busy = 5,
    /// The stored state is damaged: see `git axiom recover`.
    Damaged = 6,
    /// Interrupted by a signal.
    Interrupted = 130,
}

macro_rules! codes {
    ($($variant:ident $text:literal $exit:ident $doc:literal;)*) => {
        /// A stable error code. Scripts may rely on the text and on the exit status.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $doc] $variant,)* }

        impl Code {
            /// All codes, in the order of the documentation.
            pub const ALL: &[Code] = &[$(Code::$variant,)*];

            /// The code as printed: `error[CODE]`.
            pub const fn as_str(self) -> &'static str { match self { $(Code::$variant => $text,)* } }

            /// The exit status that this code ends the process with.
            pub const fn exit(self) -> Exit { match self { $(Code::$variant => Exit::$exit,)* } }

            /// One sentence on what the code means.
            pub const fn meaning(self) -> &'static str { match self { $(Code::$variant => $doc,)* } }
        }
    };
}

codes! {
    Usage "USAGE" Usage "The command line cannot be understood.";
    NotARepository "NOT_A_REPOSITORY" Failed "The current folder is in no git repository.";
    BareRepository "BARE_REPOSITORY" Failed "The repository is bare and this is not one of its worktrees, or its main one is gone.";
    GitTooOld "GIT_TOO_OLD" Failed "git is older than what is asked for needs: 2.34, or 2.38 for merges.";
    GitMissing "GIT_MISSING" Failed "The git program cannot be started.";
    GitFailed "GIT_FAILED" Failed "A git command failed.";
    FilterFailed "FILTER_FAILED" Failed "A filter or merge driver of git's (git config filter.NAME.clean, merge.NAME.driver) fails or does not answer.";
    RepositoryUnsupported "REPOSITORY_UNSUPPORTED" Failed "The repository uses something that git axiom cannot handle.";
    IdentityMissing "IDENTITY_MISSING" Failed "git does not know who you are, so no commit can be made for a branch.";
    UnbornBranch "UNBORN_BRANCH" Failed "The branch has no commit yet.";
    DetachedHead "DETACHED_HEAD" Failed "HEAD is on no branch.";
    TargetMissing "TARGET_MISSING" Failed "The target branch does not exist.";
    IoFailed "IO_FAILED" Failed "Reading or writing a file failed.";
    DiskFull "DISK_FULL" Failed "The disk or the quota is full.";
    InvalidId "INVALID_ID" Usage "An id or name has characters or a length that are not allowed.";
    DuplicateId "DUPLICATE_ID" Usage "The id or name is taken, perhaps in another spelling.";
    UnknownTask "UNKNOWN_TASK" Usage "There is no task of this id.";
    UnknownAgent "UNKNOWN_AGENT" Usage "There is no agent of this id.";
    UnknownGate "UNKNOWN_GATE" Usage "There is no open gate of this id.";
    UnknownLearning "UNKNOWN_LEARNING" Usage "There is no learning of this id.";
    UnknownCheckpoint "UNKNOWN_CHECKPOINT" Usage "There is no checkpoint of this name.";
    UnknownOperation "UNKNOWN_OPERATION" Usage "There is no operation of this id.";
    AmbiguousName "AMBIGUOUS_NAME" Usage "The prefix fits more than one name.";
    DependencyCycle "DEPENDENCY_CYCLE" Usage "Tasks would depend on themselves.";
    UnknownDependency "UNKNOWN_DEPENDENCY" Usage "A task depends on a task that does not exist.";
    InvalidInput "INVALID_INPUT" Usage "A value or an input file cannot be used.";
    TooLarge "TOO_LARGE" Usage "An input is over its limit.";
    InvalidTransition "INVALID_TRANSITION" Failed "The state does not allow this change.";
    NoPlan "NO_PLAN" Failed "No plan is open.";
    PlanOpen "PLAN_OPEN" Failed "A plan is open already.";
    PlanInvalid "PLAN_INVALID" Failed "The tasks of a plan cannot be made as they are.";
    PlanNotApproved "PLAN_NOT_APPROVED" Refused "No human has approved the plan as it is now.";
    PlannerFailed "PLANNER_FAILED" Failed "A planner ended without a plan that can be used.";
    ConfigInvalid "CONFIG_INVALID" Failed "A configuration value cannot be used.";
    ConfigDamaged "CONFIG_DAMAGED" Damaged "A configuration file cannot be read; where a backup stands in for it, only a check says so.";
    ConfigBackupRestored "CONFIG_BACKUP_RESTORED" Done "A configuration file cannot be read, and its backup counts instead.";
    NoBackup "NO_BACKUP" Failed "There is no backup of this configuration file.";
    NeedsConfirmation "NEEDS_CONFIRMATION" Refused "The command needs a confirmation, and there is no terminal to ask at.";
    Declined "DECLINED" Refused "The question was answered with no: 'Nothing was changed.' is printed instead of an error.";
    Protected "PROTECTED" Refused "A checkpoint is protected from being deleted.";
    NotTrusted "NOT_TRUSTED" Refused "What a project brings with it is not approved, or cannot be.";
    SigningFailed "SIGNING_FAILED" Failed "A commit that has to be signed could not be; nothing was changed.";
    TooManyTasks "TOO_MANY_TASKS" Refused "An agent has added as many tasks as agents may.";
    HookFailed "HOOK_FAILED" Failed "A hook that was tried failed.";
    VerifyFailed "VERIFY_FAILED" Failed "A command or hook that must pass before a merge failed; nothing was changed.";
    NotForAgents "NOT_FOR_AGENTS" Refused "A verb for humans was called by an agent or one of its child processes.";
    NothingToUndo "NOTHING_TO_UNDO" Failed "There is no operation that can be undone.";
    NotUndoable "NOT_UNDOABLE" Failed "This operation cannot be undone any more.";
    NoTaskCommits "NO_TASK_COMMITS" Failed "There is nothing to take back: the target branch has no commit of the task.";
    HistoryMissing "HISTORY_MISSING" Failed "Needed commits are missing from this clone.";
    HasDependents "HAS_DEPENDENTS" Refused "Tasks that have been started depend on the task.";
    ChangedMeanwhile "CHANGED_MEANWHILE" Conflict "A ref, file or task is no longer what the operation expects; nothing was changed.";
    MergeConflict "MERGE_CONFLICT" Conflict "The merge has conflicts; nothing was changed.";
    NotSettled "NOT_SETTLED" Conflict "The conflict of a rollback is not fully resolved by hand yet; nothing was changed.";
    NotTheOwner "NOT_THE_OWNER" Refused "The repository is another user's: git does not use it, or root would make files that its owner could not read.";
    NotPrivate "NOT_PRIVATE" Refused "A folder or file that must belong to this user alone does not.";
    BranchNotOurs "BRANCH_NOT_OURS" Failed "A branch has the name of a task's branch, and git axiom did not make it.";
    BranchInUse "BRANCH_IN_USE" Conflict "A branch is checked out, being rebased or being bisected in a worktree that is not part of the operation.";
    PermissionsLost "PERMISSIONS_LOST" Conflict "The permissions, ACL or attributes of a file cannot be kept if a restore replaces it; nothing was changed.";
    InTheWay "IN_THE_WAY" Conflict "Something of yours is in the way; nothing was changed.";
    HoldsMount "HOLDS_MOUNT" Conflict "A folder to be moved or deleted contains a mount; it was left alone.";
    Busy "BUSY" Busy "Another process holds the lock that is needed.";
    SupervisorRunning "SUPERVISOR_RUNNING" Busy "A supervisor runs in this repository already.";
    NoSupervisor "NO_SUPERVISOR" Failed "No supervisor runs in this repository.";
    GitLocked "GIT_LOCKED" Busy "A git lock file is held by another process, or was left behind.";
    OperationOpen "OPERATION_OPEN" Damaged "An operation was interrupted and has to be finished or reversed first.";
    ProgramNotFound "PROGRAM_NOT_FOUND" Failed "A program cannot be started; 'lock' then ends with 127 or 126, as a shell does.";
    UsageUnknown "USAGE_UNKNOWN" Refused "A limit on cost or tokens cannot be kept: the agent program does not tell what it uses.";
    ModelBusy "MODEL_BUSY" Failed "The service of an agent program's model refuses for now: a limit, or too much to do.";
    AgentFailed "AGENT_FAILED" Failed "An agent program did not complete its task.";
    KeeperFailed "KEEPER_FAILED" Failed "A keeper could not be started or does not answer.";
    WorkspaceInTheWay "WORKSPACE_IN_THE_WAY" Failed "The folder of a workspace exists already, and git axiom did not make it.";
    WorkspaceNotOurs "WORKSPACE_NOT_OURS" Failed "A folder is a worktree of another repository, and was left alone.";
    WorkspaceBroken "WORKSPACE_BROKEN" Failed "A workspace lost its connection to the repository.";
    NotIdle "NOT_IDLE" Failed "The run ended with unfinished tasks.";
    CheckpointDamaged "CHECKPOINT_DAMAGED" Failed "A checkpoint's objects, note or tag are damaged.";
    FileUnreadable "FILE_UNREADABLE" Failed "A file cannot be read, so no checkpoint was made.";
    EventLogCorrupted "EVENT_LOG_CORRUPTED" Damaged "The event log has lines whose checksum or JSON is wrong.";
    EventLogTruncated "EVENT_LOG_TRUNCATED" Damaged "The event log ends earlier than it should.";
    EventSchemaInvalid "EVENT_SCHEMA_INVALID" Damaged "An event is intact but unknown, or does not fit the state before it.";
    EventLogTooNew "EVENT_LOG_TOO_NEW" Damaged "The event log was written by a newer git axiom.";
    EventLogTooOld "EVENT_LOG_TOO_OLD" Damaged "A git axiom from before the first release wrote the event log: it is not read any more.";
    RecoveryNeeded "RECOVERY_NEEDED" Damaged "A crash cut tasks off and a human is to decide first (recovery.auto is off), or it cut a planner off.";
    RecoveryFailed "RECOVERY_FAILED" Damaged "No way of recovery works except for a fresh start.";
    DiskWarning "DISK_WARNING" Done "A file system has less free space than system.diskWarningThreshold.";
    DiskCritical "DISK_CRITICAL" Failed "A file system has less free space than system.diskCriticalThreshold: no program is started.";
    DiskEmergency "DISK_EMERGENCY" Failed "A file system has less free space than system.diskEmergencyThreshold: nothing is saved or merged.";
    DiskCheckoutFailed "DISK_CHECKOUT_FAILED" Failed "A workspace could not be written.";
    DemoFailed "DEMO_FAILED" Failed "A step of the demo failed.";
    Interrupted "INTERRUPTED" Interrupted "Interrupted by a signal.";
    Internal "INTERNAL" Failed "An internal rule of git axiom was broken: please report it.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// No backtrace is taken with it, whatever the environment asks for: most errors are expected, and dropped where they are met.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// What went wrong: `error[CODE]: what happened: why`, and a hint on what to do next.
#[derive(Debug)]
pub struct Error {
    code: Code,
    what: String,
    cause: Option<Cause>,
    hints: Vec<String>,
}

impl Error {
    /// An error with `code`. `what` is a sentence without a full stop: what happened, and to what.
    pub fn new(code: Code, what: impl Into<String>) -> Self {
        Self { code, what: what.into(), cause: None, hints: Vec::new() }
    }

    /// A file system error, always with its path. A full disk gets its own code.
    pub fn io(action: &str, path: &Path, cause: impl Into<std::io::Error>) -> Self {
        let cause: std::io::Error = cause.into();
        use std::io::ErrorKind;
        let full = matches!(cause.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge);
        let limit = limit_hit(&cause);
        let error =
            Self::new(if full { Code::DiskFull } else { Code::IoFailed }, format!("cannot {action} '{}'", path.display()));
        let denied = cause.kind() == std::io::ErrorKind::PermissionDenied;
        let error = error.because(cause);
        let error = if denied { error.hint("this user may not do that: 'ls -ld' shows the owner") } else { error };
        match limit {
            Some(hint) => error.hint(hint),
            None if full => error.hint("free some disk space and run the command again; nothing was lost"),
            None => error,
        }
    }

    /// The system did not start a program or a thread, most often because of a limit.
    pub fn cannot_start(what: &str, cause: std::io::Error) -> Self {
        let hint = limit_hit(&cause);
        let error = Self::new(Code::IoFailed, format!("{what} cannot be started")).because(cause);
        hint.into_iter().fold(error, Self::hint)
    }

    /// Adds the cause, as an error.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Cause>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Adds the cause, in words.
    #[must_use]
    pub fn why(mut self, why: impl Into<String>) -> Self {
        self.cause = Some(Cause::from(why.into()));
        self
    }

    /// The same error once more, where two have to be told of it: its cause is in words.
    #[must_use]
    pub fn again(&self) -> Self {
        let causes = self.causes();
        let cause = (!causes.is_empty()).then(|| Cause::from(causes.join(": ")));
        Self { code: self.code, what: self.what.clone(), cause, hints: self.hints.clone() }
    }

    /// Adds several hints.
    #[must_use]
    pub fn hints_of(mut self, hints: impl IntoIterator<Item = String>) -> Self {
        self.hints.extend(hints);
        self
    }

    /// Adds what to do next. Several hints are printed in order.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Removes the hints that name the command that was called (`called`: its words after `git axiom`): whoever followed one
    /// would be back at the same error.
    #[must_use]
    pub fn not_hinting_at(mut self, called: &str) -> Self {
        let quoted = format!("'git axiom {called}'");
        let command = format!("git axiom {called}");
        let is_the_same = |hint: &String| hint.contains(&quoted) || hint.split("    ").next() == Some(command.as_str());
        self.hints.retain(|hint| called.is_empty() || !is_the_same(hint));
        self
    }

    /// Prefixes the message with what was being done: `doing: what`.
    #[must_use]
    pub fn context(mut self, doing: impl fmt::Display) -> Self {
        self.what = format!("{doing}: {}", self.what);
        self
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Whether the cause is that a file or folder does not exist (any more).
    pub fn is_of_something_gone(&self) -> bool {
        self.io_cause().is_some_and(|cause| cause.kind() == std::io::ErrorKind::NotFound)
    }

    /// Whether the same call may succeed later, after waiting or freeing disk space.
    pub fn passes(&self) -> bool {
        matches!(self.code, Code::GitLocked | Code::DiskFull | Code::DiskCritical | Code::DiskEmergency | Code::Busy)
    }

    /// Whether the cause affects the whole repository or system, not only one folder or agent: a limit of the system, a full
    /// disk, a missing identity.
    pub fn is_everybodys(&self) -> bool {
        let of_the_system = matches!(
            self.code,
            Code::DiskFull
                | Code::DiskCritical
                | Code::DiskEmergency
                | Code::IdentityMissing
                | Code::GitMissing
                | Code::GitTooOld
                | Code::Busy
                | Code::GitLocked
                | Code::ChangedMeanwhile
                | Code::Interrupted
                | Code::Internal
        );
        of_the_system || self.io_cause().is_some_and(|cause| limit_hit(cause).is_some())
    }

    /// The error of the system that caused it.
    pub fn io_cause(&self) -> Option<&std::io::Error> {
        self.cause.as_ref().and_then(|cause| cause.downcast_ref::<std::io::Error>())
    }

    /// What happened, without the cause.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// The causes, outermost first.
    pub fn causes(&self) -> Vec<String> {
        let first = self.cause.as_deref().map(|cause| cause as &dyn std::error::Error);
        std::iter::successors(first, |cause| cause.source()).map(ToString::to_string).collect()
    }

    /// The hints: what to do next.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

/// Whether the cause is a limit of this process or of the machine (open files, memory, disk space), not the one place that was
/// asked for.
pub fn is_everybodys_limit(cause: &std::io::Error) -> bool {
    use std::io::ErrorKind::{Interrupted, QuotaExceeded, StorageFull};
    limit_hit(cause).is_some() || matches!(cause.kind(), StorageFull | QuotaExceeded | Interrupted)
}

/// Where a limit of the system caused the error: a hint on what to do about it.
fn limit_hit(cause: &std::io::Error) -> Option<&'static str> {
    use rustix::io::Errno;
    let errno = Errno::from_io_error(cause)?;
    let hints = [
        (Errno::MFILE, "this process may open too few files: see 'ulimit -n'; 1024 are enough"),
        (Errno::NFILE, "the whole system has too many files open: end something, then run the command again"),
        (Errno::AGAIN, "too many processes run, or memory is limited: see 'ulimit -u' and 'ulimit -v'"),
        (Errno::NOMEM, "there is too little memory: see 'ulimit -v', end something, then run the command again"),
        (Errno::FBIG, "files may not grow as large as this one must: see 'ulimit -f'"),
    ];
    hints.into_iter().find(|(one, _)| *one == errno).map(|(_, hint)| hint)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        for cause in self.causes() {
            write!(f, ": {cause}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// The first `limit` of `items` as a list for people, and how many more there are.
pub fn some_of<T: fmt::Display>(items: &[T], limit: usize) -> String {
    let shown: Vec<String> = items.iter().take(limit).map(ToString::to_string).collect();
    match items.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_documented() {
        let mut seen = std::collections::HashSet::new();
        for code in Code::ALL {
            assert!(seen.insert(code.as_str()), "{code} stands twice");
            assert!(code.meaning().ends_with('.'), "{code} needs a sentence");
        }
    }

    #[test]
    fn a_long_list_is_cut() {
        assert_eq!(some_of(&["a", "b"], 2), "a, b");
        assert_eq!(some_of(&["a", "b", "c"], 2), "a, b and 1 more");
        assert_eq!(some_of::<&str>(&[], 2), "");
    }

    #[test]
    fn no_hint_leads_to_where_it_was_given() {
        let error = || {
            let error = Error::new(Code::Internal, "x").hint("see 'git axiom recover'").hint("git axiom recover    looks");
            error.hint("git axiom recover --yes    repairs").hint("git axiom recover")
        };
        assert_eq!(error().not_hinting_at("recover").hints(), ["git axiom recover --yes    repairs"]);
        assert_eq!(error().not_hinting_at("recover --yes").hints().len(), 3);
        assert_eq!(error().not_hinting_at("").hints().len(), 4);
    }

    #[test]
    fn a_full_disk_has_its_own_code() {
        let error = Error::io("write", Path::new("/x"), std::io::Error::from(std::io::ErrorKind::StorageFull));
        assert_eq!(error.code(), Code::DiskFull);
        assert!(error.to_string().starts_with("cannot write '/x'"));
    }
}
