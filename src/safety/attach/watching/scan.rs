//! What a folder looks like that cannot be watched, and what has changed in it since.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The entries of a folder, by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScannedFolder(Vec<(OsString, FolderEntryStamp)>);

/// An entry at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FolderEntryStamp {
    /// A folder, by its inode and mode: what is in it has a look of its own.
    Folder(u64, u32),
    /// A file or link: inode, size, time of its last change in seconds and nanoseconds.
    File(u64, u64, i64, i64),
}

/// An entry that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChangedFolderEntry {
    pub name: OsString,
    pub is_folder: bool,
    pub is_there: bool,
}

impl ScannedFolder {
    /// Looks at a folder; nothing where it is no folder, or cannot be read.
    pub(super) fn look(folder: &Path) -> Self {
        let is_folder = std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir());
        let Some(entries) = is_folder.then(|| std::fs::read_dir(folder).ok()).flatten() else { return Self::default() };
        let stamp = |entry: std::fs::DirEntry| {
            let meta = entry.metadata().ok()?;
            let stamp = match meta.is_dir() {
                true => FolderEntryStamp::Folder(meta.ino(), meta.mode()),
                false => FolderEntryStamp::File(meta.ino(), meta.size(), meta.ctime(), meta.ctime_nsec()),
            };
            Some((entry.file_name(), stamp))
        };
        let mut all: Vec<_> = entries.flatten().filter_map(stamp).collect();
        all.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Self(all)
    }

    /// What differs between this look and a later one.
    pub(super) fn until(&self, later: &Self) -> Vec<ChangedFolderEntry> {
        let find = |all: &Self, name: &OsString| {
            all.0.binary_search_by(|one| one.0.cmp(name)).ok().and_then(|at| all.0.get(at)).map(|one| one.1)
        };
        let came = later.0.iter().filter(|(name, now)| find(self, name) != Some(*now)).map(|one| (one, true));
        let went = self.0.iter().filter(|(name, _)| find(later, name).is_none()).map(|one| (one, false));
        let changed = |((name, stamp), is_there): (&(OsString, FolderEntryStamp), bool)| ChangedFolderEntry {
            name: name.clone(),
            is_folder: matches!(stamp, FolderEntryStamp::Folder(..)),
            is_there,
        };
        came.chain(went).map(changed).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;

    #[test]
    fn what_differs_between_two_looks_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(name);
        for name in ["same", "changed", "gone"] {
            std::fs::write(file(name), "1").unwrap();
        }
        std::fs::create_dir(file("folder")).unwrap();
        let before = ScannedFolder::look(dir.path());
        assert_eq!(before.until(&ScannedFolder::look(dir.path())), []);
        // The same size, and perhaps within the same tick of the clock: a new inode tells them apart.
        std::fs::write(file("new"), "2").unwrap();
        std::fs::rename(file("new"), file("changed")).unwrap();
        std::fs::remove_file(file("gone")).unwrap();
        std::fs::create_dir(file("came")).unwrap();
        std::fs::write(file("folder/within"), "").unwrap();
        let changed = |name: &str, is_folder, is_there| ChangedFolderEntry { name: name.into(), is_folder, is_there };
        let now = ScannedFolder::look(dir.path());
        assert_eq!(
            before.until(&now),
            [changed("came", true, true), changed("changed", false, true), changed("gone", false, false)]
        );
        assert_eq!(ScannedFolder::look(&file("changed")), ScannedFolder::default());
        std::os::unix::fs::symlink(dir.path(), file("link")).unwrap();
        assert_eq!(ScannedFolder::look(&file("link")), ScannedFolder::default(), "a link is not followed");
    }
}
