//! Checks loose objects once after each boot.
//!
//! A power loss can leave loose objects whose content never reached the disk: objects that git, other programs or an older
//! version of git axiom wrote. An operation that finds such an object by its name would not write it again, and so lose its
//! content. So once in each boot, before the first operation, all loose objects newer than the last known sync are read.
//! Those whose content does not match their id are moved to a quarantine folder, and objects whose content is still in files
//! or indexes are written again. After that, loose objects are trusted: an object that gets its name later in the same boot
//! was written without a power loss in between.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_model::base::names::{Oid, RepoPath};

use crate::base::loose::loose_file;
use crate::index::file;
use crate::lost::lost_trees::MendedTrees;
use crate::objects::database::gix_id;
use crate::objects::landing::loose_in;
use crate::repo::handles::PowerLosses;
use crate::repo::worktrees::Worktree;
use axiom_base::own_process::threads;

/// Objects written less than this before a sync are checked too, because clocks differ.
const MARGIN: Duration = Duration::from_secs(10);

/// With fewer objects than this, another thread is not worth its cost.
const FEW: usize = 64;

/// The largest note about a boot that is read.
const NOTE_LIMIT: u64 = 4096;

/// The result of checking loose objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LooseCheckReport {
    /// Objects whose content did not match their id; they are in the quarantine folder.
    pub put_aside: Vec<Oid>,
    /// Those of them that were written again.
    pub written_again: Vec<Oid>,
    /// What became of lost trees.
    pub trees: MendedTrees,
    /// Whole objects that name one that is lost: [`PowerLosses::put_broken_apart`] looks at them again when refs were mended.
    pub broken: Vec<Oid>,
}

impl PowerLosses<'_> {
    /// The file that names the boot in which loose objects were checked. Its modification time is the time of the last sync.
    fn proof_note(&self) -> PathBuf {
        self.repo.common_dir().join("axiom/objects-proved")
    }

    pub(super) fn quarantine(&self) -> PathBuf {
        self.repo.common_dir().join("axiom/quarantine")
    }

    /// Whether the loose objects were checked since the machine was booted. Always `false` where the system has no boot id.
    pub fn objects_are_proved(&self) -> bool {
        if self.repo.objects.freshened.proved.load(Ordering::Acquire) {
            return true;
        }
        let boot = env::boot_id();
        let noted = files::read_optional(&self.proof_note(), NOTE_LIMIT).ok().flatten();
        let proved = !boot.is_empty() && noted.is_some_and(|noted| noted.trim_ascii() == boot.as_bytes());
        self.repo.objects.freshened.proved.store(proved, Ordering::Release);
        proved
    }

    /// Notes that everything written before `began` is on disk.
    pub(crate) fn note_sync(&self, began: SystemTime) {
        if self.repo.objects.freshened.proved.load(Ordering::Acquire)
            && let Err(error) = files::set_modified(&self.proof_note(), began)
        {
            tracing::debug!(%error, "the time of a sync was not noted: more is read after the next start");
        }
    }

    /// Checks the loose objects that are newer than the last known sync, once in each boot. The caller holds the operation
    /// lock. After a crash the check is done again.
    pub fn prove_objects(&self) -> Result<LooseCheckReport> {
        if self.objects_are_proved() {
            return Ok(LooseCheckReport::default());
        }
        self.repo.durability().finish_landings()?;
        let bad = self.doubtful_objects()?;
        let mut proof = self.quarantine_objects(&bad)?;
        match self.mend_trees() {
            Ok(trees) => {
                let again = trees.again.iter().filter(|oid| proof.put_aside.contains(oid) && !proof.written_again.contains(oid));
                let again: Vec<Oid> = again.cloned().collect();
                proof.written_again.extend(again);
                proof.trees = trees;
            }
            Err(error) => tracing::warn!(%error, "lost trees were not written again"),
        }
        if let Err(error) = self.retire_unneeded() {
            tracing::warn!(%error, "lost objects that nothing needs are still looked for");
        }
        proof.broken = self.broken_objects(&proof.trees.again)?;
        self.put_broken_apart(&proof.broken)?;
        let boot = env::boot_id();
        if !boot.is_empty() {
            files::write_atomic(&self.proof_note(), format!("{boot}\n").as_bytes())?;
            self.repo.objects.freshened.proved.store(true, Ordering::Release);
        }
        Ok(proof)
    }

    /// The loose objects whose content does not match their id; changes nothing. Only objects newer than the last known sync
    /// are read.
    pub fn doubtful_objects(&self) -> Result<Vec<Oid>> {
        let objects = self.repo.common_dir().join("objects");
        let new = self.new_loose_objects()?;
        // A file that cannot be opened is not known to be damaged.
        let is_bad = |id: &gix::ObjectId| {
            !self.repo.durability().is_whole_at(&objects, id)
                && std::fs::File::open(loose_file(&objects, id)).is_ok()
                && !self.repo.durability().is_whole_at(&objects, id)
        };
        let bad = threads::in_parts(&new, FEW, |_, part| part.iter().filter(|id| is_bad(id)).copied().collect());
        bad.into_iter().map(|id| Oid::from_bytes(id.as_bytes())).collect()
    }

    /// The loose objects that are newer than the last known sync, or empty.
    pub(super) fn new_loose_objects(&self) -> Result<Vec<gix::ObjectId>> {
        let objects = self.repo.common_dir().join("objects");
        let synced = files::metadata(&self.proof_note())?.and_then(|meta| meta.modified().ok());
        let after = synced.and_then(|at| at.checked_sub(MARGIN)).and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let after = after.map_or(i64::MIN, |after| i64::try_from(after.as_secs()).unwrap_or(i64::MAX));
        let is_new = |id: &gix::ObjectId| {
            let Ok(Some(meta)) = files::metadata(&loose_file(&objects, id)) else { return false };
            meta.len() == 0 || meta.mtime() >= after || meta.ctime() >= after
        };
        Ok(loose_in(&objects)?.into_iter().filter(is_new).collect())
    }

    /// Objects in the quarantine that are still missing from the repository, each with the path of its damaged file; without those that
    /// nothing needed when that was looked at ([`PowerLosses::retire_unneeded`]).
    pub fn lost_objects(&self) -> Result<Vec<(Oid, PathBuf)>> {
        let mut lost = BTreeMap::new();
        for entry in files::list(&self.quarantine())? {
            let name = entry.file_name();
            let Some(oid) = name.to_str().and_then(|name| name.split('-').next()).and_then(|id| Oid::new(id).ok()) else {
                continue;
            };
            if !self.repo.connectivity().holds(&oid) {
                lost.insert(oid, entry.path());
            }
        }
        Ok(lost.into_iter().collect())
    }

    /// Moves objects to the quarantine folder, where git does not see them, and writes those again whose content is still
    /// known.
    fn quarantine_objects(&self, bad: &[Oid]) -> Result<LooseCheckReport> {
        if bad.is_empty() {
            return Ok(LooseCheckReport::default());
        }
        files::create_dir_all(&self.quarantine())?;
        for oid in bad {
            let from = loose_file(&self.repo.common_dir().join("objects"), &gix_id(oid)?);
            let to = self.quarantine().join(format!("{oid}-{}", env::fresh_id()));
            tracing::warn!(%oid, now_at = %to.display(), "an object is not what its name says, and is put aside");
            files::move_unsynced(&from, &to)?;
            env::fault_point("git.object-put-aside");
        }
        files::sync_dir(&self.quarantine())?;
        // The content of the root commit is always the same, so it can be written again.
        self.repo.objects().root_commit()?;
        let wanted: BTreeSet<&Oid> = bad.iter().collect();
        for entry in self.repo.worktrees().list()?.into_iter().filter(|entry| entry.present) {
            // If one worktree fails, the others are still tried.
            if let Err(error) = self.write_again(&entry.worktree, &wanted) {
                tracing::warn!(%error, worktree = %entry.worktree.path().display(), "objects could not be written again from it");
            }
        }
        self.repo.durability().land()?;
        let again =
            bad.iter().filter(|oid| gix_id(oid).is_ok_and(|id| self.repo.durability().is_there_now(&id).unwrap_or(false)));
        let written_again = again.cloned().collect();
        Ok(LooseCheckReport { put_aside: bad.to_vec(), written_again, ..LooseCheckReport::default() })
    }

    /// Writes those of the wanted objects again that the files of a worktree still contain.
    fn write_again(&self, worktree: &Worktree, wanted: &BTreeSet<&Oid>) -> Result<()> {
        let index = worktree.index_file();
        if let Some(file) = file::read(self.repo, &index) {
            let entries = file.entries().iter().filter(|entry| {
                Oid::from_bytes(entry.id.as_bytes()).is_ok_and(|oid| wanted.contains(&oid))
                    && entry.mode.bits() & 0o170_000 == 0o100_000
            });
            let paths: Vec<RepoPath> = entries.map(|entry| RepoPath::new(entry.path(&file).to_vec())).collect();
            for path in paths {
                let place = worktree.path().join(path.to_path());
                if !files::metadata(&place)?.is_some_and(|meta| meta.is_file()) || path.as_bytes().contains(&b'\n') {
                    continue;
                }
                // The way `git add` would convert it.
                let line = [path.as_bytes(), b"\n"].concat();
                let would_be = self.repo.git_in(worktree).args(["hash-object", "--stdin-paths"]).stdin(line.clone()).text()?;
                if wanted.contains(&Oid::new(would_be)?) {
                    let git = self.repo.git_in(worktree).making_objects();
                    git.args(["hash-object", "-w", "--stdin-paths"]).stdin(line).run_ok()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    fn place(scratch: &ScratchRepository, oid: &Oid) -> PathBuf {
        loose_file(&scratch.path().join(".git/objects"), &gix_id(oid).unwrap())
    }

    fn empty(scratch: &ScratchRepository, oid: &Oid) {
        std::fs::remove_file(place(scratch, oid)).unwrap();
        std::fs::write(place(scratch, oid), b"").unwrap();
    }

    #[test]
    fn what_a_power_loss_emptied_is_put_aside_and_written_again_where_its_content_is_left() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            let of = |what: &str| Oid::new(scratch.git(&["rev-parse", what])).unwrap();
            scratch.write("staged", b"in the index and in a file");
            scratch.git(&["add", "staged"]);
            let (blob, tree, staged) = (of("HEAD:sub/b.txt"), Oid::new(scratch.git(&["write-tree"])).unwrap(), of(":staged"));
            let nowhere = scratch.landed(|repo| repo.objects().write_blob(b"of which nothing is left").unwrap());
            let whole = scratch.landed(|repo| repo.objects().write_blob(b"whole").unwrap());
            let mut bad = vec![blob, staged, nowhere.clone(), tree];
            bad.iter().for_each(|oid| empty(&scratch, oid));
            scratch.git(&["rev-parse", "HEAD"]);
            let repo = scratch.repo();
            let mut doubtful = repo.power_losses().doubtful_objects().unwrap();
            bad.sort();
            doubtful.sort();
            assert_eq!(doubtful, bad);
            let proof = repo.power_losses().prove_objects().unwrap();
            assert_eq!(proof.put_aside.len(), 4);
            assert!(repo.power_losses().lost_objects().unwrap().is_empty(), "nothing needs the one of which nothing is left");
            let apart = std::fs::read_dir(scratch.path().join(".git/axiom/quarantine/unneeded")).unwrap();
            assert!(apart.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(nowhere.as_str())));
            assert!(!proof.written_again.contains(&nowhere) && proof.written_again.len() >= 2, "{proof:?}");
            assert!(place(&scratch, &whole).exists() && !place(&scratch, &nowhere).exists());
            assert!(scratch.repo().power_losses().objects_are_proved(), "by a note for all others");
            assert_eq!(scratch.repo().power_losses().prove_objects().unwrap(), LooseCheckReport::default());
            scratch.git(&["cat-file", "-e", ":staged"]);
            scratch.git(&["cat-file", "blob", "HEAD:sub/b.txt"]);
            scratch.git(&["fsck", "--strict"]);
        }
    }

    #[test]
    fn what_was_synced_is_not_read_again_unless_it_is_empty() {
        let scratch = ScratchRepository::new(&[]);
        let (old, new) =
            scratch.landed(|repo| (repo.objects().write_blob(b"old").unwrap(), repo.objects().write_blob(b"new").unwrap()));
        let repo = scratch.repo();
        repo.power_losses().prove_objects().unwrap();
        let note = repo.power_losses().proof_note();
        repo.power_losses().note_sync(SystemTime::now() + Duration::from_secs(100));
        for (oid, content) in [(&old, &b"x"[..]), (&new, b"")] {
            std::fs::remove_file(place(&scratch, oid)).unwrap();
            std::fs::write(place(&scratch, oid), content).unwrap();
        }
        assert_eq!(scratch.repo().power_losses().doubtful_objects().unwrap(), std::slice::from_ref(&new));
        axiom_base::files::set_modified(&note, SystemTime::now()).unwrap();
        assert_eq!(scratch.repo().power_losses().doubtful_objects().unwrap().len(), 2);
        // After another boot the note is no longer valid.
        std::fs::write(&note, b"another\n").unwrap();
        assert!(!scratch.repo().power_losses().objects_are_proved());
        assert_eq!(scratch.repo().power_losses().prove_objects().unwrap().put_aside.len(), 2);
    }
}
