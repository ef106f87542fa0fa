//! Moving files and folders that cannot be renamed: a folder in a lower layer of an overlay, for which the kernel reports
//! another file system, and anything that is moved to another file system.
//!
//! It is moved in parts, into a waiting folder next to its new path. Parts that can be renamed are renamed; others are
//! copied, synced, compared, and only then removed from the old path. When all parts have arrived, the whole gets its new
//! name, in one step. After a crash, every part is at the old or the new place, or at both, and the waiting folder shows
//! that a move was interrupted: the same move can be continued, and [`turn_back`] reverses it.

#![allow(clippy::disallowed_methods)]

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::env;
use crate::error::{Code, Error, Result};

use super::moves::elsewhere;
use crate::files::folder_entries;
use crate::files::folders::folder_sync;
use crate::files::moving::moves::{RenameOutcome, renamed};
use crate::files::{attributes, durable, owner};

/// The prefix of the names of waiting folders.
const HALF: &str = ".axiom-half-";

/// The name of the moved file or folder within its waiting folder.
const WHOLE: &str = "whole";

/// The waiting folder for a move to `to`.
fn half(to: &Path) -> Result<PathBuf> {
    let mut name = std::ffi::OsString::from(HALF);
    name.push(to.file_name().unwrap_or_default());
    Ok(folder_entries::parent(to)?.join(name))
}

/// The name of the file or folder that is being moved, if this is the name of a waiting folder.
pub fn half_moved_name(folder: &[u8]) -> Option<&[u8]> {
    folder.strip_prefix(HALF.as_bytes()).filter(|name| !name.is_empty())
}

/// Whether a move in parts to `to` was begun and has not been finished completely.
pub(in crate::files) fn is_begun(to: &Path) -> Result<bool> {
    is_folder(&half(to)?)
}

/// Whether a move to `to` was interrupted: some parts have been moved, others have not.
pub fn is_half_moved(to: &Path) -> Result<bool> {
    Ok(is_folder(&half(to)?)? && crate::files::metadata(&half(to)?.join(WHOLE))?.is_some())
}

/// Moves `from` to `to` in parts. Returns `false` where something exists at `to`. Synced when it returns. After a crash,
/// call it again with the same paths.
pub(in crate::files) fn move_in_parts(from: &Path, to: &Path) -> Result<bool> {
    let waits = half(to)?;
    let whole_now = waits.join(WHOLE);
    let begun = is_folder(&waits)?;
    if crate::files::metadata(to)?.is_some() {
        // The earlier move has already given it its name. At most an empty folder, or a file that was copied, is left at the
        // old path.
        return Ok(begun && crate::files::metadata(&whole_now)?.is_none() && ended(from, to, &waits)?);
    }
    if !begun && !folder_entries::create_private_dir(&waits)? {
        return Err(
            Error::new(Code::InTheWay, format!("'{}' is in the way", waits.display())).hint("move it away, and try again")
        );
    }
    folder_entries::sync_dir(folder_entries::parent(&waits)?)?;
    env::fault_point("files.half-begun");
    PiecewiseMove::towards(MoveDirection::There).carry(from, &whole_now)?;
    env::fault_point("files.half-whole");
    match renamed(&whole_now, to)? {
        RenameOutcome::Done => {}
        RenameOutcome::Taken => return Ok(false),
        RenameOutcome::Elsewhere => return Err(elsewhere(&whole_now, to)),
    }
    folder_entries::sync_dir(folder_entries::parent(to)?)?;
    env::fault_point("files.half-named");
    ended(from, to, &waits)
}

/// Removes what a move left at the old path. Returns whether it left nothing but a copy of what is at `to`.
fn ended(from: &Path, to: &Path, waits: &Path) -> Result<bool> {
    let gone = match crate::files::metadata(from)? {
        None => true,
        Some(meta) if meta.is_dir() => folder_entries::remove_empty_dir(from)?,
        Some(_) => is_begin_of(from, to)? && folder_entries::remove_file(from).map(|()| true)?,
    };
    if gone {
        folder_entries::sync_dir_if_there(folder_entries::parent(from)?)?;
        folder_entries::remove_empty_dir(waits)?;
    }
    Ok(gone)
}

/// Reverses an interrupted move from `from` to `to`: everything is at the old path again. If everything had arrived at `to`,
/// it stays there, and the rest at `from` is removed. After a crash, call it again. Does nothing if there was no such move.
pub fn turn_back(from: &Path, to: &Path) -> Result<()> {
    let waits = half(to)?;
    if !is_begun(to)? {
        return Ok(());
    }
    if !is_half_moved(to)? {
        // It has its name at `to`, so it can be moved like anything else.
        return if crate::files::metadata(to)?.is_some() {
            ended(from, to, &waits)
        } else {
            folder_entries::remove_empty_dir(&waits)
        }
        .map(drop);
    }
    PiecewiseMove::towards(MoveDirection::Back).carry(&waits.join(WHOLE), from)?;
    env::fault_point("files.half-back");
    match crate::files::metadata(&waits.join(WHOLE))? {
        Some(meta) if meta.is_dir() => folder_entries::remove_empty_dir(&waits.join(WHOLE)).map(drop)?,
        Some(_) => folder_entries::remove_file(&waits.join(WHOLE))?,
        None => {}
    }
    folder_entries::remove_empty_dir(&waits).map(drop)
}

fn is_folder(path: &Path) -> Result<bool> {
    Ok(crate::files::metadata(path)?.is_some_and(|meta| meta.is_dir()))
}

/// The direction of a move in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MoveDirection {
    /// Into the waiting folder. Parts that are there already were moved by an earlier attempt.
    There,
    /// Back to the old path. Parts that are there were never moved.
    Back,
}

/// The copied files whose originals have to be removed, and the folders whose permissions have to be set.
struct PiecewiseMove {
    direction: MoveDirection,
    copied: Vec<(PathBuf, PathBuf, MoveFingerprint)>,
    folders: Vec<MovedFolder>,
}

/// A folder whose contents are being moved.
struct MovedFolder {
    from: PathBuf,
    to: PathBuf,
    /// The mode that it gets at the end: no permission that either of the existing folders did not have.
    mode: u32,
    /// The modification time of the original, if the new folder was created.
    time: Option<std::time::SystemTime>,
}

/// The data by which a write between two checks is detected.
#[derive(Debug, PartialEq, Eq)]
struct MoveFingerprint {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl MoveFingerprint {
    fn at(path: &Path) -> Result<Option<Self>> {
        let of = |meta: Metadata| Self { inode: meta.ino(), size: meta.size(), changed: (meta.mtime(), meta.mtime_nsec()) };
        Ok(crate::files::metadata(path)?.map(of))
    }
}

impl PiecewiseMove {
    fn towards(direction: MoveDirection) -> Self {
        Self { direction, copied: Vec::new(), folders: Vec::new() }
    }

    /// Moves everything at or below `from` to the same place at or below `to`, where some of it may be already. Folders
    /// below `from` are removed; `from` itself stays, empty.
    fn carry(mut self, from: &Path, to: &Path) -> Result<()> {
        let Some(meta) = crate::files::metadata(from)? else { return Ok(()) };
        if meta.is_dir() {
            self.folder(from, to, &meta)?;
        } else {
            self.leaf(from, to)?;
        }
        // Copies are synced before any original is removed.
        folder_sync::sync_file_system(folder_entries::parent(to)?)?;
        env::fault_point("files.half-synced");
        for (from, to, seen) in &self.copied {
            if MoveFingerprint::at(from)?.as_ref() != Some(seen) || !is_begin_of(from, to)? {
                return Err(changed(from));
            }
            // A single file is removed only when its copy has its final name.
            if !self.folders.is_empty() {
                folder_entries::remove_file(from)?;
            }
        }
        // Deepest first: a folder's contents were added after it.
        for (number, folder) in self.folders.iter().enumerate().rev() {
            if number > 0 && !folder_entries::remove_empty_dir(&folder.from)? {
                return Err(changed(&folder.from));
            }
            set_mode(&folder.to, folder.mode)?;
            if let Some(time) = folder.time {
                let _ = durable::set_modified(&folder.to, time);
            }
        }
        folder_sync::sync_file_system(folder_entries::parent(to)?)
    }

    fn folder(&mut self, from: &Path, to: &Path, meta: &Metadata) -> Result<()> {
        let mode = meta.permissions().mode() & 0o7777;
        let there = crate::files::metadata(to)?;
        match &there {
            Some(there) if !there.is_dir() => return Err(changed(to)),
            Some(_) => {}
            None => {
                folder_entries::create_private_dir(to)?;
                dress(to, from, meta, mode)?;
            }
        }
        let known = there.map(|there| there.permissions().mode());
        self.folders.push(MovedFolder {
            from: from.to_owned(),
            to: to.to_owned(),
            mode: mode & known.unwrap_or(mode),
            time: meta.modified().ok().filter(|_| known.is_none()),
        });
        // Entries are moved out of the folder, so it must be writable. A crash may leave a read-only folder with write
        // permission for its owner.
        [from, to].iter().try_for_each(|folder| open_up(folder))?;
        for entry in crate::files::list(from)? {
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            match crate::files::metadata(&from)? {
                Some(meta) if meta.is_dir() => self.folder(&from, &to, &meta)?,
                Some(_) => self.leaf(&from, &to)?,
                None => return Err(changed(&from)),
            }
        }
        Ok(())
    }

    fn leaf(&mut self, from: &Path, to: &Path) -> Result<()> {
        env::fault_point("files.half-part");
        let seen = MoveFingerprint::at(from)?.ok_or_else(|| changed(from))?;
        let renamed_now = match env::refusal_point("files.part-across") {
            Err(_) if crate::files::metadata(to)?.is_none() => RenameOutcome::Elsewhere,
            Err(_) | Ok(()) => renamed(from, to)?,
        };
        // Between two file systems the kernel says so, whether or not there is something at the new path.
        let is_taken = renamed_now == RenameOutcome::Elsewhere && crate::files::metadata(to)?.is_some();
        match if is_taken { RenameOutcome::Taken } else { renamed_now } {
            RenameOutcome::Done => return Ok(()),
            RenameOutcome::Elsewhere => copy(from, to)?,
            RenameOutcome::Taken => match self.direction {
                // An earlier attempt crashed during or after copying: the copy has nothing that the original does not have.
                MoveDirection::There if is_begin_of(to, from)? => {
                    folder_entries::remove_file(to)?;
                    copy(from, to)?;
                }
                MoveDirection::Back if is_begin_of(from, to)? => {}
                MoveDirection::Back if is_begin_of(to, from)? => {
                    folder_entries::remove_file(to)?;
                    copy(from, to)?;
                }
                MoveDirection::There | MoveDirection::Back => return Err(changed(to)),
            },
        }
        self.copied.push((from.to_owned(), to.to_owned(), seen));
        Ok(())
    }
}

/// Copies a file with all its user data: content, permissions, ACLs, attributes, owner as far as allowed, time. A crash
/// leaves the copy, complete or not, in addition to the original.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let failed = |e| Error::io(&format!("copy '{}' to", from.display()), to, e);
    let Some(meta) = crate::files::metadata(from)? else { return Err(changed(from)) };
    if meta.is_symlink() {
        return std::fs::read_link(from).and_then(|text| std::os::unix::fs::symlink(text, to)).map_err(failed);
    }
    if !meta.is_file() {
        return Err(Error::new(Code::IoFailed, format!("'{}' cannot be moved to another file system", from.display()))
            .why("it is neither a file, nor a folder, nor a link"));
    }
    let mut source = std::fs::File::open(from).map_err(failed)?;
    let made = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(to);
    let mut target = made.map_err(failed)?;
    env::fault_point("files.half-copied");
    std::io::copy(&mut source, &mut target).map_err(failed)?;
    dress(to, from, &meta, meta.permissions().mode() & 0o7777)?;
    if let Ok(time) = meta.modified() {
        let _ = durable::set_modified(to, time);
    }
    folder_entries::sync_file(to)
}

/// Gives a copy the owner (as far as allowed), ACLs and attributes of its original, and this mode.
fn dress(copy: &Path, original: &Path, meta: &Metadata, mode: u32) -> Result<()> {
    // If the group cannot be set, permissions that only the original group had are removed.
    let mode = if owner::hand_owner(copy, meta)? { mode } else { owner::for_another_group(meta) };
    let wanted = attributes::attributes(original)?;
    if !wanted.is_empty() {
        attributes::set_attributes(copy, &wanted)?;
    }
    set_mode(copy, mode)
}

fn open_up(folder: &Path) -> Result<()> {
    if crate::files::refuses_changes(folder).is_none() {
        return Ok(());
    }
    let now = std::fs::symlink_metadata(folder).map_err(|e| Error::io("access", folder, e))?;
    set_mode(folder, now.permissions().mode() & 0o7777 | 0o700)
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    let now = std::fs::symlink_metadata(path).map_err(|e| Error::io("access", path, e))?;
    if now.permissions().mode() & 0o7777 == mode { Ok(()) } else { folder_entries::set_mode(path, mode) }
}

/// Whether a file or link contains nothing that another one does not: it is equal, or the beginning of it.
fn is_begin_of(part: &Path, all: &Path) -> Result<bool> {
    let (Some(left), Some(right)) = (crate::files::metadata(part)?, crate::files::metadata(all)?) else { return Ok(false) };
    if left.is_symlink() && right.is_symlink() {
        let text = |path: &Path| std::fs::read_link(path).ok();
        return Ok(text(part) == text(all));
    }
    Ok(left.is_file() && right.is_file() && left.len() <= right.len() && crate::files::begins_with(all, part)?)
}

fn changed(path: &Path) -> Error {
    Error::new(Code::ChangedMeanwhile, format!("'{}' changed while it was moved", path.display()))
}
