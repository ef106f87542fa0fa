//! The scratch worktree in which the result of a merge is verified, or a planner works: made for that, and removed afterwards, also
//! after a crash.
//!
//! A note is written before it is made, so that whatever has its name is known to be ours, and what for. A lock shows whether a
//! process still uses it.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::context::handle::Context;
use crate::folders::{trash, workspace_folder};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt, SmallFile};
use axiom_git::WorkspaceBranch;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::Oid;

/// How long to wait for the lock of another process's verification: long enough for a process that only tests the lock.
const PATIENCE: Duration = Duration::from_millis(200);

/// The longest note that is read.
const LONGEST_NOTE: u64 = 64;

/// What a scratch worktree is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScratchPurpose {
    /// The result of a merge is verified in it.
    Verification,
    /// A planner works in it.
    Planner,
}

impl ScratchPurpose {
    /// As the note says it. That of a verification was always empty.
    const fn noted(self) -> &'static str {
        match self {
            Self::Verification => "",
            Self::Planner => "planner",
        }
    }

    fn of_note(note: &Path) -> Self {
        match files::read_small(note, LONGEST_NOTE) {
            Ok(SmallFile::Content(content)) if content == Self::Planner.noted().as_bytes() => Self::Planner,
            // Only words depend on it.
            Ok(SmallFile::Content(_) | SmallFile::Nothing | SmallFile::Odd(_)) | Err(_) => Self::Verification,
        }
    }

    /// What went on where it is, in words.
    pub const fn went_on(self) -> &'static str {
        match self {
            Self::Verification => "where a merge was verified",
            Self::Planner => "where a planner worked",
        }
    }

    const fn would_go_on(self) -> &'static str {
        match self {
            Self::Verification => "the result of the merge would be verified there",
            Self::Planner => "the planner would work there",
        }
    }

    fn goes_on(self, task: &TaskId) -> String {
        match self {
            Self::Verification => format!("the merge of '{task}' is being verified by another process"),
            Self::Planner => format!("a planner works on '{task}' in another process"),
        }
    }
}

/// One that nobody uses: a crash left it.
#[derive(Debug)]
pub struct LeftoverScratch {
    /// Its path.
    pub path: PathBuf,
    /// What it was for.
    pub of: ScratchPurpose,
}

/// The worktree, while this process holds its lock.
#[derive(Debug)]
pub struct ScratchWorktree {
    task: TaskId,
    /// Its path.
    pub path: PathBuf,
    _lock: FileLock,
}

/// The path of a task's scratch worktree.
fn place(ctx: &Context, task: &TaskId) -> Result<PathBuf> {
    Ok(workspace_folder::root(ctx)?.join(format!("verify-{task}")))
}

fn note(ctx: &Context, task: &TaskId) -> PathBuf {
    ctx.layout().verifying_dir().join(task.as_str())
}

/// The tasks that have a scratch worktree, or had one when a process crashed.
fn noted(ctx: &Context) -> Result<Vec<TaskId>> {
    let entries = files::list(&ctx.layout().verifying_dir())?;
    Ok(entries.iter().filter_map(|entry| TaskId::new(entry.file_name().to_str()?).ok()).collect())
}

/// The paths of all scratch worktrees: they hold no one's work, so no checkpoint holds them.
pub fn places(ctx: &Context) -> Result<Vec<PathBuf>> {
    noted(ctx)?.iter().map(|task| place(ctx, task)).collect()
}

/// Those that nobody uses: a crash left them.
pub fn left(ctx: &Context) -> Result<Vec<LeftoverScratch>> {
    let mut left = Vec::new();
    for task in noted(ctx)? {
        let path = place(ctx, &task)?;
        if !files::is_locked(&ctx.layout().locks().verify(&task))? && files::metadata(&path)?.is_some() {
            left.push(LeftoverScratch { path, of: ScratchPurpose::of_note(&note(ctx, &task)) });
        }
    }
    Ok(left)
}

/// Takes the lock under which a task's scratch worktree is used.
pub fn claim(ctx: &Context, task: &TaskId, of: ScratchPurpose) -> Result<FileLock> {
    match FileLock::take(&ctx.layout().locks().verify(task), PATIENCE)? {
        LockAttempt::Taken(lock) => Ok(lock),
        LockAttempt::Held => Err(Error::new(Code::Busy, of.goes_on(task)).hint(match of {
            ScratchPurpose::Verification => "git axiom status    shows when it is merged",
            ScratchPurpose::Planner => "git axiom plan show    shows how far it is",
        })),
    }
}

/// Makes the worktree with the files of `commit`. The caller holds the change lock.
pub fn set_up(ctx: &Context, (task, of): (&TaskId, ScratchPurpose), commit: &Oid, lock: FileLock) -> Result<ScratchWorktree> {
    let (path, note) = (place(ctx, task)?, note(ctx, task));
    let is_ours = files::metadata(&note)?.is_some();
    if !is_ours && files::metadata(&path)?.is_some() {
        return Err(Error::new(Code::WorkspaceInTheWay, format!("'{}' exists, and git axiom did not make it", path.display()))
            .why(of.would_go_on())
            .hint("move it away, then try again"));
    }
    workspace_folder::exclude(ctx)?;
    files::create_dir_all(&ctx.layout().verifying_dir())?;
    files::write_atomic(&note, of.noted().as_bytes())?;
    env::fault_point("verify.noted");
    drop(clear(ctx, &path)?);
    let half_made = trash::fresh(ctx, "half-made")?;
    ctx.repo.workspaces().create_workspace(&path, &WorkspaceBranch::Detached(commit.clone()), &half_made)?;
    env::fault_point("verify.made");
    Ok(ScratchWorktree { task: task.clone(), path, _lock: lock })
}

impl ScratchWorktree {
    /// Removes the worktree; its files are deleted in the background. A crash leaves what [`clear_left`] removes.
    pub fn take_down(self, ctx: &mut Context) -> Result<Option<JoinHandle<()>>> {
        ctx.with_change_lock(|ctx| {
            let removal = clear(ctx, &self.path)?;
            env::fault_point("verify.cleared");
            files::remove_file(&note(ctx, &self.task))?;
            Ok(removal)
        })
    }
}

/// Removes the worktree at `path`.
fn clear(ctx: &Context, path: &Path) -> Result<Option<JoinHandle<()>>> {
    let trash = trash::fresh_for(ctx, path)?;
    match ctx.repo.worktrees().worktree_at(path)? {
        Some(entry) if entry.present && entry.locked.is_none() => {
            files::holds_no_mount(path)?;
            let aside = ctx.repo.workspaces().plan_aside(&entry.worktree, &trash)?;
            ctx.repo.workspaces().put_aside(&aside)?;
            let both = [aside.moved_to, aside.git_dir_moved_to];
            // What cannot be deleted now is deleted when the trash expires.
            let work = move || both.iter().for_each(|place| drop(files::remove_trashed(place)));
            Ok(std::thread::Builder::new().spawn(work).ok())
        }
        Some(_) | None => ctx.repo.workspaces().repair_workspace(path, &trash).map(|_| None),
    }
}

/// Removes the scratch worktrees in which no process works any more, and returns them. The caller holds the change lock.
pub fn clear_left(ctx: &Context) -> Result<Vec<LeftoverScratch>> {
    let mut cleared = Vec::new();
    for task in noted(ctx)? {
        let LockAttempt::Taken(_lock) = FileLock::try_take(&ctx.layout().locks().verify(&task))? else { continue };
        let path = place(ctx, &task)?;
        let was_there = files::metadata(&path)?.is_some();
        let of = ScratchPurpose::of_note(&note(ctx, &task));
        if let Some(removal) = clear(ctx, &path)? {
            let _ = removal.join();
        }
        files::remove_file(&note(ctx, &task))?;
        cleared.extend(was_there.then_some(LeftoverScratch { path, of }));
    }
    Ok(cleared)
}
