//! The plan of a rollback: the operation, and what it shows to whoever decides.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use crate::domain::checkpoint::{CheckpointDocument, CheckpointRecord, Coverage};
use crate::domain::ids::{CaseId, CheckpointName};
use crate::domain::known_paths::OnlyCount;
use crate::domain::names::{Oid, RefName, RepoPath};
use crate::domain::operation::{HeadState, Operation, OperationKind, RefChange, Way, WorkspaceChange, WorktreeChange};
use crate::domain::rollback::{self, Fate, TaskChange};
use crate::domain::text::Change;
use crate::env;
use crate::error::{Code, Error, Result};
use crate::git::{Head, TreeChange, Worktree, WorktreeCapture};
use crate::ops::checkpoint::{Captured, CapturedWorkspace, CapturedWorktree};
use crate::ops::context::Context;
use crate::ops::journal::{capture_with, extras_of};
use crate::ops::workspaces;

use super::left_alone::left_alone;
use super::submodules::with_own_submodules;

/// How many commits are listed.
const COMMITS: usize = 1000;

/// A commit that a rollback takes out of its branch.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitLine {
    /// Its id.
    pub id: Oid,
    /// Its subject.
    pub subject: String,
}

/// Something in a worktree that a rollback touches.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileLoss {
    /// The worktree.
    pub worktree: String,
    /// The file.
    pub path: RepoPath,
}

impl FileLoss {
    /// Its absolute path.
    pub fn place(&self) -> String {
        Path::new(&self.worktree).join(self.path.to_path()).display().to_string()
    }
}

/// What becomes of a workspace, in words.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceLine {
    /// Its path.
    pub path: String,
    /// `restored`, `putAside` or `madeAgain`.
    pub action: &'static str,
    /// The task.
    pub task_id: CaseId,
}

/// What a rollback will do, exactly.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The checkpoint.
    pub checkpoint: CheckpointName,
    /// Commits that leave their branches, newest first.
    pub commits: Vec<CommitLine>,
    /// Those of them that are merges.
    pub merges: Vec<CommitLine>,
    /// Tasks whose state goes back.
    pub tasks: Vec<TaskChange>,
    /// Uncommitted content that is replaced (the safety checkpoint holds it).
    pub files: Vec<FileLoss>,
    /// What no capture holds and will be in the way: it is moved to the trash, and undo puts it back. Found out only for a
    /// preview.
    #[serde(skip)]
    pub moves_aside: Vec<FileLoss>,
    /// Submodules that stay at the commit that is checked out in them, though the checkpoint has another.
    pub submodules: Vec<FileLoss>,
    /// Worktrees of the user's that stay as they are, though the checkpoint has them otherwise: their paths.
    pub left_alone: Vec<String>,
    /// Workspaces that change.
    pub workspaces: Vec<WorkspaceLine>,
    /// Branches that get a reverting commit, because an upstream has their commits.
    pub reverted: Vec<RefName>,
    /// Where only known paths were looked at for the checkpoint: how many, and of which one all else is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<OnlyCount>,
    /// What is in conflict: a rollback to a checkpoint has none.
    pub conflicts: Vec<String>,
}

impl Preview {
    /// Of a rollback that does nothing yet.
    pub(super) fn of(record: &CheckpointRecord) -> Self {
        Self {
            checkpoint: record.name.clone(),
            only: record.only.clone(),
            commits: Vec::new(),
            merges: Vec::new(),
            tasks: Vec::new(),
            files: Vec::new(),
            moves_aside: Vec::new(),
            submodules: Vec::new(),
            left_alone: Vec::new(),
            workspaces: Vec::new(),
            reverted: Vec::new(),
            conflicts: Vec::new(),
        }
    }
}

/// The plan.
#[derive(Debug)]
pub(super) struct Plan {
    pub operation: Operation,
    pub preview: Preview,
}

/// Plans from what was captured just now.
///
/// # Errors
/// `BRANCH_IN_USE`, `CHECKPOINT_DAMAGED`, `GIT_FAILED`.
pub(super) fn make(ctx: &Context, record: &CheckpointRecord, document: &CheckpointDocument, captured: &Captured) -> Result<Plan> {
    let now = &ctx.state().restorable;
    let standing: BTreeSet<String> = captured.workspaces.iter().map(|w| w.state.path.clone()).collect();
    let fates = rollback::workspaces(document, now, &standing);
    let restored = rollback::restored(document, now, &fates);
    let kind = OperationKind::RollbackCheckpoint { checkpoint: record.name.clone() };
    let mut operation = Operation::new(kind, format!("rollback to checkpoint {}", record.name));
    let mut preview = Preview::of(record);
    preview.tasks = rollback::tasks(now, &restored);
    let mut refs_now = captured.refs.clone();
    let more: Vec<RefName> = document.refs.keys().chain(&document.branch).cloned().collect();
    refs_now.extend(ctx.repo.read_refs(&more)?);
    operation.refs = rollback::refs(document, &refs_now, ctx.state());
    add_refs(ctx, &record.name, document, &mut operation, &mut preview)?;
    let main = &captured.main;
    let head = match (&document.branch, &document.git_commit) {
        (Some(branch), _) => HeadState::Branch(branch.clone()),
        (None, Some(commit)) => HeadState::Detached(commit.clone()),
        (None, None) => return Err(Error::new(Code::CheckpointDamaged, "the checkpoint names neither branch nor commit")),
    };
    let path = main.worktree.path().to_string_lossy().into_owned();
    let coverage = document.main_coverage();
    let change = worktree_change(ctx, path, (main, None), &record.capture, head, coverage, &mut preview)?;
    add_worktree(ctx, change, &main.capture, &mut operation, &mut preview)?;
    for fate in &fates {
        add_workspace(ctx, fate, document, captured, &mut operation, &mut preview)?;
    }
    operation.kept = kept(ctx, &operation)?;
    operation.restored = Some(Box::new(restored));
    preview.left_alone = left_alone(ctx, document, captured, &operation)?;
    branches_are_free(ctx, &operation)?;
    Ok(Plan { operation, preview })
}

/// Names the commits that leave the operation's branches; those that an upstream has are reverted in place of that.
pub(super) fn add_refs(
    ctx: &Context,
    name: &CheckpointName,
    document: &CheckpointDocument,
    operation: &mut Operation,
    preview: &mut Preview,
) -> Result<()> {
    lost_commits(ctx, &operation.refs, document, preview)?;
    for change in &mut operation.refs {
        if let Some(commit) = reverting(ctx, change, name)? {
            preview.reverted.push(change.name.clone());
            change.value.new = Some(commit);
        }
    }
    Ok(())
}

fn add_workspace(
    ctx: &Context,
    fate: &Fate,
    document: &CheckpointDocument,
    captured: &Captured,
    operation: &mut Operation,
    preview: &mut Preview,
) -> Result<()> {
    let here = |path: &str| captured.workspaces.iter().find(|w| w.state.path == path);
    let gone = |path: &str| Error::new(Code::Internal, format!("the workspace '{path}' was not captured"));
    let (path, action, task) = match fate {
        Fate::Restore { task, then } => {
            let present = here(&then.path).ok_or_else(|| gone(&then.path))?;
            let head = match (&then.branch, &then.head) {
                (Some(branch), _) => HeadState::Branch(branch.clone()),
                (None, Some(commit)) => HeadState::Detached(commit.clone()),
                (None, None) => head_state(&present.captured.capture.head),
            };
            let old = Some(present.state.capture.clone());
            let capture = &present.captured.capture;
            let coverage = document.coverage.get(&then.path);
            let now = (&present.captured, old);
            let change = worktree_change(ctx, then.path.clone(), now, &then.capture, head, coverage, preview)?;
            let same = change.files.old == change.files.new
                && change.index.old == change.index.new
                && change.head.old == change.head.new;
            let stays = same && then.head.as_ref() == capture.head.commit();
            add_worktree(ctx, change, capture, operation, preview)?;
            if stays {
                return Ok(());
            }
            (then.path.clone(), "restored", task)
        }
        Fate::PutAside { task, workspace } => {
            let present = here(&workspace.path).ok_or_else(|| gone(&workspace.path))?;
            operation.workspaces.push(put_aside(ctx, task, workspace, present)?);
            (workspace.path.clone(), "putAside", task)
        }
        Fate::MakeAgain { task, workspace, then } => {
            let head = match (&then.branch, &then.head) {
                (None, Some(commit)) => HeadState::Detached(commit.clone()),
                (branch, _) => HeadState::Branch(branch.clone().unwrap_or_else(|| workspace.branch.clone())),
            };
            let name = Path::new(&workspace.path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let (trash, git_dir_trash) = trash_places(ctx, &name)?;
            operation.workspaces.push(WorkspaceChange {
                task: task.clone(),
                workspace: workspace.clone(),
                trash,
                git_dir: ctx.repo.common_dir().join("worktrees").join(&name).display().to_string(),
                git_dir_trash,
                way: Way::BringBack,
                head,
                commit: then.head.clone(),
                capture: then.capture.clone(),
            });
            (workspace.path.clone(), "madeAgain", task)
        }
    };
    preview.workspaces.push(WorkspaceLine { path, action, task_id: task.clone() });
    Ok(())
}

fn put_aside(
    ctx: &Context,
    task: &CaseId,
    workspace: &crate::domain::agent::Workspace,
    present: &CapturedWorkspace,
) -> Result<WorkspaceChange> {
    let name = Path::new(&workspace.path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (trash, git_dir_trash) = trash_places(ctx, &name)?;
    let head = &present.captured.capture.head;
    Ok(WorkspaceChange {
        task: task.clone(),
        workspace: workspace.clone(),
        trash,
        git_dir: present.captured.worktree.git_dir().display().to_string(),
        git_dir_trash,
        way: Way::PutAside,
        head: head_state(head),
        commit: head.commit().cloned(),
        capture: present.state.capture.clone(),
    })
}

pub(in crate::ops) fn trash_places(ctx: &Context, name: &str) -> Result<(String, String)> {
    let unique = format!("{name}-{}", env::fresh_id());
    let folder = workspaces::trash_root(ctx)?.join(&unique).display().to_string();
    Ok((folder, ctx.repo.common_dir().join("axiom/trash").join(&unique).display().to_string()))
}

/// What HEAD is, as an operation records it.
pub(crate) fn head_state(head: &Head) -> HeadState {
    match head {
        Head::Branch { name, .. } => HeadState::Branch(name.clone()),
        Head::Detached { commit } => HeadState::Detached(commit.clone()),
    }
}

pub(super) fn worktree_change(
    ctx: &Context,
    path: String,
    (now, now_commit): (&CapturedWorktree, Option<Oid>),
    then: &Oid,
    head: HeadState,
    coverage: Option<&Coverage>,
    preview: &mut Preview,
) -> Result<WorktreeChange> {
    let capture = ctx.repo.read_commit(then)?;
    let Some(index) = capture.parents.get(1) else {
        return Err(Error::new(Code::CheckpointDamaged, format!("{} is no capture", then.short())));
    };
    let index = ctx.repo.read_commit(index)?.tree;
    let CapturedWorktree { worktree, capture: now } = now;
    let changes = ctx.repo.diff_trees(&now.tree, &capture.tree)?;
    let files = with_spared(ctx, worktree, &changes, capture.tree, coverage)?;
    let (files, kept) = with_own_submodules(ctx, Path::new(&path), files, &changes)?;
    preview.submodules.extend(kept.into_iter().map(|inside| FileLoss { worktree: path.clone(), path: inside }));
    let extras = extras_of(ctx, Some(then))?;
    let fitting = ctx.repo.for_checkout_of_now(worktree, extras.clone())?;
    let then = if fitting == extras { then.clone() } else { capture_with(ctx, now, (&files, &index), fitting)? };
    Ok(WorktreeChange {
        path,
        files: Change::new(now.tree.clone(), files),
        index: Change::new(now.index_tree.clone(), index),
        head: Change::new(head_state(&now.head), head),
        captures: Change::new(now_commit, Some(then)),
    })
}

/// The tree to go back to, with the files of now that the checkpoint said nothing of (ignored or too large then, perhaps
/// captured now): they stay, or a rewritten `.gitignore` would cost a `.env`. Where it is not known what the checkpoint left
/// out, everything stays that it does not have.
fn with_spared(
    ctx: &Context,
    worktree: &Worktree,
    changes: &[TreeChange],
    then: Oid,
    coverage: Option<&Coverage>,
) -> Result<Oid> {
    if coverage.is_some_and(Coverage::is_complete) {
        return Ok(then);
    }
    let gone: Vec<&TreeChange> = changes.iter().filter(|change| change.new.is_none()).collect();
    let ignored = if coverage.is_some_and(Coverage::lists_not_all_ignored) {
        ctx.repo.ignored_by(worktree, &then, &gone.iter().map(|change| &change.path).collect::<Vec<_>>())?
    } else {
        BTreeSet::new()
    };
    let says_nothing = |path: &RepoPath| coverage.is_none_or(|coverage| coverage.says_nothing_of(path)) || ignored.contains(path);
    let appears = |path: &RepoPath| {
        let above = |root: &RepoPath| path.as_bytes().strip_prefix(root.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"));
        changes.iter().any(|change| change.new.is_some() && above(&change.path))
    };
    let spared: Vec<_> = gone
        .into_iter()
        .filter(|change| says_nothing(&change.path) && !appears(&change.path))
        .filter_map(|change| Some((change.path.clone(), change.old.clone()?)))
        .collect();
    ctx.repo.graft(&then, &spared)
}

/// Adds a worktree, and names the uncommitted content that it replaces.
pub(super) fn add_worktree(
    ctx: &Context,
    change: WorktreeChange,
    now: &WorktreeCapture,
    operation: &mut Operation,
    preview: &mut Preview,
) -> Result<()> {
    let committed = match now.head.commit() {
        Some(commit) => ctx.repo.read_commit(commit)?.tree,
        None => ctx.repo.empty_tree()?,
    };
    let dirty: BTreeSet<RepoPath> = ctx.repo.diff_trees(&committed, &now.tree)?.into_iter().map(|change| change.path).collect();
    for file in ctx.repo.diff_trees(&change.files.old, &change.files.new)? {
        if dirty.contains(&file.path) && file.old.is_some() {
            preview.files.push(FileLoss { worktree: change.path.clone(), path: file.path });
        }
    }
    operation.worktrees.push(change);
    Ok(())
}

fn lost_commits(ctx: &Context, refs: &[RefChange], document: &CheckpointDocument, preview: &mut Preview) -> Result<()> {
    let then = refs.iter().filter_map(|change| change.value.new.as_ref());
    let without: Vec<Oid> = document.refs.values().chain(&document.git_commit).chain(then).cloned().collect();
    let mut seen = BTreeSet::new();
    let mut commits = Vec::new();
    // The target branch before the tasks' branches: where times are equal, merges then come before what they took in.
    let of_a_task = |change: &&RefChange| change.name.as_str().starts_with("refs/heads/axiom/");
    let (tasks, others): (Vec<&RefChange>, Vec<&RefChange>) = refs.iter().partition(of_a_task);
    for old in others.into_iter().chain(tasks).filter_map(|change| change.value.old.as_ref()) {
        let log = match ctx.repo.line(old, &without, COMMITS) {
            Some(line) => line,
            None => ctx.repo.log(old, &without, COMMITS)?,
        };
        commits.extend(log.into_iter().filter(|commit| seen.insert(commit.oid.clone())));
    }
    commits.sort_by_key(|commit| std::cmp::Reverse(commit.seconds));
    for commit in commits {
        let line = CommitLine { id: commit.oid, subject: commit.subject };
        if commit.parents.len() > 1 {
            preview.merges.push(line.clone());
        }
        preview.commits.push(line);
    }
    Ok(())
}

/// The commit that reverts a branch instead of resetting it, where an upstream has some of what would be taken out.
fn reverting(ctx: &Context, change: &RefChange, name: &CheckpointName) -> Result<Option<Oid>> {
    let (Some(old), Some(new)) = (&change.value.old, &change.value.new) else { return Ok(None) };
    if change.name.as_str().starts_with("refs/heads/axiom/") || ctx.repo.is_ancestor(old, new)? {
        return Ok(None);
    }
    if ctx.repo.refs_below("refs/remotes/")?.is_empty() {
        return Ok(None);
    }
    let count = |more: &[&str]| ctx.repo.git().args(["rev-list", "--count", old.as_str(), &format!("^{new}")]).args(more).text();
    if count(&[])? == count(&["--not", "--remotes"])? {
        return Ok(None);
    }
    let tree = ctx.repo.read_commit(new)?.tree;
    let message =
        format!("Roll back to checkpoint {name}\n\nThe commits since are on an upstream, so they are reverted, not removed.\n");
    ctx.repo.commit_tree(&tree, std::slice::from_ref(old), &message).map(Some)
}

/// What nothing would refer to any more.
pub(crate) fn kept(ctx: &Context, operation: &Operation) -> Result<Vec<Oid>> {
    let mut kept = BTreeMap::new();
    for change in &operation.refs {
        match (&change.value.old, &change.value.new) {
            (Some(old), Some(new)) if ctx.repo.is_ancestor(old, new)? => {}
            (Some(old), _) => drop(kept.insert(old.clone(), ())),
            (None, _) => {}
        }
    }
    for oid in operation.worktrees.iter().flat_map(|w| [&w.captures.old, &w.captures.new]).flatten() {
        kept.insert(oid.clone(), ());
    }
    kept.extend(operation.workspaces.iter().map(|change| (change.capture.clone(), ())));
    Ok(kept.into_keys().collect())
}

/// Moving a branch under a worktree that is not part of the operation would leave it with staged reversals.
pub(crate) fn branches_are_free(ctx: &Context, operation: &Operation) -> Result<()> {
    let part: BTreeSet<&Path> = operation
        .worktrees
        .iter()
        .map(|change| Path::new(&change.path))
        .chain(operation.advances.iter().map(|change| Path::new(&change.path)))
        .chain(operation.workspaces.iter().map(|change| Path::new(&change.workspace.path)))
        .collect();
    let moving: BTreeSet<&RefName> = operation.refs.iter().map(|change| &change.name).collect();
    let heads: BTreeSet<&RefName> = operation
        .worktrees
        .iter()
        .filter(|change| change.head.old != change.head.new)
        .filter_map(|change| match &change.head.new {
            HeadState::Branch(name) => Some(name),
            HeadState::Detached(_) => None,
        })
        .collect();
    for entry in ctx.repo.worktrees()? {
        let Some(branch) = entry.head.as_ref().and_then(Head::branch) else { continue };
        if !part.contains(entry.worktree.path()) && (moving.contains(branch) || heads.contains(branch)) {
            let place = entry.worktree.path().display();
            return Err(Error::new(Code::BranchInUse, format!("{} is checked out in '{place}'", branch.short()))
                .hint(format!("git -C '{place}' switch --detach")));
        }
    }
    Ok(())
}
