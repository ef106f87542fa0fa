//! Appending lines durably to one file.

#![allow(clippy::disallowed_methods)]

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::env;
use crate::error::{Error, Result};
use crate::platform;

/// A file opened for appending. The caller holds the lock that makes it the only writer.
#[derive(Debug)]
pub struct AppendFile {
    path: PathBuf,
    file: File,
}

impl AppendFile {
    /// Opens `path`, creating it with mode `0600` where it is missing; the folder is then synced.
    pub fn open(path: &Path) -> Result<Self> {
        let existed = path.exists();
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .mode(0o600)
            .open(path)
            .map_err(|e| Error::io("open", path, e))?;
        if !existed && let Some(folder) = path.parent() {
            super::sync_dir(folder)?;
        }
        Ok(Self { path: path.to_owned(), file })
    }

    /// The current length in bytes.
    pub fn len(&mut self) -> Result<u64> {
        self.file.seek(SeekFrom::End(0)).map_err(|e| Error::io("measure", &self.path, e))
    }

    /// Whether the file is empty.
    pub fn is_empty(&mut self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Appends `bytes` without syncing. If that fails, the file is cut back to its old length.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let before = self.len()?;
        self.file.write_all(bytes).map_err(|e| {
            let _ = self.file.set_len(before);
            Error::io("append to", &self.path, e)
        })
    }

    /// Syncs the file, so that appended bytes survive a power failure.
    pub fn sync(&self) -> Result<()> {
        env::fault_point("files.before-append-sync");
        platform::sync_data(&self.file).map_err(|e| Error::io("sync", &self.path, e))
    }

    /// Cuts the file to `length` bytes and syncs. What is cut off must have been saved elsewhere before.
    pub fn truncate(&mut self, length: u64) -> Result<()> {
        self.file.set_len(length).and_then(|()| platform::sync_file(&self.file)).map_err(|e| Error::io("cut", &self.path, e))
    }
}

/// Opens a file for appending data that is not needed after a crash (traces).
pub fn open_append(path: &Path) -> Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path).map_err(|e| Error::io("open", path, e))
}

/// Appends to a file that others may read, with the mode that the user's umask gives; not synced.
pub fn append_public(path: &Path, bytes: &[u8]) -> Result<()> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(bytes)).map_err(|e| Error::io("append to", path, e))
}
