//! Workspaces: their paths, making them, and repairing what a crash left of them. Not here: the folder that they are all in, which is
//! in `safety::folders::workspace_folder`.

use axiom_model::work::tasks::branch_names;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::context::handle::Context;
use crate::folders::workspace_folder::{are_in_each_copy, exclude, root};
use crate::folders::{trash, workspace_submodules};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_base::shell_word::shell_word;
use axiom_git::{AddWorkspaceOptions, AddWorkspaceOutcome, Repository, WorkspaceBranch, WorktreeOwner, WorktreeRepair};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::RefName;
use axiom_model::work::agent::Workspace;

/// How long the lock of a workspace is waited for: a keeper that is just ending lets go of it.
const HELD: Duration = Duration::from_millis(500);

/// The path for a new workspace. One that another task's workspace has, since its agent went on there, is left to it. Outside the
/// repository, the folder may be shared with a copy of the repository: an existing entry is left alone there, and the workspace
/// gets another name.
pub fn place(ctx: &Context, task: &TaskId, name: &str) -> Result<PathBuf> {
    let path = root(ctx)?.join(name);
    let is_anothers = {
        let mut others = ctx.state().restorable.workspaces.iter().filter(|(of, _)| *of != task);
        others.any(|(_, workspace)| Path::new(&workspace.path) == path)
    };
    let is_taken = !are_in_each_copy(ctx) && path.symlink_metadata().is_ok();
    Ok(if is_taken || is_anothers { path.with_file_name(format!("{name}-{}", env::fresh_id())) } else { path })
}

/// The branch of a task.
pub fn branch_of(ctx: &Context, task: &TaskId) -> RefName {
    match ctx.state().restorable.workspaces.get(task) {
        Some(workspace) => workspace.branch.clone(),
        None => branch_names::branch_of(task),
    }
}

/// Checks that no branch of the user's own has the name of a task's branch, or prevents that name.
///
/// # Errors
/// `BRANCH_NOT_OURS`; `GIT_FAILED`.
pub fn branch_is_not_others(ctx: &Context, task: &TaskId) -> Result<()> {
    let branch = branch_names::branch_of(task);
    if ctx.state().made_branch(&branch) {
        return Ok(());
    }
    let below = || ctx.repo.refs().refs_below(&format!("{}/", branch.as_str()));
    let others = match in_the_way_of_all(ctx)? {
        Some(name) => Some(name),
        None if ctx.repo.refs().read_ref(&branch)?.is_some() => Some(branch.clone()),
        None => below()?.into_iter().next().map(|found| found.name),
    };
    let Some(name) = others else { return Ok(()) };
    let name = name.short();
    Err(Error::new(Code::BranchNotOurs, format!("the branch '{name}' is not one that git axiom made"))
        .why(format!("the work of '{task}' belongs on '{}'", branch.short()))
        .hint(format!("git branch -m {name} ANOTHER    renames yours"))
        .hint(format!("then, if the task was blocked: git axiom task unblock {task}")))
}

/// A branch whose name prevents the branches of all tasks.
pub fn in_the_way_of_all(ctx: &Context) -> Result<Option<RefName>> {
    let name = RefName::branch("axiom");
    Ok(ctx.repo.refs().read_ref(&name)?.map(|_| name))
}

/// Makes sure that a workspace announced in the log exists: makes a missing one and repairs a half-made one, on its branch,
/// which is made where it does not exist. A crash leaves something that the next call repairs. Returns a message on the new
/// place of a repository that was in its folder.
pub fn ensure(ctx: &mut Context, task: &TaskId, workspace: &Workspace) -> Result<Option<String>> {
    match prepare(ctx, task, workspace)? {
        (None, aside) => Ok(aside),
        (Some(to_make), aside) => {
            let added = ctx.with_change_lock(|ctx| to_make.add(&ctx.repo, Arc::default()))?;
            settled(ctx, &to_make, added).map(|()| aside)
        }
    }
}

/// A workspace that git is to make, and its lock: as long as it is held, here or by that git, others leave the workspace alone.
#[derive(Debug)]
pub struct WorkspaceToMake {
    path: PathBuf,
    branch: WorkspaceBranch,
    trash: PathBuf,
    lock: FileLock,
}

impl WorkspaceToMake {
    /// Makes it. Filters and hooks of the project run meanwhile: by a repository that holds no lock, nobody waits for them.
    pub fn add(&self, repo: &Repository, given_up: Arc<AtomicBool>) -> Result<AddWorkspaceOutcome> {
        let adding = AddWorkspaceOptions { given_up, lock: Some(self.lock.descriptor()), from_capture: false };
        let added = repo.workspaces().add_workspace(&self.path, &self.branch, &adding);
        added.map_err(|error| error.context(format!("workspace '{}'", self.path.display())))
    }
}

/// Repairs a workspace that was announced in the log, and says what git is still to make of it; also the new place of a repository
/// that was in its folder.
///
/// # Errors
/// `BUSY`; `GIT_LOCKED` where somebody holds the workspace: it is being made by the git of a session that crashed, or its last program
/// is just ending; those of repairing.
pub fn prepare(ctx: &mut Context, task: &TaskId, workspace: &Workspace) -> Result<(Option<WorkspaceToMake>, Option<String>)> {
    let path = PathBuf::from(&workspace.path);
    let trash = trash::fresh(ctx, "half-made")?;
    let LockAttempt::Taken(lock) = FileLock::take(&ctx.layout().locks().workspace(task), HELD)? else {
        return Err(Error::new(Code::GitLocked, format!("the workspace '{}' is in use", workspace.path))
            .why("git still makes it, with the project's hooks and filters, or its last program is just ending"));
    };
    ctx.with_change_lock(|ctx| {
        exclude(ctx)?;
        let aside = repaired(ctx, workspace, &trash)?.1;
        let repo = &ctx.repo;
        if repo.worktrees().worktree_at(&path)?.is_some_and(|entry| entry.present) {
            return Ok((None, aside));
        }
        let branch = match repo.refs().read_ref(&workspace.branch)? {
            Some(_) => WorkspaceBranch::Existing(workspace.branch.clone()),
            None => WorkspaceBranch::New { name: workspace.branch.clone(), base: workspace.base.clone() },
        };
        repo.workspaces().prepare_workspace(&path, &branch)?;
        Ok((Some(WorkspaceToMake { path, branch, trash, lock }), aside))
    })
    .map_err(|error: Error| error.context(format!("workspace '{}'", workspace.path)))
}

/// After git has made a workspace, or has not: what is half-made goes to the trash.
pub fn settled(ctx: &mut Context, made: &WorkspaceToMake, added: AddWorkspaceOutcome) -> Result<()> {
    let WorkspaceToMake { path, branch, trash, lock: _ } = made;
    match added {
        AddWorkspaceOutcome::Made(_) => Ok(()),
        AddWorkspaceOutcome::NotMade(output) => {
            let why = ctx.with_change_lock(|ctx| Ok(ctx.repo.workspaces().not_made(path, branch, trash, &output)))?;
            Err(why.context(format!("workspace '{}'", path.display())))
        }
    }
}

/// Whether git makes the workspace of a task now, perhaps that of a session that has crashed since.
pub fn is_being_made(ctx: &Context, task: &TaskId, workspace: &Workspace) -> Result<bool> {
    if !files::is_locked(&ctx.layout().locks().workspace(task))? {
        return Ok(false);
    }
    let entry = ctx.repo.worktrees().worktree_at(Path::new(&workspace.path))?;
    Ok(entry.is_some_and(|entry| entry.is_half_made()))
}

/// As [`axiom_git::Workspaces::repair_workspace`]. A registration that goes to the trash takes the repositories of submodules along, so
/// what they have is brought home before. The caller holds the change lock.
pub fn repair_workspace(ctx: &Context, path: &Path, trash: &Path) -> Result<WorktreeRepair> {
    let entry = ctx.repo.worktrees().worktree_at(path)?.filter(|entry| !entry.present && !entry.worktree.is_main());
    if let Some(Err(error)) = entry.map(|entry| workspace_submodules::bring_home(ctx, &entry.worktree)) {
        tracing::warn!(%error, workspace = %path.display(), "what its submodules have is only in the trash");
    }
    ctx.repo.workspaces().repair_workspace(path, trash)
}

/// Repairs a workspace; returns also a message on the new place of a repository that was in its folder. The caller holds the
/// change lock.
pub fn repaired(ctx: &Context, workspace: &Workspace, trash: &Path) -> Result<(WorktreeRepair, Option<String>)> {
    let path = Path::new(&workspace.path);
    let had_one = has_its_own_repository(ctx, path);
    let repair = repair_workspace(ctx, path, trash)?;
    let places = [trash.join("dot-git"), trash.join("folder/.git")];
    let there = places.iter().find(|place| had_one && place.symlink_metadata().is_ok());
    let words = |place: &PathBuf| {
        format!("the repository that was in '{}', with its commits, is in '{}'", workspace.path, place.display())
    };
    Ok((repair, there.map(words)))
}

fn has_its_own_repository(ctx: &Context, path: &Path) -> bool {
    let is_folder = path.join(".git").symlink_metadata().is_ok_and(|meta| meta.is_dir());
    is_folder && ctx.repo.worktree_owners().has_a_repository_in(path)
}

/// Whether an agent can work in its workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceCondition {
    /// It can work there.
    Sound,
    /// It cannot, but the workspace can be repaired without losing anything: see [`ensure`].
    Mendable,
    /// A human has to decide on its contents; the reason.
    ForAHuman(String),
}

/// Why a workspace cannot be used whose branch is gone, with the command that makes one where the folder is on a commit.
pub fn branch_is_gone(ctx: &Context, workspace: &Workspace) -> String {
    let name = workspace.branch.short();
    let entry = ctx.repo.worktrees().worktree_at(Path::new(&workspace.path)).ok().flatten();
    let head = entry.and_then(|entry| ctx.repo.refs().head(&entry.worktree).ok());
    match head.as_ref().and_then(|head| head.commit()) {
        Some(_) => format!(
            "the branch '{name}' is gone; 'git -C {} switch -c {name}' makes it where the workspace is now",
            shell_word(&workspace.path)
        ),
        None => format!("the branch '{name}' is gone"),
    }
}

/// Checks whether the folder of a workspace and its registration name each other. Waits for nothing.
pub fn condition(ctx: &Context, workspace: &Workspace) -> Result<WorkspaceCondition> {
    let path = Path::new(&workspace.path);
    if let WorktreeOwner::Others(other) = ctx.repo.worktree_owners().whose(path)? {
        let there = other.git_dir.display();
        return Ok(WorkspaceCondition::ForAHuman(format!(
            "the .git of '{}' names another repository: '{there}'",
            workspace.path
        )));
    }
    if has_its_own_repository(ctx, path) {
        return Ok(WorkspaceCondition::ForAHuman(format!(
            "'{}' has a repository of its own: see 'git -C {} log --all'; approving moves its .git to the trash, the files stay",
            workspace.path, workspace.path
        )));
    }
    let entry = ctx.repo.worktrees().worktree_at(path)?;
    Ok(if entry.is_some_and(|entry| entry.present) { WorkspaceCondition::Sound } else { WorkspaceCondition::Mendable })
}

/// Rebuilds the git data of a workspace where it is missing or damaged: its registration, and its index. The files stay.
/// Returns what was done. The caller holds the change lock.
pub fn mend_contents(ctx: &Context, workspace: &Workspace) -> Result<Option<&'static str>> {
    let (path, trash) = (PathBuf::from(&workspace.path), trash::fresh(ctx, "damaged")?);
    if let Some(what) = ctx.repo.registrations().mend_registration(&path, &workspace.branch, &trash)? {
        return Ok(Some(what));
    }
    let index = ctx.repo.workspace_damage().mend_index(&path, &trash)?;
    Ok(index.then_some("had a damaged index, which was rebuilt from its commit"))
}
