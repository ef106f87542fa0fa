//! Looking at what may not be there: what is missing is an answer, everything else an error with its path.

use std::fs::{DirEntry, File, Metadata};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::{Error, Result};

/// What is at a path, a link itself and not what it points to; `None` where nothing is.
///
/// # Errors
/// `IO_FAILED` with the path.
pub fn metadata(path: &Path) -> Result<Option<Metadata>> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(Error::io("look at", path, e)),
    }
}

/// What is in a folder, in no order; nothing where there is no folder.
///
/// # Errors
/// `IO_FAILED` with the path.
pub fn list(folder: &Path) -> Result<Vec<DirEntry>> {
    let failed = |e| Error::io("list", folder, e);
    match std::fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map_err(failed)).collect(),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(failed(e)),
    }
}

/// The last bytes of a file, at most `limit`; `None` where there is none.
///
/// # Errors
/// `IO_FAILED` with the path.
pub fn read_end(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let Some(mut file) = open_optional(path)? else { return Ok(None) };
    let failed = |e| Error::io("read", path, e);
    let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
    file.seek(SeekFrom::Start(length.saturating_sub(limit))).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

/// Opens a file for reading; `None` where there is none.
///
/// # Errors
/// `IO_FAILED` with the path.
pub fn open_optional(path: &Path) -> Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("open", path, e)),
    }
}

/// Whether two regular files have the same bytes.
///
/// # Errors
/// `IO_FAILED`.
pub fn same_bytes(a: &Path, b: &Path) -> Result<bool> {
    Ok(compare(a, b)? == Compared::Same)
}

/// Whether a regular file begins with all that is in another one.
///
/// # Errors
/// `IO_FAILED`.
pub fn begins_with(all: &Path, part: &Path) -> Result<bool> {
    Ok(matches!(compare(all, part)?, Compared::Same | Compared::SecondIsBegin))
}

/// What the bytes of two files are to one another.
#[derive(Debug, PartialEq, Eq)]
enum Compared {
    Same,
    /// The first begins with all of the second, and goes on.
    SecondIsBegin,
    Different,
}

fn compare(first: &Path, second: &Path) -> Result<Compared> {
    let open = |path: &Path| File::open(path).map(BufReader::new).map_err(|e| Error::io("open", path, e));
    let (mut left, mut right) = (open(first)?, open(second)?);
    loop {
        let one = left.fill_buf().map_err(|e| Error::io("read", first, e))?;
        let two = right.fill_buf().map_err(|e| Error::io("read", second, e))?;
        let length = one.len().min(two.len());
        if length == 0 {
            return Ok(match (one.is_empty(), two.is_empty()) {
                (true, true) => Compared::Same,
                (false, true) => Compared::SecondIsBegin,
                (_, false) => Compared::Different,
            });
        }
        if one[..length] != two[..length] {
            return Ok(Compared::Different);
        }
        left.consume(length);
        right.consume(length);
    }
}
