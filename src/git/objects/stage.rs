//! Objects on their way into the repository.
//!
//! New objects first wait in a place of our own, the stage: a few small ones in memory (`base::waiting_objects`), others in a folder
//! (`repo::stage_folder`). Neither `git gc` nor other git processes see them; our own calls of git and gix do. Before the first ref
//! names any of these objects, all of them are synced at once in the folder, and only then moved into the object database
//! ("landing"). So an object in the database always has its content, even after a power loss. (git's `receive-pack` does the
//! same with the objects it receives.) Objects that never land are removed with the folder.

use std::path::Path;
use std::sync::atomic::Ordering;

use gix::odb::memory::Storage;

use axiom_base::error::Result;
use axiom_base::{env, files};

use super::durability::sync_file_system;
use super::landing::{land_folder, land_from_memory};
use crate::base::loose::loose_file;
use crate::repo::handles::Durability;
use crate::repo::object_stage::{ObjectStage, locked};
use crate::repo::repository::Repository;
use crate::repo::shortcuts::FastWay;
use crate::repo::stage_folder::StageFolder;

impl ObjectStage {
    /// All objects in memory, if these are among them and none are in the folder.
    fn only_in_memory(&self, written: &[gix::ObjectId]) -> Option<Storage> {
        let waiting = locked(&self.waiting);
        (self.opened().is_none() && written.iter().all(|id| waiting.has(id))).then(|| waiting.objects().clone())
    }

    /// Moves objects into the object database: `written`, and where git may have written some, everything in the folder.
    fn land(&self, repo: &Repository, written: &[gix::ObjectId], by_git: bool) -> Result<()> {
        match self.only_in_memory(written).filter(|_| !by_git) {
            Some(waiting) => {
                let folder = self.folder(repo)?;
                folder.claim()?;
                let landed = land_from_memory(repo, folder.path(), written, &waiting)?;
                // Only now: if this fails, they are written again.
                let mut waiting = locked(&self.waiting);
                for (id, size) in landed {
                    waiting.has_landed(id, size);
                    if folder.opened().is_some() {
                        // A call of git that began meanwhile had it written into the folder.
                        files::remove_file(&loose_file(folder.path(), &id))?;
                    }
                }
            }
            None => land_folder(repo, self.open_folder(repo)?.path(), if by_git { None } else { Some(written) })?,
        }
        locked(&self.packed).clear();
        Ok(())
    }
}

impl<'r> Durability<'r> {
    /// Where new objects wait. `None` in a shared repository (`core.sharedRepository`): there git has to write objects, since
    /// it sets the modes of the files.
    pub(crate) fn stage(&self) -> Result<Option<&'r ObjectStage>> {
        if let Some(stage) = self.repo.objects.stage.get() {
            return Ok(Some(stage));
        }
        // An error of gix is more to the point than one of git.
        self.repo.gix()?;
        let may = self.repo.shortcuts().allow(FastWay::StageObjects);
        Ok(may.then(|| self.repo.objects.stage.get_or_init(ObjectStage::default)))
    }

    /// The folder for objects that git makes, which also has those that wait; it is made now if there is none. `None` as for
    /// [`Durability::stage`].
    pub(crate) fn stage_folder(&self) -> Result<Option<&'r StageFolder>> {
        self.stage()?.map(|stage| stage.open_folder(self.repo)).transpose()
    }

    /// Removes the stage folder if it is empty; called when an operation has ended.
    pub fn put_stage_away(&self) {
        let Some(stage) = self.repo.objects.stage.get() else { return };
        locked(&stage.waiting).forget_landed();
        let _one_at_a_time = locked(&stage.landing);
        if !stage.is_empty() {
            return;
        }
        if let Some(Err(error)) = stage.folder.get().map(StageFolder::put_away) {
            tracing::warn!(%error, "a folder of temporary objects is left");
        }
    }

    /// The folder of the stage, with all that waits, for a call of git that reads; `None` if the stage is empty.
    pub(crate) fn staged_for_readers(&self) -> Result<Option<&'r StageFolder>> {
        let stage = self.repo.objects.stage.get().filter(|stage| !stage.is_empty());
        stage.map(|stage| stage.open_folder(self.repo)).transpose()
    }

    /// Moves all objects of the stage into the object database, durably. Needed before anything other than a ref of ours
    /// names them. Does nothing if the stage is empty.
    pub fn land(&self) -> Result<()> {
        match self.repo.objects.stage.get() {
            Some(stage) if !stage.is_empty() => self.sync_objects(),
            Some(_) | None => Ok(()),
        }
    }

    /// Syncs all objects, including those that others wrote, and the folders that contain them. The objects of the stage are
    /// synced first, then moved into the object database, and their new folder entries are synced before this returns.
    ///
    /// Where the system can, a sync is one call for the git directory's file system; elsewhere each object file that changed is synced
    /// separately, which takes time in a repository with many loose objects. A crash leaves some of the objects in the
    /// database, each with its content and none before the objects that it refers to; [`Durability::finish_landings`] moves
    /// the others.
    pub fn sync_objects(&self) -> Result<()> {
        env::fault_point("git.before-object-sync");
        let began = env::file_clock();
        let objects = self.repo.common_dir().join("objects");
        let synced = match self.repo.objects.stage.get() {
            Some(stage) => self.sync_with(stage, &objects),
            None => sync_file_system(&objects),
        };
        synced.map(|()| self.repo.power_losses().note_sync(began))
    }

    fn sync_with(&self, stage: &ObjectStage, objects: &Path) -> Result<()> {
        let _one_at_a_time = locked(&stage.landing);
        // Objects that are added during this sync wait for the next one.
        let by_git = stage.by_git.swap(false, Ordering::AcqRel);
        let written = std::mem::take(&mut *locked(&stage.written));
        if !by_git && written.is_empty() {
            return sync_file_system(objects);
        }
        stage.land(self.repo, &written, by_git).inspect_err(|_| {
            // Some of the objects are still in the stage.
            stage.note_git();
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::objects::database::gix_id;
    use crate::repo::scratch::ScratchRepository;
    use axiom_model::base::names::Oid;

    fn is_named(scratch: &ScratchRepository, oid: &Oid) -> bool {
        loose_file(&scratch.path().join(".git/objects"), &gix_id(oid).unwrap()).is_file()
    }

    #[test]
    fn an_object_gets_its_name_when_it_is_on_disk_and_what_is_never_named_goes() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            // One that waits in memory, and one that does not.
            let (small, large) = (b"small".to_vec(), vec![7_u8; 70_000]);
            let repo = scratch.repo();
            let written = [&small, &large].map(|content| repo.objects().write_blob(content).unwrap());
            for (oid, content) in written.iter().zip([&small, &large]) {
                assert!(!is_named(&scratch, oid), "nobody else sees it");
                assert_eq!(repo.objects().read_blob(oid, 100_000).unwrap(), *content);
                assert_eq!(repo.git().args(["cat-file", "-s", oid.as_str()]).text().unwrap(), content.len().to_string());
            }
            let made = repo.git().making_objects().args(["mktree"]).stdin(format!("100644 blob {}\tx\n", written[0]));
            let tree = Oid::new(made.text().unwrap()).unwrap();
            assert!(!is_named(&scratch, &tree));
            assert_eq!(repo.trees().read_tree(&tree).unwrap().len(), 1);
            repo.durability().sync_objects().unwrap();
            assert!(written.iter().chain([&tree]).all(|oid| is_named(&scratch, oid)));
            let never = repo.objects().write_blob(b"never named").unwrap();
            drop(repo);
            assert!(!is_named(&scratch, &never));
            assert_eq!(std::fs::read_dir(scratch.path().join(".git/axiom/tmp")).unwrap().count(), 0);
            scratch.git(&["fsck", "--strict"]);
        }
    }

    #[test]
    fn a_few_small_objects_land_without_a_folder_for_each() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let tmp = scratch.path().join(".git/axiom/tmp");
        let oids: Vec<Oid> =
            (0..200).map(|n| repo.objects().write_blob(format!("{n}").repeat(5 * n).as_bytes()).unwrap()).collect();
        assert!(!tmp.exists(), "nothing is written before it is known that they stay");
        for (number, oid) in oids.iter().enumerate() {
            assert_eq!(repo.objects().read_blob(oid, 10_000).unwrap(), format!("{number}").repeat(5 * number).as_bytes());
        }
        repo.durability().sync_objects().unwrap();
        assert!(oids.iter().all(|oid| is_named(&scratch, oid)));
        let folders = || std::fs::read_dir(&tmp).unwrap().map(|entry| entry.unwrap().path());
        let left: Vec<_> = folders().flat_map(|folder| std::fs::read_dir(folder).unwrap()).collect();
        assert_eq!(left.len(), 1, "the mark of the owner: {left:?}");
        repo.durability().put_stage_away();
        assert_eq!(folders().count(), 0);
        let again = repo.objects().write_blob(b"after it was put away").unwrap();
        assert_eq!(repo.objects().read_blob(&again, 100).unwrap(), b"after it was put away");
        repo.durability().sync_objects().unwrap();
        assert!(is_named(&scratch, &again));
        scratch.git(&["fsck", "--strict"]);
    }

    #[test]
    fn what_could_not_land_lands_with_the_next_sync() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let blobs = [b"first".as_slice(), b"second"].map(|content| repo.objects().write_blob(content).unwrap());
        let in_the_way = loose_file(&scratch.path().join(".git/objects"), &gix_id(&blobs[1]).unwrap());
        let in_the_way = in_the_way.parent().unwrap();
        std::fs::write(in_the_way, b"in the way").unwrap();
        assert!(repo.durability().sync_objects().is_err());
        assert_eq!(repo.objects().read_blob(&blobs[1], 100).unwrap(), b"second");
        std::fs::remove_file(in_the_way).unwrap();
        repo.durability().sync_objects().unwrap();
        assert!(blobs.iter().all(|oid| is_named(&scratch, oid)));
        repo.durability().put_stage_away();
        assert_eq!(std::fs::read_dir(scratch.path().join(".git/axiom/tmp")).unwrap().count(), 0);
        scratch.git(&["fsck", "--strict"]);
    }

    #[test]
    fn a_call_that_writes_finds_all_objects_named() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let blob = repo.objects().write_blob(b"for an index").unwrap();
        let info = format!("100644,{blob},staged");
        repo.git_in(&scratch.main()).writing().args(["update-index", "--add", "--cacheinfo", &info]).run_ok().unwrap();
        assert!(is_named(&scratch, &blob));
        // git fails if it cannot move an object to its place, although it has synced the object.
        scratch.write("new", b"new content");
        let id = scratch.git(&["hash-object", "new"]);
        let folder = scratch.path().join(".git/objects").join(&id[..2]);
        assert!(!folder.exists());
        std::fs::write(&folder, b"in the way").unwrap();
        let added = repo.git_in(&scratch.main()).writing().args(["update-index", "--add", "new"]).run().unwrap();
        assert!(!added.ok(), "{added:?}");
        assert_eq!(scratch.git(&["ls-files", "new"]), "");
    }

    #[test]
    fn what_a_power_loss_left_of_an_object_is_written_again() {
        let scratch = ScratchRepository::new(&[]);
        let content = b"all of it";
        let blob = scratch.landed(|repo| repo.objects().write_blob(content).unwrap());
        let file = loose_file(&scratch.path().join(".git/objects"), &gix_id(&blob).unwrap());
        for left in [&b""[..], b"x", &std::fs::read(&file).unwrap()[..9]] {
            std::fs::remove_file(&file).unwrap();
            std::fs::write(&file, left).unwrap();
            scratch.landed(|repo| repo.objects().write_blob(content).unwrap());
            assert_eq!(scratch.git(&["cat-file", "blob", blob.as_str()]).as_bytes(), content);
        }
    }
}
