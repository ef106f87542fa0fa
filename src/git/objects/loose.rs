//! Writes small objects as loose files, stored without compression.
//!
//! A compressor clears a third of a megabyte of memory, for a commit of 300 bytes that takes one block of the disk either
//! way. `git gc` compresses the object when it packs.

use std::path::Path;

use crate::env;
use crate::error::Result;
use crate::files;

use super::database::ObjectKind;

/// Objects up to this size in bytes, header included, are stored uncompressed; larger ones may be worth compressing.
const SMALL: usize = 1024;
/// The same limit for trees and commits, which are mostly ids and hardly compress: what fits into one block of the disk.
const SMALL_IDS: usize = 4096 - AROUND;
/// The bytes that the zlib stream adds around the content.
const AROUND: usize = 11;

/// Whether an object of this length in bytes, header included, is stored uncompressed.
pub(in crate::git) const fn is_small(kind: ObjectKind, length: usize) -> bool {
    length
        <= match kind {
            ObjectKind::Blob | ObjectKind::Tag => SMALL,
            ObjectKind::Tree | ObjectKind::Commit => SMALL_IDS,
        }
}

/// Writes an object below the folder `objects`. `content` begins with the object's header, and is small by [`is_small`]. The
/// file is there whole or not at all, but is not synced. A crash leaves a `tmp_obj_…` file, which `git gc` removes.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`.
pub(in crate::git) fn write(objects: &Path, id: &str, content: &[u8]) -> Result<()> {
    let (folder, rest) = id.split_at(2);
    let folder = objects.join(folder);
    let temporary = objects.join(format!("tmp_obj_{}", env::fresh_id()));
    files::write_read_only(&temporary, &stored(content))?;
    let place = || files::replace_unsynced(&temporary, &folder.join(rest));
    let make = || files::create_public_dir(&folder);
    let made = if folder.is_dir() { Ok(()) } else { make() };
    // `git gc` removes empty folders, perhaps just now.
    let placed = made.and_then(|()| place().or_else(|_| make().and_then(|()| place())));
    if placed.is_err() {
        files::remove_file(&temporary)?;
    }
    placed
}

/// `content`, at most 65,535 bytes, as a zlib stream with one uncompressed block.
pub(super) fn stored(content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap_or(u16::MAX);
    let mut stream = Vec::with_capacity(content.len() + AROUND);
    // The header of the lowest level, with a window of 32 KiB; git writes the same with core.compression=0.
    stream.extend_from_slice(&[0x78, 0x01, 1]);
    stream.extend_from_slice(&length.to_le_bytes());
    stream.extend_from_slice(&(!length).to_le_bytes());
    stream.extend_from_slice(content);
    let (a, b) = content.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    stream.extend_from_slice(&(b << 16 | a).to_be_bytes());
    stream
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::git::objects::database::{ObjectKind, TreeEntry};
    use crate::git::repo::scratch::{Scratch, git_at};

    #[test]
    fn objects_of_all_sizes_are_what_git_takes_them_for() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = Scratch::new(kind);
            let repo = scratch.repo();
            for size in [0, 1, 2, 500, SMALL - 10, SMALL - 9, SMALL - 8, SMALL, SMALL + 1, 3 * SMALL] {
                let content: Vec<u8> = (0..size).map(|place| (place * 7 % 251) as u8 | 0x80).collect();
                let id = repo.objects().write_object(ObjectKind::Blob, &content).unwrap();
                assert_eq!(repo.objects().read_blob(&id, 1 << 20).unwrap(), content, "{size}");
                repo.durability().sync_objects().unwrap();
                assert_eq!(repo.objects().read_blob(&id, 1 << 20).unwrap(), content, "{size}");
                let file = scratch.path().join("content");
                files::write_scratch(&file, &content).unwrap();
                assert_eq!(scratch.git(&["hash-object", file.to_str().unwrap()]), id.as_str());
                assert_eq!(scratch.git(&["cat-file", "-s", id.as_str()]), size.to_string());
                let (folder, rest) = id.as_str().split_at(2);
                let meta = scratch.path().join(".git/objects").join(folder).join(rest).metadata().unwrap();
                assert_eq!(meta.permissions().mode() & 0o222, 0);
                assert_eq!(
                    size + AROUND + format!("blob {size}\0").len() == meta.len() as usize,
                    size + 6 + size.to_string().len() <= SMALL
                );
            }
            scratch.git(&["fsck", "--strict", "--full"]);
            scratch.git(&["repack", "-q", "-a", "-d", "-k"]);
            git_at(&scratch.path(), &["fsck", "--strict", "--full"]);
            let left = std::fs::read_dir(scratch.path().join(".git/objects")).unwrap();
            assert!(left.flatten().all(|entry| !entry.file_name().to_string_lossy().starts_with("tmp_obj")));
        }
    }

    #[test]
    fn trees_and_commits_are_stored_as_long_as_they_take_one_block() {
        let scratch = Scratch::new(&[]);
        let repo = scratch.repo();
        let blob = repo.objects().write_blob(b"x").unwrap();
        for (count, is_stored) in [(100, true), (200, false)] {
            let entry = |number| TreeEntry { mode: 0o100_644, oid: blob.clone(), name: format!("{number:06}").into_bytes() };
            let entries: Vec<TreeEntry> = (0..count).map(entry).collect();
            let id = repo.objects().write_tree(&entries).unwrap();
            repo.durability().sync_objects().unwrap();
            assert_eq!(scratch.git(&["ls-tree", id.as_str()]).lines().count(), count);
            let (folder, rest) = id.as_str().split_at(2);
            let size = scratch.path().join(".git/objects").join(folder).join(rest).metadata().unwrap().len();
            let content = count as u64 * 34;
            assert_eq!(size == content + "tree 3400\0".len() as u64 + AROUND as u64, is_stored, "{count}");
            assert!(size <= 4096);
        }
        scratch.git(&["fsck", "--strict", "--full"]);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error_that_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        files::write_scratch(&dir.path().join("ab"), b"a file").unwrap();
        assert!(write(dir.path(), &format!("ab{}", "0".repeat(38)), b"blob 0\0").is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
