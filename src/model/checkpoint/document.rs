//! Checkpoints: their record in the state, and the JSON document that each checkpoint holds.

use crate::checkpoint::trigger::{CheckpointTrigger, CheckpointType};
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::marks::CheckpointMarks;
use super::submodules::SubmoduleState;
use crate::base::ids::{AgentId, CheckpointName, TaskId};
use crate::base::log_version::{BEFORE, VERSION};
use crate::base::names::{Oid, RefName, RepoPath};
use crate::checkpoint::coverage::CaptureCoverage;
use crate::checkpoint::known_scope::KnownPathsCount;
use crate::checkpoint::stamp::AttachedSessionStamp;
use crate::work::restorable::restorable_state::RestorableState;
use crate::work::tasks::task::TaskStatus;

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

impl CheckpointDocument {
    /// The submodules in a worktree, the outer ones first.
    pub fn submodules_in<'d>(&'d self, worktree: &'d str) -> impl Iterator<Item = &'d SubmoduleState> {
        self.submodules.iter().filter(move |one| one.worktree == worktree)
    }

    /// What the checkpoint does not hold, by worktree path: what is not held of a submodule is named by its path in the worktree.
    pub fn coverage_with_submodules(&self) -> BTreeMap<String, CaptureCoverage> {
        let mut all = self.coverage.clone();
        for one in &self.submodules {
            all.entry(one.worktree.clone()).or_default().add_submodule(&one.path, &one.coverage);
        }
        all
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
