//! Files that only grow, such as traces: at a limit they are put aside under the next number, and the oldest goes.
#![allow(clippy::disallowed_methods)]

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::append::open_append;
use crate::error::{Error, Result};

/// Puts a file aside as `FILE.1` if it has reached the limit; of older ones, `keep` are kept. A crash in between leaves each file under
/// its old or its new name.
pub fn rotate(path: &Path, limit: u64, keep: u32) -> Result<()> {
    let is_full = path.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() >= limit);
    if !is_full {
        return Ok(());
    }
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    for number in (1..=keep).rev() {
        let from = if number == 1 { path.to_owned() } else { numbered(number - 1) };
        match std::fs::rename(&from, numbered(number)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::io("put aside", &from, error)),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// A file to which lines are appended, by several processes perhaps, that is put aside at a limit.
#[derive(Debug)]
pub struct RotatedFile {
    path: PathBuf,
    file: File,
    limit: u64,
    keep: u32,
}

impl RotatedFile {
    /// Opens it.
    pub fn open(path: &Path, limit: u64, keep: u32) -> Result<Self> {
        rotate(path, limit, keep)?;
        Ok(Self { path: path.to_owned(), file: open_append(path)?, limit, keep })
    }
}

impl Write for RotatedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Another process may have put it aside: then this one goes on with the new file.
        if self.file.metadata().is_ok_and(|found| found.len() >= self.limit) && rotate(&self.path, self.limit, self.keep).is_ok()
        {
            self.file = open_append(&self.path).unwrap_or(self.file.try_clone()?);
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_at_its_limit_is_put_aside_and_the_oldest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = RotatedFile::open(&path, 10, 2).unwrap();
        for number in 0..8 {
            log.write_all(format!("line {number}\n").as_bytes()).unwrap();
        }
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
        assert_eq!((read("log").as_str(), read("log.1").as_str()), ("line 6\nline 7\n", "line 4\nline 5\n"));
        assert_eq!((read("log.2").as_str(), read("log.3").as_str()), ("line 2\nline 3\n", ""));
        let mut other = RotatedFile::open(&path, 10, 2).unwrap();
        other.write_all(b"other 1\n").unwrap();
        log.write_all(b"line 8\n").unwrap();
        assert_eq!(read("log"), "other 1\nline 8\n", "both go on with the same file");
    }
}
