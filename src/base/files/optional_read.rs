//! Reading files that may be missing: a missing file is a result, everything else an error with its path.

use std::fs::{DirEntry, File, FileType, Metadata};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};

use crate::error::{Error, Result};

/// Whether an error means that there is nothing at a path: it is missing, or a parent is a file or a link that refers to
/// itself.
pub fn says_nothing_is_there(error: &io::Error) -> bool {
    let loops = Some(rustix::io::Errno::LOOP.raw_os_error());
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) || error.raw_os_error() == loops
}

/// The metadata of a file or folder, without following a link; `None` where there is nothing.
pub fn metadata(path: &Path) -> Result<Option<Metadata>> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(e) if says_nothing_is_there(&e) => Ok(None),
        Err(e) => Err(Error::io("access", path, e)),
    }
}

/// Why a file or folder may not be what this user put there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignFileReason {
    /// It is a symbolic link.
    Link,
    /// Another user owns it.
    Owned,
    /// Others may write it.
    Writable,
}

impl ForeignFileReason {
    /// What it is, after its path.
    pub const fn why(self) -> &'static str {
        match self {
            Self::Link => "is a link",
            Self::Owned => "belongs to another user",
            Self::Writable => "can be written by others",
        }
    }

    /// What to do about it.
    pub const fn way_out(self) -> &'static str {
        match self {
            Self::Link => "look at it, and remove it",
            Self::Owned => "look at it; make it yours, or remove it",
            Self::Writable => "look at it; then take that permission away: chmod go-w",
        }
    }
}

/// Why another user may have written what is at a path; `None` where nobody else can have, and where nothing is there.
pub fn foreign(path: &Path) -> Result<Option<ForeignFileReason>> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let Some(meta) = metadata(path)? else { return Ok(None) };
    let is_writable = meta.permissions().mode() & 0o022 != 0;
    Ok(if meta.is_symlink() {
        Some(ForeignFileReason::Link)
    } else if meta.uid() != rustix::process::geteuid().as_raw() {
        Some(ForeignFileReason::Owned)
    } else {
        is_writable.then_some(ForeignFileReason::Writable)
    })
}

/// The entries of a folder, in no particular order; empty where there is no folder.
pub fn list(folder: &Path) -> Result<Vec<DirEntry>> {
    let failed = |e| Error::io("list", folder, e);
    match std::fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map_err(failed)).collect(),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(failed(e)),
    }
}

/// What is at the path of a small file, in a folder to which other programs may have written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SmallFile {
    /// There is nothing.
    Nothing,
    /// A small regular file, with this content.
    Content(Vec<u8>),
    /// Something else; the text names it.
    Odd(&'static str),
}

impl SmallFile {
    /// The content, if it is a small regular file.
    pub fn content(self) -> Option<Vec<u8>> {
        match self {
            Self::Content(content) => Some(content),
            Self::Nothing | Self::Odd(_) => None,
        }
    }
}

/// Reads a small regular file. Follows no link, does not wait (on a FIFO), and accepts no more than `limit` bytes.
pub fn read_small(path: &Path, limit: u64) -> Result<SmallFile> {
    read_small_with(path, limit, OFlags::NOFOLLOW, |kind| kind.is_file())
}

/// As [`read_small`], for a file of the user's: a link is followed, and a device (`/dev/null`) is read.
pub fn read_small_of_user(path: &Path, limit: u64) -> Result<SmallFile> {
    use std::os::unix::fs::FileTypeExt;
    read_small_with(path, limit, OFlags::empty(), |kind| kind.is_file() || kind.is_char_device())
}

fn read_small_with(path: &Path, limit: u64, more: OFlags, is_read: fn(FileType) -> bool) -> Result<SmallFile> {
    use rustix::io::Errno;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | more;
    let file = match super::retry_interrupted::open_at(CWD, path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(SmallFile::Nothing),
        Err(Errno::LOOP | Errno::MLINK) => return Ok(SmallFile::Odd("a symbolic link")),
        // It is a socket.
        Err(Errno::NXIO) => return Ok(SmallFile::Odd("not a regular file")),
        Err(e) => return Err(Error::io("open", path, e)),
    };
    let meta = file.metadata().map_err(|e| Error::io("access", path, e))?;
    if meta.is_dir() {
        return Ok(SmallFile::Odd("a folder"));
    }
    if !is_read(meta.file_type()) {
        return Ok(SmallFile::Odd("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|e| Error::io("read", path, e))?;
    Ok(if bytes.len() as u64 > limit { SmallFile::Odd("too large") } else { SmallFile::Content(bytes) })
}

/// The last bytes of a regular file, at most `limit`, and whether these are all; `None` where there is none. Follows no link and does
/// not wait (on a FIFO): what is not a regular file counts as none.
pub fn read_end_of_regular(path: &Path, limit: u64) -> Result<Option<(Vec<u8>, bool)>> {
    use rustix::io::Errno;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = match super::retry_interrupted::open_at(CWD, path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::MLINK | Errno::NXIO) => return Ok(None),
        Err(e) => return Err(Error::io("open", path, e)),
    };
    let failed = |e| Error::io("read", path, e);
    let meta = file.metadata().map_err(failed)?;
    if !meta.is_file() {
        return Ok(None);
    }
    let from = meta.len().saturating_sub(limit);
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some((bytes, from == 0)))
}

/// The first bytes of a file, at most `limit`; `None` where there is none.
pub fn read_start(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let Some(file) = open_optional(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(|e| Error::io("read", path, e))?;
    Ok(Some(bytes))
}

/// The last bytes of a file, at most `limit`; `None` where there is none.
pub fn read_end(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let Some(mut file) = open_optional(path)? else { return Ok(None) };
    let failed = |e| Error::io("read", path, e);
    let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
    file.seek(SeekFrom::Start(length.saturating_sub(limit))).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

/// Opens a file for reading. What is no file never makes us wait: a FIFO in its place reads as empty.
pub(super) fn open_unblocked(path: &Path) -> std::io::Result<File> {
    open_unblocked_with(path, OFlags::empty())
}

/// The same with another flag.
pub(super) fn open_unblocked_with(path: &Path, more: OFlags) -> std::io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | more;
    Ok(File::from(super::retry_interrupted::open_at(CWD, path, flags, Mode::empty())?))
}

/// Opens a file for reading; `None` where there is none.
pub fn open_optional(path: &Path) -> Result<Option<File>> {
    match open_unblocked(path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("open", path, e)),
    }
}

/// Whether two regular files have the same bytes.
pub fn same_bytes(a: &Path, b: &Path) -> Result<bool> {
    Ok(compare(a, b)? == FileComparison::Same)
}

/// Whether the bytes of a regular file begin with those of another one.
pub fn begins_with(all: &Path, part: &Path) -> Result<bool> {
    Ok(matches!(compare(all, part)?, FileComparison::Same | FileComparison::SecondIsBegin))
}

/// How the bytes of two files compare.
#[derive(Debug, PartialEq, Eq)]
enum FileComparison {
    Same,
    /// The first begins with the second, and is longer.
    SecondIsBegin,
    Different,
}

fn compare(first: &Path, second: &Path) -> Result<FileComparison> {
    let open = |path: &Path| File::open(path).map(BufReader::new).map_err(|e| Error::io("open", path, e));
    let (mut left, mut right) = (open(first)?, open(second)?);
    loop {
        let one = left.fill_buf().map_err(|e| Error::io("read", first, e))?;
        let two = right.fill_buf().map_err(|e| Error::io("read", second, e))?;
        let length = one.len().min(two.len());
        if length == 0 {
            return Ok(match (one.is_empty(), two.is_empty()) {
                (true, true) => FileComparison::Same,
                (false, true) => FileComparison::SecondIsBegin,
                (_, false) => FileComparison::Different,
            });
        }
        if one[..length] != two[..length] {
            return Ok(FileComparison::Different);
        }
        left.consume(length);
        right.consume(length);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;

    #[test]
    fn below_a_file_and_below_a_link_to_itself_nothing_is() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), b"1").unwrap();
        std::os::unix::fs::symlink("loop", dir.path().join("loop")).unwrap();
        for name in ["nowhere", "file/below", "loop/below"] {
            assert!(metadata(&dir.path().join(name)).unwrap().is_none(), "{name}");
        }
        assert!(metadata(&dir.path().join("loop")).unwrap().is_some());
    }

    #[test]
    fn only_a_small_regular_file_is_read_and_nothing_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), b"12345").unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let read = |name: &str, limit| read_small(&at(name), limit).unwrap();
        assert_eq!(read("file", 5), SmallFile::Content(b"12345".to_vec()));
        assert_eq!(read("file", 4), SmallFile::Odd("too large"));
        assert_eq!((read("nowhere", 5), read("file/below", 5)), (SmallFile::Nothing, SmallFile::Nothing));
        assert_eq!((read("folder", 5), read("link", 5)), (SmallFile::Odd("a folder"), SmallFile::Odd("a symbolic link")));
        assert_eq!(
            (read("fifo", 5), read("socket", 5)),
            (SmallFile::Odd("not a regular file"), SmallFile::Odd("not a regular file"))
        );
    }
}
