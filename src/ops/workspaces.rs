//! Workspaces: where they are, making them, repairing what a crash left of them.

use std::path::{Component, Path, PathBuf};

use crate::domain::agent::Workspace;
use crate::domain::ids::CaseId;
use crate::domain::names::{RefName, RepoPath};
use crate::domain::task_branches;
use crate::env;
use crate::error::{Code, Error, Result};
use crate::files::Beneath;
use crate::git::WorkspaceBranch;
use crate::ops::context::Context;

/// The folder of all workspaces.
///
/// # Errors
/// `BARE_REPOSITORY`.
pub fn root(context: &Context) -> Result<PathBuf> {
    Ok(context.repo.main_worktree()?.path().join(&context.config.agents.workspace_root))
}

/// The folder of what was put aside or replaced, beside the workspaces.
///
/// # Errors
/// As [`root`].
pub fn trash_root(context: &Context) -> Result<PathBuf> {
    Ok(root(context)?.join("trash"))
}

/// The folder of what was put aside, held open to be emptied; `None` where there is none. The workspaces' folder may be
/// mounted, and may be a link where the configuration names a place outside the main worktree: that is the user's own word.
/// One within it came with the repository, perhaps.
///
/// # Errors
/// As [`Beneath::open`].
pub fn open_trash_root(context: &Context) -> Result<Option<Beneath>> {
    let (main, named) = (context.repo.main_worktree()?, Path::new(&context.config.agents.workspace_root));
    let is_within = named.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let root = if is_within {
        let named: PathBuf = named.components().filter(|part| matches!(part, Component::Normal(_))).collect();
        Beneath::at(main.path())?.map(|main| main.down_into_mounts(&named)).transpose()?.flatten()
    } else {
        Beneath::at(&root(context)?)?
    };
    root.map(|root| root.down(Path::new("trash"))).transpose().map(Option::flatten)
}

/// A fresh folder in the trash beside the workspaces, named after what goes there.
///
/// # Errors
/// As [`root`].
pub fn trash(context: &Context, name: &str) -> Result<PathBuf> {
    Ok(trash_root(context)?.join(format!("{name}-{}", env::fresh_id())))
}

/// Keeps git from taking the workspaces for untracked content of the main worktree.
///
/// # Errors
/// `IO_FAILED`.
pub fn exclude(context: &Context) -> Result<()> {
    let folder = Path::new(&context.config.agents.workspace_root);
    if folder.is_relative()
        && let Some(text) = folder.to_str()
        && !text.starts_with("..")
    {
        context.repo.exclude_folder(&RepoPath::new(text.trim_matches('/').as_bytes()))?;
    }
    Ok(())
}

/// Checks that no branch of the user's own has the name of a task's branch, or is in its way.
///
/// # Errors
/// `BRANCH_NOT_OURS`; `GIT_FAILED`.
pub fn branch_is_not_others(context: &Context, task: &CaseId) -> Result<()> {
    let branch = task_branches::branch_of(task);
    if context.state().made_branch(&branch) {
        return Ok(());
    }
    let below = || context.repo.refs_below(&format!("{}/", branch.as_str()));
    let others = match in_the_way_of_all(context)? {
        Some(name) => Some(name),
        None if context.repo.read_ref(&branch)?.is_some() => Some(branch.clone()),
        None => below()?.into_iter().next().map(|found| found.name),
    };
    let Some(name) = others else { return Ok(()) };
    let name = name.short();
    Err(Error::new(Code::BranchNotOurs, format!("the branch '{name}' is not one that git axiom made"))
        .why(format!("the work of '{task}' belongs on '{}'", branch.short()))
        .hint(format!("git branch -m {name} ANOTHER    renames yours"))
        .hint(format!("then, where the task was blocked: git axiom task unblock {task}")))
}

/// The branch that is in the way of those of all tasks.
///
/// # Errors
/// `GIT_FAILED`.
pub fn in_the_way_of_all(context: &Context) -> Result<Option<RefName>> {
    let name = RefName::branch("axiom");
    Ok(context.repo.read_ref(&name)?.map(|_| name))
}

/// Sees to it that a workspace announced in the log stands: made where it is missing, repaired where it is half-made, on
/// its branch, which is made where it does not exist. A crash leaves something that the next call repairs.
///
/// # Errors
/// What `git worktree add` says, as codes; `BUSY`.
pub fn ensure(context: &mut Context, workspace: &Workspace) -> Result<()> {
    let path = PathBuf::from(&workspace.path);
    let trash = trash(context, "half-made")?;
    context
        .with_operation_lock(|context| {
            exclude(context)?;
            let repo = &context.repo;
            repo.repair_workspace(&path, &trash)?;
            if repo.worktree_at(&path)?.is_some_and(|entry| entry.present) {
                return Ok(());
            }
            let branch = match repo.read_ref(&workspace.branch)? {
                Some(_) => WorkspaceBranch::Existing(workspace.branch.clone()),
                None => WorkspaceBranch::New { name: workspace.branch.clone(), base: workspace.base.clone() },
            };
            repo.create_workspace(&path, &branch, &trash).map(drop)
        })
        .map_err(|error: Error| error.context(format!("workspace '{}'", workspace.path)))
}
