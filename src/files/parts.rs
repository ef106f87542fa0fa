//! Moving what no rename moves: a folder of an overlay's lower layer, of which the kernel says that it is elsewhere, and
//! anything that goes to another file system.
//!
//! It goes in parts, into a folder that waits beside the place where it is to be. Whatever can be renamed is; anything else is
//! copied, synced, compared, and only then taken from where it was. When all of it is there it gets its name, in one step. A
//! crash leaves every part in one of the two places, or in both, and the folder that waits tells of it: the same move goes on
//! where it ended, and [`turn_back`] takes it back.

#![allow(clippy::disallowed_methods)]

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::env;
use crate::error::{Code, Error, Result};

use super::moves::{Renamed, renamed};
use super::{attributes, durable, owner, whole};

/// How the names of folders begin in which something waits that is moved in parts.
const HALF: &str = ".axiom-half-";

/// Where it is in there.
const WHOLE: &str = "whole";

/// The folder in which what is moved to `to` waits.
fn half(to: &Path) -> Result<PathBuf> {
    let mut name = std::ffi::OsString::from(HALF);
    name.push(to.file_name().unwrap_or_default());
    Ok(durable::parent(to)?.join(name))
}

/// The name of what waits in a folder of this name, where it is one in which something waits.
pub fn half_moved_name(folder: &[u8]) -> Option<&[u8]> {
    folder.strip_prefix(HALF.as_bytes()).filter(|name| !name.is_empty())
}

/// Whether a move to `to` was begun in parts, and has not come to its very end.
///
/// # Errors
/// `IO_FAILED`.
pub(super) fn is_begun(to: &Path) -> Result<bool> {
    is_folder(&half(to)?)
}

/// Whether a move to `to` was interrupted: some of it is there, some of it where it was.
///
/// # Errors
/// `IO_FAILED`.
pub fn is_half_moved(to: &Path) -> Result<bool> {
    Ok(is_folder(&half(to)?)? && super::metadata(&half(to)?.join(WHOLE))?.is_some())
}

/// Moves `from` to `to` in parts; says `false` where something is at `to`. On disk when it returns. To be called again after
/// a crash, with the same two.
///
/// # Errors
/// `CHANGED_MEANWHILE` where somebody writes in it at this very moment; `IO_FAILED`, `DISK_FULL`: [`turn_back`] takes it back.
pub(super) fn move_in_parts(from: &Path, to: &Path) -> Result<bool> {
    let waits = half(to)?;
    let whole_now = waits.join(WHOLE);
    let begun = is_folder(&waits)?;
    if super::metadata(to)?.is_some() {
        // Its name was all that it still needed; what is left of it is an empty folder, or a file that was copied.
        return Ok(begun && super::metadata(&whole_now)?.is_none() && ended(from, to, &waits)?);
    }
    if !begun && !durable::create_private_dir(&waits)? {
        return Err(
            Error::new(Code::InTheWay, format!("'{}' is in the way", waits.display())).hint("move it away, and try again")
        );
    }
    durable::sync_dir(durable::parent(&waits)?)?;
    env::fault_point("files.half-begun");
    Parts::towards(Direction::There).carry(from, &whole_now)?;
    env::fault_point("files.half-whole");
    match renamed(&whole_now, to)? {
        Renamed::Done => {}
        Renamed::Taken => return Ok(false),
        Renamed::Elsewhere => return Err(elsewhere(&whole_now, to)),
    }
    durable::sync_dir(durable::parent(to)?)?;
    env::fault_point("files.half-named");
    ended(from, to, &waits)
}

/// Takes away what a move left where it came from; says whether that was nothing but what is at `to`.
fn ended(from: &Path, to: &Path, waits: &Path) -> Result<bool> {
    let gone = match super::metadata(from)? {
        None => true,
        Some(meta) if meta.is_dir() => durable::remove_empty_dir(from)?,
        Some(_) => is_begin_of(from, to)? && durable::remove_file(from).map(|()| true)?,
    };
    if gone {
        durable::sync_dir_if_there(durable::parent(from)?)?;
        durable::remove_empty_dir(waits)?;
    }
    Ok(gone)
}

/// Takes an interrupted move from `from` to `to` back: all of it is where it was. Where all of it was at `to` already it
/// stays there, and nothing of it is left at `from`. To be called again after a crash. Nothing to do where there was none.
///
/// # Errors
/// As [`super::move_whole`].
pub fn turn_back(from: &Path, to: &Path) -> Result<()> {
    let waits = half(to)?;
    if !is_begun(to)? {
        return Ok(());
    }
    if !is_half_moved(to)? {
        // It has its name, and may be moved as anything else.
        return if super::metadata(to)?.is_some() { ended(from, to, &waits) } else { durable::remove_empty_dir(&waits) }
            .map(drop);
    }
    Parts::towards(Direction::Back).carry(&waits.join(WHOLE), from)?;
    env::fault_point("files.half-back");
    match super::metadata(&waits.join(WHOLE))? {
        Some(meta) if meta.is_dir() => durable::remove_empty_dir(&waits.join(WHOLE)).map(drop)?,
        Some(_) => durable::remove_file(&waits.join(WHOLE))?,
        None => {}
    }
    durable::remove_empty_dir(&waits).map(drop)
}

fn is_folder(path: &Path) -> Result<bool> {
    Ok(super::metadata(path)?.is_some_and(|meta| meta.is_dir()))
}

/// Where parts go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// To where they wait for the others. What is there already was put there by an earlier try.
    There,
    /// Back to where they were. What is there already never left.
    Back,
}

/// What was copied and is to go, and folders that are to be closed again.
struct Parts {
    direction: Direction,
    copied: Vec<(PathBuf, PathBuf, Seen)>,
    folders: Vec<Folder>,
}

/// A folder that what is in another one goes to.
struct Folder {
    from: PathBuf,
    to: PathBuf,
    /// What it gets when all of it is there: no more open than what either was that stood when this began.
    mode: u32,
    /// The time of the other one, where this one is new.
    time: Option<std::time::SystemTime>,
}

/// What tells that nobody wrote to a file between two looks.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Seen {
    fn at(path: &Path) -> Result<Option<Self>> {
        let of = |meta: Metadata| Self { inode: meta.ino(), size: meta.size(), changed: (meta.mtime(), meta.mtime_nsec()) };
        Ok(super::metadata(path)?.map(of))
    }
}

impl Parts {
    fn towards(direction: Direction) -> Self {
        Self { direction, copied: Vec::new(), folders: Vec::new() }
    }

    /// Everything at or below `from` goes to the same place at or below `to`, where some of it may be already. Folders that
    /// it was in stay, empty, but for those below `from`.
    fn carry(mut self, from: &Path, to: &Path) -> Result<()> {
        let Some(meta) = super::metadata(from)? else { return Ok(()) };
        if meta.is_dir() {
            self.folder(from, to, &meta)?;
        } else {
            self.leaf(from, to)?;
        }
        // What was copied is on disk before anything goes.
        whole::sync_file_system(durable::parent(to)?)?;
        env::fault_point("files.half-synced");
        for (from, to, seen) in &self.copied {
            if Seen::at(from)?.as_ref() != Some(seen) || !is_begin_of(from, to)? {
                return Err(changed(from));
            }
            // A file by itself goes when its copy has its name.
            if !self.folders.is_empty() {
                durable::remove_file(from)?;
            }
        }
        // Deepest first: what is in a folder was listed after it.
        for (number, folder) in self.folders.iter().enumerate().rev() {
            if number > 0 && !durable::remove_empty_dir(&folder.from)? {
                return Err(changed(&folder.from));
            }
            set_mode(&folder.to, folder.mode)?;
            if let Some(time) = folder.time {
                let _ = durable::set_modified(&folder.to, time);
            }
        }
        whole::sync_file_system(durable::parent(to)?)
    }

    fn folder(&mut self, from: &Path, to: &Path, meta: &Metadata) -> Result<()> {
        let mode = meta.permissions().mode() & 0o7777;
        let there = super::metadata(to)?;
        match &there {
            Some(there) if !there.is_dir() => return Err(changed(to)),
            Some(_) => {}
            None => {
                durable::create_private_dir(to)?;
                dress(to, from, meta, mode)?;
            }
        }
        let known = there.map(|there| there.permissions().mode());
        self.folders.push(Folder {
            from: from.to_owned(),
            to: to.to_owned(),
            mode: mode & known.unwrap_or(mode),
            time: meta.modified().ok().filter(|_| known.is_none()),
        });
        // What is in it leaves it by name. A crash leaves a folder that nobody could write to open to its owner.
        [from, to].iter().try_for_each(|folder| open_up(folder))?;
        for entry in super::list(from)? {
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            match super::metadata(&from)? {
                Some(meta) if meta.is_dir() => self.folder(&from, &to, &meta)?,
                Some(_) => self.leaf(&from, &to)?,
                None => return Err(changed(&from)),
            }
        }
        Ok(())
    }

    fn leaf(&mut self, from: &Path, to: &Path) -> Result<()> {
        env::fault_point("files.half-part");
        let seen = Seen::at(from)?.ok_or_else(|| changed(from))?;
        let renamed_now = match env::refusal_point("files.part-across") {
            Err(_) if super::metadata(to)?.is_none() => Renamed::Elsewhere,
            Err(_) | Ok(()) => renamed(from, to)?,
        };
        match renamed_now {
            Renamed::Done => return Ok(()),
            Renamed::Elsewhere => copy(from, to)?,
            Renamed::Taken => match self.direction {
                // A crash came while it was copied, or after that: nothing is in it that its original has not.
                Direction::There if is_begin_of(to, from)? => {
                    durable::remove_file(to)?;
                    copy(from, to)?;
                }
                Direction::Back if is_begin_of(from, to)? => {}
                Direction::Back if is_begin_of(to, from)? => {
                    durable::remove_file(to)?;
                    copy(from, to)?;
                }
                Direction::There | Direction::Back => return Err(changed(to)),
            },
        }
        self.copied.push((from.to_owned(), to.to_owned(), seen));
        Ok(())
    }
}

/// A copy with all that is the user's of it: content, permissions, ACLs, attributes, owner where we may, time. Nobody takes it
/// for more than it is: a crash leaves it beside its original, begun or whole.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let failed = |e| Error::io(&format!("copy '{}' to", from.display()), to, e);
    let Some(meta) = super::metadata(from)? else { return Err(changed(from)) };
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
    durable::sync_file(to)
}

/// Gives a copy what its original has: the owner where we may, ACLs and attributes, this mode.
fn dress(copy: &Path, original: &Path, meta: &Metadata, mode: u32) -> Result<()> {
    // Of a group that we may not give it to: what only that one could do, nobody else can.
    let mode = if owner::hand_owner(copy, meta)? { mode } else { owner::for_another_group(meta) };
    let wanted = attributes::attributes(original)?;
    if !wanted.is_empty() {
        attributes::set_attributes(copy, &wanted)?;
    }
    set_mode(copy, mode)
}

fn open_up(folder: &Path) -> Result<()> {
    if super::refuses_changes(folder).is_none() {
        return Ok(());
    }
    let now = std::fs::symlink_metadata(folder).map_err(|e| Error::io("look at", folder, e))?;
    set_mode(folder, now.permissions().mode() & 0o7777 | 0o700)
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    let now = std::fs::symlink_metadata(path).map_err(|e| Error::io("look at", path, e))?;
    if now.permissions().mode() & 0o7777 == mode { Ok(()) } else { durable::set_mode(path, mode) }
}

/// Whether a file, or a link, has nothing that another one has not: it is the same, or the beginning of it.
fn is_begin_of(part: &Path, all: &Path) -> Result<bool> {
    let (Some(left), Some(right)) = (super::metadata(part)?, super::metadata(all)?) else { return Ok(false) };
    if left.is_symlink() && right.is_symlink() {
        let text = |path: &Path| std::fs::read_link(path).ok();
        return Ok(text(part) == text(all));
    }
    Ok(left.is_file() && right.is_file() && left.len() <= right.len() && super::begins_with(all, part)?)
}

pub(super) fn elsewhere(from: &Path, to: &Path) -> Error {
    Error::io(&format!("move '{}' to", from.display()), to, std::io::Error::from(rustix::io::Errno::XDEV))
}

fn changed(path: &Path) -> Error {
    Error::new(Code::ChangedMeanwhile, format!("'{}' changed while it was moved", path.display()))
}
