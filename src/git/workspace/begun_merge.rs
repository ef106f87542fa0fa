//! A merge in progress in a workspace: how the workspace is where one is begun, which of its conflicts are still open, and which an
//! agent has settled by editing files alone. Some programs cannot write to git's folder, so none needs to.
//!
//! Not here: carrying it out, which is an operation, and committing, which is in `leftovers`.

use std::collections::BTreeSet;

use super::left_markers::LIMIT;
use super::left_markers::{marked_among, sides_of};
use crate::base::conflict_stage::ConflictStage;
use crate::base::head::Head;
use crate::base::modes::GITLINK;
use crate::base::path_inspection::{PathOccupant, look};
use crate::base::tree_change::{FileId, TreeChange};
use crate::capture::captured::WorktreeCapture;
use crate::capture::extras::{CaptureExtras, GitOperationFile};
use crate::capture::sequencer::GitOperation;
use crate::capture::worktree::is_below;
use crate::repo::handles::UnfinishedWork;
use crate::repo::worktrees::Worktree;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::work::endings::conflict_markers::{has_markers, is_text};

/// The file with the commit that is merged.
const MERGE_HEAD: &str = "MERGE_HEAD";

/// What the agent says of its work, where a merge is in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionClaim {
    /// It is complete, so all files are as they should be.
    Complete,
    /// Nothing: only what is seen in the files counts.
    None,
}

/// A path in conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictedPath {
    /// The path.
    pub path: RepoPath,
    /// Which of base, ours and theirs (1 to 3) there are.
    pub stages: BTreeSet<u8>,
    /// Whether the file has markers now.
    pub is_marked: bool,
}

/// A merge in progress in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InProgressMerge {
    /// The commit that is merged into the workspace's branch.
    pub theirs: Oid,
    /// The commit of the branch that it is merged into.
    ours: Oid,
    /// The conflicts that git has as unmerged.
    stages: Vec<ConflictStage>,
    /// What the other side has and ours has not: nothing of it was left by the agent.
    brought: BTreeSet<RepoPath>,
}

impl InProgressMerge {
    /// Whether the merge brings this path, with this content or another.
    pub fn brings(&self, path: &RepoPath) -> bool {
        self.brought.contains(path)
    }

    fn stage(&self, path: &RepoPath, stage: u8) -> Option<&ConflictStage> {
        self.stages.iter().find(|one| one.path == *path && one.stage == stage)
    }
}

impl UnfinishedWork<'_> {
    /// The merge of one commit that is in progress in a workspace.
    pub fn begun_merge(&self, workspace: &Worktree) -> Result<Option<InProgressMerge>> {
        let text = files::read_small(&workspace.git_dir().join(MERGE_HEAD), 1024)?.content().unwrap_or_default();
        // An octopus merge is none of ours, and none that a conflict is settled by.
        let theirs = std::str::from_utf8(&text).ok().and_then(|text| Oid::new(text.trim()).ok());
        let Some(theirs) = theirs.filter(|oid| self.repo.objects().has_object(oid)) else { return Ok(None) };
        if self.repo.git_operations().in_progress(workspace)? != [GitOperation::Merge] {
            return Ok(None);
        }
        let Some(ours) = self.repo.refs().head(workspace)?.commit().cloned() else { return Ok(None) };
        let tree_of = |commit: &Oid| self.repo.trees().tree_of(commit);
        let changes = self.repo.history().diff_trees(&tree_of(&ours)?, &tree_of(&theirs)?)?;
        let brought = changes.into_iter().filter(|change| change.new.is_some()).map(|change| change.path).collect();
        let stages = self.repo.index(workspace).own_index_facts()?.unmerged;
        Ok(Some(InProgressMerge { theirs, ours, stages, brought }))
    }

    /// The merge in progress that a commit concludes. One that a commit has concluded, after which git was killed, is forgotten.
    pub(super) fn merge_to_conclude(&self, workspace: &Worktree) -> Result<Option<InProgressMerge>> {
        let Some(merge) = self.begun_merge(workspace)? else { return Ok(None) };
        let Some(ours) = self.repo.refs().head(workspace)?.commit().cloned() else { return Ok(None) };
        if merge.stages.is_empty() && self.repo.history().is_ancestor(&merge.theirs, &ours)? {
            self.repo.git_in(workspace).writing().args(["merge", "--quit"]).run_ok()?;
            return Ok(None);
        }
        Ok(Some(merge))
    }

    /// Marks a workspace as being in the middle of a merge again, after its commit was taken back.
    pub(super) fn merge_again(&self, workspace: &Worktree, merge: &InProgressMerge) -> Result<()> {
        files::replace_keeping(&workspace.git_dir().join(MERGE_HEAD), format!("{}\n", merge.theirs).as_bytes())
    }

    /// The conflicts of a merge in progress, ordered by path.
    pub fn open_paths(&self, workspace: &Worktree, merge: &InProgressMerge) -> Result<Vec<ConflictedPath>> {
        let paths: BTreeSet<&RepoPath> = merge.stages.iter().map(|stage| &stage.path).collect();
        let open = paths.into_iter().map(|path| {
            let stages = merge.stages.iter().filter(|stage| stage.path == *path).map(|stage| stage.stage).collect();
            let is_marked = match self.content_at(workspace, path)? {
                ConflictedContent::Content(content) => {
                    has_markers(&content, &sides_of(self.repo, &merge.stages, path)?, merge.theirs.as_str())
                }
                ConflictedContent::Nothing | ConflictedContent::Link => false,
                ConflictedContent::Odd => true,
            };
            Ok(ConflictedPath { path: path.clone(), stages, is_marked })
        });
        let open: Vec<ConflictedPath> = open.collect::<Result<_>>()?;
        let staged = self.staged_with_markers(workspace, merge)?.into_iter();
        let staged = staged.map(|path| ConflictedPath { path, stages: BTreeSet::from([2, 3]), is_marked: true });
        let mut all: Vec<ConflictedPath> = open.into_iter().chain(staged).collect();
        all.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(all)
    }

    /// The paths that were in conflict and are staged, though their files have the markers still.
    pub(super) fn staged_with_markers(&self, workspace: &Worktree, merge: &InProgressMerge) -> Result<Vec<RepoPath>> {
        let merges = self.repo.merges();
        let Ok(merged) = merges.merge_with_markers(&merge.ours, &merge.theirs) else {
            // What cannot be computed now, as a driver has to run for it, is looked at before the work is merged.
            drop(merges.take_merge_to_run());
            return Ok(Vec::new());
        };
        let is_staged = |one: &ConflictStage| !merge.stages.iter().any(|open| open.path == one.path);
        let staged: Vec<ConflictStage> = merged.unmerged.into_iter().filter(is_staged).collect();
        marked_among(self.repo, (&staged, &merge.theirs), |path| match self.content_at(workspace, path)? {
            ConflictedContent::Content(content) => Ok(Some(content)),
            ConflictedContent::Nothing | ConflictedContent::Link | ConflictedContent::Odd => Ok(None),
        })
    }

    /// Whether a path in conflict is settled by what is in the file. Where git has put no marker in it (a file that one side deleted,
    /// a binary one, a link), only the agent's word can tell.
    pub(super) fn is_settled(
        &self,
        workspace: &Worktree,
        merge: &InProgressMerge,
        path: &RepoPath,
        claim: CompletionClaim,
    ) -> Result<bool> {
        let is_submodule = |stage: &&ConflictStage| stage.path == *path && stage.mode == GITLINK;
        if merge.stages.iter().any(|stage| is_submodule(&stage)) {
            return Ok(false);
        }
        let content = match self.content_at(workspace, path)? {
            ConflictedContent::Content(content) => content,
            ConflictedContent::Nothing | ConflictedContent::Link => return Ok(claim == CompletionClaim::Complete),
            ConflictedContent::Odd => return Ok(false),
        };
        let sides = sides_of(self.repo, &merge.stages, path)?;
        if has_markers(&content, &sides, merge.theirs.as_str()) {
            return Ok(false);
        }
        let is_file = |stage: u8| merge.stage(path, stage).is_some_and(|one| one.mode & 0o170_000 == 0o100_000);
        let was_marked = is_file(2) && is_file(3) && sides.iter().all(|side| is_text(side));
        Ok(claim == CompletionClaim::Complete || was_marked && sides.first() != Some(&content))
    }

    fn content_at(&self, workspace: &Worktree, path: &RepoPath) -> Result<ConflictedContent> {
        Ok(match look(workspace.path(), path)? {
            PathOccupant::Missing | PathOccupant::Below(_) => ConflictedContent::Nothing,
            PathOccupant::Link(..) => ConflictedContent::Link,
            PathOccupant::Folder | PathOccupant::Special => ConflictedContent::Odd,
            PathOccupant::File(_) => match files::read_small(&workspace.path().join(path.to_path()), LIMIT)? {
                files::SmallFile::Content(content) => ConflictedContent::Content(content),
                files::SmallFile::Nothing => ConflictedContent::Nothing,
                files::SmallFile::Odd(_) => ConflictedContent::Odd,
            },
        })
    }

    /// How a workspace would be in the middle of a merge of `theirs`, with the conflicts marked in its files, given how it is `now`;
    /// `None` where the agent has to begin the merge by itself: there is uncommitted work, another operation, a sparse checkout, or a
    /// change of a submodule. Nothing refers to the new objects yet.
    pub fn in_a_merge(&self, now: &WorktreeCapture, theirs: &Oid, message: &str) -> Result<Option<WorktreeCapture>> {
        let Head::Branch { commit: Some(ours), .. } = &now.head else { return Ok(None) };
        let committed = self.repo.trees().tree_of(ours)?;
        let index = &now.extras.index;
        let is_plain = index.unmerged.is_empty() && index.intent_to_add.is_empty() && !index.sparse;
        if !is_plain || now.index_tree != committed || !now.extras.operation.is_empty() {
            return Ok(None);
        }
        let history = self.repo.history();
        let merged = self.repo.merges().merge_with_markers(ours, theirs)?;
        let changes = history.diff_trees(&committed, &merged.tree)?;
        let left = history.diff_trees(&committed, &now.tree)?;
        let files = |change: &TreeChange| [change.old.clone(), change.new.clone()].into_iter().flatten().collect::<Vec<FileId>>();
        let is_of_submodule = changes.iter().flat_map(files).any(|file| file.is_submodule())
            || merged.unmerged.iter().any(|stage| stage.mode == GITLINK);
        let is_in_the_way =
            |path: &RepoPath| changes.iter().any(|change| is_below(path, &change.path) || is_below(&change.path, path));
        if is_of_submodule || left.iter().any(|file| file.old.is_some() || is_in_the_way(&file.path)) {
            return Ok(None);
        }
        let ours_of = |path: &RepoPath| {
            let stage = merged.unmerged.iter().find(|stage| stage.path == *path && stage.stage == 2);
            stage.map(|stage| FileId { mode: stage.mode, oid: stage.oid.clone() })
        };
        let paths: BTreeSet<&RepoPath> = merged.unmerged.iter().map(|stage| &stage.path).collect();
        let unmerged = paths.into_iter().map(|path| TreeChange { path: path.clone(), old: None, new: ours_of(path) });
        let objects = self.repo.objects();
        let file = |name: &str, content: String| -> Result<GitOperationFile> {
            Ok(GitOperationFile { path: RepoPath::new(name.as_bytes()), oid: objects.write_blob(content.as_bytes())? })
        };
        let operation = vec![
            file(MERGE_HEAD, format!("{theirs}\n"))?,
            file("MERGE_MSG", format!("{message}\n"))?,
            file("MERGE_MODE", "no-ff".to_owned())?,
        ];
        let changed: BTreeSet<&RepoPath> = changes.iter().map(|change| &change.path).collect();
        let raw = now.extras.raw.iter().filter(|one| !changed.contains(&one.path)).cloned().collect();
        let modes = now.extras.modes.iter().filter(|one| !changed.contains(&one.path)).cloned().collect();
        let index = crate::index::file::IndexExtras { unmerged: merged.unmerged.clone(), ..index.clone() };
        Ok(Some(WorktreeCapture {
            tree: self.repo.trees().edit_tree(&now.tree, &changes)?,
            index_tree: self.repo.trees().edit_tree(&merged.tree, &unmerged.collect::<Vec<_>>())?,
            extras: CaptureExtras { index, operation, raw, modes, ..now.extras.clone() },
            ..now.clone()
        }))
    }
}

/// What is at a path in conflict.
enum ConflictedContent {
    Content(Vec<u8>),
    Link,
    Nothing,
    Odd,
}
