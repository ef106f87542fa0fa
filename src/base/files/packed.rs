//! Files that are compressed as gzip, in blocks of which each can be read alone: a place in the middle costs one block, not all that is
//! before it. `gzip -d` reads them, as any file of several members.
//!
//! The header of each block has the lengths of the block, so that the next one is found without reading this one.
#![allow(clippy::disallowed_methods)]

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use zlib_rs::{DeflateConfig, InflateConfig, ReturnCode};

use super::folder_entries::{parent, sync_dir};
use super::optional_read::open_optional;
use crate::env;
use crate::error::{Code, Error, Result};
use crate::platform;

/// How many bytes are compressed together.
const BLOCK: usize = 1024 * 1024;
/// No block of ours is longer: what does not get shorter gets hardly longer.
const LONGEST: usize = 2 * BLOCK;
/// The beginning of each block: gzip, deflate, a field of 12 bytes, no time, unknown system; the field is `AX`, of 8 bytes.
const BEGIN: [u8; 16] = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 12, 0, b'A', b'X', 8, 0];
/// The header: [`BEGIN`], and the block's length and that of its content, four bytes each.
const HEADER: usize = BEGIN.len() + 8;
/// The end of a block: the checksum and length of its content.
const TRAILER: usize = 8;
/// Deflate without a header of its own.
const RAW: i32 = -15;

/// The name of the compressed form of a file.
pub fn packed_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".gz");
    PathBuf::from(name)
}

/// The name of a file before it was compressed; its own if it was not.
pub fn unpacked_name(path: &Path) -> PathBuf {
    if is_packed(path) { path.with_extension("") } else { path.to_owned() }
}

/// Whether a file is compressed, by its name.
pub fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

/// Compresses a file into a new one beside it, synced and with the same times, as [`packed_name`] names it; the file itself stays. Returns
/// whether it was done: not where `goes_on` says no. Until then, and where a crash comes first, nothing is there but a file `.tmp-…`.
pub fn pack_file(path: &Path, goes_on: &dyn Fn() -> bool) -> Result<bool> {
    let (to, folder) = (packed_name(path), parent(path)?);
    let temporary = folder.join(format!(".tmp-{}", env::fresh_id()));
    let outcome = pack_into(path, &temporary, goes_on).and_then(|is_whole| {
        if is_whole {
            env::fault_point("files.packed");
            std::fs::rename(&temporary, &to).map_err(|e| Error::io("replace", &to, e))?;
        }
        Ok(is_whole)
    });
    match outcome {
        Ok(true) => sync_dir(folder).map(|()| true),
        other => {
            let _ = std::fs::remove_file(&temporary);
            other
        }
    }
}

fn pack_into(path: &Path, temporary: &Path, goes_on: &dyn Fn() -> bool) -> Result<bool> {
    let read = |e| Error::io("read", path, e);
    let written = |e| Error::io("write", temporary, e);
    let from = File::open(path).map_err(read)?;
    let found = from.metadata().map_err(read)?;
    let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(temporary).map_err(written)?;
    let mut plain = Vec::with_capacity(BLOCK);
    loop {
        if !goes_on() {
            return Ok(false);
        }
        plain.clear();
        (&from).take(BLOCK as u64).read_to_end(&mut plain).map_err(read)?;
        if plain.is_empty() {
            break;
        }
        to.write_all(&block(&plain).map_err(written)?).map_err(written)?;
    }
    found.modified().and_then(|time| to.set_modified(time)).and_then(|()| platform::sync_file(&to)).map_err(written)?;
    Ok(true)
}

/// Compresses bytes.
pub fn packed(bytes: &[u8]) -> Result<Vec<u8>> {
    let blocks: io::Result<Vec<Vec<u8>>> = bytes.chunks(BLOCK).map(block).collect();
    blocks.map(|blocks| blocks.concat()).map_err(|e| Error::new(Code::IoFailed, "could not compress").because(e))
}

fn block(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut space = vec![0; zlib_rs::compress_bound(plain.len())];
    let config = DeflateConfig { window_bits: RAW, ..DeflateConfig::default() };
    let (deflated, done) = zlib_rs::compress_slice(&mut space, plain, config);
    if done != ReturnCode::Ok {
        return Err(io::Error::other("zlib could not compress"));
    }
    let number = |number: usize| u32::try_from(number).map(u32::to_le_bytes).map_err(io::Error::other);
    let (whole, length) = (number(HEADER + deflated.len() + TRAILER)?, number(plain.len())?);
    Ok([&BEGIN[..], &whole, &length, deflated, &zlib_rs::crc32::crc32(0, plain).to_le_bytes(), &length].concat())
}

/// A file whose content is read the same whether it is compressed or not.
#[derive(Debug)]
pub struct MaybePackedFile(PackedFileForm);

#[derive(Debug)]
enum PackedFileForm {
    Plain(File),
    Packed(PackedBlocks),
}

impl MaybePackedFile {
    /// Opens a file, or its compressed form where it has become that; `None` where there is neither.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        if !is_packed(path)
            && let Some(file) = open_optional(path)?
        {
            return Ok(Some(Self(PackedFileForm::Plain(file))));
        }
        let packed = if is_packed(path) { path.to_owned() } else { packed_name(path) };
        let Some(file) = open_optional(&packed)? else { return Ok(None) };
        let blocks = PackedBlocks::of(file).map_err(|e| Error::io("read", &packed, e))?;
        Ok(Some(Self(PackedFileForm::Packed(blocks))))
    }
}

impl Read for MaybePackedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            PackedFileForm::Plain(file) => file.read(buffer),
            PackedFileForm::Packed(blocks) => blocks.read(buffer),
        }
    }
}

impl Seek for MaybePackedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.0 {
            PackedFileForm::Plain(file) => file.seek(to),
            PackedFileForm::Packed(blocks) => blocks.seek(to),
        }
    }
}

/// Where a block begins, in the file and in the content, and how long it is in each.
#[derive(Debug, Clone, Copy)]
struct PackedBlockSpan {
    at: u64,
    length: usize,
    start: u64,
    plain: usize,
}

#[derive(Debug)]
struct PackedBlocks {
    file: File,
    places: Vec<PackedBlockSpan>,
    /// Where the next byte is read.
    next: u64,
    /// The content of the block that was read last, and its number.
    held: Option<(usize, Vec<u8>)>,
}

fn damaged() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "it is damaged, or somebody else compressed it")
}

impl PackedBlocks {
    fn of(mut file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let (mut places, mut at, mut start) = (Vec::new(), 0, 0);
        while at < length {
            let mut header = [0; HEADER];
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(&mut header)?;
            let number = |from: usize| header.get(from..from + 4).and_then(|four| four.try_into().ok()).map(u32::from_le_bytes);
            let (Some(whole), Some(plain)) = (number(BEGIN.len()), number(BEGIN.len() + 4)) else { return Err(damaged()) };
            let (whole, plain) = (whole as usize, plain as usize);
            let is_ours = header.starts_with(&BEGIN) && (HEADER + TRAILER..=LONGEST).contains(&whole);
            if !is_ours || !(1..=BLOCK).contains(&plain) || at + whole as u64 > length {
                return Err(damaged());
            }
            places.push(PackedBlockSpan { at, length: whole, start, plain });
            at += whole as u64;
            start += plain as u64;
        }
        Ok(Self { file, places, next: 0, held: None })
    }

    fn end(&self) -> u64 {
        self.places.last().map_or(0, |last| last.start + last.plain as u64)
    }

    /// The content of a block.
    fn block(&mut self, number: usize) -> io::Result<&[u8]> {
        let is_held = self.held.as_ref().is_some_and(|(held, _)| *held == number);
        if !is_held {
            let place = self.places.get(number).ok_or_else(damaged)?;
            let mut whole = vec![0; place.length];
            self.file.seek(SeekFrom::Start(place.at))?;
            self.file.read_exact(&mut whole)?;
            self.held = Some((number, inflated(&whole, place.plain)?));
        }
        Ok(self.held.as_ref().map_or(&[], |(_, plain)| plain))
    }
}

fn inflated(whole: &[u8], length: usize) -> io::Result<Vec<u8>> {
    let end = whole.len().saturating_sub(TRAILER);
    let deflated = whole.get(HEADER..end).ok_or_else(damaged)?;
    let sum = whole.get(end..end + 4).and_then(|four| four.try_into().ok()).map(u32::from_le_bytes);
    let mut plain = vec![0; length];
    let (got, done) = zlib_rs::decompress_slice(&mut plain, deflated, InflateConfig { window_bits: RAW });
    if done != ReturnCode::Ok || got.len() != length || Some(zlib_rs::crc32::crc32(0, got)) != sum {
        return Err(damaged());
    }
    Ok(plain)
}

impl Read for PackedBlocks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let next = self.next;
        let number = self.places.partition_point(|place| place.start <= next).saturating_sub(1);
        let Some(place) = self.places.get(number).copied().filter(|_| next < self.end()) else { return Ok(0) };
        let from = usize::try_from(next - place.start).map_err(io::Error::other)?;
        let there = self.block(number)?.get(from..).unwrap_or_default();
        let count = there.len().min(buffer.len());
        buffer[..count].copy_from_slice(&there[..count]);
        self.next += count as u64;
        Ok(count)
    }
}

impl Seek for PackedBlocks {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(more) => self.end().checked_add_signed(more),
            SeekFrom::Current(more) => self.next.checked_add_signed(more),
        };
        self.next = place.ok_or_else(|| io::Error::from(ErrorKind::InvalidInput))?;
        Ok(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines, and bytes that do not get shorter.
    fn content(blocks: usize) -> Vec<u8> {
        let mut seed = 7_u32;
        let noise = std::iter::repeat_with(move || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        });
        let lines = (0..).flat_map(|number: u32| format!("line {number}\n").into_bytes());
        lines.take(BLOCK * blocks / 2).chain(noise.take(BLOCK * blocks / 2 + 17)).collect()
    }

    fn read_from(file: &mut MaybePackedFile, place: SeekFrom, count: u64) -> Vec<u8> {
        file.seek(place).unwrap();
        let mut bytes = Vec::new();
        file.take(count).read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_compressed_file_reads_as_the_file_from_any_place_and_so_does_gzip() {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in [("none", Vec::new()), ("one", b"x".to_vec()), ("many", content(5))] {
            let path = dir.path().join(name);
            std::fs::write(&path, &bytes).unwrap();
            assert!(pack_file(&path, &|| true).unwrap());
            assert_eq!(std::fs::read(packed_name(&path)).unwrap(), packed(&bytes).unwrap());
            let [mut plain, mut gone] =
                [path.clone(), packed_name(&path)].map(|path| MaybePackedFile::open(&path).unwrap().unwrap());
            let length = bytes.len() as u64;
            for place in
                [0, 1, BLOCK as u64 - 1, BLOCK as u64, BLOCK as u64 * 2 + 5, length.saturating_sub(3), length, length + 9]
            {
                for count in [1, 70, BLOCK as u64 + 1, u64::MAX] {
                    let [a, b] = [&mut plain, &mut gone].map(|file| read_from(file, SeekFrom::Start(place), count));
                    assert!(a == b, "{name}: {count} from {place}");
                }
            }
            assert_eq!(gone.seek(SeekFrom::End(0)).unwrap(), length);
            let gzip = std::process::Command::new("gzip").arg("-dc").arg(packed_name(&path)).output().unwrap();
            assert!(gzip.stdout == bytes && (gzip.status.success() || bytes.is_empty()), "{name}");
            // Whoever had it listed before it was compressed still finds it.
            std::fs::remove_file(&path).unwrap();
            let mut again = MaybePackedFile::open(&path).unwrap().unwrap();
            assert!(read_from(&mut again, SeekFrom::Start(0), u64::MAX) == bytes);
        }
        assert!(MaybePackedFile::open(&dir.path().join("missing")).unwrap().is_none());
    }

    #[test]
    fn what_is_damaged_is_an_error_and_never_another_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.gz");
        let (bytes, whole) = (content(1), packed(&content(1)).unwrap());
        let read = |stored: &[u8]| {
            std::fs::write(&path, stored).unwrap();
            let mut all = Vec::new();
            MaybePackedFile::open(&path).and_then(|file| {
                file.unwrap().read_to_end(&mut all).map_err(|e| Error::io("read", &path, e))?;
                Ok(all)
            })
        };
        assert!(read(&whole).unwrap() == bytes);
        for at in (0..whole.len()).step_by(997).chain([whole.len() - 1]) {
            let mut other = whole.clone();
            other[at] ^= 0x41;
            assert!(read(&other).map_or(true, |read| read == bytes), "byte {at}");
            assert!(at == 0 || read(&whole[..at]).map_or(true, |read| bytes.starts_with(&read)), "cut at {at}");
        }
        assert!(read(b"\x1f\x8b somebody else's").is_err());
    }

    #[test]
    fn a_pack_that_is_broken_off_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, content(3)).unwrap();
        let blocks = std::cell::Cell::new(2);
        let goes_on = || {
            blocks.set(blocks.get() - 1);
            blocks.get() > 0
        };
        assert!(!pack_file(&path, &goes_on).unwrap());
        let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["log"]);
        assert!(pack_file(&dir.path().join("none"), &|| true).is_err());
    }
}
