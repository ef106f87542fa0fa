//! Objects on their way into the repository.
//!
//! New objects are first written to a folder of our own, the stage. Neither `git gc` nor other git processes see it; our own
//! calls of git and gix do. Before the first ref names any of these objects, all of them are synced at once, and only then
//! moved into the object database ("landing"). So an object in the database always has its content, even after a power loss.
//! (git's `receive-pack` does the same with the objects it receives.) Objects that never land are removed with the folder.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::env;
use crate::error::{Code, Error, Result};
use crate::files::{self, FileLock, LockAttempt};

use super::durability::sync_file_system;
use super::landing::land_folder;
use crate::git::index::file::ScratchFolder;
use crate::git::repo::handles::Durability;
use crate::git::repo::repository::SLOTS;
use crate::git::repo::shortcuts::FastWay;
use crate::git::restore::prepared::quote;

/// The lock file that shows that the folder has a living owner.
pub(super) const OWNED: &str = "owned";

/// The folder of objects that are not yet in the object database.
pub(in crate::git) struct Stage {
    folder: ScratchFolder,
    owned: Mutex<Option<FileLock>>,
    /// The repository with the folder as its object database; the real one is its alternate.
    pub gix: gix::ThreadSafeRepository,
    /// The objects that this process wrote, each after the objects that it refers to.
    written: Mutex<Vec<gix::ObjectId>>,
    /// The objects of packs that this process had git write.
    packed: Mutex<HashSet<gix::ObjectId>>,
    /// Whether a git process may have written to the folder as well.
    by_git: AtomicBool,
    landing: Mutex<()>,
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Stage {
    /// The path of the folder, which has the layout of an object database.
    pub fn objects(&self) -> &Path {
        self.folder.path()
    }

    /// Whether an object is in the stage.
    pub fn has(&self, id: &gix::oid) -> bool {
        loose_file(self.objects(), id).is_file() || self.packed.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }

    /// Notes what is in a pack that was written here.
    pub fn note_packed(&self, ids: HashSet<gix::ObjectId>) {
        self.packed.lock().unwrap_or_else(PoisonError::into_inner).extend(ids);
    }

    /// Notes an object that was written here, after all objects that it refers to.
    pub fn note(&self, id: gix::ObjectId) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    }

    /// Removes objects from the stage that are also in a pack.
    pub fn forget(&self, ids: &BTreeSet<gix::ObjectId>) {
        for id in ids {
            if let Err(error) = files::remove_file(&loose_file(self.objects(), id)) {
                tracing::debug!(%error, "an object is there twice");
            }
        }
        self.written.lock().unwrap_or_else(PoisonError::into_inner).retain(|written| !ids.contains(written));
    }

    /// Notes that a call of git may write to the stage.
    pub fn note_git(&self) {
        self.by_git.store(true, Ordering::Release);
    }

    /// Whether the stage is empty.
    pub fn is_empty(&self) -> bool {
        !self.by_git.load(Ordering::Acquire) && self.written.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl<'r> Durability<'r> {
    /// The folder for new objects; it is made now if there is none. `None` in a shared repository (`core.sharedRepository`):
    /// there git has to write objects, since it sets the modes of the files.
    ///
    /// # Errors
    /// `IO_FAILED`, `DISK_FULL`.
    pub(in crate::git) fn waiting_room(&self) -> Result<Option<&'r Stage>> {
        if let Some(stage) = self.repo.stage.get() {
            let mut owned = stage.owned.lock().unwrap_or_else(PoisonError::into_inner);
            // The folder was removed by `put_stage_away`, or by a cleanup after a day without use.
            if owned.is_none() || !stage.objects().join("info/alternates").is_file() {
                *owned = Some(self.lay_out(stage.objects())?);
            }
            return Ok(Some(stage));
        }
        // An error of gix is more to the point than one of git.
        self.repo.gix()?;
        if !self.repo.shortcuts().allow(FastWay::StageObjects) {
            return Ok(None);
        }
        let made = self.make_stage()?;
        // If another thread was first, this stage is dropped at once.
        Ok(Some(self.repo.stage.get_or_init(|| made)))
    }

    fn lay_out(&self, stage: &Path) -> Result<FileLock> {
        files::create_dirs_unsynced(&stage.join("info"))?;
        let owned = match FileLock::try_take(&stage.join(OWNED))? {
            LockAttempt::Taken(lock) => lock,
            LockAttempt::Held => return Err(Error::new(Code::Internal, "a fresh folder is somebody else's")),
        };
        let objects = self.repo.common_dir().join("objects");
        let mut line = quoted(&objects);
        line.push(b'\n');
        files::write_scratch(&stage.join("info/alternates"), &line)?;
        Ok(owned)
    }

    /// Removes the stage folder if it is empty; called when an operation has ended.
    pub fn put_stage_away(&self) {
        let Some(stage) = self.repo.stage.get().filter(|stage| stage.is_empty()) else { return };
        let _one_at_a_time = stage.landing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut owned = stage.owned.lock().unwrap_or_else(PoisonError::into_inner);
        if owned.take().is_some()
            && let Err(error) = files::remove_trashed(stage.objects())
        {
            tracing::warn!(%error, "a folder of temporary objects is left");
        }
    }

    fn make_stage(&self) -> Result<Stage> {
        let folder = self.repo.scratch_folder()?;
        let owned = Mutex::new(Some(self.lay_out(folder.path())?));
        let mut gix = self.repo.opened()?.clone();
        let options = gix::odb::store::init::Options { slots: SLOTS, ..Default::default() };
        let hash = self.repo.hash().gix();
        let store = gix::odb::Store::at_opts(folder.path().to_owned(), hash, &mut std::iter::empty(), options);
        gix.objects = store.map_err(|e| Error::io("open the folder", folder.path(), e))?.into();
        let (written, packed, by_git) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        Ok(Stage { folder, owned, gix, written, packed, by_git, landing: Mutex::default() })
    }

    /// The path of the stage for a call of git that reads; `None` if the stage is empty.
    pub(in crate::git) fn staged_for_readers(&self) -> Option<Vec<u8>> {
        self.repo.stage.get().filter(|stage| !stage.is_empty()).map(|stage| quoted(stage.objects()))
    }

    /// Moves all objects of the stage into the object database, durably. Needed before anything other than a ref of ours
    /// names them. Does nothing if the stage is empty.
    ///
    /// # Errors
    /// As [`Durability::sync_objects`].
    pub fn land(&self) -> Result<()> {
        match self.repo.stage.get() {
            Some(stage) if !stage.is_empty() => self.sync_objects(),
            Some(_) | None => Ok(()),
        }
    }

    /// Syncs all objects, including those that others wrote, and the folders that contain them. The objects of the stage are
    /// synced first, then moved into the object database, and their new folder entries are synced before this returns.
    ///
    /// On Linux a sync is one `syncfs` of the git directory's file system; elsewhere every object file and folder is synced
    /// separately, which takes time in a repository with many loose objects. A crash leaves some of the objects in the
    /// database, each with its content and none before the objects that it refers to; [`Durability::finish_landings`] moves
    /// the others.
    ///
    /// # Errors
    /// `IO_FAILED`, `DISK_FULL`; then nothing that was written may be reported as durable.
    pub fn sync_objects(&self) -> Result<()> {
        env::fault_point("git.before-object-sync");
        let began = env::file_clock();
        let objects = self.repo.common_dir().join("objects");
        let synced = match self.repo.stage.get() {
            Some(stage) => self.sync_with(stage, &objects),
            None => sync_file_system(&objects),
        };
        synced.map(|()| self.note_sync(began))
    }

    fn sync_with(&self, stage: &Stage, objects: &Path) -> Result<()> {
        let _one_at_a_time = stage.landing.lock().unwrap_or_else(PoisonError::into_inner);
        // Objects that are added during this sync wait for the next one.
        let by_git = stage.by_git.swap(false, Ordering::AcqRel);
        let written = std::mem::take(&mut *stage.written.lock().unwrap_or_else(PoisonError::into_inner));
        if !by_git && written.is_empty() {
            return sync_file_system(objects);
        }
        let landed = land_folder(self.repo, stage.objects(), if by_git { None } else { Some(&written) });
        if landed.is_err() {
            // Some of the objects are still in the stage.
            stage.note_git();
        } else {
            stage.packed.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        landed
    }
}

/// The path of a loose object, whether or not it exists.
pub(in crate::git) fn loose_file(objects: &Path, id: &gix::oid) -> PathBuf {
    let name = id.to_string();
    let (folder, rest) = name.split_at(2);
    objects.join(folder).join(rest)
}

/// A path in the form that git accepts in a list of object folders; quoted if it contains special characters.
pub(in crate::git) fn quoted(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b':' | b'"' | b'\\' | b'\n')) && !bytes.starts_with(b"#") {
        return bytes.to_vec();
    }
    let mut quoted = Vec::with_capacity(bytes.len() + 2);
    quote(bytes, &mut quoted);
    quoted
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::domain::base::names::Oid;
    use crate::git::objects::database::gix_id;
    use crate::git::repo::scratch::Scratch;

    fn is_named(scratch: &Scratch, oid: &Oid) -> bool {
        loose_file(&scratch.path().join(".git/objects"), &gix_id(oid).unwrap()).is_file()
    }

    #[test]
    fn an_object_gets_its_name_when_it_is_on_disk_and_what_is_never_named_goes() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = Scratch::new(kind);
            let (small, large) = (b"small".to_vec(), vec![7_u8; 5000]);
            let repo = scratch.repo();
            let written = [&small, &large].map(|content| repo.objects().write_blob(content).unwrap());
            for (oid, content) in written.iter().zip([&small, &large]) {
                assert!(!is_named(&scratch, oid), "nobody else sees it");
                assert_eq!(repo.objects().read_blob(oid, 10_000).unwrap(), *content);
                assert_eq!(repo.git().args(["cat-file", "-s", oid.as_str()]).text().unwrap(), content.len().to_string());
            }
            let made = repo.git().making_objects().args(["mktree"]).stdin(format!("100644 blob {}\tx\n", written[0]));
            let tree = Oid::new(made.text().unwrap()).unwrap();
            assert!(!is_named(&scratch, &tree));
            assert_eq!(repo.objects().read_tree(&tree).unwrap().len(), 1);
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
    fn a_call_that_writes_finds_all_objects_named() {
        let scratch = Scratch::new(&[]);
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
        let scratch = Scratch::new(&[]);
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
