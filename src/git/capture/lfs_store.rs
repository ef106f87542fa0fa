//! Our own store of what Git LFS files hold: a hard link to each object that a capture names, below our folder. `git lfs prune`
//! deletes what only our refs name, and here it stays; nothing is stored twice. Where no link is possible, a copy.
//!
//! Begin reading with `keep`. Which captures name an object is recorded in their extras: [`crate::capture::raw`].

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_model::base::lfs_pointer::LfsPointer;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::base::own_names;

use super::extras::{CaptureExtras, SUBJECT};
use super::raw_file::RawFile;
use crate::repo::handles::HeldLfsFiles;
use crate::repo::repository::Repository;
use crate::repo::shortcuts::read::value_of;

/// The name of the filter of Git LFS, which it is bound to.
pub(crate) const LFS: &str = "lfs";

/// Our store, and that of Git LFS.
#[derive(Debug)]
pub(crate) struct LfsStore {
    ours: PathBuf,
    users: PathBuf,
    /// Whether something was kept that is not synced yet.
    is_new: Cell<bool>,
}

impl LfsStore {
    pub fn of(r: &Repository) -> Self {
        let storage = r.gix().ok().and_then(|gix| value_of(&gix.config_snapshot(), "lfs.storage"));
        let storage = storage.unwrap_or_else(|| LFS.to_owned());
        // A path that is not absolute is one within the git directory.
        let users = r.common_dir().join(storage).join("objects");
        Self { ours: r.common_dir().join(own_names::LFS_OBJECTS), users, is_new: Cell::new(false) }
    }

    fn place(&self, pointer: &LfsPointer) -> PathBuf {
        self.ours.join(pointer.place())
    }

    /// Keeps the content that a pointer names, from the store of Git LFS or else from a file that is said to have it. Returns
    /// whether it is here now. New links are not synced: see [`LfsStore::sync_new`].
    pub fn keep(&self, pointer: &LfsPointer, file: &Path) -> Result<bool> {
        let place = self.place(pointer);
        if has(&place, pointer.size) {
            return Ok(true);
        }
        let users = self.users.join(pointer.place());
        self.is_new.set(true);
        if has(&users, pointer.size) {
            make_room(&place)?;
            if let Ok(Some(_)) = files::hard_link(&users, &place) {
                return Ok(has(&place, pointer.size));
            }
            return self.copy(&users, Some(pointer)).map(|kept| kept.is_some());
        }
        self.copy(file, Some(pointer)).map(|kept| kept.is_some())
    }

    /// Keeps the content of a file, whatever it is; returns what names it. `None` where the file cannot be read any more, or has
    /// not the content that is wanted.
    pub fn copy(&self, file: &Path, wanted: Option<&LfsPointer>) -> Result<Option<LfsPointer>> {
        self.is_new.set(true);
        files::create_dir_all(&self.ours)?;
        let new = self.ours.join(format!("new-{}", env::fresh_id()));
        let copied = files::copy_hashed(file, &new, false);
        let (sha256, size) = match copied {
            Ok(copied) => copied,
            Err(error) => {
                files::remove_file(&new)?;
                return if error.passes() { Err(error) } else { Ok(None) };
            }
        };
        let pointer = LfsPointer { sha256, size };
        if wanted.is_some_and(|wanted| *wanted != pointer) {
            files::remove_file(&new)?;
            return Ok(None);
        }
        let place = self.place(&pointer);
        if has(&place, pointer.size) {
            files::remove_file(&new)?;
            return Ok(Some(pointer));
        }
        make_room(&place)?;
        let users = self.users.join(pointer.place());
        if has(&users, pointer.size) && matches!(files::hard_link(&users, &place), Ok(Some(_))) {
            files::remove_file(&new)?;
        } else {
            files::set_mode(&new, 0o444)?;
            files::rename(&new, &place)?;
        }
        Ok(Some(pointer))
    }

    /// Writes the content that a pointer names to a new file. Returns whether it did: not where the content is not here, or damaged.
    pub fn write(&self, pointer: &LfsPointer, to: &Path, executable: bool) -> Result<bool> {
        for from in [self.place(pointer), self.users.join(pointer.place())] {
            if !has(&from, pointer.size) {
                continue;
            }
            match files::copy_hashed(&from, to, executable) {
                Ok((sha256, size)) if sha256 == pointer.sha256 && size == pointer.size => return Ok(true),
                Err(error) if error.passes() => return Err(error),
                Ok(_) | Err(_) => files::remove_file(to)?,
            }
        }
        Ok(false)
    }

    /// Whether a file has the content that a pointer names.
    pub fn is_content_of(&self, pointer: &LfsPointer, file: &Path) -> bool {
        has(file, pointer.size) && files::sha256_of(file).is_ok_and(|(sha256, _)| sha256 == pointer.sha256)
    }

    /// Whether the content that a pointer names is kept; with `whole`, it is read.
    fn is_sound(&self, pointer: &LfsPointer, whole: bool) -> bool {
        let place = self.place(pointer);
        if whole { self.is_content_of(pointer, &place) } else { has(&place, pointer.size) }
    }

    /// The kept contents that are older than that: their names and places. Leftovers of a copy that was cut off are among them.
    fn older_than(&self, age: Duration) -> Vec<(String, PathBuf)> {
        let now = env::file_clock().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let limit = i64::try_from(now.saturating_sub(age.as_secs())).unwrap_or(i64::MAX);
        let all = walkdir::WalkDir::new(&self.ours).into_iter().filter_map(std::result::Result::ok);
        let files = all.filter(|entry| entry.file_type().is_file());
        // A link has the times of the file but for that of its last change: the making of the link is one.
        let old = files.filter(|entry| entry.metadata().is_ok_and(|meta| meta.ctime() <= limit));
        old.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.into_path())).collect()
    }

    /// Syncs what was kept anew.
    pub fn sync_new(&self) -> Result<()> {
        if self.is_new.get() && self.ours.is_dir() { files::sync_file_system(&self.ours) } else { Ok(()) }
    }
}

fn has(place: &Path, size: u64) -> bool {
    place.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() == size)
}

fn make_room(place: &Path) -> Result<()> {
    place.parent().map_or(Ok(()), files::create_dirs_unsynced)
}

impl HeldLfsFiles<'_> {
    /// Takes away the kept contents of LFS files that no capture names any more, and that were kept more than `age` ago, unless
    /// that was looked at since then; returns how many. Where it cannot be known what captures name, all stay. A crash leaves some of them.
    pub fn release_lfs(&self, age: Duration) -> Result<usize> {
        let store = LfsStore::of(self.repo);
        let mark = self.repo.scratch_folders().own().join("lfs-released");
        let looked =
            mark.metadata().and_then(|meta| meta.modified()).ok().and_then(|then| env::file_clock().duration_since(then).ok());
        if files::metadata(&store.ours)?.is_none() || looked.is_some_and(|ago| ago < age) {
            return Ok(0);
        }
        // Listed first: what is kept meanwhile is not in the list.
        let kept = store.older_than(age);
        if kept.is_empty() {
            return Ok(0);
        }
        let named = self.lfs_named()?;
        files::write_scratch(&mark, b"")?;
        let mut released = 0;
        for (name, place) in kept {
            if !named.contains(&name) {
                files::remove_file(&place)?;
                released += 1;
            }
        }
        Ok(released)
    }

    /// What the captures of all our refs name.
    fn lfs_named(&self) -> Result<BTreeSet<String>> {
        let glob = format!("--glob={}*", own_names::REFS);
        let git = self.repo.git().args(["log", "--format=%T%x09%s", &glob, "--not", "--branches", "--remotes"]);
        let listed = git.run_ok()?;
        let mut named = BTreeSet::new();
        for line in listed.text()?.lines() {
            if let Some((tree, SUBJECT)) = line.split_once('\t') {
                let extras = CaptureExtras::of_tree(self.repo, &Oid::new(tree)?)?;
                named.extend(extras.raw.into_iter().filter_map(|raw| raw.lfs).map(|pointer| pointer.sha256));
            }
        }
        Ok(named)
    }

    /// Those of the files that come back as pointers, because the contents are not here.
    pub fn lfs_not_here<'r>(&self, raw: impl Iterator<Item = &'r RawFile>) -> Vec<RepoPath> {
        let store = LfsStore::of(self.repo);
        let is_here =
            |one: &LfsPointer| [store.place(one), store.users.join(one.place())].iter().any(|place| has(place, one.size));
        raw.filter(|one| one.lfs.as_ref().is_some_and(|pointer| !is_here(pointer))).map(|one| one.path.clone()).collect()
    }

    /// The LFS files of a capture whose kept contents are missing or damaged. `known` says it of contents that were looked at.
    pub fn lfs_problems(&self, capture: &Oid, whole: bool, known: &mut BTreeMap<String, bool>) -> Result<Vec<RepoPath>> {
        let store = LfsStore::of(self.repo);
        let mut wrong = Vec::new();
        for one in CaptureExtras::of_capture(self.repo, capture)?.raw {
            let Some(pointer) = one.lfs else { continue };
            let is_sound = known.entry(pointer.sha256.clone()).or_insert_with(|| store.is_sound(&pointer, whole));
            if !*is_sound {
                wrong.push(one.path);
            }
        }
        Ok(wrong)
    }
}
