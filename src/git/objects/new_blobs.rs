//! The blobs of one capture, however many: a few become loose objects, many become packs.
//!
//! A loose object is a file, which takes a disk longer than all the rest. Above [`MANY`] new blobs the small ones are therefore
//! written as packs into the stage (`stage`), and land with it. git itself indexes each pack, and so checks it.

use std::collections::HashSet;

use gix::zlib::stream::deflate::Compress;

use axiom_base::error::{Code, Error, Result};

use super::database::gix_id;
use super::staged::StagedObjects;
use crate::base::loose;
use crate::base::object_kind::ObjectKind;
use crate::repo::repository::Repository;

/// Up to so many new blobs become loose objects.
const MANY: usize = 100;
/// Larger blobs are always loose: there are not many of them, and they are not held in memory. In bytes.
const LARGE: usize = 256 * 1024;
/// How many bytes of blobs are held in memory, before it is known whether there are many.
const HELD: usize = 16 * 1024 * 1024;
/// A pack of about so many bytes is finished, and another one begun.
const PACK: usize = 64 * 1024 * 1024;

/// Takes blobs, and gives back their ids. The objects are there once [`NewBlobs::finish`] has returned.
pub(crate) struct NewBlobs<'r> {
    repository: &'r Repository,
    /// `None` until the first blob, and where git has to write objects.
    staged: Option<StagedObjects<'r>>,
    /// New ones that are neither written nor packed yet.
    held: Vec<(gix::ObjectId, Vec<u8>)>,
    bytes_held: usize,
    /// How many new ones there were so far.
    new: usize,
    pack: BlobPack,
}

impl<'r> NewBlobs<'r> {
    /// No blobs yet.
    pub fn of(repository: &'r Repository) -> Self {
        Self { repository, staged: None, held: Vec::new(), bytes_held: 0, new: 0, pack: BlobPack::default() }
    }

    /// Takes a blob. One that the repository has gets a new time, as in `Objects::write_object`.
    pub fn add(&mut self, content: Vec<u8>) -> Result<gix::ObjectId> {
        let objects = self.repository.objects();
        if self.staged.is_none() {
            self.staged = StagedObjects::of(self.repository)?;
        }
        let Some(staged) = self.staged.as_ref().filter(|_| content.len() <= LARGE) else {
            return gix_id(&objects.write_blob(&content)?);
        };
        let id = objects.id_of(ObjectKind::Blob, &content)?;
        self.repository.durability().note_written([id]);
        if self.pack.ids.contains(&id) || staged.keeps(&id) {
            return Ok(id);
        }
        self.new += 1;
        self.bytes_held += content.len();
        self.held.push((id, content));
        if self.new > MANY {
            self.pack_held()?;
        } else if self.bytes_held > HELD {
            self.write_held()?;
        }
        Ok(id)
    }

    /// Writes what is not written yet.
    pub fn finish(mut self) -> Result<()> {
        self.write_held()?;
        self.finish_pack()
    }

    fn write_held(&mut self) -> Result<()> {
        self.bytes_held = 0;
        let Some(staged) = &self.staged else { return Ok(()) };
        for (id, content) in self.held.drain(..) {
            self.repository.objects().stage_new(staged, ObjectKind::Blob, &content, id)?;
        }
        Ok(())
    }

    fn pack_held(&mut self) -> Result<()> {
        self.bytes_held = 0;
        for (id, content) in std::mem::take(&mut self.held) {
            self.pack.add(id, &content)?;
            if self.pack.bytes.len() > PACK {
                self.finish_pack()?;
            }
        }
        Ok(())
    }

    fn finish_pack(&mut self) -> Result<()> {
        let pack = std::mem::take(&mut self.pack);
        let Some(staged) = self.staged.as_ref().filter(|_| !pack.ids.is_empty()) else { return Ok(()) };
        let (bytes, ids) = pack.end(self.repository)?;
        self.repository.git().making_objects().args(["index-pack", "--stdin"]).stdin(bytes).run_ok()?;
        staged.stage.note_packed(ids);
        Ok(())
    }
}

/// A pack of blobs, without deltas.
#[derive(Default)]
struct BlobPack {
    /// What comes after the header.
    bytes: Vec<u8>,
    ids: HashSet<gix::ObjectId>,
    deflate: Option<Compress>,
}

impl BlobPack {
    /// The type of a blob in a pack (gitformat-pack).
    const BLOB: u8 = 3;

    fn add(&mut self, id: gix::ObjectId, content: &[u8]) -> Result<()> {
        if !self.ids.insert(id) {
            return Ok(());
        }
        // The lowest four bits of the size, then seven at a time.
        let mut size = content.len();
        let mut byte = Self::BLOB << 4 | (size & 15) as u8;
        size >>= 4;
        while size > 0 {
            self.bytes.push(byte | 0x80);
            byte = (size & 127) as u8;
            size >>= 7;
        }
        self.bytes.push(byte);
        if loose::is_small(gix::objs::Kind::Blob, content.len()) {
            self.bytes.extend(loose::stored(content));
            return Ok(());
        }
        let deflate = self.deflate.get_or_insert_with(|| Compress::new(gix::zlib::Compression::BEST_SPEED));
        loose::deflate(deflate, content, &mut self.bytes)
    }

    /// The whole pack, and what is in it.
    fn end(self, repository: &Repository) -> Result<(Vec<u8>, HashSet<gix::ObjectId>)> {
        let count = u32::try_from(self.ids.len()).map_err(|_| Error::new(Code::Internal, "too many blobs for a pack"))?;
        let mut whole = Vec::with_capacity(self.bytes.len() + 64);
        whole.extend_from_slice(b"PACK\0\0\0\x02");
        whole.extend_from_slice(&count.to_be_bytes());
        whole.extend_from_slice(&self.bytes);
        let sum = repository.hash().digest(&whole)?;
        whole.extend(sum);
        Ok((whole, self.ids))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::{ScratchRepository, git_at};
    use axiom_model::base::names::Oid;

    fn named(id: &gix::oid) -> Oid {
        Oid::from_bytes(id.as_bytes()).unwrap()
    }

    /// Blobs of sizes that end within one and two bytes of a header, stored and compressed, one of them twice.
    fn contents(count: usize) -> Vec<Vec<u8>> {
        let mut all: Vec<Vec<u8>> = (0..count).map(|number| format!("blob {number}\n").into_bytes()).collect();
        for size in [0, 1, 15, 16, 1016, 1017, 1024, 2047, 2048, 65_535, 65_536, LARGE, LARGE + 1] {
            all.push((0..size).map(|place| (place * 7 % 251) as u8).collect());
        }
        all.push(all[0].clone());
        all
    }

    #[test]
    fn many_blobs_become_a_pack_that_git_finds_whole() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            let repo = scratch.repo();
            let (all, mut blobs) = (contents(MANY), NewBlobs::of(&repo));
            let ids: Vec<_> = all.iter().map(|content| blobs.add(content.clone()).unwrap()).collect();
            blobs.finish().unwrap();
            for (id, content) in ids.iter().zip(&all) {
                assert_eq!(repo.objects().read_blob(&named(id), 1 << 20).unwrap(), *content, "before it has landed");
            }
            repo.durability().sync_objects().unwrap();
            assert_eq!(repo.durability().gone_of_noted().unwrap(), 0);
            let file = scratch.path().join("content");
            for (id, content) in ids.iter().zip(&all).skip(MANY - 1) {
                axiom_base::files::write_scratch(&file, content).unwrap();
                assert_eq!(scratch.git(&["hash-object", file.to_str().unwrap()]), id.to_string());
                assert_eq!(scratch.git(&["cat-file", "-s", &id.to_string()]), content.len().to_string());
            }
            let counts = scratch.git(&["count-objects", "-v"]);
            assert!(counts.contains("packs: 1\n"), "{counts}");
            assert!(counts.contains(&format!("in-pack: {}\n", MANY + 12)), "the large one is loose: {counts}");
            git_at(&scratch.path(), &["fsck", "--strict", "--full"]);
            // What is there is not written again.
            let mut blobs = NewBlobs::of(&repo);
            for content in &all {
                blobs.add(content.clone()).unwrap();
            }
            assert_eq!(blobs.new, 0);
            blobs.finish().unwrap();
            repo.durability().sync_objects().unwrap();
            assert!(scratch.git(&["count-objects", "-v"]).contains("packs: 1\n"));
        }
    }

    #[test]
    fn a_few_become_loose_objects() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let mut blobs = NewBlobs::of(&repo);
        let ids: Vec<_> = contents(10).into_iter().map(|content| blobs.add(content).unwrap()).collect();
        blobs.finish().unwrap();
        repo.durability().sync_objects().unwrap();
        assert!(ids.iter().all(|id| repo.objects().has_object(&named(id))));
        assert!(scratch.git(&["count-objects", "-v"]).contains("packs: 0\n"));
    }
}
