//! The files by which keeper and supervisor communicate: the specification, the record of a running keeper, the record of an
//! end. All are in the folder of the run, `$GIT_COMMON_DIR/axiom/agents/<agent>/runs/<token>/`.

use crate::os::process_id::ProcessId;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::os::os_string_json;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::agent::adapter;
use axiom_model::agent::adapter::ToolKind;
use axiom_model::agent::stream::rules::{StreamFormat, StreamRules};
use axiom_model::base::ids::{AgentId, TaskId, Token};
use axiom_model::base::sealed;
use axiom_model::work::signals::signal::AgentSignal;

/// The specification's file name in the folder of the run.
pub const SPEC: &str = "spec.json";
/// The file name of the record of a running keeper.
pub const KEEPER: &str = "keeper.json";
/// The file name of the lock that a keeper holds as long as it runs.
pub const KEEPER_LOCK: &str = "keeper.lock";
/// The file name of the record of the end: the only proof of an end.
pub const EXIT: &str = "exit.json";
/// The file name of the agent's signals, one checksummed JSON line for each.
pub const SIGNALS: &str = "signals.jsonl";
/// The file name of the last bytes of stdout, unchanged, at most [`TAIL_BYTES`].
pub const TAIL: &str = "tail";
/// The file name, in the runtime folder, of the list of descendants: a hint for [`crate::client::leftovers`], not
/// durable.
pub const FAMILY: &str = "family.json";

/// How many bytes at the end of stdout are kept for markers and final events.
pub const TAIL_BYTES: usize = 64 * 1024;
/// How many bytes of one iteration's output are kept by default.
pub const DEFAULT_OUTPUT_CAP: u64 = 64 * 1024 * 1024;
/// The version of these formats.
pub const VERSION: u32 = 1;

const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The signal that asks an agent program to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum KeeperStopSignal {
    /// SIGTERM.
    #[default]
    #[serde(rename = "TERM")]
    Term,
    /// SIGINT.
    #[serde(rename = "INT")]
    Int,
    /// SIGHUP.
    #[serde(rename = "HUP")]
    Hup,
    /// SIGQUIT.
    #[serde(rename = "QUIT")]
    Quit,
}

impl From<adapter::AdapterStopSignal> for KeeperStopSignal {
    fn from(signal: adapter::AdapterStopSignal) -> Self {
        match signal {
            adapter::AdapterStopSignal::Term => Self::Term,
            adapter::AdapterStopSignal::Int => Self::Int,
            adapter::AdapterStopSignal::Hup => Self::Hup,
            adapter::AdapterStopSignal::Quit => Self::Quit,
        }
    }
}

/// Where a keeper checks that its spawn intent is still valid. Its token names the intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpawnIntentCheck {
    /// The repository's common git directory.
    #[serde(with = "os_string_json::os")]
    pub common_dir: PathBuf,
    /// The sequence number of the intent event, if the supervisor sets it.
    #[serde(default)]
    pub intent_seq: Option<u64>,
}

/// The specification of a run. Written durably by the supervisor, with [`KeeperSpec::write`], before the keeper starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeeperSpec {
    /// [`VERSION`].
    pub v: u32,
    /// The agent.
    pub agent: AgentId,
    /// The task.
    pub task: TaskId,
    /// The iteration, from 1.
    pub iteration: u64,
    /// The iteration's token.
    pub token: Token,
    /// The folder of the run, which contains this specification.
    #[serde(with = "os_string_json::os")]
    pub dir: PathBuf,
    /// The agent program: a path, or a name that is looked up in `PATH`.
    #[serde(with = "os_string_json::os")]
    pub program: OsString,
    /// Its arguments. `{prompt}` and `{promptFile}` in them are replaced; without either, the prompt is passed on stdin.
    #[serde(with = "os_string_json::list")]
    pub args: Vec<OsString>,
    /// The file that holds the prompt.
    #[serde(with = "os_string_json::os")]
    pub prompt_file: PathBuf,
    /// The workspace: a linked worktree, the program's working directory.
    #[serde(with = "os_string_json::os")]
    pub workspace: PathBuf,
    /// The agent's log for this task, to which the output is appended.
    #[serde(with = "os_string_json::os")]
    pub log: PathBuf,
    /// The lock of the workspace.
    #[serde(with = "os_string_json::os")]
    pub workspace_lock: PathBuf,
    /// Where to check that the intent is still valid.
    pub state_check: SpawnIntentCheck,
    /// How long a stop waits before it kills the program.
    pub grace_seconds: u64,
    /// The longest time the program may run.
    #[serde(default)]
    pub time_limit_seconds: Option<u64>,
    /// The longest time it may run without output or a signal.
    #[serde(default)]
    pub silence_limit_seconds: Option<u64>,
    /// The signal that asks it to stop.
    #[serde(default)]
    pub stop_signal: KeeperStopSignal,
    /// How many bytes of the iteration's output are kept. The rest is read, counted and dropped.
    pub output_cap: u64,
    /// How its output is read.
    #[serde(default)]
    pub reading: OutputDecoding,
    /// Variables for the program in addition to those it inherits (`AXIOM_TASK_ID` …). `AXIOM_TOKEN`, `AXIOM_SPOOL`,
    /// `TMPDIR`, `PWD` and `GIT_CEILING_DIRECTORIES` are set by the keeper. No secrets and no inherited variables: this is
    /// stored.
    #[serde(with = "os_string_json::vars")]
    pub env: BTreeMap<String, OsString>,
}

impl KeeperSpec {
    /// Writes the specification durably to `spec.json` in its folder, which is created, and returns its path. A crash leaves
    /// the file or none.
    pub fn write(&self) -> Result<PathBuf> {
        files::create_dir_all(&self.dir)?;
        let path = self.dir.join(SPEC);
        write_json(&path, self)?;
        Ok(path)
    }

    /// Reads a specification.
    pub fn read(path: &Path) -> Result<Self> {
        read_record(path)?.ok_or_else(|| Error::io("open", path, std::io::Error::from(std::io::ErrorKind::NotFound)))
    }

    /// How long a stop waits before it kills the program.
    pub fn grace(&self) -> Duration {
        Duration::from_secs(self.grace_seconds)
    }
}

/// The record of a keeper that runs or has run: `keeper.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeeperRecord {
    /// [`VERSION`].
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
    /// [`VERSION`].
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

pub(crate) fn unreadable(path: &Path) -> Error {
    Error::new(Code::KeeperFailed, format!("'{}' cannot be understood", path.display()))
}

/// The line of a record, with its checksum and line feed.
pub(crate) fn sealed_line<T: Serialize>(path: &Path, value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map(|json| sealed::seal(json, &[])).map_err(|e| unreadable(path).because(e))
}

pub(crate) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    files::write_atomic(path, &sealed_line(path, value)?)
}

/// Reads what [`write_json`] wrote.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let Some(bytes) = files::read_optional(path, MAX_FILE)? else { return Ok(None) };
    let text = std::str::from_utf8(&bytes).map_err(|e| unreadable(path).because(e))?;
    if sealed::opened(text.trim_end().as_bytes(), &[]).is_err() {
        return Err(unreadable(path).why("its checksum does not fit"));
    }
    serde_json::from_str(text).map(Some).map_err(|e| unreadable(path).because(e))
}

/// A record that says which version of the format it has.
pub trait VersionedRecord {
    /// The version.
    fn version(&self) -> u32;
}

impl VersionedRecord for KeeperSpec {
    fn version(&self) -> u32 {
        self.v
    }
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

/// As [`read_json`], for a record of this version: what another one means is not guessed.
pub fn read_record<T: DeserializeOwned + VersionedRecord>(path: &Path) -> Result<Option<T>> {
    match read_json::<T>(path)? {
        Some(record) if record.version() != VERSION => Err(unreadable(path).why(format!("it has version {}", record.version()))),
        found => Ok(found),
    }
}

/// How the output is read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OutputDecoding {
    /// The program's name: its adapter's.
    pub program: String,
    /// What lines say.
    pub rules: StreamRules,
    /// What tools do.
    pub tools: std::collections::BTreeMap<String, ToolKind>,
}

impl OutputDecoding {
    /// Whether the output has rules.
    pub fn has_rules(&self) -> bool {
        self.rules.format == StreamFormat::JsonLines || !self.rules.rules.is_empty()
    }

    /// Whether the rules say what the agent speaks. Otherwise the last lines are looked through at the end.
    pub fn finds_texts(&self) -> bool {
        self.rules.format == StreamFormat::JsonLines
    }
}

/// The largest prompt, in bytes.
pub(super) const MAX_PROMPT: u64 = 64 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_specification_with_odd_names_comes_back_whole() {
        let dir = tempfile::tempdir().unwrap();
        let odd = |text: &str| OsString::from_vec([text.as_bytes(), b"\xff\xfe"].concat());
        let spec = KeeperSpec {
            v: VERSION,
            agent: AgentId::new("ed-001").unwrap(),
            task: TaskId::new("t").unwrap(),
            iteration: 1,
            token: Token::new("x").unwrap(),
            dir: dir.path().join("run"),
            program: odd("p"),
            args: vec!["plain".into(), odd("a")],
            prompt_file: odd("/prompt").into(),
            workspace: odd("/ws").into(),
            log: "/log".into(),
            workspace_lock: "/lock".into(),
            state_check: SpawnIntentCheck { common_dir: odd("/git").into(), intent_seq: Some(7) },
            grace_seconds: 5,
            time_limit_seconds: None,
            silence_limit_seconds: Some(9),
            stop_signal: KeeperStopSignal::Int,
            reading: OutputDecoding::default(),
            output_cap: DEFAULT_OUTPUT_CAP,
            env: BTreeMap::from([("AXIOM_WORKTREE".to_owned(), odd("/ws"))]),
        };
        let path = spec.write().unwrap();
        assert_eq!(KeeperSpec::read(&path).unwrap(), spec);
        let newer = KeeperSpec { v: VERSION + 1, ..spec };
        assert_eq!(KeeperSpec::read(&newer.write().unwrap()).unwrap_err().code(), Code::KeeperFailed);
    }
}
