//! Submodules in an operation: each is changed in its own repository, as one more worktree, after the one that it is in. A submodule that
//! an operation does not change keeps the commit that is checked out in it.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::recorded_head::is_at;
use crate::context::handle::Context;
use crate::operation::step_parts::published_ref::publish;
use crate::operation::step_parts::steps_report::OperationStepsReport;
use crate::operation::step_parts::submodule_folders::{has_files, is_checked_out, opened};
use crate::operation::step_parts::worktree_step::{OperationContents, restore_worktree};
use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_git::{
    ChangeAttempt, FileId, IndexLock, NewCommit, RefEdit, Repository, SUBMODULE, TREE, TreeChange, TreeEntry, Worktree,
};
use axiom_model::base::ids::OperationId;
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::own_names::SUPERPROJECT_KEPT;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::{SubmoduleChange, WorktreeChange};

/// The tree `then`, in which the present submodules keep the commits that they have checked out now, but for those that go `back`
/// themselves; and the paths of those for which `then` has another commit, or nothing: their folder stays. One that is not there is, for
/// git, at the commit that the `index` has for it then. `changes` are the changes from the current tree to `then`.
pub(crate) fn with_own_submodules(
    repo: &Repository,
    root: &Path,
    (then, index): (Oid, &Oid),
    (changes, back): (&[TreeChange], &BTreeSet<RepoPath>),
) -> Result<(Oid, Vec<RepoPath>)> {
    let is_submodule = |file: &FileId| file.mode == SUBMODULE;
    let appears_below = |path| changes.iter().any(|change| change.new.is_some() && change.path.within(path).is_some());
    let (mut own, mut absent) = (Vec::new(), Vec::new());
    for change in changes.iter().filter(|change| !back.contains(&change.path)) {
        let concerns_one = match &change.new {
            Some(wanted) => is_submodule(wanted),
            // Files that come back into its folder replace it.
            None => change.old.as_ref().is_some_and(is_submodule) && !appears_below(&change.path),
        };
        if !concerns_one {
            continue;
        }
        let as_at = |commit: Oid| {
            let new = Some(FileId { mode: SUBMODULE, oid: commit });
            TreeChange { path: change.path.clone(), old: change.new.clone(), new }
        };
        match (repo.restore().head_of_nested(&root.join(change.path.to_path())), &change.new) {
            (Some(commit), wanted) if wanted.as_ref().is_none_or(|wanted| wanted.oid != commit) => own.push(as_at(commit)),
            (None, Some(_)) => absent.extend(repo.trees().submodule_in_tree(index, &change.path)?.map(as_at)),
            (Some(_), _) | (None, None) => {}
        }
    }
    let tree = repo.trees().edit_tree(&repo.trees().edit_tree(&then, &own)?, &absent)?;
    Ok((tree, own.into_iter().map(|change| change.path).collect()))
}

/// Adds to `changed` what is not as the operation expects it.
pub(super) fn expectations(ctx: &Context, change: &SubmoduleChange, changed: &mut Vec<String>) -> Result<()> {
    let (repo, there) = opened(ctx, change)?;
    let path = &change.worktree.path;
    if is_checked_out(there.path()) != change.checked_out.old {
        changed.push(format!("the submodule '{path}' was checked out or deleted"));
    }
    if change.checked_out.old {
        there.verify()?;
    }
    IndexLock::check_free(&there)?;
    if !is_at(&repo.refs().head(&there)?, &change.worktree.head.old) {
        changed.push(format!("HEAD of '{path}' moved"));
    }
    let names: Vec<RefName> = change.refs.iter().map(|one| one.name.clone()).collect();
    let now = repo.refs().read_refs(&names)?;
    let moved = change.refs.iter().filter(|one| now.get(&one.name) != one.value.old.as_ref());
    changed.extend(moved.map(|one| format!("{} moved in '{path}'", one.name.short())));
    Ok(())
}

/// The step of an operation in one submodule. Where its folder was deleted, it is made again first; where it has to be gone afterwards,
/// its `.git` goes last.
pub(super) fn carry_out(
    ctx: &Context,
    change: &SubmoduleChange,
    (txn, attempt, ready): (&OperationId, ChangeAttempt, &OperationContents),
    stays: SubmoduleFolderStays<'_>,
    done: &mut OperationStepsReport,
) -> Result<()> {
    let (repo, there) = opened(ctx, change)?;
    // Files that come back in the place of the folder, or of one above: the worktree around has moved the whole folder to the trash for
    // them.
    let lowest = there.path().ancestors().find_map(|place| place.symlink_metadata().ok());
    let is_other = lowest.is_some_and(|meta| !meta.is_dir()) || has_files(there.path()) && !is_checked_out(there.path());
    let is_taken = !change.checked_out.new && is_other;
    if !is_taken {
        if change.checked_out.new || change.checked_out.old {
            connect(&repo, &there)?;
        }
        env::fault_point("journal.submodule-connected");
        restore_worktree(ctx, (&repo, &there), &change.worktree, (txn, attempt, ready), done)?;
    }
    let outcome = move_branches(&repo, change, attempt, done);
    done.or_named(attempt, &format!("branches of '{}'", change.worktree.path), outcome)?;
    if !change.checked_out.new && !is_taken {
        disconnect(&there, stays)?;
    }
    Ok(())
}

fn move_branches(
    repo: &Repository,
    change: &SubmoduleChange,
    attempt: ChangeAttempt,
    done: &mut OperationStepsReport,
) -> Result<()> {
    let names: Vec<RefName> = change.refs.iter().map(|one| one.name.clone()).collect();
    let now = repo.refs().read_refs(&names)?;
    let mut edits = Vec::new();
    for one in change.refs.iter().filter(|one| now.get(&one.name) != one.value.new.as_ref()) {
        if attempt == ChangeAttempt::Back && now.get(&one.name) != one.value.old.as_ref() {
            done.left.push(format!("{} in '{}'", one.name.short(), change.worktree.path));
            continue;
        }
        edits.push(RefEdit::from(one));
    }
    repo.refs().update_refs(&edits, "git axiom: restored")
}

/// Gives the folder of a submodule its `.git`, which leads to its git directory.
fn connect(repo: &Repository, there: &Worktree) -> Result<()> {
    if is_checked_out(there.path()) {
        return there.verify();
    }
    files::create_dir_all(there.path())?;
    there.name_git_dir(repo)
}

/// Takes the `.git` file out of the folder of a submodule, and the folder too where nothing else is in it and it does not stay.
fn disconnect(there: &Worktree, stays: SubmoduleFolderStays<'_>) -> Result<()> {
    let dot = there.path().join(".git");
    if dot.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        there.verify()?;
        files::remove_file(&dot)?;
        // Folders that led only to it go too; that of the worktree has its `.git`.
        for folder in there.path().ancestors() {
            if folder.join(".git").symlink_metadata().is_ok() || stays(folder)? || !files::remove_empty_dir(folder)? {
                break;
            }
        }
    }
    Ok(())
}

/// Whether the folder of a submodule stays, though the submodule is not checked out any more.
pub(super) type SubmoduleFolderStays<'a> = &'a dyn Fn(&Path) -> Result<bool>;

/// Whether a folder is one of a submodule that the worktree around has after the operation: an empty one is what `git submodule deinit`
/// leaves, and what git takes for unchanged; a missing one is deleted.
pub(super) fn folder_stays(ctx: &Context, operation: &JournaledOperation, folder: &Path) -> Result<bool> {
    let is_one = operation.submodules.iter().any(|one| Path::new(&one.worktree.path) == folder);
    Ok(is_one && around_has(ctx, operation, folder)?)
}

/// Whether what is around a submodule has something at its path after the operation.
fn around_has(ctx: &Context, operation: &JournaledOperation, folder: &Path) -> Result<bool> {
    let rest = |around: &WorktreeChange| {
        let rest = folder.strip_prefix(&around.path).ok().filter(|rest| !rest.as_os_str().is_empty())?;
        Some(RepoPath::new(rest.as_os_str().as_bytes()))
    };
    let worktrees = operation.worktrees.iter().map(|around| (None, around));
    let submodules = operation.submodules.iter().map(|around| (Some(around), &around.worktree));
    let all = worktrees.chain(submodules).filter_map(|(submodule, around)| Some((submodule, around, rest(around)?)));
    match all.min_by_key(|(_, _, rest)| rest.as_bytes().len()) {
        Some((None, around, rest)) => ctx.repo.trees().is_in_tree(&around.files.new, &rest),
        Some((Some(submodule), around, rest)) if submodule.checked_out.new => {
            opened(ctx, submodule)?.0.trees().is_in_tree(&around.files.new, &rest)
        }
        Some((Some(_), ..)) => Ok(false),
        // It does not change, and has the submodule that is checked out before or after.
        None => Ok(true),
    }
}

/// Makes the ref that keeps, in the submodule's repository, what an undo will need. Repeating it changes nothing more.
pub(super) fn keep(ctx: &Context, change: &SubmoduleChange, txn: &OperationId, title: &str) -> Result<()> {
    let (repo, _) = opened(ctx, change)?;
    let name = RefName::new(format!("{SUPERPROJECT_KEPT}{txn}"));
    if repo.refs().read_ref(&name)?.is_some() {
        return Ok(());
    }
    let worktree = &change.worktree;
    let captures = [&worktree.captures.old, &worktree.captures.new].into_iter().flatten();
    let tips = change.refs.iter().flat_map(|one| [&one.value.old, &one.value.new]).flatten();
    let parents: BTreeSet<Oid> = captures.chain(tips).cloned().collect();
    let trees: BTreeSet<&Oid> =
        [&worktree.files, &worktree.index].into_iter().flat_map(|trees| [&trees.old, &trees.new]).collect();
    let entry = |oid: &Oid| TreeEntry { mode: TREE, oid: oid.clone(), name: oid.as_str().into() };
    let tree = repo.trees().write_tree(&trees.into_iter().map(entry).collect::<Vec<_>>())?;
    publish_kept(&repo, name, (&tree, parents.into_iter().collect()), title)
}

/// Makes a ref that keeps commits. Repeating it changes nothing more.
pub(super) fn keep_commits(repo: &Repository, name: &str, commits: &[Oid], title: &str) -> Result<()> {
    let name = RefName::new(name);
    if repo.refs().read_ref(&name)?.is_some() {
        return Ok(());
    }
    let tree = repo.trees().empty_tree()?;
    publish_kept(repo, name, (&tree, commits.to_vec()), title)
}

fn publish_kept(repo: &Repository, name: RefName, (tree, parents): (&Oid, Vec<Oid>), title: &str) -> Result<()> {
    let (who, message) = (repo.objects().signature()?, format!("kept for undo: {title}"));
    let commit = repo.objects().write_commit(&NewCommit { tree, parents, who: &who, message: &message })?;
    publish(repo, name, commit, &format!("git axiom: {title}"))
}
