//! Files that are copied and hashed in one go: who wants exactly these bytes learns whether it got them.

#![allow(clippy::disallowed_methods)]

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// How much is read at once, in bytes.
const PART: usize = 256 * 1024;

/// The SHA-256 of a file's content, in hex digits, and its length.
pub fn sha256_of(path: &Path) -> Result<(String, u64)> {
    let file = File::open(path).map_err(|e| Error::io("read", path, e))?;
    through(path, file, |_| Ok(()))
}

/// Copies a file to a new one with the permissions from the user's umask; returns the SHA-256 of what was copied, and its length.
/// Not synced. A crash leaves a part of it.
pub fn copy_hashed(from: &Path, to: &Path, executable: bool) -> Result<(String, u64)> {
    let file = File::open(from).map_err(|e| Error::io("read", from, e))?;
    let mode = if executable { 0o777 } else { 0o666 };
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(to);
    let mut copy = opened.map_err(|e| Error::io("create", to, e))?;
    through(from, file, |part| copy.write_all(part).map_err(|e| Error::io("write", to, e)))
}

fn through(path: &Path, mut file: File, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<(String, u64)> {
    let (mut hasher, mut length, mut part) = (Sha256::new(), 0, vec![0; PART]);
    loop {
        let read = file.read(&mut part).map_err(|e| Error::io("read", path, e))?;
        if read == 0 {
            break;
        }
        hasher.update(&part[..read]);
        each(&part[..read])?;
        length += read as u64;
    }
    let digits = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((digits, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_whole_and_its_hash_is_that_of_both() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        let content = vec![7; 3 * PART + 5];
        std::fs::write(&from, &content).unwrap();
        let told = copy_hashed(&from, &to, true).unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), content);
        assert_eq!(told, sha256_of(&to).unwrap());
        assert_eq!(told.1, content.len() as u64);
        std::fs::write(&from, b"abc").unwrap();
        assert_eq!(sha256_of(&from).unwrap().0, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(copy_hashed(&from, &to, false).is_err(), "it exists");
    }
}
