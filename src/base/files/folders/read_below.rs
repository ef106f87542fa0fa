//! Reading a small folder of others completely, with limits, and without following a link or entering a mount.

#![allow(clippy::disallowed_methods)]

use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::error::{Code, Error, Result};
use crate::files::folders::descent;
use crate::files::folders::descent::DescentMethod;
use crate::files::retry_interrupted::open_at;

/// How much is read at most.
#[derive(Debug, Clone, Copy)]
pub struct ScanLimits {
    /// Entries, folders too.
    pub entries: usize,
    /// Bytes of one file.
    pub file: u64,
    /// Bytes of all files.
    pub all: u64,
    /// Folders within one another.
    pub depth: usize,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScannedContent {
    /// A regular file.
    File {
        /// Its content.
        bytes: Vec<u8>,
        /// Whether its owner may execute it.
        executable: bool,
    },
    /// Something else, in words with an article. It was not opened.
    Odd(&'static str),
}

/// An entry below the folder; folders themselves are not listed, unless they are odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedEntry {
    /// Its path below the folder; empty for the folder itself, where that is odd.
    pub path: Vec<u8>,
    /// What it is.
    pub what: ScannedContent,
}

/// All files below `anchor/name`, ordered by path; empty where there is nothing. `anchor` may be reached through links; below it
/// no link is followed, nothing but regular files is opened, and each is opened once: type, mode and content are of the same
/// file, whatever other programs do meanwhile.
pub fn read_below(anchor: &Path, name: &str, limits: &ScanLimits) -> Result<Vec<ScannedEntry>> {
    let place = anchor.join(name);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let above = match open_at(CWD, anchor, flags, Mode::empty()) {
        Ok(folder) => folder,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Vec::new()),
        Err(e) => return Err(Error::io("open", anchor, e)),
    };
    let mut reading = FolderScan { place: &place, limits, found: Vec::new(), entries: 0, bytes: 0 };
    let name = CString::new(name).map_err(|e| Error::io("name", &place, std::io::Error::other(e)))?;
    match descent::enter(DescentMethod::Kernel, above.as_fd(), &name, OFlags::RDONLY) {
        Ok(folder) => reading.folder(&folder, &[], 0)?,
        Err(Errno::NOENT) => return Ok(Vec::new()),
        Err(errno) => reading.odd(Vec::new(), refused(errno).ok_or_else(|| Error::io("open", &place, errno))?),
    }
    let mut found = reading.found;
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

struct FolderScan<'a> {
    place: &'a Path,
    limits: &'a ScanLimits,
    found: Vec<ScannedEntry>,
    entries: usize,
    bytes: u64,
}

impl FolderScan<'_> {
    fn odd(&mut self, path: Vec<u8>, what: &'static str) {
        self.found.push(ScannedEntry { path, what: ScannedContent::Odd(what) });
    }

    fn too_large(&self, what: &str) -> Error {
        Error::new(Code::TooLarge, format!("'{}' has {what}", self.place.display()))
    }

    fn folder(&mut self, folder: &OwnedFd, path: &[u8], depth: usize) -> Result<()> {
        if depth > self.limits.depth {
            return Err(self.too_large(&format!("more than {} folders within one another", self.limits.depth)));
        }
        let failed = |e: Errno| Error::io("list", self.place, e);
        let mut names: Vec<CString> = Vec::new();
        for entry in Dir::read_from(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                self.entries += 1;
                if self.entries > self.limits.entries {
                    return Err(self.too_large(&format!("more than {} entries", self.limits.entries)));
                }
                names.push(entry.file_name().to_owned());
            }
        }
        names.into_iter().try_for_each(|name| self.entry(folder.as_fd(), &name, path, depth))
    }

    fn entry(&mut self, folder: BorrowedFd<'_>, name: &CString, above: &[u8], depth: usize) -> Result<()> {
        let path = if above.is_empty() { name.to_bytes().to_vec() } else { [above, b"/", name.to_bytes()].concat() };
        let stat = match rustix::fs::statat(folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(()),
            Err(e) => return Err(Error::io("access", &self.place_of(&path), e)),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => match descent::enter(DescentMethod::Kernel, folder, name, OFlags::RDONLY) {
                Ok(below) => self.folder(&below, &path, depth + 1),
                Err(Errno::NOENT) => Ok(()),
                Err(errno) => {
                    let what = refused(errno).ok_or_else(|| Error::io("open", &self.place_of(&path), errno))?;
                    self.odd(path, what);
                    Ok(())
                }
            },
            FileType::RegularFile => self.file(folder, name, path),
            kind @ (FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown) => {
                self.odd(path, in_words(kind));
                Ok(())
            }
        }
    }

    fn file(&mut self, folder: BorrowedFd<'_>, name: &CString, path: Vec<u8>) -> Result<()> {
        // Not waiting for the other end, if it has become a FIFO.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = match open_at(folder, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(()),
            Err(Errno::LOOP) => {
                self.odd(path, "a symbolic link");
                return Ok(());
            }
            Err(e) => return Err(Error::io("open", &self.place_of(&path), e)),
        };
        let stat = rustix::fs::fstat(&file).map_err(|e| Error::io("access", &self.place_of(&path), e))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind != FileType::RegularFile {
            self.odd(path, in_words(kind));
            return Ok(());
        }
        let mut bytes = Vec::new();
        let read = file.take(self.limits.file + 1).read_to_end(&mut bytes);
        read.map_err(|e| Error::io("read", &self.place_of(&path), e))?;
        self.bytes += bytes.len() as u64;
        if bytes.len() as u64 > self.limits.file {
            let what = format!("'{}' is larger than {} bytes", self.place_of(&path).display(), self.limits.file);
            return Err(Error::new(Code::TooLarge, what));
        }
        if self.bytes > self.limits.all {
            return Err(self.too_large(&format!("more than {} bytes", self.limits.all)));
        }
        self.found.push(ScannedEntry { path, what: ScannedContent::File { bytes, executable: stat.st_mode & 0o100 != 0 } });
        Ok(())
    }

    fn place_of(&self, path: &[u8]) -> std::path::PathBuf {
        use std::os::unix::ffi::OsStrExt;
        self.place.join(std::ffi::OsStr::from_bytes(path))
    }
}

/// What stands in place of a folder, from the error of opening it; `None` for another error.
fn refused(errno: Errno) -> Option<&'static str> {
    match errno {
        Errno::LOOP => Some("a symbolic link"),
        Errno::XDEV => Some("a mount"),
        Errno::NOTDIR => Some("no folder"),
        _ => None,
    }
}

fn in_words(kind: FileType) -> &'static str {
    match kind {
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::RegularFile => "a file",
        FileType::Directory => "a folder",
        FileType::Unknown => "of an unknown type",
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    const LIMITS: ScanLimits = ScanLimits { entries: 20, file: 100, all: 150, depth: 3 };

    fn paths(found: &[ScannedEntry]) -> Vec<(String, String)> {
        let what = |what: &ScannedContent| match what {
            ScannedContent::File { bytes, executable } => {
                format!("{}{}", String::from_utf8_lossy(bytes), if *executable { "*" } else { "" })
            }
            ScannedContent::Odd(what) => (*what).to_owned(),
        };
        found.iter().map(|found| (String::from_utf8_lossy(&found.path).into_owned(), what(&found.what))).collect()
    }

    #[test]
    fn regular_files_are_read_and_all_else_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        assert!(read_below(folder.path(), "x", &LIMITS).unwrap().is_empty());
        assert!(read_below(&at("none"), "x", &LIMITS).unwrap().is_empty());
        std::fs::create_dir_all(at("x/sub")).unwrap();
        std::fs::write(at("x/sub/b"), "two").unwrap();
        std::fs::write(at("x/a"), "one").unwrap();
        std::fs::set_permissions(at("x/a"), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(at("outside"), "secret").unwrap();
        symlink("../outside", at("x/link")).unwrap();
        symlink("sub", at("x/linked")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("x/pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        let pairs = |list: &[(&str, &str)]| list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>();
        let expected = [
            ("a", "one*"),
            ("link", "a symbolic link"),
            ("linked", "a symbolic link"),
            ("pipe", "a named pipe"),
            ("sub/b", "two"),
        ];
        assert_eq!(paths(&read_below(folder.path(), "x", &LIMITS).unwrap()), pairs(&expected));
        symlink("x", at("y")).unwrap();
        assert_eq!(paths(&read_below(folder.path(), "y", &LIMITS).unwrap()), pairs(&[("", "a symbolic link")]));
        assert_eq!(paths(&read_below(folder.path(), "outside", &LIMITS).unwrap()), pairs(&[("", "no folder")]));
    }

    #[test]
    fn every_limit_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, files: &[(&str, usize)]| {
            for (path, size) in files {
                let path = folder.path().join(name).join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, vec![b'x'; *size]).unwrap();
            }
            read_below(folder.path(), name, &LIMITS).map_err(|error| (error.code(), error.to_string()))
        };
        let refused = |outcome: std::result::Result<Vec<ScannedEntry>, (Code, String)>, words: &str| {
            let (code, text) = outcome.unwrap_err();
            assert!(code == Code::TooLarge && text.contains(words), "{text}");
        };
        assert_eq!(make("fits", &[("a", 100), ("1/2/3/b", 50)]).unwrap().len(), 2);
        refused(make("file", &[("a", 101)]), "a' is larger than 100 bytes");
        refused(make("all", &[("a", 100), ("b", 51)]), "more than 150 bytes");
        refused(make("deep", &[("1/2/3/4/b", 1)]), "more than 3 folders");
        let names: Vec<String> = (0..21).map(|number| number.to_string()).collect();
        refused(make("many", &names.iter().map(|name| (name.as_str(), 0)).collect::<Vec<_>>()), "more than 20 entries");
    }
}
