//! Where each entry of an index file begins and ends, and how entries are written one after another.
//!
//! The parent module decides what becomes of each entry. Extensions are not handled here.

use std::os::unix::fs::MetadataExt;

use super::{EditKind, EntryEdit};
use crate::domain::base::names::RepoPath;
use crate::git::history::questions::FileId;
use crate::git::objects::database::gix_id;

/// Length of the file header, in bytes.
pub(super) const HEADER: usize = 12;
/// Length of the stat data at the start of an entry, in bytes; the mode is part of it.
const STAT: usize = 40;
/// Where the modification time (its seconds) and the mode are in the stat data.
const SECONDS: usize = 8;
const MODE: usize = 24;
/// Masks for the flags of an entry.
pub(super) const ASSUME_VALID: u16 = 0x8000;
pub(super) const EXTENDED: u16 = 0x4000;
pub(super) const STAGE: u16 = 0x3000;
const NAME: u16 = 0x0fff;

/// An index file without its checksum, and its number of entries; `None` for versions that are not supported here.
pub(super) fn opened(bytes: &[u8], width: usize) -> Option<(&[u8], u32)> {
    let body = bytes.get(..bytes.len().checked_sub(width)?)?;
    let version = number(body, 4)?;
    (body.get(..4)? == b"DIRC" && (version == 2 || version == 3)).then_some((body, number(body, 8)?))
}

/// Four bytes as a big-endian number.
pub(super) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// One entry of an index.
pub(super) struct Entry<'b> {
    pub bytes: &'b [u8],
    pub name: &'b [u8],
    pub flags: u16,
}

impl<'b> Entry<'b> {
    /// The entry that begins at `at`, of an index with ids of `width` bytes.
    pub fn at(body: &'b [u8], at: usize, width: usize) -> Option<Self> {
        let rest = body.get(at..)?;
        let flags = u16::from_be_bytes(rest.get(STAT + width..STAT + width + 2)?.try_into().ok()?);
        let start = STAT + width + if flags & EXTENDED == 0 { 2 } else { 4 };
        let length = match flags & NAME {
            NAME => rest.get(start..)?.iter().position(|byte| *byte == 0)?,
            short => usize::from(short),
        };
        let whole = padded(start + length);
        Some(Self { bytes: rest.get(..whole)?, name: rest.get(start..start + length)?, flags })
    }

    fn id(&self, width: usize) -> &'b [u8] {
        &self.bytes[STAT..STAT + width]
    }
}

/// The length of an entry with its padding: one to eight NUL bytes, up to a multiple of eight.
fn padded(length: usize) -> usize {
    (length + 8) & !7
}

/// An index file that is being written.
pub(super) struct Writer {
    pub out: Vec<u8>,
    /// How many entries were written.
    pub count: u32,
    /// How many bytes an id has.
    pub width: usize,
    /// When the old file was written, in seconds.
    pub modified: i64,
    /// See [`super::Edited`].
    pub is_racy: bool,
}

impl Writer {
    /// Copies an entry unchanged.
    pub fn copy(&mut self, entry: &Entry<'_>) -> Option<()> {
        self.out.extend_from_slice(entry.bytes);
        self.count += 1;
        self.is_racy |= i64::from(number(entry.bytes, SECONDS)?) >= self.modified;
        Some(())
    }

    /// Applies an edit of a path that has no entry.
    pub fn add(&mut self, edit: &EntryEdit<'_>) -> Option<()> {
        match &edit.kind {
            EditKind::Set(file, meta) => self.write(edit.path, file, meta.as_ref()),
            EditKind::Remove | EditKind::Look(..) => Some(()),
        }
    }

    /// Applies an edit to an entry; `None` if git has to decide.
    pub fn replace(&mut self, entry: &Entry<'_>, edit: &EntryEdit<'_>) -> Option<()> {
        // Entries in conflict are left to git.
        let plain = entry.flags & STAGE == 0;
        match &edit.kind {
            EditKind::Set(file, meta) if plain && entry.flags & ASSUME_VALID == 0 => self.write(edit.path, file, meta.as_ref()),
            EditKind::Remove if plain => Some(()),
            EditKind::Look(file, meta)
                if plain
                    && entry.id(self.width) == gix_id(&file.oid).ok()?.as_slice()
                    && number(entry.bytes, MODE)? == file.mode =>
            {
                let start = self.out.len();
                self.out.extend_from_slice(entry.bytes);
                self.count += 1;
                self.out[start..start + STAT].copy_from_slice(&stat(meta, file.mode));
                Some(())
            }
            EditKind::Look(..) => self.copy(entry),
            EditKind::Set(..) | EditKind::Remove => None,
        }
    }

    fn write(&mut self, path: &RepoPath, file: &FileId, meta: Option<&std::fs::Metadata>) -> Option<()> {
        let start = self.out.len();
        let name = path.as_bytes();
        match meta {
            Some(meta) => self.out.extend_from_slice(&stat(meta, file.mode)),
            // Without stat data, git compares the content when it next looks at the file.
            None => {
                self.out.extend_from_slice(&[0; STAT]);
                self.out[start + MODE..start + MODE + 4].copy_from_slice(&file.mode.to_be_bytes());
            }
        }
        self.out.extend_from_slice(gix_id(&file.oid).ok().filter(|id| id.as_slice().len() == self.width)?.as_slice());
        let length = u16::try_from(name.len()).unwrap_or(NAME).min(NAME);
        self.out.extend_from_slice(&length.to_be_bytes());
        self.out.extend_from_slice(name);
        self.out.resize(start + padded(STAT + self.width + 2 + name.len()), 0);
        self.count += 1;
        Some(())
    }
}

/// The stat data of an entry, each number cut to 32 bits as git does.
fn stat(meta: &std::fs::Metadata, mode: u32) -> [u8; STAT] {
    let low = |wide: u64| (wide & 0xffff_ffff) as u32;
    let numbers = [
        low(meta.ctime() as u64),
        low(meta.ctime_nsec() as u64),
        low(meta.mtime() as u64),
        low(meta.mtime_nsec() as u64),
        low(meta.dev()),
        low(meta.ino()),
        mode,
        meta.uid(),
        meta.gid(),
        low(meta.size()),
    ];
    let mut bytes = [0; STAT];
    for (place, number) in bytes.chunks_exact_mut(4).zip(numbers) {
        place.copy_from_slice(&number.to_be_bytes());
    }
    bytes
}
