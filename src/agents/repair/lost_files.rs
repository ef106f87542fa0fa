//! Files that the newest capture of a workspace holds and that are not on disk as it holds them, after the machine has stopped or the
//! folder was lost: finding them, and putting them back by an operation that an undo takes back. The capture itself waits in a
//! ref of its own, since the next one of the workspace takes the place of the newest. Which files come back unasked is in
//! `model::recovery::lost`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

use crate::repair::work_places;
use axiom_base::error::Result;
use axiom_git::{ExpectedRefValue, RefEdit, TreeChange, Worktree, WorktreeCapture, bytes_by};
use axiom_model::base::ids::{OperationId, TaskId};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::own_names::LOST;
use axiom_model::base::path_set::PathSet;
use axiom_model::base::text::ValueChange;
use axiom_model::journal::journaled::{JournaledOperation, OperationKind};
use axiom_model::journal::journaled_changes::WorktreeChange;
use axiom_model::queries::known_paths::together;
use axiom_model::recovery::decide::WorkPlace;
use axiom_model::recovery::lost::{LostFileOnDisk, comes_back};
use axiom_model::work::agent::Workspace;
use axiom_model::work::tasks::wip;
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::CapturedWorktree;
use axiom_safety::checkpoint::live::live_ref;
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::opening;
use axiom_safety::operation;
use axiom_safety::operation::recorded_head::head_state;
use axiom_safety::operation::{capture_with, extras_of};
use axiom_safety::rollback::plan::kept;
use axiom_safety::rollback::replaced_bytes::keep_bytes;

/// How many commits since a capture are looked at.
const MOST_COMMITS: usize = 100;
/// How much of a file is read to find out whether it is nothing but NUL bytes.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// A file that the capture holds otherwise.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LostFile {
    /// Its path in the workspace.
    pub path: RepoPath,
    /// What is on disk.
    pub found: LostFileOnDisk,
    /// When that was changed.
    pub modified_at: Option<Timestamp>,
    /// Without being asked for: the machine emptied it.
    pub comes_back: bool,
    #[serde(skip)]
    change: TreeChange,
}

/// The files of a workspace that its newest capture holds otherwise.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LostFiles {
    /// Whose workspace it is.
    pub task_id: TaskId,
    /// Its path.
    pub workspace: String,
    /// The commit that holds them.
    pub capture: Oid,
    /// When it was made.
    pub captured_at: Option<Timestamp>,
    /// The files, ordered by path.
    pub files: Vec<LostFile>,
}

/// What was put back.
#[derive(Debug, Clone)]
pub struct LostFilesReport {
    /// The transaction: its undo brings back what was there.
    pub txn: OperationId,
    /// The files.
    pub paths: Vec<RepoPath>,
}

/// The ref that holds the newest capture from before a loss.
pub fn lost_ref(task: &TaskId) -> RefName {
    RefName::new(format!("{LOST}{task}"))
}

struct LostFilesScan {
    lost: LostFiles,
    /// The workspace as it is; `None` where its folder is gone.
    now: Option<CapturedWorktree>,
}

/// Looks at the workspace of a task; `None` where there is nothing to compare it with. `stopped` is the last sign of life of an
/// iteration that the machine ended: then the newest capture counts, else one from before an earlier loss.
pub fn look(ctx: &Context, task: &TaskId, stopped: Option<Timestamp>) -> Result<Option<LostFiles>> {
    Ok(find(ctx, task, stopped)?.map(|found| found.lost))
}

/// The files of all workspaces that are lost and that their newest captures hold: of iterations that the machine ended (`stopped`, with
/// their last signs of life), of folders that are gone, and of losses before. What is not as in a capture may as well be newer.
pub fn all(ctx: &Context, stopped: BTreeMap<TaskId, Timestamp>) -> Result<Vec<LostFiles>> {
    let mut tasks: BTreeMap<TaskId, Option<Timestamp>> = BTreeMap::new();
    let kept = ctx.repo.refs().refs_below(LOST)?;
    tasks.extend(kept.iter().filter_map(|kept| Some((TaskId::new(kept.name.as_str().strip_prefix(LOST)?).ok()?, None))));
    let workspaces = ctx.state().restorable.workspaces.iter();
    let gone = workspaces.filter(|(_, workspace)| Path::new(&workspace.path).symlink_metadata().is_err());
    tasks.extend(gone.map(|(task, _)| (task.clone(), None)));
    tasks.extend(stopped.into_iter().map(|(task, at)| (task, Some(at))));
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    // Captures that nothing refers to are discarded with this context.
    let apart = opening::open(ctx.repo.worktrees().main_worktree()?.path(), VerbPurpose::Look)?;
    let mut found = Vec::new();
    for (task, stopped) in tasks {
        match look(&apart, &task, stopped) {
            Ok(lost) => found.extend(lost),
            Err(error) => tracing::info!(%task, %error, "what is lost of its files is not known"),
        }
    }
    found.iter_mut().for_each(|lost| lost.files.retain(|file| file.found.is_loss()));
    found.retain(|lost| !lost.files.is_empty());
    Ok(found)
}

fn find(ctx: &Context, task: &TaskId, stopped: Option<Timestamp>) -> Result<Option<LostFilesScan>> {
    let Some(workspace) = ctx.state().restorable.workspaces.get(task) else { return Ok(None) };
    let refs = ctx.repo.refs();
    let newest = || refs.read_ref(&live_ref(task));
    // A folder that is gone is made again, with all that its newest capture holds.
    let is_brought_back = matches!(work_places::place(ctx, task)?, WorkPlace::Captured(_));
    let capture = match stopped {
        Some(_) => newest()?,
        None if is_brought_back => newest()?,
        None => refs.read_ref(&lost_ref(task))?.map_or_else(newest, |kept| Ok(Some(kept)))?,
    };
    let Some(capture) = capture else { return Ok(None) };
    let captured_at = ctx.repo.objects().commit_time(&capture)?;
    // A capture is made where files were changed, so it is a sign of life too.
    let stopped = stopped.map(|heard| captured_at.map_or(heard, |at| heard.max(at)));
    let wanted = with_commits_since(ctx, workspace, &capture)?;
    let now = present(ctx, workspace)?;
    let tree = match (&now, refs.read_ref(&workspace.branch)?) {
        (Some(now), _) => now.capture.tree.clone(),
        // The folder is made again from its branch.
        (None, Some(tip)) => ctx.repo.trees().tree_of(&tip)?,
        (None, None) => return Ok(None),
    };
    // What cannot be read is not known to be lost.
    let unread = PathSet::new(now.iter().flat_map(|now| now.capture.extras.gaps.iter().cloned()));
    let comes = |change: &TreeChange| change.new.is_some() && change.changes_a_file() && !unread.covers(&change.path);
    let changes = ctx.repo.history().diff_trees(&tree, &wanted)?.into_iter().filter(comes);
    let of = |change| lost_file(Path::new(&workspace.path), change, stopped);
    let files = changes.map(of).map(|file| LostFile { comes_back: file.comes_back || is_brought_back, ..file }).collect();
    let lost = LostFiles { task_id: task.clone(), workspace: workspace.path.clone(), capture, captured_at, files };
    Ok(Some(LostFilesScan { lost, now }))
}

fn present(ctx: &Context, workspace: &Workspace) -> Result<Option<CapturedWorktree>> {
    let Some(entry) = ctx.repo.worktrees().worktree_at(Path::new(&workspace.path))?.filter(|entry| entry.present) else {
        return Ok(None);
    };
    let capture = ctx.repo.captures().capture_worktree(&entry.worktree, &checkpoint::capture_options(ctx))?;
    Ok(Some(CapturedWorktree { worktree: entry.worktree, capture, submodules: Vec::new() }))
}

/// The files of a capture, and of what the agent has committed since. What recovery commits of what is left is not the agent's.
fn with_commits_since(ctx: &Context, workspace: &Workspace, capture: &Oid) -> Result<Oid> {
    let parts = ctx.repo.captures().capture_parts(capture)?;
    let Some(tip) = ctx.repo.refs().read_ref(&workspace.branch)? else { return Ok(parts.files) };
    let history = ctx.repo.history();
    // A commit that the machine lost has nothing to give.
    let log = history.log(&tip, std::slice::from_ref(&parts.base), MOST_COMMITS).unwrap_or_default();
    let Some(own) = log.into_iter().find(|commit| !wip::is_wip(&commit.subject)) else { return Ok(parts.files) };
    match history.diff_trees(&parts.base, &own.oid) {
        Ok(since) => ctx.repo.trees().edit_tree(&parts.files, &since),
        Err(_) => Ok(parts.files),
    }
}

fn lost_file(root: &Path, change: TreeChange, stopped: Option<Timestamp>) -> LostFile {
    let place = root.join(change.path.to_path());
    let (found, modified) = on_disk(&place);
    LostFile { path: change.path.clone(), found, modified_at: modified, comes_back: comes_back(found, modified, stopped), change }
}

fn on_disk(place: &Path) -> (LostFileOnDisk, Option<Timestamp>) {
    let Ok(meta) = place.symlink_metadata() else { return (LostFileOnDisk::Gone, None) };
    let modified = meta.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    let modified = modified.and_then(|time| Timestamp::from_millisecond(time.as_millisecond()).ok());
    let found = match meta.is_file() {
        true if meta.len() == 0 => LostFileOnDisk::Empty,
        true if meta.len() <= MOST_BYTES && is_zeros(place) => LostFileOnDisk::Zeros,
        true | false => LostFileOnDisk::Other,
    };
    (found, modified)
}

fn is_zeros(place: &Path) -> bool {
    let Ok(file) = File::open(place) else { return false };
    let (mut file, mut buffer) = (file.take(MOST_BYTES), vec![0_u8; 64 * 1024]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return true,
            Ok(read) if buffer.iter().take(read).all(|byte| *byte == 0) => {}
            Ok(_) | Err(_) => return false,
        }
    }
}

/// Keeps the newest capture of a workspace for a human's choice, since the next one takes its place. A crash before leaves nothing
/// done, and the next call does it.
pub fn keep_capture(ctx: &Context, task: &TaskId) -> Result<()> {
    let refs = ctx.repo.refs();
    let Some(capture) = refs.read_ref(&live_ref(task))? else { return Ok(()) };
    let edit = RefEdit { name: lost_ref(task), expected: ExpectedRefValue::Any, new: Some(capture) };
    refs.update_refs(&[edit], &format!("git axiom: capture of {task} from before a loss"))
}

/// As [`keep_capture`], where the folder of a known workspace is gone and its capture holds more than its branch. Returns whether it
/// does.
pub fn keep_of_lost_folder(ctx: &mut Context, task: &TaskId) -> Result<bool> {
    let path = ctx.state().restorable.workspaces.get(task).map(|workspace| workspace.path.clone());
    if path.is_none_or(|path| Path::new(&path).symlink_metadata().is_ok()) {
        return Ok(false);
    }
    ctx.with_change_lock(|ctx| {
        let lost = look(ctx, task, None)?.is_some_and(|lost| !lost.files.is_empty());
        if lost { keep_capture(ctx, task).map(|()| true) } else { Ok(false) }
    })
}

/// Puts the chosen files back, in this context's transaction; `None` where there are none. Repeating it, also after a crash, finds
/// nothing to do. What was in their places comes back with an undo.
pub fn put_back(
    ctx: &mut Context,
    task: &TaskId,
    stopped: Option<Timestamp>,
    is_chosen: impl Fn(&LostFile) -> bool,
) -> Result<Option<LostFilesReport>> {
    ctx.with_change_lock(|ctx| {
        ctx.no_open_operation()?;
        let Some(LostFilesScan { lost, now: Some(now) }) = find(ctx, task, stopped)? else { return Ok(None) };
        let chosen: Vec<TreeChange> = lost.files.iter().filter(|file| is_chosen(file)).map(|file| file.change.clone()).collect();
        if chosen.is_empty() {
            return Ok(None);
        }
        let operation = plan(ctx, &lost, &now, &chosen)?;
        operation::run(ctx, operation)?;
        Ok(Some(LostFilesReport { txn: ctx.txn().clone(), paths: chosen.into_iter().map(|change| change.path).collect() }))
    })
}

fn plan(ctx: &Context, lost: &LostFiles, now: &CapturedWorktree, chosen: &[TreeChange]) -> Result<JournaledOperation> {
    let task = &lost.task_id;
    let title = format!("files of '{}' from its capture {}", lost.workspace, lost.capture.short());
    let mut operation = JournaledOperation::new(OperationKind::RecoverFiles { task: task.clone() }, title);
    let mut change = change_of(ctx, lost, (&now.worktree, &now.capture), chosen)?;
    keep_bytes(&ctx.repo, &mut change, now)?;
    operation.worktrees.push(change);
    operation.kept = kept(ctx, &operation)?;
    Ok(operation)
}

fn change_of(
    ctx: &Context,
    lost: &LostFiles,
    (worktree, now): (&Worktree, &WorktreeCapture),
    chosen: &[TreeChange],
) -> Result<WorktreeChange> {
    let only = PathSet::new(chosen.iter().map(|change| change.path.clone()));
    let files = ctx.repo.trees().edit_tree(&now.tree, chosen)?;
    let held = ctx.repo.index(worktree).for_checkout_of_now(extras_of(&ctx.repo, Some(&lost.capture))?)?;
    let modes = held.modes.into_iter().filter(|modes| only.covers(&modes.path)).collect();
    let mut extras = now.extras.clone();
    extras.raw = bytes_by(&now.extras.raw, &held.raw, |path| only.covers(path));
    extras.modes = together(now.extras.modes.clone(), &only, modes, |modes| &modes.path);
    extras.line_ends = held.line_ends;
    let message = format!("workspace of {}, before files came back", lost.task_id);
    let before = ctx.repo.captures().commit_capture(now, &message, &[])?.commit;
    let after = capture_with(&ctx.repo, now, (&files, &now.index_tree), extras)?;
    let head = head_state(&now.head);
    Ok(WorktreeChange {
        path: lost.workspace.clone(),
        files: ValueChange::new(now.tree.clone(), files),
        index: ValueChange::new(now.index_tree.clone(), now.index_tree.clone()),
        head: ValueChange::new(head.clone(), head),
        captures: ValueChange::new(Some(before), Some(after)),
    })
}
