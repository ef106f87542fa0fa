//! Deletes refs of git axiom in this process, and lists loose refs. Packed refs are deleted all at once, by rewriting the
//! file as git does, without a lock file for each. Only git axiom changes these refs, and only one of its operations at a
//! time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::{REFS, is_own_ref};

use super::edits::{ExpectedRefValue, RefEdit, RefValue};
use super::own_refs::{PACKED_LIMIT, is_as_expected};
use super::packed_lines::{PackedRefs, UnparsedRefLine};
use crate::repo::handles::{OwnRefs, PackedRefsFile};
use crate::repo::locked_ref::{LockedRef, RefLockFiles, lock};

/// At most this many loose refs are deleted here: each needs its own lock.
const LOOSE: usize = 16;

impl OwnRefs<'_> {
    /// Deletes refs of git axiom, each only if it has the expected value; durable when this returns. Returns `false` where
    /// git has to delete them, or has to refuse it; then nothing was changed.
    ///
    /// A crash leaves all of them deleted from the packed refs or none, some of the loose ones, and perhaps lock files that
    /// are recognized as dead.
    pub(crate) fn delete_own_refs(&self, edits: &[RefEdit]) -> Result<bool> {
        let is_plain = |edit: &RefEdit| {
            let name = edit.name.as_str();
            let ours = is_own_ref(name);
            ours && edit.new.is_none() && matches!(edit.expected, ExpectedRefValue::Value(_))
        };
        if !edits.iter().all(is_plain) || !self.refs_are_plain() || self.has_logs() {
            return Ok(false);
        }
        let Some(loose) = self.loose_among(edits)? else { return Ok(false) };
        let folder = self.repo.scratch_folders().make()?;
        let packed_refs = self.repo.common_dir().join("packed-refs");
        // In this order: a lock file goes before what shows that it is ours.
        let (mut held, mut locks) = (Vec::new(), RefLockFiles::default());
        if !self.take_for_deletion(&folder, &packed_refs, &loose, &mut held, &mut locks)? {
            return Ok(false);
        }
        let Some(packed) = self.repo.packed_refs().lines() else { return Ok(false) };
        let Some(rest) = rest_of(&packed, &packed_refs, edits, &loose)? else { return Ok(false) };
        for (one, edit) in held.iter().skip(1).zip(edits.iter().filter(|edit| loose.contains(&edit.name))) {
            if !is_as_expected(one, edit, &packed)? {
                return Ok(false);
            }
        }
        env::fault_point("git.refs-locked");
        if let RemainingPackedRefs::Less(rest) = rest {
            let new = folder.path().join("packed-refs");
            files::write_scratch(&new, &rest)?;
            files::look_like(&new, &packed_refs)?;
            files::sync_file(&new)?;
            files::replace_unsynced(&new, &packed_refs)?;
            env::fault_point("git.packed-refs-moved");
        }
        for one in held.iter().skip(1) {
            files::remove_file(&one.file)?;
            env::fault_point("git.ref-moved");
        }
        drop(locks);
        env::fault_point("git.after-refs");
        let mut folders: BTreeSet<&Path> = held.iter().filter_map(|one| one.file.parent()).collect();
        folders.insert(self.repo.common_dir());
        self.sync_ref_folders(folders)?;
        Ok(true)
    }

    /// Takes the lock of the packed refs, then those of the loose refs, in this order; returns `false` where another process
    /// holds one.
    fn take_for_deletion(
        &self,
        folder: &crate::ScratchFolder,
        packed_refs: &Path,
        loose: &BTreeSet<RefName>,
        held: &mut Vec<LockedRef>,
        locks: &mut RefLockFiles,
    ) -> Result<bool> {
        // If the file is a symbolic link, renaming would replace the link.
        if std::fs::symlink_metadata(packed_refs).is_ok_and(|meta| !meta.is_file()) {
            return Ok(false);
        }
        let files = loose.iter().map(|name| (name.clone(), self.repo.common_dir().join(name.in_git())));
        for (number, (name, file)) in
            std::iter::once((RefName::new("packed-refs"), packed_refs.to_owned())).chain(files).enumerate()
        {
            let Some(one) = LockedRef::ready(folder, number, name, file, b"")? else { return Ok(false) };
            let is_locked = lock(&one)?;
            if is_locked {
                locks.add(&one);
            }
            held.push(one);
            if !is_locked {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Those of the refs that are loose; `None` where there are too many.
    fn loose_among(&self, edits: &[RefEdit]) -> Result<Option<BTreeSet<RefName>>> {
        let mut listed: BTreeMap<PathBuf, BTreeSet<std::ffi::OsString>> = BTreeMap::new();
        let mut loose = BTreeSet::new();
        for edit in edits {
            let file = self.repo.common_dir().join(edit.name.in_git());
            let (Some(above), Some(last)) = (file.parent(), file.file_name()) else { return Ok(None) };
            if !listed.contains_key(above) {
                listed.insert(above.to_owned(), names_in(above)?);
            }
            if listed.get(above).is_some_and(|names| names.contains(last)) {
                loose.insert(edit.name.clone());
            }
        }
        Ok((loose.len() <= LOOSE).then_some(loose))
    }

    /// Whether refs of ours have reflogs, which git would delete with them.
    fn has_logs(&self) -> bool {
        let logs = self.repo.common_dir().join("logs");
        [REFS, "refs/tags/"].iter().any(|folder| logs.join(folder).exists())
    }
}

impl PackedRefsFile<'_> {
    /// All refs below `prefix` from their files, ordered by name; `None` where git or gix has to read them.
    pub(crate) fn list_files(&self, prefix: &str) -> Option<Vec<RefValue>> {
        let listing = self.repo.ref_lists().listings_of_files(&[prefix])?.pop()?;
        let value = |(name, oid): (&str, &str)| {
            Some(RefValue { name: RefName::new(format!("{prefix}{name}")), oid: Oid::new(oid).ok()? })
        };
        listing.iter().map(value).collect()
    }
}

fn names_in(folder: &Path) -> Result<BTreeSet<std::ffi::OsString>> {
    Ok(files::list(folder)?.into_iter().map(|entry| entry.file_name()).collect())
}

/// The packed refs after a deletion.
enum RemainingPackedRefs {
    /// None of the deleted refs was packed.
    Same,
    /// The new content.
    Less(Vec<u8>),
}

/// The packed refs without the refs to delete, see [`without`]. The whole file is read only if one of them is in it.
fn rest_of(
    packed: &PackedRefs,
    file: &Path,
    edits: &[RefEdit],
    loose: &BTreeSet<RefName>,
) -> Result<Option<RemainingPackedRefs>> {
    let values: std::result::Result<Vec<_>, UnparsedRefLine> =
        edits.iter().map(|edit| packed.value(edit.name.as_str())).collect();
    let Ok(values) = values else { return Ok(None) };
    if values.iter().all(Option::is_none) {
        return Ok(edits.iter().all(|edit| loose.contains(&edit.name)).then_some(RemainingPackedRefs::Same));
    }
    let content = files::read_optional(file, PACKED_LIMIT)?.unwrap_or_default();
    Ok(without(&content, edits, loose).map(RemainingPackedRefs::Less))
}

/// The packed refs without the refs to delete; `None` where one of them does not have the expected value, or is neither
/// packed nor loose. A loose ref hides a packed one of the same name.
fn without(packed: &[u8], edits: &[RefEdit], loose: &BTreeSet<RefName>) -> Option<Vec<u8>> {
    let mut wanted: BTreeMap<&[u8], &RefEdit> = edits.iter().map(|edit| (edit.name.as_str().as_bytes(), edit)).collect();
    let mut rest = Vec::with_capacity(packed.len());
    let mut skipping = false;
    for line in packed.split_inclusive(|byte| *byte == b'\n') {
        // The peeled value of a tag follows on the next line.
        if line.starts_with(b"^") && skipping {
            continue;
        }
        skipping = false;
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let named = text.iter().position(|byte| *byte == b' ').map(|end| (&text[..end], &text[end + 1..]));
        if !line.starts_with(b"#")
            && let Some((value, name)) = named
            && let Some(edit) = wanted.remove(name)
        {
            let is_value = matches!(&edit.expected, ExpectedRefValue::Value(old) if old.as_str().as_bytes() == value);
            if !is_value && !loose.contains(&edit.name) {
                return None;
            }
            skipping = true;
            continue;
        }
        rest.extend_from_slice(line);
    }
    wanted.values().all(|edit| loose.contains(&edit.name)).then_some(rest)
}

impl PackedRefsFile<'_> {
    /// Packs all refs, as `git gc` does: a loose ref takes a block of the disk, and is opened one by one. A crash leaves refs
    /// both packed and loose.
    pub fn pack(&self) -> Result<()> {
        let pack = |way: &str| self.repo.git().writing().args(["pack-refs", "--all", way]).run_ok();
        pack("--no-prune")?;
        // The packed refs are on disk before the loose ones are removed.
        files::sync_dir(self.repo.common_dir())?;
        env::fault_point("git.refs-packed");
        pack("--prune").map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn packed_and_loose_refs_of_ours_are_deleted_and_others_stay() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let head = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        scratch.git(&["tag", "-a", "-m", "x", "axiom/annotated"]);
        scratch.git(&["tag", "-a", "-m", "x", "other"]);
        let tag = Oid::new(scratch.git(&["rev-parse", "axiom/annotated"])).unwrap();
        let name = |number: u32| format!("refs/axiom/captures/c{number:02}");
        for number in 0..30 {
            scratch.git(&["update-ref", &name(number), head.as_str()]);
        }
        let delete = |name: &str, old: &Oid| RefEdit {
            name: RefName::new(name),
            expected: ExpectedRefValue::Value(old.clone()),
            new: None,
        };
        let all: Vec<RefEdit> = (0..29).map(|number| delete(&name(number), &head)).collect();
        assert!(!repo.own_refs().delete_own_refs(&all).unwrap(), "many loose ones are git's");
        scratch.git(&["pack-refs", "--all"]);
        let wrong = [delete(&name(0), &head), delete(&name(1), &tag)];
        assert!(!repo.own_refs().delete_own_refs(&wrong).unwrap(), "not what is expected");
        assert!(!repo.own_refs().delete_own_refs(&[delete(&name(99), &head)]).unwrap(), "not there");
        assert_eq!(repo.refs().refs_below("refs/axiom/").unwrap().len(), 30);
        // A ref that is packed and loose, with different values.
        scratch.git(&["update-ref", &name(0), tag.as_str()]);
        scratch.git(&["pack-refs", "--all"]);
        scratch.git(&["update-ref", &name(0), head.as_str()]);
        assert!(scratch.path().join(".git").join(name(0)).exists());
        let mut edits = all;
        edits.push(delete("refs/tags/axiom/annotated", &tag));
        assert!(repo.own_refs().delete_own_refs(&edits).unwrap());
        assert_eq!(
            scratch.git(&["for-each-ref", "--format=%(refname)"]),
            format!("refs/axiom/captures/c29\nrefs/heads/main\nrefs/tags/other")
        );
        assert_eq!(scratch.git(&["rev-parse", "other^{}"]), head.as_str());
        assert!(repo.lock_files().git_locks().unwrap().is_empty());
    }

    #[test]
    fn refs_are_listed_as_git_lists_them() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        scratch.git(&["tag", "-a", "-m", "x", "axiom/annotated"]);
        for name in ["axiom/a", "axiom/a.b", "axiom/z", "axiomx", "b"] {
            scratch.git(&["tag", name]);
        }
        let same = || {
            for prefix in ["refs/tags/axiom/", "refs/tags/", "refs/heads/", "refs/axiom/", "refs/heads/none/"] {
                let by_git = repo.refs().list_refs(&[prefix]).unwrap();
                assert_eq!(repo.packed_refs().list_files(prefix).unwrap(), by_git, "{prefix}");
            }
        };
        same();
        scratch.git(&["pack-refs", "--all"]);
        same();
        scratch.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
        scratch.git(&["tag", "-f", "axiom/a"]);
        scratch.git(&["tag", "axiom/deep/er"]);
        same();
        scratch.git(&["symbolic-ref", "refs/tags/axiom/link", "refs/heads/main"]);
        assert!(repo.packed_refs().list_files("refs/tags/axiom/").is_none());
    }

    #[test]
    fn tags_that_point_at_others_go_with_what_follows_them() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        for name in ["axiom/a", "axiom/b"] {
            scratch.git(&["tag", "-a", "-m", "x", name]);
        }
        scratch.git(&["pack-refs", "--all"]);
        let tag = Oid::new(scratch.git(&["rev-parse", "axiom/a"])).unwrap();
        let name = RefName::new("refs/tags/axiom/a");
        assert!(repo.own_refs().delete_own_refs(&[RefEdit { name, expected: ExpectedRefValue::Value(tag), new: None }]).unwrap());
        let text = scratch.read(".git/packed-refs");
        assert_eq!(text.lines().filter(|line| line.starts_with('^')).count(), 1, "{text}");
        assert_eq!(scratch.git(&["tag"]), "axiom/b");
        scratch.git(&["fsck", "--strict"]);
    }
}
