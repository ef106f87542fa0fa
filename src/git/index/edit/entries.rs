//! Where each entry of an index file begins and ends, and how entries are written one after another.
//!
//! The parent module decides what becomes of each entry. Extensions are not handled here.

use std::os::unix::fs::MetadataExt;

use super::{IndexEntryEdit, IndexEntryEditKind};
use crate::base::tree_change::FileId;
use crate::objects::database::gix_id;
use axiom_model::base::names::RepoPath;

/// Length of the file header, in bytes.
pub(super) const HEADER: usize = 12;
/// Length of the stat data at the start of an entry, in bytes; the mode is part of it.
const STAT: usize = 40;
/// Where the modification time (its seconds) and the mode are in the stat data.
const SECONDS: usize = 8;
const MODE: usize = 24;
/// Where the size of the file is.
pub(super) const SIZE: std::ops::Range<usize> = 36..40;
/// Masks for the flags of an entry.
pub(super) const ASSUME_VALID: u16 = 0x8000;
pub(super) const EXTENDED: u16 = 0x4000;
pub(super) const STAGE: u16 = 0x3000;
const NAME: u16 = 0x0fff;

/// How the entries of an index hold their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryNameEncoding {
    /// In full, with padding: versions 2 and 3.
    Padded,
    /// As what differs from the name before: version 4.
    Compressed,
}

/// What the header of an index file says.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexHeader {
    pub names: EntryNameEncoding,
    /// How many entries there are.
    pub count: u32,
}

/// An index file without its checksum, and its header; `None` for versions that are not supported here.
pub(super) fn opened(bytes: &[u8], width: usize) -> Option<(&[u8], IndexHeader)> {
    let body = bytes.get(..bytes.len().checked_sub(width)?)?;
    let names = match number(body, 4)? {
        2 | 3 => EntryNameEncoding::Padded,
        4 => EntryNameEncoding::Compressed,
        _ => return None,
    };
    (body.get(..4)? == b"DIRC").then_some((body, IndexHeader { names, count: number(body, 8)? }))
}

/// Four bytes as a big-endian number.
pub(super) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// A number as git writes it in a variable number of bytes, and how many bytes it takes.
pub(super) fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value = value.checked_add(1)?;
    }
    None
}

fn push_varint(mut value: usize, out: &mut Vec<u8>) {
    let mut reversed = vec![(value & 0x7f) as u8];
    while value > 0x7f {
        value = (value >> 7) - 1;
        reversed.push((value & 0x7f) as u8 | 0x80);
    }
    out.extend(reversed.iter().rev());
}

/// One entry of an index.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexEntry<'b> {
    /// Everything before the name.
    fixed: &'b [u8],
    pub name: &'b [u8],
    pub flags: u16,
}

impl<'b> IndexEntry<'b> {
    fn id(&self, width: usize) -> &'b [u8] {
        &self.fixed[STAT..STAT + width]
    }

    /// When the file was changed, in seconds.
    pub fn changed_at(&self) -> Option<i64> {
        number(self.fixed, SECONDS).map(i64::from)
    }
}

/// Reads the entries of an index file one after another.
pub(super) struct IndexEntryReader<'b> {
    body: &'b [u8],
    names: EntryNameEncoding,
    width: usize,
    /// Where the next entry begins.
    pub at: usize,
    /// The name of the entry that was read last.
    name: Vec<u8>,
}

impl<'b> IndexEntryReader<'b> {
    /// The entries of an index without its checksum, with ids of `width` bytes.
    pub fn new(body: &'b [u8], names: EntryNameEncoding, width: usize) -> Self {
        Self { body, names, width, at: HEADER, name: Vec::new() }
    }

    /// The next entry; `None` if there is no complete one.
    pub fn next(&mut self) -> Option<IndexEntry<'_>> {
        let rest = self.body.get(self.at..)?;
        let flags = u16::from_be_bytes(rest.get(STAT + self.width..STAT + self.width + 2)?.try_into().ok()?);
        let start = STAT + self.width + if flags & EXTENDED == 0 { 2 } else { 4 };
        let (fixed, rest) = rest.split_at_checked(start)?;
        match self.names {
            EntryNameEncoding::Padded => {
                let length = match flags & NAME {
                    NAME => memchr::memchr(0, rest)?,
                    short => usize::from(short),
                };
                self.name.clear();
                self.name.extend_from_slice(rest.get(..length)?);
                rest.get(..padded(start + length) - start)?;
                self.at += padded(start + length);
            }
            EntryNameEncoding::Compressed => {
                let (less, size) = varint(rest)?;
                let end = memchr::memchr(0, rest.get(size..)?)?;
                self.name.truncate(self.name.len().checked_sub(less)?);
                self.name.extend_from_slice(&rest[size..size + end]);
                self.at += start + size + end + 1;
            }
        }
        Some(IndexEntry { fixed, name: &self.name, flags })
    }
}

/// The length of an entry with its padding: one to eight NUL bytes, up to a multiple of eight.
fn padded(length: usize) -> usize {
    (length + 8) & !7
}

/// An index file that is being written.
pub(super) struct IndexEntryWriter {
    pub out: Vec<u8>,
    /// How many entries were written.
    pub count: u32,
    /// How names are written.
    pub names: EntryNameEncoding,
    /// How many bytes an id has.
    pub width: usize,
    /// When the old file was written, in seconds.
    pub modified: i64,
    /// See [`super::EditedIndex`].
    pub is_racy: bool,
    /// The name of the entry that was written last.
    pub last: Vec<u8>,
}

impl IndexEntryWriter {
    /// Copies an entry unchanged.
    pub fn copy(&mut self, entry: &IndexEntry<'_>) -> Option<()> {
        self.push(entry.fixed, entry.name);
        self.is_racy |= entry.changed_at()? >= self.modified;
        Some(())
    }

    /// Applies an edit of a path that has no entry.
    pub fn add(&mut self, edit: &IndexEntryEdit<'_>) -> Option<()> {
        match &edit.kind {
            IndexEntryEditKind::Set(file, meta) => self.write(edit.path, file, meta.as_ref()),
            IndexEntryEditKind::Remove | IndexEntryEditKind::Look(..) => Some(()),
        }
    }

    /// Applies an edit to an entry; `None` if git has to decide.
    pub fn replace(&mut self, entry: &IndexEntry<'_>, edit: &IndexEntryEdit<'_>) -> Option<()> {
        // Entries in conflict are left to git.
        let plain = entry.flags & STAGE == 0;
        match &edit.kind {
            IndexEntryEditKind::Set(file, meta) if plain && entry.flags & ASSUME_VALID == 0 => {
                self.write(edit.path, file, meta.as_ref())
            }
            IndexEntryEditKind::Remove if plain => Some(()),
            IndexEntryEditKind::Look(file, meta)
                if plain
                    && entry.id(self.width) == gix_id(&file.oid).ok()?.as_slice()
                    && number(entry.fixed, MODE)? == file.mode =>
            {
                self.push(&[&stat(meta, file.mode), &entry.fixed[STAT..]].concat(), entry.name);
                Some(())
            }
            IndexEntryEditKind::Look(..) => self.copy(entry),
            IndexEntryEditKind::Set(..) | IndexEntryEditKind::Remove => None,
        }
    }

    fn write(&mut self, path: &RepoPath, file: &FileId, meta: Option<&std::fs::Metadata>) -> Option<()> {
        let name = path.as_bytes();
        let mut fixed = match meta {
            Some(meta) => stat(meta, file.mode).to_vec(),
            // Without stat data, git compares the content when it next looks at the file.
            None => {
                let mut unknown = vec![0; STAT];
                unknown[MODE..MODE + 4].copy_from_slice(&file.mode.to_be_bytes());
                unknown
            }
        };
        fixed.extend_from_slice(gix_id(&file.oid).ok().filter(|id| id.as_slice().len() == self.width)?.as_slice());
        let length = u16::try_from(name.len()).unwrap_or(NAME).min(NAME);
        fixed.extend_from_slice(&length.to_be_bytes());
        self.push(&fixed, name);
        Some(())
    }

    fn push(&mut self, fixed: &[u8], name: &[u8]) {
        let start = self.out.len();
        self.out.extend_from_slice(fixed);
        match self.names {
            EntryNameEncoding::Padded => {
                self.out.extend_from_slice(name);
                self.out.resize(start + padded(fixed.len() + name.len()), 0);
            }
            EntryNameEncoding::Compressed => {
                let same = name.iter().zip(&self.last).take_while(|(one, other)| one == other).count();
                push_varint(self.last.len() - same, &mut self.out);
                self.out.extend_from_slice(&name[same..]);
                self.out.push(0);
                self.last.truncate(same);
                self.last.extend_from_slice(&name[same..]);
            }
        }
        self.count += 1;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_are_written_as_git_writes_them() {
        let written = |value| {
            let mut out = Vec::new();
            push_varint(value, &mut out);
            assert_eq!(varint(&out), Some((value, out.len())));
            out
        };
        assert_eq!([0, 1, 127].map(written), [vec![0], vec![1], vec![127]]);
        assert_eq!([128, 129, 255].map(written), [vec![0x80, 0], vec![0x80, 1], vec![0x80, 0x7f]]);
        assert_eq!([256, 16511, 16512].map(written), [vec![0x81, 0], vec![0xff, 0x7f], vec![0x80, 0x80, 0]]);
        written(usize::MAX);
        assert_eq!((varint(&[]), varint(&[0x80]), varint(&[0xff; 12])), (None, None, None));
    }

    #[test]
    fn entries_are_read_as_they_were_written() {
        let long = [b'x'; 5000];
        let names: [&[u8]; 6] = [b"a", b"a/b", b"a/bc", b"a0", &long, b"y"];
        for (style, width) in [
            (EntryNameEncoding::Padded, 20),
            (EntryNameEncoding::Padded, 32),
            (EntryNameEncoding::Compressed, 20),
            (EntryNameEncoding::Compressed, 32),
        ] {
            let mut writer = IndexEntryWriter {
                out: vec![0; HEADER],
                count: 0,
                names: style,
                width,
                modified: 0,
                is_racy: false,
                last: Vec::new(),
            };
            for name in names {
                let length = u16::try_from(name.len()).unwrap().min(NAME);
                writer.push(&[&vec![7; STAT + width][..], &length.to_be_bytes()].concat(), name);
            }
            let out = writer.out;
            let mut reader = IndexEntryReader::new(&out, style, width);
            for name in names {
                assert_eq!(reader.next().unwrap().name, name);
            }
            assert!(reader.at == out.len() && reader.next().is_none());
            // A file that is cut short has no complete last entry.
            let mut reader = IndexEntryReader::new(&out[..out.len() - 1], style, width);
            (1..names.len()).for_each(|_| assert!(reader.next().is_some()));
            assert!(reader.next().is_none());
        }
    }
}
