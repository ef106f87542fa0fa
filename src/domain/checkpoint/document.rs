//! Checkpoints: their record in the state, and the JSON document that each checkpoint holds.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::marks::CheckpointMarks;
use super::submodules::SubmoduleState;
use crate::domain::base::ids::{AgentId, CheckpointName, TaskId};
use crate::domain::base::log_version::{BEFORE, VERSION};
use crate::domain::base::names::{Oid, RefName, RepoPath};
use crate::domain::checkpoint::known_scope::{KnownPathsCount, KnownPathsScope};
use crate::domain::checkpoint::stamp::AttachedSessionStamp;
use crate::domain::work::restorable_state::RestorableState;
use crate::domain::work::task::TaskStatus;

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
            Self::Edits => "edits",
            Self::Turn => "turn",
            Self::AttachedStart => "attached-start",
        }
    }

    /// Whether an agent that a human runs led to it.
    pub const fn is_attached(self) -> bool {
        match self {
            Self::Prompt | Self::BeforeShell | Self::Edits | Self::Turn | Self::AttachedStart => true,
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

/// The state's record of a checkpoint: enough to list it without opening its tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointRecord {
    /// Its name.
    pub name: CheckpointName,
    /// Who wanted it: an automatic trigger or the user.
    #[serde(rename = "type")]
    pub kind: CheckpointType,
    /// Why it was made.
    pub trigger: CheckpointTrigger,
    /// When it was made.
    pub created_at: Timestamp,
    /// The commit that was checked out in the main worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_commit: Option<Oid>,
    /// The capture of the main worktree: the value of `refs/axiom/captures/<name>`.
    pub capture: Oid,
    /// The annotated tag; the capture again where it has none: see [`CheckpointRecord::marks`]. The note is on it.
    pub tag: Oid,
    /// How many events the log had before it. Later events are counted from here.
    pub seq: u64,
    /// How many tasks had ever been completed. Later ones are counted from here.
    pub tasks_completed: u32,
    /// How many bytes it added to the repository; `None` where that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// For a checkpoint of known paths: how many were looked at, and which checkpoint the rest is taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<KnownPathsCount>,
    /// The attached session that it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached: Option<Box<AttachedSessionStamp>>,
    /// What it has beside its capture ref, where its trigger does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked: Option<CheckpointMarks>,
}

impl CheckpointRecord {
    /// What it has beside its capture ref, as decided when it was made.
    pub fn marks(&self) -> CheckpointMarks {
        self.marked.unwrap_or_else(|| CheckpointMarks::unsaid(self.trigger))
    }

    /// What checkpoints are ordered by, oldest first.
    pub fn age(&self) -> (u64, &CheckpointName) {
        (self.seq, &self.name)
    }
}

/// A checkpoint that was deleted and can still be brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletedCheckpoint {
    /// Its record.
    pub record: CheckpointRecord,
    /// When it can no longer be brought back.
    pub until: Timestamp,
}

/// The document of a checkpoint: the note on its tag and `checkpoint.json` in its capture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointDocument {
    /// The version of this format.
    #[serde(rename = "axiom")]
    pub version: u32,
    /// Its name.
    pub name: CheckpointName,
    /// Who wanted it: an automatic trigger or the user.
    #[serde(rename = "type")]
    pub kind: CheckpointType,
    /// Why it was made.
    pub trigger: CheckpointTrigger,
    /// When it was made, RFC 3339 in UTC.
    pub created_at: Timestamp,
    /// The commit that was checked out in the main worktree; none on an unborn branch.
    pub git_commit: Option<Oid>,
    /// The branch that was checked out; none with a detached HEAD.
    pub branch: Option<RefName>,
    /// How many events the log had before it.
    pub seq: u64,
    /// How many tasks had ever been completed.
    pub tasks_completed: u32,
    /// Target and task branches.
    pub refs: BTreeMap<RefName, Oid>,
    /// The status of every task, by id.
    pub case_states: BTreeMap<TaskId, TaskStatus>,
    /// What a rollback restores.
    pub state_snapshot: RestorableState,
    /// What the agents were doing.
    pub agent_states: Vec<AgentState>,
    /// The agents' workspaces and the other linked worktrees. The main worktree is in the capture ref.
    pub workspaces: Vec<WorkspaceState>,
    /// The submodules in all these worktrees, each with its capture in its own repository; those within others come after them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submodules: Vec<SubmoduleState>,
    /// When the main worktree was captured, where that was before the checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_captured_at: Option<Timestamp>,
    /// What the checkpoint does not hold, by worktree path.
    pub coverage: BTreeMap<String, CaptureCoverage>,
    /// Local refs that are not held, because their object is missing or because they cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs_not_held: Vec<RefName>,
    /// The attached session that it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached: Option<Box<AttachedSessionStamp>>,
    /// What it has beside its capture ref, where its trigger does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked: Option<CheckpointMarks>,
    /// Who made the tag and when, so that a lost tag can be rebuilt byte by byte.
    pub tagger: Tagger,
}

/// The version of a document, and where builds from before the first release had theirs.
#[derive(Deserialize)]
struct DocumentVersion {
    axiom: Option<u32>,
    schema: Option<IgnoredAny>,
}

impl CheckpointDocument {
    /// Reads a document.
    pub fn from_json(json: &[u8]) -> std::result::Result<Self, String> {
        // The version first: a newer format may have words that this one does not know.
        let marked: DocumentVersion = serde_json::from_slice(json).map_err(|e| e.to_string())?;
        match marked.axiom {
            Some(newer) if newer > VERSION => return Err(format!("its format {newer} was written by a newer git axiom")),
            None if marked.schema.is_some() => return Err(BEFORE.to_owned()),
            Some(_) | None => {}
        }
        serde_json::from_slice(json).map_err(|e| e.to_string())
    }

    /// What it has beside its capture ref, as decided when it was made.
    pub fn marks(&self) -> CheckpointMarks {
        self.marked.unwrap_or_else(|| CheckpointMarks::unsaid(self.trigger))
    }

    /// What the capture of the main worktree does not hold; `None` where the document does not say so. The main worktree is
    /// the one captured worktree that is not a linked one. Its path is not used, because the repository may have been moved
    /// since.
    pub fn main_coverage(&self) -> Option<&CaptureCoverage> {
        let is_linked = |path: &String| self.workspaces.iter().any(|workspace| workspace.path == *path);
        let mut rest = self.coverage.iter().filter(|(path, coverage)| coverage.has_a_capture() && !is_linked(path));
        let (_, coverage) = rest.next()?;
        rest.next().is_none().then_some(coverage)
    }

    /// The path of the main worktree, among those of the coverage.
    pub fn main_path(&self) -> Option<&str> {
        let is_linked = |path: &String| self.workspaces.iter().any(|workspace| workspace.path == *path);
        self.coverage.iter().find(|(path, coverage)| coverage.has_a_capture() && !is_linked(path)).map(|(path, _)| path.as_str())
    }

    /// Notes what was taken out, by the worktree's path.
    pub fn purged(&mut self, lost: &[(String, std::collections::BTreeSet<RepoPath>)]) {
        for (worktree, paths) in lost {
            let purged = &mut self.coverage.entry(worktree.clone()).or_default().purged;
            paths
                .iter()
                .filter(|path| !purged.paths.contains(path))
                .cloned()
                .collect::<Vec<_>>()
                .into_iter()
                .for_each(|path| purged.add(path));
        }
    }

    /// The same of captures of submodules, by their ids.
    pub fn purged_in_submodules(&mut self, lost: &BTreeMap<Oid, std::collections::BTreeSet<RepoPath>>) {
        for state in &mut self.submodules {
            for path in lost.get(&state.capture).into_iter().flatten() {
                if !state.coverage.purged.paths.contains(path) {
                    state.coverage.purged.add(path.clone());
                }
            }
        }
    }

    /// When a worktree was captured, where that was before the checkpoint.
    pub fn captured_before(&self, path: &str) -> Option<Timestamp> {
        match self.workspaces.iter().find(|workspace| workspace.path == path) {
            Some(workspace) => workspace.captured_at,
            None => self.main_captured_at.filter(|_| self.main_path() == Some(path)),
        }
    }

    /// For a checkpoint of known paths: how many were looked at, and which checkpoint the rest is taken from. Worktrees that were captured
    /// before it say nothing of it.
    pub fn only(&self) -> Option<KnownPathsCount> {
        let now = || self.coverage.iter().filter(|(path, _)| self.captured_before(path).is_none());
        let only = || now().filter_map(|(_, coverage)| coverage.only.as_ref());
        let base = only().next()?.clone();
        Some(KnownPathsCount {
            paths: only().map(|only| only.paths.len() as u64).sum(),
            all_else_as_of: base.all_else_as_of,
            all_else_capture: base.all_else_capture,
            all_else_gone: false,
        })
    }
}

/// Who made a tag, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tagger {
    /// The name.
    pub name: String,
    /// The mail address.
    pub email: String,
    /// Seconds since 1970, UTC.
    pub seconds: i64,
}

/// What an agent was doing when a checkpoint was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentState {
    /// The agent.
    pub id: AgentId,
    /// Its task.
    pub task_id: Option<TaskId>,
    /// The iteration.
    pub iteration: u32,
}

/// A linked worktree, as captured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceState {
    /// The agent it belongs to; `None` for one of the user's worktrees.
    pub agent_id: Option<AgentId>,
    /// The task it belongs to.
    pub task_id: Option<TaskId>,
    /// Its absolute path.
    pub path: String,
    /// The branch that was checked out.
    pub branch: Option<RefName>,
    /// The commit that was checked out.
    pub head: Option<Oid>,
    /// Its capture.
    pub capture: Oid,
    /// When it was captured, where that was before the checkpoint: what changed in it since is not in the checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_at: Option<Timestamp>,
}

/// How many paths of one kind are listed. The others are only counted.
pub const LISTED: usize = 200;

/// Paths of one kind: how many, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathSample {
    /// How many there are.
    pub count: u64,
    /// The first [`LISTED`] of them.
    pub paths: Vec<RepoPath>,
}

impl PathSample {
    /// Counts a path, and lists it unless the list is full.
    pub fn add(&mut self, path: RepoPath) {
        self.count += 1;
        if self.paths.len() < LISTED {
            self.paths.push(path);
        }
    }
}

/// How an index that cannot be read is named among what is not held, wherever it lies.
pub const INDEX: &str = ".git/index";

/// What a capture does not hold, or does not hold exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CaptureCoverage {
    /// Ignored files and folders, the topmost ones.
    pub ignored: PathSample,
    /// Nested repositories that are no submodules: the folder, or only its `.git` where the other files of the folder are
    /// held.
    pub nested_repositories: PathSample,
    /// Submodules with changes of their own that are not held: their repository is elsewhere, or cannot be captured.
    pub dirty_submodules: PathSample,
    /// Untracked files over the size limit.
    pub too_large: PathSample,
    /// Sockets, fifos and devices.
    pub special: PathSample,
    /// Files and folders that cannot be read; [`INDEX`] among them is the index, in whose place the capture has HEAD's.
    pub unreadable: PathSample,
    /// Files that a program did not wait for: see `in_time`. The next checkpoint, made in the background, is to hold them.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub not_in_time: PathSample,
    /// Untracked files that are held though nobody but their owner may read them, where others may enter the git directory.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub others_may_read: PathSample,
    /// Git directories that lie in the worktree under another name than `.git`: never content.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub git_directories: PathSample,
    /// Files that git accepts in no tree because of their names: `git~1`, `.GIT/x`.
    pub refused_names: PathSample,
    /// Files whose exact bytes are not held, only the content that git's conversions (line ends, keywords, filters,
    /// encodings) restore: larger than the limit for bytes kept next to the tree, or changed while they were read.
    pub converted: PathSample,
    /// Files that are held with their bytes as they are, in the tree too, because their filter is missing, failed or did not answer.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub unfiltered: PathSample,
    /// Changed files whose filter encrypts and did not run: they are not held, since their plain text would be.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub encrypted: PathSample,
    /// Files whose staged content is lost: the files are held, and in the index HEAD's content stands in its place, or nothing.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub staged_not_held: PathSample,
    /// Untracked and ignored files and folders that `checkpoints.exclude` excludes, the topmost ones.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub excluded: PathSample,
    /// Files and folders that a human took out of what was saved.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub purged: PathSample,
    /// Ignored files that match `checkpoints.include`, but are over its limit.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub over_include_limit: PathSample,
    /// Ignored files that are held because they match `checkpoints.include`.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub included: PathSample,
    /// Whether the whole worktree is missing: its folder did not exist.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// Why the whole worktree could not be captured. Only for an agent's workspace, or for a place that is no worktree any
    /// more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_captured: Option<String>,
    /// For a checkpoint of known paths: the paths that were looked at. For all other paths, an earlier checkpoint is taken
    /// over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<KnownPathsScope>,
}

impl PathSample {
    fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first three, and how many more there are; `None` where there are none.
    fn in_words(&self) -> Option<String> {
        let named: Vec<String> = self.paths.iter().take(3).map(ToString::to_string).collect();
        let more = self.count.saturating_sub(named.len() as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (self.count > 0).then(|| format!("{}{more}", named.join(", ")))
    }

    /// Whether there are more paths than the list has.
    fn is_cut(&self) -> bool {
        self.count > self.paths.len() as u64
    }

    /// Whether a path is in the list, or below a path of the list.
    fn covers(&self, path: &RepoPath) -> bool {
        self.paths.iter().any(|root| {
            let rest = path.as_bytes().strip_prefix(root.as_bytes());
            root.as_bytes().is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        })
    }
}

impl CaptureCoverage {
    /// Whether files that somebody may have worked on are not held: anything but ignored files, and what has no content.
    pub fn leaves_out_work(&self) -> bool {
        let lists = [
            &self.nested_repositories,
            &self.dirty_submodules,
            &self.too_large,
            &self.unreadable,
            &self.refused_names,
            &self.excluded,
            &self.purged,
            &self.encrypted,
            &self.not_in_time,
            &self.over_include_limit,
        ];
        lists.into_iter().any(|list| !list.is_empty()) || self.missing || self.not_captured.is_some() || self.only.is_some()
    }

    /// Whether the capture has no information about a path, or may have none because not all such paths are listed: a
    /// rollback must leave the path alone. Ignored paths that are not listed are not decided here: that needs the ignore
    /// rules of that time.
    pub fn says_nothing_of(&self, path: &RepoPath) -> bool {
        let Self { ignored, nested_repositories, too_large, special, unreadable, refused_names, .. } = self;
        // The other kinds are held in some form: a submodule by its commit, a file as git converts it. Paths that were not
        // looked at are held as in the earlier checkpoint.
        let Self { dirty_submodules: _, converted: _, missing: _, not_captured: _, only: _, included: _, unfiltered: _, .. } =
            self;
        let Self { excluded, purged, over_include_limit, git_directories, encrypted, not_in_time, others_may_read: _, .. } = self;
        let Self { staged_not_held: _, .. } = self;
        let others = [nested_repositories, too_large, refused_names, excluded, purged, over_include_limit, encrypted];
        // A capture lists all that it did not read beside its trees; what has no content is no file that can be deleted.
        let listed = [ignored, special, unreadable, not_in_time, git_directories];
        listed.into_iter().any(|sample| sample.covers(path))
            || others.into_iter().any(|sample| sample.is_cut() || sample.covers(path))
    }

    /// Whether the exact bytes of a held file are known: they are kept next to the tree, or else they are what a checkout
    /// writes.
    pub fn decides_bytes_of(&self, path: &RepoPath) -> bool {
        self.has_a_capture() && !self.converted.is_cut() && !self.converted.covers(path)
    }

    /// Whether a path that the capture lists as not read was too late, as far as its coverage names it.
    pub fn is_late(&self, path: &RepoPath) -> bool {
        self.not_in_time.covers(path) || (self.not_in_time.is_cut() && !self.unreadable.covers(path))
    }

    /// For a worktree that could not be captured.
    pub fn of_nothing(why: impl Into<String>) -> Self {
        Self { not_captured: Some(why.into()), ..Self::default() }
    }

    /// Why nothing of the worktree is held, in words; `None` where there is a capture.
    pub fn why_nothing(&self) -> Option<String> {
        let missing = self.missing.then(|| "its folder was gone".to_owned());
        self.not_captured.clone().or(missing)
    }

    /// What of the worktree was not read, in one line; `None` where all was.
    pub fn not_held_in_words(&self) -> Option<String> {
        let unread = self.unreadable.in_words().map(|paths| format!("{paths} cannot be read, and no checkpoint holds it"));
        let late = self.not_in_time.in_words();
        let late = late.map(|paths| {
            format!("{paths} did not fit into attach.deadline, and is to be held by a checkpoint in the background")
        });
        let both: Vec<String> = unread.into_iter().chain(late).collect();
        (!both.is_empty()).then(|| format!("not held: {}", both.join("; ")))
    }

    /// Which files of their owner alone others may read in the git directory, in one line.
    pub fn read_by_others_in_words(&self) -> Option<String> {
        let paths = self.others_may_read.in_words()?;
        Some(format!("only you may read {paths}, but others may enter the git directory, where checkpoints hold it"))
    }

    /// Whether there was time for all files.
    pub fn all_read(&self) -> bool {
        self.not_in_time.is_empty()
    }

    /// Whether there is a capture at all.
    pub fn has_a_capture(&self) -> bool {
        !self.missing && self.not_captured.is_none()
    }

    /// Whether more paths were ignored than are listed.
    pub fn lists_not_all_ignored(&self) -> bool {
        self.ignored.is_cut()
    }

    /// Whether the capture holds everything that was in the worktree when it was made.
    pub fn is_complete(&self) -> bool {
        self.has_a_capture() && self.only.is_none() && self.samples().iter().all(|sample| sample.count == 0)
    }

    /// The paths that are not held, or not exactly, one sample for each kind.
    pub fn samples(&self) -> [&PathSample; 15] {
        let Self { ignored, nested_repositories, dirty_submodules, too_large, special, not_in_time, others_may_read: _, .. } =
            self;
        let Self { unreadable, refused_names, converted, excluded, purged, over_include_limit, encrypted, .. } = self;
        let Self { git_directories, staged_not_held, missing: _, not_captured: _, only: _, included: _, unfiltered: _, .. } =
            self;
        let named = [unreadable, refused_names, converted, excluded, purged, over_include_limit, encrypted, staged_not_held];
        let [a, b, c, d, e, f, g, h] = named;
        [ignored, nested_repositories, dirty_submodules, too_large, special, a, b, c, d, e, f, g, h, not_in_time, git_directories]
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
        | CheckpointTrigger::Edits
        | CheckpointTrigger::Turn
        | CheckpointTrigger::AttachedStart => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_of_a_newer_program_says_so_whatever_words_it_has() {
        let newer = format!(r#"{{"axiom":{},"type":"a word of that time"}}"#, VERSION + 1);
        let why = CheckpointDocument::from_json(newer.as_bytes()).unwrap_err();
        assert!(why.contains("newer git axiom"), "{why}");
        let damaged = format!(r#"{{"axiom":{VERSION},"type":"a word of that time"}}"#);
        let why = CheckpointDocument::from_json(damaged.as_bytes()).unwrap_err();
        assert!(!why.contains("newer git axiom"), "{why}");
        for old in [r#"{"schema":1,"name":"c"}"#, r#"{"schema":8}"#] {
            assert_eq!(CheckpointDocument::from_json(old.as_bytes()).unwrap_err(), BEFORE);
        }
        let why = CheckpointDocument::from_json(b"{}").unwrap_err();
        assert!(why.contains("axiom"), "{why}");
    }
}
