//! Submodules of workspaces: what an agent committed in one is brought into the main worktree's repository of that submodule, before the
//! workspace goes to the trash and before a merge names it.

use std::path::Path;
use std::sync::Arc;

use crate::context::handle::Context;
use axiom_base::error::{Error, Result};
use axiom_git::{Repository, SUBMODULE, SubmoduleFolder, TreeChange, Worktree};
use axiom_model::base::names::{Oid, RepoPath};

/// How many submodules the reason of a waiting merge names.
const NAMED: usize = 5;

/// Brings all commits and captures of the submodules of a workspace, those within others too, into the main worktree's repositories. It is
/// safe to repeat.
pub fn bring_home(ctx: &Context, workspace: &Worktree) -> Result<()> {
    let main = ctx.repo.worktrees().main_worktree()?;
    bring((&ctx.repo, &main), (&ctx.repo, workspace), &label_of(workspace.path()))
}

/// What captures that come from a workspace are called by.
pub(crate) fn label_of(workspace: &Path) -> String {
    let name = workspace.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let label: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if label.is_empty() { "workspace".to_owned() } else { label }
}

/// Brings what the submodules of their worktree have into the repositories of ours. One level down each worktree has a repository of
/// its own.
fn bring(ours: (&Repository, &Worktree), (theirs, there): (&Repository, &Worktree), label: &str) -> Result<()> {
    let submodules = theirs.index(there).submodules();
    if submodules.is_empty() {
        return Ok(());
    }
    let Some(head) = theirs.refs().head(there)?.commit().cloned() else { return Ok(()) };
    let tree = theirs.objects().read_commit(&head)?.tree;
    for (path, commit) in submodules {
        let Some(inner) = of_worktree(theirs, there, &path)? else { continue };
        let home = match home(ours.0, ours.1, (&tree, &path), &inner)? {
            Ok(home) => home,
            Err(why) => {
                tracing::warn!(%why, submodule = %path, "what its workspace has of it is not brought home");
                continue;
            }
        };
        home.refs().bring_from(&inner, std::slice::from_ref(&commit), label)?;
        bring((&home, &home.submodule_worktree()), (&inner, &inner.submodule_worktree()), label)?;
    }
    Ok(())
}

/// The repository of a submodule of a worktree, where it is initialised and ours.
pub(crate) fn of_worktree(repo: &Repository, worktree: &Worktree, path: &RepoPath) -> Result<Option<Arc<Repository>>> {
    let folder = worktree.path().join(path.to_path());
    match repo.worktrees().submodule_folder(worktree, &folder)? {
        SubmoduleFolder::Ours(git_dir) | SubmoduleFolder::Deleted(git_dir) => repo.submodule(&folder, &git_dir).map(Some),
        SubmoduleFolder::NotInitialised | SubmoduleFolder::Elsewhere(_) => Ok(None),
    }
}

/// The main worktree's repository of a submodule; it is made where there is none. In words why there can be none.
fn home(
    repo: &Repository,
    main: &Worktree,
    (tree, path): (&Oid, &RepoPath),
    like: &Repository,
) -> Result<std::result::Result<Arc<Repository>, String>> {
    let folder = main.path().join(path.to_path());
    let git_dir = match repo.worktrees().submodule_folder(main, &folder)? {
        SubmoduleFolder::Ours(git_dir) | SubmoduleFolder::Deleted(git_dir) => git_dir,
        SubmoduleFolder::Elsewhere(why) => return Ok(Err(why)),
        SubmoduleFolder::NotInitialised => {
            let place = match repo.worktrees().place_of_module(main, tree, path) {
                Ok(place) => place,
                Err(error) => return Ok(Err(error.to_string())),
            };
            if !place.is_dir() {
                repo.worktrees().make_module(&place, &folder, like)?;
            }
            place.canonicalize().map_err(|e| Error::io("find", &place, e))?
        }
    };
    repo.submodule(&folder, &git_dir).map(Ok)
}

/// Brings the commits of submodules that a merge moves into the main worktree's repositories of them. Returns, in words, why the merge
/// has to wait: a commit that main's repository of the submodule cannot reach.
pub fn bring_merged(ctx: &Context, workspace: Option<&Path>, changes: &[TreeChange], tree: &Oid) -> Result<Option<String>> {
    let moved = changes.iter().filter_map(|change| Some((change, change.new.as_ref().filter(|new| new.mode == SUBMODULE)?)));
    let moved: Vec<(&RepoPath, &Oid)> = moved.map(|(change, new)| (&change.path, &new.oid)).collect();
    if moved.is_empty() {
        return Ok(None);
    }
    let main = ctx.repo.worktrees().main_worktree()?;
    let entry = workspace.map(|path| ctx.repo.worktrees().worktree_at(path)).transpose()?.flatten();
    let workspace = entry.filter(|entry| entry.present).map(|entry| entry.worktree);
    if let Some(workspace) = &workspace {
        bring_home(ctx, workspace)?;
    }
    let mut lacking = Vec::new();
    for (path, commit) in moved {
        let theirs = workspace.as_ref().map(|workspace| of_worktree(&ctx.repo, workspace, path)).transpose()?.flatten();
        let ours = match &theirs {
            Some(theirs) => home(&ctx.repo, &main, (tree, path), theirs)?.ok(),
            None => of_worktree(&ctx.repo, &main, path)?,
        };
        if let (Some(ours), Some(theirs), Some(workspace)) = (&ours, &theirs, &workspace) {
            ours.refs().bring_from(theirs, std::slice::from_ref(commit), &label_of(workspace.path()))?;
        }
        // Without an entry in `.gitmodules` it is no submodule that anybody could fetch, here or elsewhere.
        let is_one = ours.is_some() || ctx.repo.worktrees().place_of_module(&main, tree, path).is_ok();
        if is_one && !ours.is_some_and(|ours| ours.objects().has_object(commit)) {
            lacking.push(format!("'{path}' to {}", commit.short()));
        }
    }
    if lacking.is_empty() {
        return Ok(None);
    }
    let named = axiom_base::error::some_of(&lacking, NAMED);
    Ok(Some(format!(
        "it moves the submodule {named}, a commit that the main worktree's repository of that submodule does not have; fetch it there, or take the commit out of the task"
    )))
}

/// The submodules that a merge moved to a commit that no remote-tracking ref of them has, in words: others who fetch the merge cannot
/// check them out. It stops nothing.
pub fn on_no_remote(ctx: &Context, merge: &Oid) -> Result<Vec<String>> {
    let merge = ctx.repo.objects().read_commit(merge)?;
    let Some(before) = merge.parents.first() else { return Ok(Vec::new()) };
    let main = ctx.repo.worktrees().main_worktree()?;
    let mut found = Vec::new();
    for change in ctx.repo.history().diff_trees(before, &merge.tree)? {
        let Some(new) = change.new.filter(|new| new.mode == SUBMODULE) else { continue };
        let Some(repo) = of_worktree(&ctx.repo, &main, &change.path)? else { continue };
        if !repo.objects().has_object(&new.oid) {
            continue;
        }
        let output = repo.git().args(["rev-list", "--max-count=1", new.oid.as_str(), "--not", "--remotes"]).run_ok()?;
        if !output.stdout.trim_ascii().is_empty() {
            found.push(format!("no remote of the submodule '{}' has its new commit {}: push it", change.path, new.oid.short()));
        }
    }
    Ok(found)
}
