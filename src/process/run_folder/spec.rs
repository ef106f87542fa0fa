//! The files by which keeper and supervisor communicate: the specification, the record of a running keeper, the record of an
//! end. All are in the folder of the run, `$GIT_COMMON_DIR/axiom/agents/<agent>/runs/<token>/`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::record_files::{VersionedRecord, read_record, sealed_line};
use crate::os::os_string_json;
use axiom_base::error::{Error, Result};
use axiom_base::files;
use axiom_model::agent::adapter;
use axiom_model::agent::stream::rules::{StreamFormat, StreamRules};
use axiom_model::agent::tool_kind::ToolKind;
use axiom_model::base::ids::{AgentId, TaskId, Token};
use axiom_model::work::permissions::permission_rule::PermissionPolicy;

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

/// How many bytes at the end of stdout are kept for markers and final events.
pub const TAIL_BYTES: usize = 64 * 1024;
/// How many bytes of one iteration's output are kept by default.
pub const DEFAULT_OUTPUT_CAP: u64 = 64 * 1024 * 1024;
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
    /// How it is talked to by the Agent Client Protocol, where it speaks that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acp: Option<AcpRunSettings>,
    /// Variables for the program in addition to those it inherits (`AXIOM_TASK_ID` …). `AXIOM_TOKEN`, `AXIOM_SPOOL`,
    /// `TMPDIR`, `PWD` and `GIT_CEILING_DIRECTORIES` are set by the keeper. No secrets and no inherited variables: this is
    /// stored.
    #[serde(with = "os_string_json::vars")]
    pub env: BTreeMap<String, OsString>,
}

impl KeeperSpec {
    /// Writes the specification to `spec.json` in its folder, which is created, and returns its path. A crash leaves the file or none.
    /// It is not synced: after a power failure no keeper is left that needs it, and of what it ran less is known.
    pub fn write(&self) -> Result<PathBuf> {
        files::create_dir_all(&self.dir)?;
        let path = self.dir.join(SPEC);
        files::write_atomic_unsynced(&path, &sealed_line(&path, self)?)?;
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

impl VersionedRecord for KeeperSpec {
    fn version(&self) -> u32 {
        self.v
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

/// How a program is talked to by the Agent Client Protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AcpRunSettings {
    /// The session to go on with.
    pub resumes: Option<String>,
    /// The mode of the session, where one is wanted.
    pub mode: Option<String>,
    /// What it may do without a question.
    pub policy: PermissionPolicy,
    /// After how many seconds without an answer a permission is refused.
    pub timeout_seconds: u64,
}

/// The file, in the folder of a run, with the answer to this question.
pub fn permission_file(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("permission-{number}.json"))
}

/// The largest prompt, in bytes.
pub const MAX_PROMPT: u64 = 64 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;
    use crate::run_folder::record_files::VERSION;
    use axiom_base::error::Code;

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
            acp: Some(AcpRunSettings::default()),
            env: BTreeMap::from([("AXIOM_WORKTREE".to_owned(), odd("/ws"))]),
        };
        let path = spec.write().unwrap();
        assert_eq!(KeeperSpec::read(&path).unwrap(), spec);
        let newer = KeeperSpec { v: VERSION + 1, ..spec };
        assert_eq!(KeeperSpec::read(&newer.write().unwrap()).unwrap_err().code(), Code::KeeperFailed);
    }
}
