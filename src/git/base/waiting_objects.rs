//! New objects that wait in memory.
//!
//! Most operations write a dozen small objects. In a folder with the layout of an object database each of them would need a
//! folder of its own, made and removed again: most of what a checkpoint would change on disk. So a few small ones wait here,
//! where gix finds them, until they land or until git has to see them.

use std::collections::HashMap;

use gix::odb::memory::Storage;

/// The largest object that waits in memory, in bytes.
const LARGEST: usize = 64 * 1024;
/// How many objects wait in memory: the blobs that are too few for a pack, and as many trees. Each handle of gix gets a copy of them.
const COUNT: usize = 256;
/// How many bytes they have together.
const BYTES: usize = 512 * 1024;

/// The objects that wait in memory, and those of the same operation that have landed: it reads them again at once.
#[derive(Default)]
pub(crate) struct WaitingObjects {
    objects: Storage,
    bytes: usize,
    landed: HashMap<gix::ObjectId, LandedObject>,
}

/// An object that has landed.
struct LandedObject {
    kind: gix::objs::Kind,
    content: Vec<u8>,
    /// The bytes of its file.
    size: u64,
}

impl WaitingObjects {
    /// Takes an object in; `false` where there is no room for it.
    pub fn take_in(&mut self, id: gix::ObjectId, kind: gix::objs::Kind, content: &[u8]) -> bool {
        if content.len() > LARGEST || self.objects.len() == COUNT || self.bytes + content.len() > BYTES {
            return false;
        }
        if self.objects.insert(id, (kind, content.to_vec())).is_none() {
            self.bytes += content.len();
        }
        true
    }

    /// The objects, by id.
    pub const fn objects(&self) -> &Storage {
        &self.objects
    }

    /// Whether an object waits here.
    pub fn has(&self, id: &gix::oid) -> bool {
        self.objects.contains_key(id)
    }

    /// Lets an object go.
    pub fn let_go(&mut self, id: &gix::oid) -> Option<(gix::objs::Kind, Vec<u8>)> {
        let gone = self.objects.remove(id)?;
        self.bytes -= gone.1.len();
        Some(gone)
    }

    /// Lets an object go that is in the object database now, in a file of so many bytes.
    pub fn has_landed(&mut self, id: gix::ObjectId, size: u64) {
        if let Some((kind, content)) = self.let_go(&id)
            && self.landed.len() < COUNT
        {
            self.landed.insert(id, LandedObject { kind, content, size });
        }
    }

    /// Lets all objects go that wait.
    pub fn all_are_elsewhere(&mut self) {
        (self.objects, self.bytes) = (Storage::default(), 0);
    }

    /// Forgets what has landed: another process may remove it.
    pub fn forget_landed(&mut self) {
        self.landed.clear();
    }

    /// Kind and content of an object that waits or has landed. That it has does not mean that it is still there.
    pub fn content(&self, id: &gix::oid) -> Option<(gix::objs::Kind, &[u8])> {
        let waiting = self.objects.get(id).map(|(kind, content)| (*kind, content.as_slice()));
        waiting.or_else(|| self.landed.get(id).map(|one| (one.kind, one.content.as_slice())))
    }

    /// The bytes of the file of an object that has landed.
    pub fn size_landed(&self, id: &gix::oid) -> Option<u64> {
        self.landed.get(id).map(|one| one.size)
    }
}

#[cfg(test)]
mod tests {
    use gix::objs::Kind;

    use super::*;

    fn id(number: usize) -> gix::ObjectId {
        gix::ObjectId::from_hex(format!("{number:040x}").as_bytes()).unwrap()
    }

    #[test]
    fn there_is_room_for_so_many_objects_and_bytes_and_each_counts_once() {
        let mut few = WaitingObjects::default();
        for number in 0..COUNT {
            assert!(few.take_in(id(number), Kind::Blob, b"x"), "{number}");
        }
        assert!(!few.take_in(id(COUNT), Kind::Blob, b"x"), "too many");
        let mut large = WaitingObjects::default();
        assert!(!large.take_in(id(0), Kind::Blob, &[0; LARGEST + 1]), "too large");
        for _ in 0..3 {
            assert!(large.take_in(id(0), Kind::Blob, &[0; LARGEST]), "the same again");
        }
        for number in 1..BYTES / LARGEST {
            assert!(large.take_in(id(number), Kind::Blob, &[0; LARGEST]));
        }
        assert!(!large.take_in(id(9), Kind::Blob, b"x"), "too many bytes");
        large.has_landed(id(0), 100);
        large.has_landed(id(0), 100);
        assert!(large.has(&id(1)) && !large.has(&id(0)));
        assert!(large.content(&id(0)).is_some() && large.size_landed(&id(0)) == Some(100));
        large.forget_landed();
        assert!(large.content(&id(0)).is_none() && large.content(&id(1)).is_some());
        assert!(large.take_in(id(9), Kind::Blob, b"x"), "there is room again");
    }
}
