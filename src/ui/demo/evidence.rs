//! The evidence that the demo collects in git, in files and in the process table, and when. It is judged in `checks`.

use std::collections::BTreeMap;

use super::stage::DemoStage;
use super::tasks::{LOG, TASKS};
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::own_names::CAPTURES;

/// The user's own files: one staged, one modified, one untracked.
pub const STAGED: &str = "staged.txt";
pub const MODIFIED: &str = "README.md";
pub const UNTRACKED: &str = "todo.txt";
/// An untracked file that the user creates after the checkpoint.
pub const IDEA: &str = "idea.txt";

/// The task that is rolled back on its own. Nothing depends on it.
pub const TAKEN_BACK: &str = "docs";

/// How many bytes of a file are read at most.
const MOST: u64 = 1024 * 1024;

/// The data for all checks.
#[derive(Debug, Clone, Default)]
pub struct DemoEvidence {
    /// How the first supervisor ended.
    pub crash: DemoCrash,
    /// The lines in `agents.log` at the end.
    pub log: Vec<DemoLogNote>,
    /// The tasks named in trailers on the target branch, in the order of the merges.
    pub merged: Vec<String>,
    /// The user's files at several moments, each with its name.
    pub users: Vec<(&'static str, UsersWork)>,
    /// Before the agents began.
    pub at_start: DemoRepositoryState,
    /// After all tasks were merged, before the rollback.
    pub before_rollback: DemoRepositoryState,
    /// After the rollback.
    pub after_rollback: DemoRepositoryState,
    /// The content of [`IDEA`] in the checkpoint made before the rollback.
    pub idea_held: Option<String>,
    /// After the rollback of one task. The rollback of everything was undone before.
    pub after_task_rollback: DemoRepositoryState,
    /// After that was undone too.
    pub after_undo: DemoRepositoryState,
    /// What is left behind at the end.
    pub left: DemoLeftovers,
}

/// The crash of the first supervisor, until the second one took over.
#[derive(Debug, Clone, Default)]
pub struct DemoCrash {
    /// The signal that ended it.
    pub killed_by: Option<i32>,
    /// The tasks whose agents were working at that moment.
    pub working_then: Vec<String>,
    /// The lines in `agents.log` when the second supervisor began.
    pub log_at_takeover: Vec<DemoLogNote>,
}

impl DemoCrash {
    /// Whether an agent was working on the task at that moment.
    pub fn interrupted(&self, task: &str) -> bool {
        self.working_then.iter().any(|working| working == task)
    }
}

/// What is left behind at the end.
#[derive(Debug, Clone, Default)]
pub struct DemoLeftovers {
    /// The output of `git fsck`.
    pub fsck: String,
    /// The number of linked worktrees.
    pub worktrees: usize,
    /// The number of the demo's processes that run.
    pub processes: usize,
}

impl DemoLeftovers {
    fn look(stage: &DemoStage) -> Result<Self> {
        let ended = stage.git(&["fsck", "--full", "--strict", "--no-dangling", "--no-progress"])?;
        let fsck = match (ended.status.success(), format!("{}{}", ended.stdout, ended.stderr).trim()) {
            (true, found) => found.to_owned(),
            (false, "") => format!("git fsck failed: {}", ended.status),
            (false, found) => found.to_owned(),
        };
        let list = git(stage, &["worktree", "list", "--porcelain"])?;
        let worktrees = list.lines().filter(|line| line.starts_with("worktree ")).count().saturating_sub(1);
        Ok(Self { fsck, worktrees, processes: stage.processes_left().len() })
    }
}

/// A line of `agents.log`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoLogNote {
    /// `started` or `ended`.
    pub what: String,
    /// The task.
    pub task: String,
    /// The id of the process that wrote the line.
    pub pid: String,
}

/// The user's files according to git and on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UsersWork {
    pub status: String,
    pub staged: String,
    pub contents: Vec<Option<String>>,
}

/// The repository at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DemoRepositoryState {
    /// The commit of the target branch.
    pub target: String,
    /// The files that the tasks write, in the main worktree.
    pub files: BTreeMap<String, Option<String>>,
    /// The file that the user created after the checkpoint.
    pub idea: Option<String>,
    /// The status of every task, and whether it is merged.
    pub tasks: BTreeMap<String, String>,
}

/// Runs git and returns its output.
pub fn git(stage: &DemoStage, arguments: &[&str]) -> Result<String> {
    let ended = stage.git(arguments)?;
    if ended.status.success() {
        return Ok(ended.stdout.trim_end().to_owned());
    }
    Err(Error::new(Code::DemoFailed, format!("git {} failed", arguments.join(" "))).why(ended.stderr.trim().replace('\n', "; ")))
}

/// Runs git axiom with `--json` and returns its answer.
pub fn axiom_json(stage: &DemoStage, arguments: &[&str]) -> Result<serde_json::Value> {
    let ended = stage.axiom(&[&["--json"], arguments].concat())?;
    let what = || format!("git axiom --json {} gave no answer", arguments.join(" "));
    serde_json::from_str(&ended.stdout)
        .map_err(|e| Error::new(Code::DemoFailed, what()).because(e).hint(ended.stderr.trim().to_owned()))
}

fn content(stage: &DemoStage, file: &str) -> Result<Option<String>> {
    let bytes = files::read_optional(&stage.repo().join(file), MOST)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The complete lines of `agents.log`.
pub fn log(stage: &DemoStage) -> Result<Vec<DemoLogNote>> {
    let bytes = files::read_optional(&stage.folder.join(LOG), MOST)?.unwrap_or_default();
    let note = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        Some(DemoLogNote { what: words.next()?, task: words.next()?, pid: words.next()? })
    };
    // An agent may be writing the last line.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    Ok(whole.lines().filter_map(note).collect())
}

/// The tasks that were started and have not ended.
pub fn working(log: &[DemoLogNote]) -> Vec<String> {
    let ended = |task: &str| log.iter().any(|note| note.what == "ended" && note.task == task);
    log.iter().filter(|note| note.what == "started" && !ended(&note.task)).map(|note| note.task.clone()).collect()
}

/// The user's files now.
pub fn users_work(stage: &DemoStage) -> Result<UsersWork> {
    let files = [STAGED, MODIFIED, UNTRACKED];
    let about = |command: &[&str]| git(stage, &[command, &["--"], &files].concat());
    Ok(UsersWork {
        status: about(&["status", "--porcelain", "--untracked-files=all"])?,
        staged: about(&["ls-files", "--stage"])?,
        contents: files.iter().map(|file| content(stage, file)).collect::<Result<_>>()?,
    })
}

/// The repository now.
pub fn whole(stage: &DemoStage) -> Result<DemoRepositoryState> {
    let mut files = BTreeMap::new();
    for task in &TASKS {
        files.insert(task.file.to_owned(), content(stage, task.file)?);
    }
    let list = axiom_json(stage, &["task", "list"])?;
    let mut tasks = BTreeMap::new();
    for task in list["tasks"].as_array().into_iter().flatten() {
        let state = format!("{}, merged {}", task["status"], task["merged"]);
        tasks.insert(task["id"].as_str().unwrap_or_default().to_owned(), state);
    }
    Ok(DemoRepositoryState { target: git(stage, &["rev-parse", "refs/heads/main"])?, files, idea: content(stage, IDEA)?, tasks })
}

/// The tasks whose work is merged into the target branch, by trailer, oldest first.
pub fn merged(stage: &DemoStage) -> Result<Vec<String>> {
    let format = "--format=%(trailers:key=Axiom-Task,valueonly,separator=%x2C)";
    let printed = git(stage, &["log", "--first-parent", "--reverse", format, "refs/heads/main"])?;
    Ok(printed.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// The content of [`IDEA`] in the newest checkpoint made before a rollback.
pub fn idea_held(stage: &DemoStage) -> Result<Option<String>> {
    let list = axiom_json(stage, &["checkpoint", "list"])?;
    let safety = list["checkpoints"].as_array().into_iter().flatten().rfind(|one| one["trigger"] == "before-rollback");
    let Some(name) = safety.and_then(|one| one["name"].as_str()) else { return Ok(None) };
    let ended = stage.git(&["show", &format!("{CAPTURES}{name}:{IDEA}")])?;
    Ok(ended.status.success().then_some(ended.stdout))
}

/// Collects the evidence at the end.
pub fn at_the_end(stage: &DemoStage, evidence: &mut DemoEvidence) -> Result<()> {
    evidence.log = log(stage)?;
    evidence.users.push(("at the end", users_work(stage)?));
    evidence.after_undo = whole(stage)?;
    evidence.merged = merged(stage)?;
    evidence.left = DemoLeftovers::look(stage)?;
    Ok(())
}
