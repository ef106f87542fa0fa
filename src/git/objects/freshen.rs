//! Objects that exist already and are needed again.
//!
//! `git gc` removes unreachable objects that are old. So, as git does, an existing object that would be written again gets a
//! new modification time instead: on its loose file, or on the pack that contains it. Where that is not possible (a cruft
//! pack, which records the age of each object; files of another user), the object is written once more. After new objects
//! were referred to, the caller can check whether they still exist: another process may just have removed all unreachable
//! objects, however new.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use axiom_base::error::Result;
use axiom_base::files;

use crate::base::known_packs::{IndexedPack, PackFolder};
use crate::base::loose::loose_file;
use crate::repo::handles::Durability;

impl Durability<'_> {
    /// Forgets which objects were noted.
    pub(crate) fn forget_noted(&self) {
        self.repo.objects.freshened.noted.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// How many of the noted objects are missing now; forgets all of them. No process is started.
    pub(crate) fn gone_of_noted(&self) -> Result<usize> {
        let mut left = std::mem::take(&mut *self.repo.objects.freshened.noted.lock().unwrap_or_else(PoisonError::into_inner));
        self.leave_unpacked(&mut left)?;
        let mut gone = 0;
        for id in left {
            gone += usize::from(!self.is_there_now(&id)?);
        }
        Ok(gone)
    }

    /// Notes objects that were written, or that exist already and are going to be referred to.
    pub(crate) fn note_written(&self, ids: impl IntoIterator<Item = gix::ObjectId>) {
        self.repo.objects.freshened.noted.lock().unwrap_or_else(PoisonError::into_inner).extend(ids);
    }

    /// Gives the file or pack of an existing object the current time; `false` where the object has to be written instead. A
    /// loose object is read back first, unless all loose objects were checked since boot: after a power loss its file may be
    /// empty.
    pub(crate) fn freshen(&self, id: &gix::oid) -> bool {
        let loose = |objects: &Path| {
            (self.repo.power_losses().objects_are_proved() || self.is_whole_at(objects, id))
                && files::touch(&loose_file(objects, id))
        };
        loose(&self.repo.common_dir().join("objects"))
            || self.with_packs(|pack| !pack.is_cruft && pack.has(id) && files::touch(&pack.file)).unwrap_or(false)
            || self.alternates().iter().any(|objects| loose(objects))
    }

    /// Leaves those objects that no pack has at this moment, each once: packs are looked at once for all of them.
    pub(crate) fn leave_unpacked(&self, ids: &mut Vec<gix::ObjectId>) -> Result<()> {
        let looked = self.with_packs(|pack| {
            let rest: Vec<_> = ids.iter().filter(|id| !pack.has(id)).copied().collect();
            if rest.len() < ids.len() && pack.file.is_file() {
                *ids = rest;
            }
            ids.is_empty()
        });
        ids.sort_unstable();
        ids.dedup();
        looked.map(drop)
    }

    /// Whether each of the objects exists and could be given the current time, as [`Durability::freshen`]: packs are looked at once
    /// for all of them.
    pub(crate) fn freshen_all(&self, ids: &[gix::ObjectId]) -> Vec<bool> {
        let mut fresh = vec![false; ids.len()];
        let looked = self.with_packs(|pack| {
            let is_here = |at: &usize| !fresh[*at] && pack.has(&ids[*at]);
            let here: Vec<usize> = if pack.is_cruft { Vec::new() } else { (0..ids.len()).filter(is_here).collect() };
            if !here.is_empty() && files::touch(&pack.file) {
                here.into_iter().for_each(|at| fresh[at] = true);
            }
            fresh.iter().all(|fresh| *fresh)
        });
        if let Err(error) = looked {
            tracing::debug!(%error, "the packs cannot be looked at");
        }
        // Many files may have one content.
        let mut loose: HashMap<&gix::ObjectId, bool> = HashMap::new();
        for (id, fresh) in ids.iter().zip(&mut fresh).filter(|(_, fresh)| !**fresh) {
            *fresh = *loose.entry(id).or_insert_with(|| self.freshen(id));
        }
        fresh
    }

    /// Whether an object exists at this moment; nothing cached is trusted.
    pub(crate) fn is_there_now(&self, id: &gix::oid) -> Result<bool> {
        let loose = |objects: &Path| loose_file(objects, id).is_file();
        // Packs are searched again at the end: another process may pack a loose object between the two lookups.
        let found = self.repo.objects.stage.get().is_some_and(|stage| stage.has(id))
            || loose(&self.repo.common_dir().join("objects"))
            || self.with_packs(|pack| pack.has(id) && pack.file.is_file())?
            || self.alternates().iter().any(|objects| loose(objects));
        Ok(found || self.with_packs(|pack| pack.has(id) && pack.file.is_file())?)
    }

    fn alternates(&self) -> Vec<PathBuf> {
        self.repo.opened().ok().and_then(|gix| gix.objects.alternate_db_paths().ok()).unwrap_or_default()
    }

    /// Whether the condition holds for one of the packs that exist now.
    fn with_packs(&self, mut holds: impl FnMut(&IndexedPack) -> bool) -> Result<bool> {
        let mut folders = self.repo.objects.freshened.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if folders.is_empty() {
            let own = self.repo.common_dir().join("objects");
            let all = std::iter::once(own).chain(self.alternates());
            folders.extend(all.map(|objects| PackFolder { packs: objects.join("pack"), ..PackFolder::default() }));
        }
        for folder in folders.iter_mut() {
            folder.look(self.repo.hash().gix())?;
            if folder.known.iter().any(&mut holds) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::objects::database::gix_id;
    use crate::repo::scratch::ScratchRepository;
    use axiom_model::base::names::Oid;
    use gix::objs::Exists;

    fn age(file: &Path) -> Duration {
        file.metadata().unwrap().modified().unwrap().elapsed().unwrap_or_default()
    }

    fn make_old(file: &Path) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        std::fs::File::open(file).unwrap().set_modified(time).unwrap();
        assert!(age(file) > Duration::from_secs(1_000_000));
    }

    fn packs(scratch: &ScratchRepository, kind: &str) -> Vec<PathBuf> {
        let all = std::fs::read_dir(scratch.path().join(".git/objects/pack")).unwrap();
        all.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == kind)).collect()
    }

    #[test]
    fn what_is_written_again_is_new_again_wherever_it_is() {
        let scratch = ScratchRepository::new(&[]);
        let content = b"the same again".as_slice();
        let id = scratch.landed(|repo| repo.objects().write_blob(content).unwrap());
        let loose = loose_file(&scratch.path().join(".git/objects"), &gix_id(&id).unwrap());
        make_old(&loose);
        scratch.landed(|repo| repo.objects().write_blob(content).unwrap());
        assert!(age(&loose) < Duration::from_secs(600), "the loose file");
        // In a pack: the pack gets a new time.
        scratch.git(&["update-ref", "refs/test/keep", id.as_str()]);
        scratch.git(&["repack", "-q", "-a", "-d"]);
        assert!(!loose.exists());
        let pack = packs(&scratch, "pack").remove(0);
        make_old(&pack);
        scratch.landed(|repo| repo.objects().write_blob(content).unwrap());
        assert!(age(&pack) < Duration::from_secs(600), "the pack");
        assert!(!loose.exists(), "it is not there twice");
        // Only in a cruft pack: the object is written again.
        scratch.git(&["update-ref", "-d", "refs/test/keep"]);
        scratch.git(&["repack", "-q", "-a", "-d", "--cruft"]);
        assert_eq!(packs(&scratch, "mtimes").len(), 1);
        assert!(!loose.exists());
        scratch.landed(|repo| repo.objects().write_blob(content).unwrap());
        assert!(loose.exists(), "out of the cruft pack");
    }

    #[test]
    fn what_went_away_after_it_was_written_is_told() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let written: Vec<Oid> = (0..3).map(|n| repo.objects().write_blob(format!("object {n}").as_bytes()).unwrap()).collect();
        assert_eq!(repo.durability().gone_of_noted().unwrap(), 0, "they wait for their names");
        assert_eq!(repo.durability().gone_of_noted().unwrap(), 0, "nothing is noted any more");
        repo.durability().sync_objects().unwrap();
        written.iter().enumerate().for_each(|(n, _)| drop(repo.objects().write_blob(format!("object {n}").as_bytes()).unwrap()));
        scratch.git(&["update-ref", "refs/test/keep", written[0].as_str()]);
        scratch.git(&["gc", "-q", "--prune=now"]);
        assert_eq!(repo.durability().gone_of_noted().unwrap(), 2, "one is packed");
    }

    /// A session is one process for hours, in which every `git gc` of somebody leaves other packs.
    #[test]
    fn packs_that_come_and_go_are_found_by_a_repository_that_was_opened_long_before() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let blob = |number: usize| {
            let mut random = number.wrapping_mul(2_654_435_761);
            // Of different sizes, since gix orders packs by these.
            let bytes = (0..(100 - number) * 40).map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 33) as u8
            });
            bytes.collect::<Vec<u8>>()
        };
        let base = scratch.path().join(".git/objects/pack/pack");
        let pack = |number: usize| {
            let id = scratch.landed(|other| other.objects().write_blob(&blob(number)).unwrap());
            repo.git().args(["pack-objects", "-q"]).arg(&base).stdin(format!("{id}\n")).text().map(|pack| (id, pack)).unwrap()
        };
        let mut there = Vec::new();
        for number in 0..80 {
            let (id, name) = pack(number);
            scratch.git(&["prune-packed"]);
            assert!(repo.gix().unwrap().objects.exists(&gix_id(&id).unwrap()), "{number}");
            there.push(name);
            if number >= 32 {
                let gone = there.pop().unwrap_or_default();
                ["idx", "rev", "pack"].iter().for_each(|kind| {
                    axiom_base::files::remove_file(&base.with_file_name(format!("pack-{gone}.{kind}"))).unwrap();
                });
            }
        }
    }
}
