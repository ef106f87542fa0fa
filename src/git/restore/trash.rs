//! Keeps in the trash what was in the way of a restore and is in no capture, in such a way that it can be found again and
//! put back.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use axiom_base::error::{Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::RepoPath;

use crate::base::path_inspection::{PathOccupant, look};
use crate::objects::durability::sync_file_system;
use crate::repo::nested::is_repository;
use crate::repo::worktrees::Worktree;
use crate::restore::trash_folder::Trash;

/// The prefix of folders in a trash that hold one such thing each. The folder's name also says how deep the thing's path
/// was, so that a single rename is enough to keep it.
const ASIDE: &str = "aside-";

/// Something in a transaction's trash that was in the way of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashedObstacle {
    /// Its path in the worktree.
    pub path: RepoPath,
    /// The folder in the trash below which it has the same path.
    pub folder: PathBuf,
}

impl TrashedObstacle {
    /// Where it is now.
    pub fn now_at(&self) -> PathBuf {
        self.folder.join(self.path.to_path())
    }
}

impl Trash<'_> {
    /// Moves what is at `path` below `root` to the trash, separate from what a capture holds. Returns where it is now;
    /// `None` if nothing was there. After a crash it is still in its place, or [`in_trash`] finds it.
    pub(crate) fn take_aside(&self, root: &Path, path: &RepoPath) -> Result<Option<PathBuf>> {
        let from = root.join(path.to_path());
        if std::fs::symlink_metadata(&from).is_err() {
            return Ok(None);
        }
        self.set_apart(&from, path)
    }

    /// Finishes moves from below `root` to the trash that a crash interrupted.
    pub(crate) fn end_half_moved(&self, root: &Path) -> Result<()> {
        for item in in_trash(self.folder())? {
            if files::is_half_moved(&item.now_at())? {
                files::move_whole(&root.join(item.path.to_path()), &item.now_at())?;
            }
        }
        Ok(())
    }

    /// Moves something as [`Trash::take_aside`] does; it was at `path` and is at `from` now.
    pub(crate) fn set_apart(&self, from: &Path, path: &RepoPath) -> Result<Option<PathBuf>> {
        let depth = path.folders_above().count() + 1;
        let to = self.folder().join(format!("{ASIDE}{depth}-{}", env::fresh_id())).join(path.to_path());
        if let Some(parent) = to.parent() {
            files::create_dir_all(parent)?;
        }
        Ok(files::move_whole(from, &to)?.then_some(to))
    }
}

/// Lists what a transaction's trash of one worktree holds that was in the way and is not put back yet.
pub fn in_trash(trash: &Path) -> Result<Vec<TrashedObstacle>> {
    let mut all = Vec::new();
    for folder in entries(trash)? {
        let name = folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let depth = name.strip_prefix(ASIDE).and_then(|rest| rest.split('-').next()?.parse::<usize>().ok());
        let Some(depth) = depth else { continue };
        let mut place = folder.clone();
        for _ in 0..depth {
            // The folder is empty if a crash came before the move, or if the thing was put back.
            let Some(below) = entries(&place)?.into_iter().next() else { break };
            let name = below.file_name().unwrap_or_default().as_bytes();
            // If the thing is moved in parts, this is the folder in which the parts wait, and the thing itself may be
            // missing.
            place = files::half_moved_name(name).map_or_else(|| below.clone(), |name| place.join(OsStr::from_bytes(name)));
        }
        let inside = place.strip_prefix(&folder).unwrap_or(&place);
        let is_there = || Ok::<_, Error>(files::metadata(&place)?.is_some() || files::is_half_moved(&place)?);
        if inside.components().count() == depth && is_there()? {
            all.push(TrashedObstacle { path: RepoPath::new(inside.as_os_str().as_bytes()), folder });
        }
    }
    all.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(all)
}

/// The entries of a folder, sorted; empty if the path is not a folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    if !std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir()) {
        return Ok(Vec::new());
    }
    let list = std::fs::read_dir(folder).map_err(|e| Error::io("list", folder, e))?;
    let mut paths = Vec::new();
    for entry in list {
        paths.push(entry.map_err(|e| Error::io("list", folder, e))?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Moves something from the trash back to its place, as far as that is free. Folders are merged, nothing is replaced.
/// Returns whether all of it is back. It is on disk when this returns; a crash leaves each part in one of the two places.
pub fn put_back(worktree: &Worktree, item: &TrashedObstacle) -> Result<bool> {
    worktree.verify()?;
    env::fault_point("git.before-put-back");
    let half_moved = files::is_half_moved(&item.now_at())?;
    files::turn_back(&worktree.path().join(item.path.to_path()), &item.now_at())?;
    if half_moved {
        sync_file_system(worktree.path())?;
        return Ok(true);
    }
    let all = merge_back(worktree.path(), &item.path, &item.now_at())?;
    sync_file_system(worktree.path())?;
    Ok(all)
}

fn merge_back(root: &Path, path: &RepoPath, from: &Path) -> Result<bool> {
    let Ok(meta) = std::fs::symlink_metadata(from) else { return Ok(true) };
    let place = root.join(path.to_path());
    match look(root, path)? {
        PathOccupant::Missing => {
            path.folders_above().try_for_each(|folder| files::create_users_dir(&root.join(folder.to_path())))?;
            files::move_whole(from, &place)
        }
        // An empty folder can be replaced: it may stand for a submodule, for example.
        PathOccupant::Folder if meta.is_dir() && entries(&place)?.is_empty() => {
            files::holds_no_mount(from)?;
            Ok(files::remove_empty_dir(&place)? && files::move_whole(from, &place)?)
        }
        PathOccupant::Folder if meta.is_dir() && !is_repository(from) && !is_repository(&place) => {
            let mut all = true;
            for child in entries(from)? {
                let name = child.file_name().unwrap_or_default().as_bytes();
                let below = RepoPath::new([path.as_bytes(), b"/", name].concat());
                all &= merge_back(root, &below, &child)?;
            }
            Ok(all && files::remove_empty_dir(from)?)
        }
        PathOccupant::Below(_)
        | PathOccupant::File(_)
        | PathOccupant::Link(..)
        | PathOccupant::Folder
        | PathOccupant::Special => Ok(false),
    }
}

/// Moves to the trash again what was put back, when an undo is itself reversed half-way. If part of it is still in the
/// trash, the rest stays where it is.
pub fn take_away_again(worktree: &Worktree, item: &TrashedObstacle) -> Result<()> {
    let (place, now_at) = (worktree.path().join(item.path.to_path()), item.now_at());
    turn_all_back(&now_at, &place)?;
    let is_folder = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    if std::fs::symlink_metadata(&place).is_err() {
        return Ok(());
    }
    // An empty folder in the trash means that all its content was put back.
    let is_left = is_folder(&now_at) && entries(&now_at)?.is_empty() && files::remove_empty_dir(&now_at)?;
    if !is_left && std::fs::symlink_metadata(&now_at).is_ok() {
        return Ok(());
    }
    if let Some(parent) = now_at.parent() {
        files::create_dir_all(parent)?;
    }
    env::fault_point("git.before-away-again");
    files::move_whole(&place, &now_at).map(drop)
}

/// Reverses a move from `from` to `to` that a crash interrupted, or such a move between the same paths below them.
fn turn_all_back(from: &Path, to: &Path) -> Result<()> {
    files::turn_back(from, to)?;
    for below in entries(to)? {
        let name = below.file_name().unwrap_or_default();
        if let Some(name) = files::half_moved_name(name.as_bytes()).map(OsStr::from_bytes) {
            files::turn_back(&from.join(name), &to.join(name))?;
        } else if !entries(&from.join(name))?.is_empty() {
            turn_all_back(&from.join(name), &below)?;
        }
    }
    Ok(())
}

/// Whether a folder contains anything but `gone`, so that it stays when those are removed.
pub(crate) fn something_stays(root: &Path, folder: &RepoPath, gone: &BTreeSet<&RepoPath>) -> Result<bool> {
    let inside = entries(&root.join(folder.to_path()))?;
    // A folder that was already empty stays.
    if inside.is_empty() {
        return Ok(true);
    }
    for entry in inside {
        let name = entry.file_name().unwrap_or_default().as_bytes();
        let path = RepoPath::new([folder.as_bytes(), b"/", name].concat());
        let is_folder = std::fs::symlink_metadata(&entry).is_ok_and(|meta| meta.is_dir());
        let stays = if is_folder { something_stays(root, &path, gone)? } else { !gone.contains(&path) };
        if stays {
            return Ok(true);
        }
    }
    Ok(false)
}
