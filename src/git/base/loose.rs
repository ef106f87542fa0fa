//! Loose objects as git has them: where they lie, and what is in their files. Small ones are stored without compression.
//!
//! A compressor clears a third of a megabyte of memory, for a commit of 300 bytes that takes one block of the disk either
//! way. `git gc` compresses the object when it packs.

use std::path::{Path, PathBuf};

use gix::objs::Kind;
use gix::zlib::stream::deflate::{Compress, FlushCompress};
use gix::zlib::{Decompress, FlushDecompress, Status};

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};

/// Objects up to this size in bytes, header included, are stored uncompressed; larger ones may be worth compressing.
const SMALL: usize = 1024;
/// The same limit for trees and commits, which are mostly ids and hardly compress: what fits into one block of the disk.
const SMALL_IDS: usize = 4096 - AROUND;
/// The largest file that [`read`] reads, in bytes: a larger one is mapped by gix.
const READ_AT_ONCE: u64 = 1024 * 1024;
/// More than the header of an object, in bytes.
const HEADER: usize = 64;
/// How often a folder is made again that another process takes away before the object is in it.
const TRIES: usize = 10_000;
/// The bytes that the zlib stream adds around the content.
const AROUND: usize = 11;

/// The path of a loose object, whether or not it exists.
pub(crate) fn loose_file(objects: &Path, id: &gix::oid) -> PathBuf {
    let name = id.to_string();
    let (folder, rest) = name.split_at(2);
    objects.join(folder).join(rest)
}

/// Whether an object of this length in bytes, header included, is stored uncompressed.
pub(crate) const fn is_small(kind: Kind, length: usize) -> bool {
    length
        <= match kind {
            Kind::Blob | Kind::Tag => SMALL,
            Kind::Tree | Kind::Commit => SMALL_IDS,
        }
}

/// What the file of an object contains.
pub(crate) fn encoded(kind: Kind, content: &[u8]) -> Result<Vec<u8>> {
    let header = gix::objs::encode::loose_header(kind, content.len() as u64);
    let whole = [header.as_slice(), content].concat();
    if is_small(kind, whole.len()) {
        return Ok(stored(&whole));
    }
    let mut file = Vec::new();
    deflate(&mut Compress::new(gix::zlib::Compression::BEST_SPEED), &whole, &mut file)?;
    Ok(file)
}

/// Adds `content` as a compressed stream.
pub(crate) fn deflate(deflate: &mut Compress, content: &[u8], to: &mut Vec<u8>) -> Result<()> {
    deflate.reset();
    let begin = to.len();
    // More than anything can become.
    to.resize(begin + content.len() + content.len() / 4 + 64, 0);
    match deflate.compress(content, &mut to[begin..], FlushCompress::Finish) {
        Ok(Status::StreamEnd) => {
            to.truncate(begin + deflate.total_out() as usize);
            Ok(())
        }
        Ok(Status::Ok | Status::BufError) => Err(Error::new(Code::Internal, "an object does not compress")),
        Err(e) => Err(Error::new(Code::Internal, format!("an object cannot be compressed: {e}"))),
    }
}

/// Writes a file of an object below the folder `objects`, which has the layout of an object database. `file` is what
/// [`encoded`] gives. It is there whole or not at all, but is not synced. A crash leaves a `tmp_obj_…` file, which goes with
/// the folder.
pub(crate) fn write(objects: &Path, id: &gix::oid, file: &[u8]) -> Result<()> {
    let place = loose_file(objects, id);
    let temporary = objects.join(format!("tmp_obj_{}", env::fresh_id()));
    files::write_read_only(&temporary, file)?;
    let placed = move_to(&temporary, &place);
    if placed.is_err() {
        files::remove_file(&temporary)?;
    }
    placed
}

/// Kind and content of a loose object of at most `limit` bytes; `None` where it is not there, larger, or in any way odd: gix or
/// git then tells. One opening and one reading, where gix has a look, reads the beginning, and then the whole.
pub(crate) fn read(objects: &Path, id: &gix::oid, limit: u64) -> Option<(Kind, Vec<u8>)> {
    let file = files::read_optional(&loose_file(objects, id), READ_AT_ONCE).ok()??;
    let mut content = vec![0; HEADER];
    let mut inflate = Decompress::new();
    let mut filled = 0;
    loop {
        let (eaten, before) = (inflate.total_in() as usize, inflate.total_out());
        let status = inflate.decompress(file.get(eaten..)?, &mut content[filled..], FlushDecompress::None).ok()?;
        filled += (inflate.total_out() - before) as usize;
        let (kind, size, header) = gix::objs::decode::loose_header(&content[..filled]).ok()?;
        if size > limit {
            return None;
        }
        let whole = header + usize::try_from(size).ok()?;
        if status == Status::StreamEnd {
            content.truncate(filled);
            content.drain(..header);
            return (filled == whole).then_some((kind, content));
        }
        // One byte more than it says: a longer one is found to be odd.
        if content.len() > whole || filled < content.len() {
            return None;
        }
        content.resize(whole + 1, 0);
    }
}

/// Moves a file to its place in a folder of objects. A file that is there already is replaced: it has the same content, or is
/// damaged. Not synced.
pub(crate) fn move_to(from: &Path, to: &Path) -> Result<()> {
    // Nearly always the folder is there. `git gc` removes empty ones, perhaps just when this one was made: then it is made again.
    let mut moved = files::move_unsynced(from, to);
    for _ in 0..TRIES {
        let Err(error) = &moved else { return Ok(()) };
        if !error.is_of_something_gone() || from.symlink_metadata().is_err() {
            break;
        }
        moved = to.parent().map_or(Ok(()), files::create_public_dir).and_then(|()| files::move_unsynced(from, to));
    }
    moved
}

/// `content`, at most 65,535 bytes, as a zlib stream with one uncompressed block.
pub(crate) fn stored(content: &[u8]) -> Vec<u8> {
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
    use crate::base::object_kind::ObjectKind;
    use crate::objects::database::TreeEntry;
    use crate::repo::scratch::{ScratchRepository, git_at};

    #[test]
    fn objects_of_all_sizes_are_what_git_takes_them_for() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            let repo = scratch.repo();
            for size in [0, 1, 2, 500, SMALL - 10, SMALL - 9, SMALL - 8, SMALL, SMALL + 1, 3 * SMALL] {
                let content: Vec<u8> = (0..size).map(|place| (place * 7 % 251) as u8 | 0x80).collect();
                let id = repo.objects().write_object(ObjectKind::Blob, &content).unwrap();
                assert_eq!(repo.objects().read_blob(&id, 1 << 20).unwrap(), content, "{size}");
                repo.durability().sync_objects().unwrap();
                assert_eq!(repo.objects().read_blob(&id, 1 << 20).unwrap(), content, "{size}");
                let file = scratch.path().join("content");
                axiom_base::files::write_scratch(&file, &content).unwrap();
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
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let blob = repo.objects().write_blob(b"x").unwrap();
        for (count, is_stored) in [(100, true), (200, false)] {
            let entry = |number| TreeEntry { mode: 0o100_644, oid: blob.clone(), name: format!("{number:06}").into_bytes() };
            let entries: Vec<TreeEntry> = (0..count).map(entry).collect();
            let id = repo.trees().write_tree(&entries).unwrap();
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
    fn loose_objects_are_read_as_git_wrote_them_and_odd_ones_are_left_to_git() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            let objects = scratch.path().join(".git/objects");
            for size in [0, 1, 50, 55, 56, 57, 58, 63, 64, 65, 200, 4000, 100_000] {
                let content: Vec<u8> = (0..size).map(|place| (place * 7 % 251) as u8).collect();
                scratch.write("content", &content);
                let id = scratch.git(&["hash-object", "-w", "content"]);
                let id = gix::ObjectId::from_hex(id.as_bytes()).unwrap();
                assert_eq!(read(&objects, &id, size), Some((Kind::Blob, content.clone())), "{size}");
                assert_eq!(read(&objects, &id, size.saturating_sub(1)).is_some(), size == 0, "too large");
                let (file, place) = (encoded(Kind::Blob, &content).unwrap(), loose_file(&objects, &id));
                let with = |bytes: &[u8]| {
                    axiom_base::files::remove_file(&place).unwrap();
                    axiom_base::files::write_scratch(&place, bytes).unwrap();
                    read(&objects, &id, 1 << 20)
                };
                assert_eq!(with(&file), Some((Kind::Blob, content)), "{size}");
                for odd in [&b""[..], b"x", &file[..file.len() / 2], &file[..file.len() - 1], &file[1..]] {
                    assert_eq!(with(odd), None, "{size}");
                }
            }
            for (header, content) in [("blob 3", "four"), ("blob 5", "four"), ("blub 4", "four"), ("blob x", "four")] {
                let id = gix::ObjectId::from_hex("a".repeat(40).as_bytes()).unwrap();
                let odd = stored(format!("{header}\0{content}").as_bytes());
                write(&objects, &id, &odd).unwrap();
                assert_eq!(read(&objects, &id, 100), None, "{header}");
            }
        }
    }

    #[test]
    fn a_folder_that_somebody_takes_away_all_the_time_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let id = gix::ObjectId::from_hex(format!("ab{}", "0".repeat(38)).as_bytes()).unwrap();
        let place = loose_file(dir.path(), &id);
        let ended = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            // As `git gc` does it: only a folder with nothing in it goes.
            scope.spawn(|| {
                while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                    let _ = axiom_base::files::remove_empty_dir(place.parent().unwrap());
                }
            });
            let outcome = (0..3000).try_for_each(|_| {
                write(dir.path(), &id, &stored(b"blob 0\0"))?;
                axiom_base::files::remove_file(&place)
            });
            ended.store(true, std::sync::atomic::Ordering::Relaxed);
            outcome.unwrap();
        });
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error_that_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        axiom_base::files::write_scratch(&dir.path().join("ab"), b"a file").unwrap();
        let id = gix::ObjectId::from_hex(format!("ab{}", "0".repeat(38)).as_bytes()).unwrap();
        assert!(write(dir.path(), &id, b"blob 0\0").is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
