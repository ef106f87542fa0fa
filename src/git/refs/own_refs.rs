//! Creating and changing refs of git axiom in this process, as git would: with lock files, and checked under the lock.
//!
//! Compared with `git update-ref` this saves a process and most syncs: the new ref contents are brought to disk together
//! with the objects before the first lock is taken, and then only renames are left. The locks: `repo::locked_ref`.

use std::path::Path;

use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_model::base::names::RefName;
use axiom_model::base::own_names::{NOTES, is_own_ref};

use super::edits::FEW;
use super::edits::{ExpectedRefValue, RefEdit};
use super::packed_lines::{PackedRefs, UnparsedRefLine};
use crate::base::formats::RefFormat;
use crate::objects::database::gix_id;
use crate::repo::handles::OwnRefs;
use crate::repo::locked_ref::{LockedRef, RefLockFiles, break_dead, lock};
use crate::repo::own_scratch::ScratchFolder;
use crate::repo::shortcuts::FastWay;

/// The largest packed-refs file that is written here.
pub(crate) const PACKED_LIMIT: u64 = 64 * 1024 * 1024;

/// The largest loose ref that is read.
pub(crate) const REF_LIMIT: u64 = 4096;

impl OwnRefs<'_> {
    /// Creates or changes a few refs of git axiom: below `refs/axiom/`, our tags, our notes. The change is durable when this
    /// returns. Returns `false` where git has to make the change, or has to refuse it; then nothing was changed.
    ///
    /// A crash leaves the first of them changed, in order, and perhaps locks that [`OwnRefs::clear_own_locks`] removes.
    pub(crate) fn update_own_refs(&self, edits: &[RefEdit], reflog: &str) -> Result<bool> {
        if !self.can_change(edits) {
            return Ok(false);
        }
        let folder = self.repo.scratch_folders().make()?;
        let mut moves = Vec::new();
        for (number, edit) in edits.iter().enumerate() {
            let Some(one) = self.prepare(&folder, number, edit)? else { return Ok(false) };
            moves.push(one);
        }
        // The objects, the new contents of the refs, and the folders in which the refs will be.
        self.repo.durability().sync_objects()?;
        env::fault_point("git.before-refs");
        let mut locks = RefLockFiles::default();
        for one in &moves {
            if !lock(one)? {
                return Ok(false);
            }
            locks.add(one);
        }
        let Some(packed) = self.repo.packed_refs().lines() else { return Ok(false) };
        for (one, edit) in moves.iter().zip(edits) {
            if !is_as_expected(one, edit, &packed)? {
                return Ok(false);
            }
        }
        // Another process may have removed unreachable objects since they were written.
        for edit in edits {
            if let Some(new) = &edit.new
                && !self.repo.durability().is_there_now(&gix_id(new)?)?
            {
                return Ok(false);
            }
        }
        env::fault_point("git.refs-locked");
        for (one, edit) in moves.iter().zip(edits) {
            if one.name.as_str() == NOTES && !self.log_notes(edit, reflog)? {
                return Ok(false);
            }
        }
        for one in &moves {
            one.carry_out()?;
            locks.has_moved(one);
            env::fault_point("git.ref-moved");
        }
        env::fault_point("git.after-refs");
        // The parents of these folders were synced with the objects.
        let mut folders: Vec<&Path> = moves.iter().filter_map(|one| one.file.parent()).collect();
        folders.sort_unstable();
        folders.dedup();
        self.sync_ref_folders(folders)?;
        Ok(true)
    }

    /// Syncs changed ref folders. Other processes may pack refs at any time (every `git gc` does), and git removes the
    /// folders that become empty. Then their refs are in the packed refs, and these are synced.
    pub(crate) fn sync_ref_folders<'f>(&self, folders: impl IntoIterator<Item = &'f Path>) -> Result<()> {
        let folders: Vec<&Path> = folders.into_iter().collect();
        if files::sync_dirs_if_there(&folders)? {
            return Ok(());
        }
        let packed = self.repo.common_dir().join("packed-refs");
        if packed.exists() {
            files::sync_file(&packed)?;
        }
        files::sync_dir(self.repo.common_dir())
    }

    /// Whether these edits can be made without git: names of ours, no hook, the files format, and no reflog except that of
    /// the notes.
    fn can_change(&self, edits: &[RefEdit]) -> bool {
        let is_plain = |edit: &RefEdit| {
            let name = edit.name.as_str();
            let ours = name == NOTES || is_own_ref(name);
            ours && edit.new.is_some() && edit.expected != ExpectedRefValue::Any
        };
        if edits.len() > FEW || !edits.iter().all(is_plain) {
            return false;
        }
        self.refs_are_plain()
    }

    /// Whether changing a ref means no more than changing a file.
    pub(crate) fn refs_are_plain(&self) -> bool {
        self.repo.shortcuts().allow(FastWay::ChangeOwnRefs)
    }

    fn prepare(&self, folder: &ScratchFolder, number: usize, edit: &RefEdit) -> Result<Option<LockedRef>> {
        let (file, Some(new)) = (self.repo.common_dir().join(edit.name.in_git()), &edit.new) else { return Ok(None) };
        // git refuses to set a ref to a missing object, and reports it.
        if !self.repo.connectivity().holds(new) {
            return Ok(None);
        }
        // Left to git: a folder in place of the ref, and reflogs that exist although the configuration does not ask for
        // them.
        let is_notes = edit.name.as_str() == NOTES;
        if file.is_dir() || (!is_notes && self.repo.common_dir().join("logs").join(edit.name.in_git()).exists()) {
            return Ok(None);
        }
        let above = file.parent().unwrap_or(&file);
        if !above.is_dir() && files::create_public_dir(above).is_err() {
            return Ok(None);
        }
        LockedRef::ready(folder, number, edit.name.clone(), file, format!("{new}\n").as_bytes())
    }

    /// Appends a line to the reflog of the notes where git would do so; returns `false` where that fails.
    fn log_notes(&self, edit: &RefEdit, message: &str) -> Result<bool> {
        let file = self.repo.common_dir().join("logs").join(NOTES);
        let gix = self.repo.gix()?;
        let wanted = gix.config_snapshot().boolean("core.logAllRefUpdates").unwrap_or(!self.repo.is_bare());
        if !wanted && !file.exists() {
            return Ok(true);
        }
        let Some(new) = &edit.new else { return Ok(false) };
        let old = match &edit.expected {
            ExpectedRefValue::Value(old) => old.to_string(),
            ExpectedRefValue::Absent | ExpectedRefValue::Any => "0".repeat(new.as_str().len()),
        };
        let line = format!("{old} {new} {}\t{message}\n", self.repo.objects().signature()?);
        let folder = file.parent().map_or(Ok(()), files::create_public_dir);
        Ok(folder.and_then(|()| files::append_public(&file, line.as_bytes())).is_ok())
    }

    /// Removes all lock files on refs that a crash of git axiom left. Once the folder is gone that has their second name, they would be
    /// taken for git's.
    pub fn clear_dead_locks(&self) -> Result<()> {
        if self.repo.ref_format() == RefFormat::Reftable {
            return Ok(());
        }
        self.repo.lock_files().git_locks()?.iter().try_for_each(|lock| break_dead(&lock.path).map(drop))
    }

    /// Removes lock files on these refs that a crash of git axiom left.
    pub(crate) fn clear_own_locks<'a>(&self, names: impl Iterator<Item = &'a RefName>) -> Result<()> {
        if self.repo.ref_format() == RefFormat::Reftable {
            return Ok(());
        }
        let locks = names.map(|name| self.repo.refs().lock_of_ref(name));
        let packed = self.repo.common_dir().join("packed-refs.lock");
        locks.chain([packed]).try_for_each(|lock| break_dead(&lock).map(drop))
    }
}

/// Whether a locked ref has the value that the edit expects, and no packed ref conflicts with its name.
pub(crate) fn is_as_expected(one: &LockedRef, edit: &RefEdit, packed: &PackedRefs) -> Result<bool> {
    // Where the packed refs cannot be read here, git has to report what is wrong with them.
    if in_the_way(one.name.as_str(), packed) != Ok(false) {
        return Ok(false);
    }
    let value = match files::read_optional(&one.file, REF_LIMIT)? {
        Some(content) => Some(content),
        None => match packed.value(one.name.as_str()) {
            Ok(value) => value.map(<[u8]>::to_vec),
            Err(UnparsedRefLine) => return Ok(false),
        },
    };
    Ok(match (&edit.expected, value) {
        (ExpectedRefValue::Absent, None) => true,
        (ExpectedRefValue::Value(old), Some(content)) => content.trim_ascii_end() == old.as_str().as_bytes(),
        (ExpectedRefValue::Absent, Some(_)) | (ExpectedRefValue::Value(_), None) | (ExpectedRefValue::Any, _) => false,
    })
}

/// Whether a packed ref makes this name impossible: refs `a` and `a/b` cannot both exist.
fn in_the_way(name: &str, packed: &PackedRefs) -> std::result::Result<bool, UnparsedRefLine> {
    for (end, _) in name.match_indices('/').skip(1) {
        if packed.value(&name[..end])?.is_some() {
            return Ok(true);
        }
    }
    packed.has_below(&format!("{name}/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;
    use axiom_model::base::names::Oid;

    fn edit(name: &str, expected: ExpectedRefValue, new: &Oid) -> RefEdit {
        RefEdit { name: RefName::new(name), expected, new: Some(new.clone()) }
    }

    fn two_commits(scratch: &ScratchRepository) -> (Oid, Oid) {
        let first = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        scratch.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
        (first, Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap())
    }

    #[test]
    fn refs_of_ours_change_as_git_would_change_them() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let (first, second) = two_commits(&scratch);
        let own = |edits: &[RefEdit]| repo.own_refs().update_own_refs(edits, "why").unwrap();
        let (x, tag) = ("refs/axiom/captures/x", "refs/tags/axiom/x");
        assert!(own(&[
            edit(x, ExpectedRefValue::Absent, &first),
            edit(tag, ExpectedRefValue::Absent, &first),
            edit(NOTES, ExpectedRefValue::Absent, &first)
        ]));
        assert!(own(&[edit(NOTES, ExpectedRefValue::Value(first.clone()), &second)]));
        for name in [x, tag] {
            assert_eq!(scratch.git(&["rev-parse", name]), first.as_str());
        }
        let log = scratch.git(&["reflog", "show", "--format=%H %gs", NOTES]);
        assert_eq!(log, format!("{second} why\n{first} why"));
        // Also where they are packed.
        scratch.git(&["pack-refs", "--all"]);
        assert!(!own(&[
            edit("refs/axiom/captures/y", ExpectedRefValue::Absent, &first),
            edit(tag, ExpectedRefValue::Absent, &first)
        ]));
        assert_eq!(repo.refs().read_ref(&RefName::new("refs/axiom/captures/y")).unwrap(), None);
        assert!(!own(&[edit(tag, ExpectedRefValue::Value(second.clone()), &first)]));
        assert!(own(&[edit(tag, ExpectedRefValue::Value(first.clone()), &second)]));
        // A ref and a folder with the same name.
        for name in ["refs/axiom/captures/x/y", "refs/axiom/captures", "refs/tags/axiom"] {
            assert!(!own(&[edit(name, ExpectedRefValue::Absent, &first)]), "{name}");
        }
        assert!(!own(&[edit("refs/heads/z", ExpectedRefValue::Absent, &first)]));
        scratch.write(".git/refs/axiom/captures/z.lock", b"");
        assert!(!own(&[edit("refs/axiom/captures/z", ExpectedRefValue::Absent, &first)]));
        assert!(scratch.path().join(".git/refs/axiom/captures/z.lock").exists());
        let gone = Oid::new("1".repeat(40)).unwrap();
        assert!(!own(&[edit("refs/axiom/captures/v", ExpectedRefValue::Absent, &gone)]), "points at nothing");
        assert!(repo.refs().update_refs(&[edit("refs/axiom/captures/v", ExpectedRefValue::Absent, &gone)], "why").is_err());
        scratch.git(&["config", "core.hooksPath", "hooks"]);
        let hooked = edit("refs/axiom/captures/w", ExpectedRefValue::Absent, &first);
        assert!(!scratch.repo().own_refs().update_own_refs(&[hooked], "why").unwrap());
        axiom_base::files::remove_file(&scratch.path().join(".git/refs/axiom/captures/z.lock")).unwrap();
        let left = scratch.repo().lock_files().git_locks().unwrap();
        assert!(left.is_empty(), "{left:?}");
        scratch.git(&["fsck", "--strict"]);
    }

    #[test]
    fn a_ref_is_refused_where_its_object_has_gone_with_its_pack() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let (first, second) = two_commits(&scratch);
        scratch.git(&["repack", "-q", "-a", "-d"]);
        assert!(repo.connectivity().holds(&second), "and the pack is open from now on");
        scratch.git(&["reset", "-q", "--hard", first.as_str()]);
        scratch.git(&["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
        scratch.git(&["update-ref", "-d", "ORIG_HEAD"]);
        scratch.git(&["gc", "-q", "--prune=now"]);
        let points_at_nothing = edit("refs/axiom/captures/x", ExpectedRefValue::Absent, &second);
        assert!(!repo.own_refs().update_own_refs(std::slice::from_ref(&points_at_nothing), "why").unwrap());
        assert!(repo.refs().update_refs(&[points_at_nothing], "why").is_err());
        assert!(repo.refs().refs_below("refs/axiom/captures/").unwrap().is_empty());
    }

    #[test]
    fn a_folder_of_refs_that_git_emptied_is_no_error() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let (first, _) = two_commits(&scratch);
        let name = "refs/axiom/captures/x";
        assert!(repo.own_refs().update_own_refs(&[edit(name, ExpectedRefValue::Absent, &first)], "why").unwrap());
        scratch.git(&["pack-refs", "--all"]);
        let folder = scratch.path().join(".git/refs/axiom/captures");
        let (gone, there) = (folder.as_path(), repo.common_dir());
        assert!(!gone.exists());
        repo.own_refs().sync_ref_folders([gone, there]).unwrap();
        assert_eq!(scratch.git(&["rev-parse", name]), first.as_str());
    }

    #[test]
    fn a_lock_of_ours_that_a_crash_left_is_no_lock_and_a_held_one_is() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let (first, _) = two_commits(&scratch);
        let edit = edit("refs/axiom/captures/x", ExpectedRefValue::Absent, &first);
        let folder = repo.scratch_folders().make().unwrap();
        let one = repo.own_refs().prepare(&folder, 0, &edit).unwrap().unwrap();
        assert!(lock(&one).unwrap());
        assert!(!repo.own_refs().update_own_refs(std::slice::from_ref(&edit), "why").unwrap(), "somebody is at it");
        assert!(one.lock_file().exists());
        let path = one.lock_file().to_owned();
        // A crash leaves the file with two names.
        axiom_base::files::hard_link(&path, &folder.path().join("other name")).unwrap();
        drop(one);
        // A child process that another test starts now has our files open until it calls exec.
        let taken = |_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            repo.own_refs().update_own_refs(std::slice::from_ref(&edit), "why").unwrap()
        };
        assert!((0..500).any(taken));
        assert!(!path.exists());
    }

    #[test]
    fn dead_locks_of_ours_are_cleared_and_those_of_git_and_of_the_living_are_not() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let (first, _) = two_commits(&scratch);
        let folder = repo.scratch_folders().make().unwrap();
        let lock_of = |name: &str| {
            let edit = edit(name, ExpectedRefValue::Absent, &first);
            let one = repo.own_refs().prepare(&folder, name.len(), &edit).unwrap().unwrap();
            assert!(lock(&one).unwrap());
            one
        };
        let (dead, living) = (lock_of("refs/axiom/captures/dead"), lock_of("refs/axiom/captures/living"));
        let path = dead.lock_file().to_owned();
        axiom_base::files::hard_link(&path, &folder.path().join("other name")).unwrap();
        drop(dead);
        let of_git = scratch.path().join(".git/refs/heads/main.lock");
        axiom_base::files::write_scratch(&of_git, b"").unwrap();
        // A child process that another test starts now has our files open until it calls exec.
        let cleared = |_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            repo.own_refs().clear_dead_locks().unwrap();
            !path.exists()
        };
        assert!((0..500).any(cleared));
        assert!(of_git.exists() && living.lock_file().exists());
    }
}
