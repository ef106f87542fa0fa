//! What a keeper writes of its run: the record of the keeper, and how the run ended. Stored formats.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::record_files::VersionedRecord;
use crate::os::os_string_json;
use crate::os::process_id::ProcessId;
use axiom_model::base::ids::{AgentId, TaskId, Token};
use axiom_model::work::signals::signal::AgentSignal;

/// The record of a keeper that runs or has run: `keeper.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeeperRecord {
    /// [`super::record_files::VERSION`].
    pub v: u32,
    /// The agent.
    pub agent: AgentId,
    /// The task.
    pub task: TaskId,
    /// The iteration, from 1.
    pub iteration: u64,
    /// The iteration's token.
    pub token: Token,
    /// The folder of the run.
    #[serde(with = "os_string_json::os")]
    pub dir: PathBuf,
    /// The keeper. Its process id is also that of the session of the agent program.
    pub keeper: ProcessId,
    /// The agent program; `None` before it was started.
    pub program: Option<ProcessId>,
    /// The boot id: the process ids are only valid until the machine restarts.
    pub boot: String,
    /// The keeper's folder for the socket and the agent's temporary files. It is removed when the keeper ends.
    #[serde(with = "os_string_json::os")]
    pub runtime: PathBuf,
    /// The control socket.
    #[serde(with = "os_string_json::os")]
    pub socket: PathBuf,
    /// When the keeper started.
    pub started_at: Timestamp,
}

/// Why the run of the agent program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum EndCause {
    /// It exited.
    Exited,
    /// It was asked to stop (and perhaps killed after the grace time).
    Stopped,
    /// It was killed on request.
    Killed,
    /// It ran longer than allowed.
    TimeLimit,
    /// It was silent for longer than allowed.
    SilenceLimit,
    /// It could not be started.
    SpawnFailed {
        /// The reason.
        why: String,
    },
    /// The workspace was no worktree any more.
    LostWorkspace,
    /// A cause of a newer keeper.
    #[serde(other)]
    Other,
}

/// How a run ended: `exit.json`. When it exists, no descendant of the program is running any more, except `survivors`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExitRecord {
    /// [`super::record_files::VERSION`].
    pub v: u32,
    /// The iteration's token.
    pub token: Token,
    /// The iteration, from 1.
    pub iteration: u64,
    /// When the keeper started.
    pub started_at: Timestamp,
    /// When the last descendant had ended.
    pub ended_at: Timestamp,
    /// How long it lasted, without the time for which the machine was asleep. Older keepers did not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasted_millis: Option<u64>,
    /// The cause of the end.
    pub cause: EndCause,
    /// The program's exit code; `None` where a signal ended it or it never ran.
    pub code: Option<i32>,
    /// The number of the signal that ended the program.
    pub signal: Option<i32>,
    /// Its output.
    pub output: OutputRecord,
    /// The markers with the right token at the end of stdout, in order; the last one counts. Unknown markers of a newer
    /// keeper are skipped.
    #[serde(deserialize_with = "known")]
    pub markers: Vec<AgentSignal>,
    /// How many signals were recorded in `signals.jsonl`.
    pub signals: u64,
    /// Processor time of the program and its descendants, in milliseconds, where the system provides it.
    pub cpu_millis: Option<u64>,
    /// How many processes were still running when the program had ended, and were ended.
    pub ended_descendants: u64,
    /// Processes that could not be ended (stuck in the kernel).
    pub survivors: Vec<i32>,
    /// Whether the program's files were synced before this record was written; where it is not said, they may not be on disk.
    #[serde(default)]
    pub work: WorkOnDisk,
}

/// The items of a list that can be parsed.
fn known<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Vec<AgentSignal>, D::Error> {
    let all = Vec::<serde_json::Value>::deserialize(from)?;
    Ok(all.into_iter().filter_map(|one| serde_json::from_value(one).ok()).collect())
}

/// Whether the files that a program wrote, in its workspace and in the common git directory, are on disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "camelCase")]
pub enum WorkOnDisk {
    /// They were not synced: they may be lost when the machine stops.
    #[default]
    Unknown,
    /// It was synced before the end was recorded.
    Synced,
    /// Syncing them failed: it is unknown which of them are on disk.
    Failed {
        /// The reason.
        why: String,
    },
}

impl WorkOnDisk {
    /// Whether the files are as the program left them. `rebooted` is whether the machine was restarted since.
    fn is_whole(&self, rebooted: bool) -> bool {
        match self {
            Self::Synced => true,
            Self::Unknown => !rebooted,
            Self::Failed { .. } => false,
        }
    }
}

impl ExitRecord {
    /// Whether this end can be trusted: the work it refers to is on disk as it was left. `keeper` is the record of the
    /// keeper that wrote it, and `boot` the current boot id.
    pub fn is_proved(&self, keeper: Option<&KeeperRecord>, boot: &str) -> bool {
        self.work.is_whole(keeper.is_none_or(|keeper| keeper.boot != boot))
    }

    /// How many milliseconds it lasted.
    pub fn millis(&self) -> u64 {
        let by_clock = || u64::try_from(self.ended_at.duration_since(self.started_at).as_millis()).unwrap_or(0);
        self.lasted_millis.unwrap_or_else(by_clock)
    }
}

/// How much output there was, and how much of it is in the log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputRecord {
    /// All bytes of the output.
    pub bytes: u64,
    /// All lines of the output.
    pub lines: u64,
    /// The bytes that are not in the log, because of the cap or a failing disk.
    pub dropped: u64,
    /// Why the log is incomplete, if writing it failed.
    pub log_error: Option<String>,
    /// Whether another process still held the output open when the keeper stopped reading.
    pub cut_short: bool,
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum KeeperState {
    /// No keeper wrote its record: the program was never started.
    NotStarted,
    /// The keeper holds its lock but has not written its record yet.
    Starting,
    /// The keeper is running.
    Alive(KeeperRecord),
    /// The run has ended.
    Ended(ExitRecord),
    /// The keeper died without recording an end. Processes may be left, see [`crate::end_leftovers`].
    Dead(KeeperRecord),
    /// The machine stopped before the work was known to be on disk, or syncing failed: files may be empty or missing,
    /// whatever the records say.
    Unproved(KeeperRecord),
}

impl VersionedRecord for KeeperRecord {
    fn version(&self) -> u32 {
        self.v
    }
}

impl VersionedRecord for ExitRecord {
    fn version(&self) -> u32 {
        self.v
    }
}
