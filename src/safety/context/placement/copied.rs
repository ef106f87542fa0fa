//! Making a copy a repository of its own. Copied parts of the original's running work are moved to the trash, and nothing is
//! deleted: registrations of its workspaces, the folders that were copied with them, the records of its keepers. Repeating
//! it after a crash finishes it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::context::conflict_notes;
use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_git::WorktreeOwner;
use axiom_model::state::repository_location::{RelocationCause, RepositoryRelocation};

/// Separates the copy from the original; returns notes for the user.
pub(super) fn leave_the_original_alone(ctx: &mut Context, placing: &RepositoryRelocation) -> Result<Vec<String>> {
    debug_assert_eq!(placing.how, RelocationCause::Copied);
    not_the_originals_worktree(placing)?;
    separate(ctx)?;
    // The list of workspaces is final only once no other process can write the log any more.
    ctx.store.refresh()?;
    let mut said = vec!["it has no workspaces; tasks that were being worked on are pending".to_owned()];
    for path in workspaces(ctx)? {
        env::fault_point("placement.before-workspace");
        let here = PathBuf::from(placing.path(&path));
        unregister(ctx, &path, &here)?;
        if let Some(trash) = put_copy_aside(ctx, &here)? {
            said.push(format!("the files of the copied workspace '{}' are in '{}'", here.display(), trash.display()));
        }
    }
    put_runs_aside(ctx)?;
    Ok(said)
}

/// Refuses a copy whose configuration names the original's files (`core.worktree`): it has no worktree of its own.
fn not_the_originals_worktree(placing: &RepositoryRelocation) -> Result<()> {
    match &placing.to.worktree {
        Some(worktree) if placing.from.worktree.as_ref() == Some(worktree) => {
            let what = format!("'{}' is a copy, and its main worktree is the original's: '{worktree}'", placing.to.common_dir);
            Err(Error::new(Code::RepositoryUnsupported, what)
                .why("core.worktree in its configuration names that folder")
                .hint("git config core.worktree PATH    with the folder that belongs to this copy"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Gives files that the copy shares with the original by hard links their own inodes, before anything is locked or written:
/// the files that are appended to in place, which are ours below `axiom` and git's reflogs.
fn separate(ctx: &Context) -> Result<()> {
    let common = ctx.repo.common_dir();
    let mut folders = vec![ctx.layout().root().to_owned(), common.join("logs"), common.join("info")];
    folders.extend(files::list(&common.join("worktrees"))?.iter().map(|entry| entry.path().join("logs")));
    for folder in folders {
        for entry in walkdir::WalkDir::new(&folder).into_iter().flatten().filter(|entry| entry.file_type().is_file()) {
            files::with_inode_of_its_own(entry.path())?;
        }
    }
    Ok(())
}

/// The paths of the original's workspaces, as recorded: the agents', and those in which a conflict is being resolved.
fn workspaces(ctx: &Context) -> Result<BTreeSet<String>> {
    let agents = ctx.state().restorable.workspaces.values().map(|workspace| workspace.path.clone());
    let settling = conflict_notes::noted(ctx.repo.common_dir())?.into_iter().map(|(_, note)| note.path);
    Ok(agents.chain(settling).collect())
}

/// Removes git's registration of a workspace from this copy: it names the original's folder.
fn unregister(ctx: &Context, recorded: &str, here: &Path) -> Result<()> {
    for (git_dir, folder) in ctx.repo.worktree_owners().linked()? {
        if folder == Path::new(recorded) || folder == here {
            let name = git_dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let aside = ctx.repo.common_dir().join("axiom/trash").join(format!("copied-{name}-{}", env::fresh_id()));
            move_aside(&git_dir, &aside)?;
        }
    }
    Ok(())
}

/// Moves the copy of a workspace's folder to the trash, where there is one: its `.git` names the original. Returns its new
/// place.
fn put_copy_aside(ctx: &Context, here: &Path) -> Result<Option<PathBuf>> {
    let below = ctx.repo.worktrees().main_worktree().is_ok_and(|main| here.starts_with(main.path()));
    let copied = match ctx.repo.worktree_owners().whose(here)? {
        WorktreeOwner::Nobody => false,
        WorktreeOwner::Unclaimed | WorktreeOwner::Ours(_) => true,
        WorktreeOwner::Others(other) => !other.names_back,
    };
    let (Some(above), Some(name)) = (here.parent(), here.file_name()) else { return Ok(None) };
    if !below || !copied {
        return Ok(None);
    }
    let trash = above.join("trash").join(format!("copied-{}-{}", name.to_string_lossy(), env::fresh_id()));
    // The `.git` that names the original first, so that no git command in the trash ever works on the original.
    move_aside(&here.join(".git"), &trash.join("dot-git"))?;
    move_aside(here, &trash.join("folder"))?;
    Ok(Some(trash))
}

/// Moves the keepers' records to the trash: they name sockets, processes and temporary folders of the original.
fn put_runs_aside(ctx: &Context) -> Result<()> {
    for agent in files::list(&ctx.layout().agents().folder())? {
        let name = agent.file_name().to_string_lossy().into_owned();
        let aside = ctx.repo.common_dir().join("axiom/trash").join(format!("copied-runs-{name}-{}", env::fresh_id()));
        move_aside(&agent.path().join("runs"), &aside)?;
    }
    Ok(())
}

fn move_aside(from: &Path, to: &Path) -> Result<()> {
    if files::metadata(from)?.is_none() {
        return Ok(());
    }
    if let Some(above) = to.parent() {
        files::create_dir_all(above)?;
    }
    if files::move_whole(from, to)? {
        return Ok(());
    }
    Err(Error::new(Code::InTheWay, format!("'{}' exists already", to.display())).hint("run the command again"))
}
