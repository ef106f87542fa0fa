//! The preview of a rollback: its data, as shown to the user and as JSON.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

use axiom_base::error::Result;
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::known_scope::KnownPathsCount;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::operation::change_json;
use axiom_model::state::current_state::State;

use crate::operation::planned_changes::{FileLossLine, PlannedChanges, place_from};
use crate::rollback::preview_lines::ref_lines::{MovedRefLine, UnrestoredRefLine};
use crate::rollback::preview_lines::unrestored_reasons::{
    INDEX_UNREADABLE, MOVED, NOT_CAPTURED, NOT_HELD, NOT_IN_TIME, REPLACED, STAGED_LOST,
};

/// A commit that a rollback removes from its branch.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemovedCommitLine {
    /// Its id.
    pub id: Oid,
    /// Its subject.
    pub subject: String,
    /// The branch that had it; `None` where only a detached HEAD had it.
    pub branch: Option<RefName>,
}

/// A missing worktree of the user's own that the checkpoint holds.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MissingWorktreeLine {
    /// Its former path.
    pub path: String,
    /// The command that makes it again, without what only the checkpoint holds, or moves it back.
    pub made_by: String,
}

/// A file or folder that a rollback does not bring back.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnrestoredPathLine {
    /// The worktree.
    pub worktree: String,
    /// The file or folder.
    pub path: RepoPath,
    /// The key of the coverage (`unreadable` stays as it is; `notCaptured`: the whole worktree, `path` is empty), or `sparse`,
    /// `indexUnreadable` (the index comes back as its commit has it), `submoduleNotHeld` (its repository was removed),
    /// `submoduleMoved` (its repository is that of another folder now), `submoduleReplaced` (another repository is in its place),
    /// `submoduleNotCaptured` (what is in it now cannot be saved first).
    #[serde(rename = "reason")]
    pub why: &'static str,
}

impl UnrestoredPathLine {
    /// Whether nothing is lost of it, because it stays as it is.
    pub fn stays(&self) -> bool {
        matches!(self.why, "unreadable" | "notCaptured" | "dirtySubmodules" | NOT_IN_TIME | NOT_CAPTURED | REPLACED)
            && Path::new(&self.worktree).join(self.path.to_path()).exists()
    }

    /// Its path, from the worktree `here` or absolute, and the reason.
    pub fn text(&self, here: &Path) -> String {
        let moved = format!(
            "a submodule that was moved: 'git submodule update --init {}', and then the same rollback again, restore it",
            self.path
        );
        let why = match self.why {
            "excluded" => "excluded by checkpoints.exclude",
            "ignored" => "ignored, and not in checkpoints.include",
            "overIncludeLimit" => "ignored, and too large to be held",
            "tooLarge" => "over checkpoints.maxFileSize",
            "nestedRepositories" => "a nested repository",
            "special" => "not a regular file",
            "unreadable" => "it could not be read",
            INDEX_UNREADABLE => "it could not be read: the index becomes that of the commit, and nothing is staged",
            STAGED_LOST => {
                "what was staged of it was lost then: the file comes back, and the commit's content is staged, or nothing"
            }
            NOT_IN_TIME => "it did not fit into attach.deadline; a later checkpoint may hold it",
            "notCaptured" => "this worktree cannot be captured",
            "sparse" => "outside the sparse checkout: git sparse-checkout add restores it",
            "refusedNames" => "git refuses its name",
            "dirtySubmodules" => "a submodule that could not be held",
            NOT_HELD => "a submodule that is not held any more: its repository was removed, or has lost it",
            NOT_CAPTURED => "a submodule that cannot be captured now, so nothing is changed in it",
            REPLACED => "a submodule in whose place is another repository now, so nothing is changed in it",
            MOVED => &moved,
            "encrypted" => "its filter encrypts, and did not run",
            "lfsNotHere" => "its content is not here: it comes back as a pointer of Git LFS",
            other => other,
        };
        format!("{} ({why})", place_from(here, &self.worktree, &self.path))
    }
}

/// The checkpoint to go back to.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RollbackGoal {
    /// Its name.
    pub name: CheckpointName,
    /// When it was made.
    pub created_at: Timestamp,
    /// Where only known paths were examined: how many, and which checkpoint holds the rest.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "change_json::only")]
    pub only: Option<KnownPathsCount>,
}

/// A worktree that goes back to a moment before the checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EarlierCaptureLine {
    /// The path of the worktree.
    pub worktree: String,
    /// When it was captured.
    pub captured_at: Timestamp,
}

impl RollbackPreview {
    /// Names the worktrees of an operation whose capture is of an earlier moment.
    pub(super) fn name_moments(&mut self, operation: &JournaledOperation, document: &CheckpointDocument) {
        let changed = operation.worktrees.iter().map(|change| &change.path);
        let again = operation.workspaces.iter().map(|change| &change.workspace.path);
        let moment =
            |path: &String| Some(EarlierCaptureLine { worktree: path.clone(), captured_at: document.captured_before(path)? });
        self.moments = changed.chain(again).filter_map(moment).collect();
    }
}

/// Exactly what a rollback will do.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RollbackPreview {
    /// The checkpoint.
    pub checkpoint: RollbackGoal,
    /// The path, where only one worktree is rolled back, in whole or in part.
    pub worktree: Option<String>,
    /// What changes.
    #[serde(flatten)]
    pub changes: PlannedChanges,
    /// Commits that leave their branches, newest first; also those that only a detached HEAD reaches.
    pub commits: Vec<RemovedCommitLine>,
    /// The merges among them.
    pub merges: Vec<RemovedCommitLine>,
    /// Local refs that moved since.
    pub refs_moved: Vec<MovedRefLine>,
    /// Local refs that were deleted since and do not come back.
    pub refs_left: Vec<UnrestoredRefLine>,
    /// Branches that come back and for which other values are configured now: these stay.
    #[serde(rename = "branchConfigsLeft")]
    pub configs_left: Vec<RefName>,
    /// Branches that get a reverting commit, because an upstream has commits that would leave them.
    pub reverted: Vec<RefName>,
    /// The commits that are reverted in this way and stay, newest first.
    pub reverted_commits: Vec<RemovedCommitLine>,
    /// For each of these branches: how many commits are reverted, and how many of these an upstream has.
    #[serde(skip)]
    pub on_upstream: Vec<(RefName, usize, usize)>,
    /// The paths, where only some files are restored: each with everything below it, in that worktree.
    pub paths: Vec<RepoPath>,
    /// Files that no capture holds and that will be in the way: they are moved to the trash, and undo puts them back. Set
    /// only by a preview.
    #[serde(skip)]
    pub moves_aside: Vec<FileLossLine>,
    /// What was there and does not come back: not held and gone, excluded now, or not to be read.
    pub not_restored: Vec<UnrestoredPathLine>,
    /// Worktrees that go back to a moment before the checkpoint: what changed in them until it is not in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<EarlierCaptureLine>,
    /// Submodules that keep the commit that is checked out in them, though the checkpoint has another.
    pub submodules: Vec<FileLossLine>,
    /// Worktrees of the user's own that the checkpoint has otherwise: they stay.
    pub left_alone: Vec<String>,
    /// The missing ones among them.
    pub gone: Vec<MissingWorktreeLine>,
    /// Whether nothing would change. Set only by a preview.
    #[serde(skip)]
    pub changes_nothing: bool,
}

impl RollbackPreview {
    /// Names what is in submodules by the worktree that they are in, and the path from there.
    pub(super) fn name_by_worktree(&mut self, operation: &JournaledOperation, worktrees: &[String]) {
        let changes: Vec<&Path> = operation.submodules.iter().map(|change| Path::new(&change.worktree.path)).collect();
        self.submodules.retain(|left| !changes.contains(&Path::new(&left.worktree).join(left.path.to_path()).as_path()));
        for change in &operation.submodules {
            let folder = Path::new(&change.worktree.path);
            let above = worktrees.iter().filter(|one| folder.starts_with(one)).max_by_key(|one| one.len());
            let Some(worktree) = above else { continue };
            let Ok(prefix) = folder.strip_prefix(worktree) else { continue };
            let prefix = RepoPath::new(prefix.as_os_str().as_bytes());
            let rename = |place: &mut String, path: &mut RepoPath| {
                if *place == change.worktree.path {
                    place.clone_from(worktree);
                    *path = prefix.join(path);
                }
            };
            for file in &mut self.changes.files {
                if file.worktree.as_ref() == Some(&change.worktree.path) {
                    file.worktree = Some(worktree.clone());
                    file.path = prefix.join(&file.path);
                }
            }
            let lists =
                [&mut self.changes.permissions, &mut self.changes.staged, &mut self.changes.staged_back, &mut self.submodules];
            lists.into_iter().flatten().for_each(|one| rename(&mut one.worktree, &mut one.path));
            self.not_restored.iter_mut().for_each(|one| rename(&mut one.worktree, &mut one.path));
        }
    }

    /// The preview of a rollback that changes nothing yet.
    pub(super) fn of(state: &State, record: &CheckpointRecord) -> Result<Self> {
        Ok(Self {
            checkpoint: RollbackGoal {
                name: record.name.clone(),
                created_at: record.created_at,
                only: record.only.as_ref().map(|only| state.record.checkpoints.shown(only)).transpose()?,
            },
            worktree: None,
            changes: PlannedChanges::default(),
            commits: Vec::new(),
            merges: Vec::new(),
            refs_moved: Vec::new(),
            refs_left: Vec::new(),
            configs_left: Vec::new(),
            reverted: Vec::new(),
            reverted_commits: Vec::new(),
            on_upstream: Vec::new(),
            paths: Vec::new(),
            moves_aside: Vec::new(),
            not_restored: Vec::new(),
            moments: Vec::new(),
            submodules: Vec::new(),
            left_alone: Vec::new(),
            gone: Vec::new(),
            changes_nothing: false,
        })
    }
}
