//! Our own files: the log, its copies, what agents printed, and the trash.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::domain::base::names::Oid;
use crate::domain::base::sealed;
use crate::domain::checkpoint::purge::Masks;
use crate::error::{Code, Error, Result};
use crate::files::{self, FileLock, LockAttempt};
use crate::ops::context::handle::Context;
use crate::ops::trash;
use crate::store::{line, snapshot};

/// How long to wait for a process that appends to the log.
const PATIENCE: Duration = Duration::from_secs(5);

/// Larger files are read in no memory: they are named, and stay.
const LARGEST: u64 = 512 * 1024 * 1024;

/// What is known of our files.
#[derive(Debug, Default)]
pub(super) struct OurFiles {
    /// How many have it, or had it.
    pub count: usize,
    /// Those that could not be looked through, in words.
    pub unread: Vec<String>,
}

/// Which of our files have it.
///
/// # Errors
/// `IO_FAILED`.
pub(super) fn look(ctx: &Context, masks: &Masks, secrets: &BTreeSet<Oid>) -> Result<OurFiles> {
    let (mut found, sure) = (OurFiles::default(), masks.sure());
    for (path, kind) in ours(ctx)? {
        let masks = if kind == Kind::Trash { &sure } else { masks };
        match content(&path, kind)? {
            Content::Bytes(bytes) => found.count += usize::from(has(ctx, masks, secrets, &bytes)),
            Content::Unread(why) => found.unread.push(why),
            Content::Nothing => {}
        }
    }
    Ok(found)
}

fn has(ctx: &Context, masks: &Masks, secrets: &BTreeSet<Oid>, bytes: &[u8]) -> bool {
    masks.find_in(bytes) || ctx.repo.objects().id_of_blob(bytes).is_ok_and(|id| secrets.contains(&id))
}

/// Masks it in all our files, and deletes what has it from the trash; returns what had it. The log's lines get new sums; the
/// snapshot, its copies and the backups are made again from the log.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`: the same call goes on later.
pub(super) fn mask(ctx: &mut Context, masks: &Masks, secrets: &BTreeSet<Oid>) -> Result<OurFiles> {
    let (mut changed, sure) = (OurFiles::default(), masks.sure());
    // Nobody appends to a file of the log while it is replaced.
    let LockAttempt::Taken(lock) = FileLock::take(&ctx.layout().state_lock(), PATIENCE)? else {
        return Err(Error::new(Code::Busy, "another process writes to the event log"));
    };
    for (path, kind) in ours(ctx)? {
        let looked_for = if kind == Kind::Trash { &sure } else { masks };
        let bytes = match content(&path, kind)? {
            Content::Bytes(bytes) if has(ctx, looked_for, secrets, &bytes) => bytes,
            Content::Bytes(_) | Content::Nothing => continue,
            Content::Unread(why) => {
                changed.unread.push(why);
                continue;
            }
        };
        changed.count += 1;
        match kind {
            Kind::Trash | Kind::Copy => files::remove_file(&path)?,
            Kind::Log | Kind::Text => files::write_atomic(&path, &lines_with_sums(&bytes, masks))?,
            Kind::Packed => files::write_atomic(&path, &files::packed(&lines_with_sums(&bytes, masks))?)?,
        }
    }
    drop(lock);
    if changed.count > 0 {
        snapshot::forget(ctx.layout())?;
        ctx.store.read_anew()?;
        ctx.store.save_snapshot()?;
    }
    Ok(changed)
}

/// Masks each line; one that ended in its right sum gets the sum of what it is now. An event stays one: a word that is also one of the
/// log's own is left where the line could not be read without it.
fn lines_with_sums(bytes: &[u8], masks: &Masks) -> Vec<u8> {
    let mut new = Vec::with_capacity(bytes.len());
    for whole in bytes.split_inclusive(|byte| *byte == b'\n') {
        let line = whole.strip_suffix(b"\n").unwrap_or(whole);
        let masked = match sealed::opened(line, &[]) {
            Ok(body) => {
                let is_event = line::decode(line).is_ok();
                let readable = |body: &[u8]| !is_event || line::decode(sealed_again(body).trim_ascii_end()).is_ok();
                masks.applied_where(body, readable).map(|body| sealed_again(&body))
            }
            Err(_) => masks.applied(line),
        };
        match masked {
            None => new.extend_from_slice(whole),
            Some(masked) => {
                new.extend_from_slice(masked.strip_suffix(b"\n").unwrap_or(&masked));
                new.extend_from_slice(whole.get(line.len()..).unwrap_or_default());
            }
        }
    }
    new
}

fn sealed_again(body: &[u8]) -> Vec<u8> {
    let mut object = body.to_vec();
    object.push(b'}');
    sealed::seal(object, &[])
}

/// What becomes of a file that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A file of the event log.
    Log,
    /// A copy of the state, which is made again.
    Copy,
    /// Text, which is masked.
    Text,
    /// Text that is compressed.
    Packed,
    /// A file that was put aside, which goes.
    Trash,
}

fn kind(ctx: &Context, path: &Path) -> Kind {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let in_state = path.parent() == Some(&ctx.layout().state_dir());
    let below = |name: &str| path.starts_with(ctx.layout().root().join(name));
    if in_state && name.starts_with("events") && name.ends_with(".jsonl") {
        Kind::Log
    } else if path.starts_with(ctx.layout().damaged_dir()) || below("quarantine") || below("trash") || below("tmp") {
        Kind::Trash
    } else if in_state && name != "planning-state.json" {
        Kind::Copy
    } else if below("agents") && name.starts_with(".tmp-") {
        // What a crash left of compressing a log.
        Kind::Trash
    } else if below("agents") && files::is_packed(path) {
        Kind::Packed
    } else {
        Kind::Text
    }
}

/// All regular files of ours, and of the trash; no link is followed.
fn ours(ctx: &Context) -> Result<Vec<(PathBuf, Kind)>> {
    let mut all: Vec<(PathBuf, Kind)> = Vec::new();
    files_below(ctx.layout().root(), &mut |path| {
        let kind = kind(ctx, &path);
        all.push((path, kind));
    })?;
    for place in trash::places(ctx)? {
        files_below(&place, &mut |path| all.push((path, Kind::Trash)))?;
    }
    // The log first: what is made again is made from it.
    all.sort_by_key(|(_, kind)| *kind != Kind::Log);
    Ok(all)
}

fn files_below(folder: &Path, each: &mut dyn FnMut(PathBuf)) -> Result<()> {
    if !files::metadata(folder)?.is_some_and(|meta| meta.is_dir()) {
        return Ok(());
    }
    for entry in files::list(folder)? {
        match files::metadata(&entry.path())? {
            Some(meta) if meta.is_dir() => files_below(&entry.path(), each)?,
            Some(meta) if meta.is_file() && meta.len() > 0 => each(entry.path()),
            Some(_) | None => {}
        }
    }
    Ok(())
}

/// What is in a file.
enum Content {
    Nothing,
    Bytes(Vec<u8>),
    /// It could not be looked through; why, and what to do.
    Unread(String),
}

fn content(path: &Path, kind: Kind) -> Result<Content> {
    let too_large =
        || Content::Unread(format!("'{}' is too large to be looked through: delete it if it may have it", path.display()));
    if kind == Kind::Packed {
        return Ok(match unpacked(path) {
            Ok(bytes) if bytes.len() as u64 > LARGEST => too_large(),
            Ok(bytes) => Content::Bytes(bytes),
            Err(error) => Content::Unread(format!("{error}; delete it if it may have it")),
        });
    }
    match files::metadata(path)? {
        Some(meta) if meta.len() > LARGEST => Ok(too_large()),
        Some(_) => Ok(files::read_optional(path, LARGEST)?.map_or(Content::Nothing, Content::Bytes)),
        None => Ok(Content::Nothing),
    }
}

/// The content of a compressed log.
fn unpacked(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(file) = files::Unpacked::open(path)? {
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| Error::io("read", path, e))?;
    }
    Ok(bytes)
}
