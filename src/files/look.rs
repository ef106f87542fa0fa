//! Looking at what may not be there: what is missing is an answer, everything else an error with its path.

use std::fs::{DirEntry, File, Metadata};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
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
