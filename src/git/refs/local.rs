//! The local refs that exist now: of the repository, of each linked worktree (`refs/worktree/`), and the stash entries.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use gix::bstr::ByteSlice;

use axiom_base::error::{Error, Result};
use axiom_base::files;
use axiom_model::base::names::{LINKED, Oid, RefName, spelled};
use axiom_model::checkpoint::local_refs::{LEFT_OUT, LocalRefSnapshot, STASH, StashEntry, is_held};

use super::own_refs::REF_LIMIT;
use super::packed_lines::PackedRefs;
use crate::base::readable::is_caused_by_gap;
use crate::repo::handles::{PackedRefsFile, RefLists};
use crate::repo::shortcuts::FastWay;
use crate::repo::worktrees::Worktree;

/// Loose refs by name, or all refs if git listed them.
#[derive(Debug, Default)]
pub(crate) struct ListedRefs {
    pub refs: BTreeMap<String, Oid>,
    pub links: BTreeMap<String, RefName>,
    pub stash: Vec<StashEntry>,
    /// Ref files that are not valid refs: with an odd name, or without an id.
    pub unclear: Vec<RefName>,
    /// Whether the packed refs are still to be added.
    pub but_packed: bool,
}

/// Shows whether the packed refs have changed. The device number is not part of it, since it may be different after a
/// reboot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackedRefsStat {
    pub text: String,
    /// The time of its last change (ctime), in nanoseconds since 1970.
    pub changed: i128,
}

impl RefLists<'_> {
    /// All local refs that a checkpoint would hold now.
    pub fn local_refs(&self) -> Result<LocalRefSnapshot> {
        let mut listed = self.listed_refs()?;
        if listed.but_packed && !self.repo.packed_refs().lines().map_or(Ok(false), |packed| listed.add_packed(&packed))? {
            listed = self.listed_by_git()?;
        }
        let refs = listed.refs.into_iter().map(|(name, oid)| (RefName::new(name), oid)).collect();
        let links = listed.links.into_iter().map(|(name, target)| (RefName::new(name), target)).collect();
        Ok(LocalRefSnapshot { refs, links, stash: listed.stash })
    }

    /// The loose refs, or all refs if git has to list them. The caller reads the packed refs afterwards: a ref that is
    /// packed meanwhile is found there.
    pub(crate) fn listed_refs(&self) -> Result<ListedRefs> {
        if !self.repo.shortcuts().allow(FastWay::ReadRefs) {
            return self.listed_by_git();
        }
        let mut listed = ListedRefs { but_packed: true, ..ListedRefs::default() };
        let is_plain = listed.add_folder(&self.repo.common_dir().join("refs"), "refs/")?;
        for (name, git_dir) in self.linked_names()? {
            let prefix = format!("{LINKED}{name}/refs/worktree/");
            match listed.add_folder(&git_dir.join("refs/worktree"), &prefix) {
                Ok(true) => {}
                Ok(false) => return self.listed_by_git(),
                // Its worktree is named as not held, with all that is its own.
                Err(error) if is_caused_by_gap(&error) => {}
                Err(error) => return Err(error),
            }
        }
        if !is_plain {
            return self.listed_by_git();
        }
        listed.stash = self.repo.stash().in_files()?;
        Ok(listed)
    }

    /// The git directories of the linked worktrees by their names.
    fn linked_names(&self) -> Result<Vec<(String, std::path::PathBuf)>> {
        let folders = files::list(&self.repo.common_dir().join("worktrees"))?.into_iter();
        Ok(folders.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path()))).collect())
    }

    /// The refs as git lists them; git omits broken ones.
    pub(crate) fn listed_by_git(&self) -> Result<ListedRefs> {
        let mut listed = ListedRefs::default();
        let format = "--format=%(objectname) %(refname) %(symref)";
        let output = self.repo.git().args(["for-each-ref", format]).run_ok()?;
        listed.add_lines(&output.stdout, "")?;
        let stash = String::from_utf8_lossy(&output.stdout).lines().any(|line| line.split(' ').nth(1) == Some(STASH));
        for (name, git_dir) in self.linked_names()? {
            let worktree = Worktree::linked(git_dir.clone(), git_dir);
            let output = self.repo.git_in(&worktree).args(["for-each-ref", format, "refs/worktree/"]).run()?;
            // A half-made worktree has no such refs.
            if output.ok() {
                listed.add_lines(&output.stdout, &format!("{LINKED}{name}/"))?;
            }
        }
        if stash {
            listed.stash = self.repo.stash().by_git()?;
        }
        Ok(listed)
    }
}

impl PackedRefsFile<'_> {
    pub(crate) fn packed_refs_file(&self) -> std::path::PathBuf {
        self.repo.common_dir().join("packed-refs")
    }

    /// Identifies the current version of the packed refs; `None` if there is no plain file.
    pub(crate) fn packed_stat(&self) -> Option<PackedRefsStat> {
        let meta = std::fs::symlink_metadata(self.packed_refs_file()).ok().filter(std::fs::Metadata::is_file)?;
        let time = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        let (modified, changed) = (time(meta.mtime(), meta.mtime_nsec()), time(meta.ctime(), meta.ctime_nsec()));
        Some(PackedRefsStat { text: format!("{} {} {modified} {changed}", meta.ino(), meta.size()), changed })
    }
}

impl ListedRefs {
    /// Adds the packed refs that no loose ref hides; returns `false` where git has to read them.
    pub fn add_packed(&mut self, packed: &PackedRefs) -> Result<bool> {
        let Ok(lines) = packed.below("refs/") else { return Ok(false) };
        for (name, value) in packed.values(lines).filter(|(name, _)| is_held(name)) {
            if !self.hides(name) {
                self.refs.insert(name.to_owned(), Oid::new(value)?);
            }
        }
        Ok(true)
    }

    /// Whether a loose ref has the name.
    pub fn hides(&self, name: &str) -> bool {
        self.refs.contains_key(name) || self.links.contains_key(name)
    }

    /// Adds the refs below a folder; returns `false` where git has to list them.
    fn add_folder(&mut self, folder: &Path, prefix: &str) -> Result<bool> {
        if LEFT_OUT.contains(&prefix) {
            return Ok(true);
        }
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => return Ok(true),
            Err(e) => return Err(Error::io("list the refs in", folder, e)),
        };
        for entry in entries {
            let entry = entry.map_err(|e| Error::io("list the refs in", folder, e))?;
            let kind = entry.file_type().map_err(|e| Error::io("access a ref in", folder, e))?;
            let last = entry.file_name();
            let name = format!("{prefix}{}", spelled(last.as_bytes()));
            if kind.is_dir() {
                if !self.add_folder(&entry.path(), &format!("{name}/"))? {
                    return Ok(false);
                }
            } else if !kind.is_file() {
                return Ok(false);
            } else if !name.ends_with(".lock") && is_held(&name) {
                self.add_file(&entry.path(), name)?;
            }
        }
        Ok(true)
    }

    fn add_file(&mut self, file: &Path, name: String) -> Result<()> {
        // The ref was deleted or packed just now.
        let Some(content) = files::read_optional(file, REF_LIMIT)? else { return Ok(()) };
        let (text, name) = (spelled(&content), RefName::new(name));
        let fits = <&gix::refs::FullNameRef>::try_from(name.in_git().as_bytes().as_bstr()).is_ok();
        let text = text.trim_end();
        match (text.strip_prefix("ref:"), Oid::new(text)) {
            (Some(target), _) if fits => drop(self.links.insert(name.to_string(), RefName::new(target.trim()))),
            (None, Ok(oid)) if fits => drop(self.refs.insert(name.to_string(), oid)),
            (_, _) => self.unclear.push(name),
        }
        Ok(())
    }

    fn add_lines(&mut self, lines: &[u8], prefix: &str) -> Result<()> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let text = spelled(line);
            let mut words = text.split(' ');
            let (oid, name, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default(), words.next());
            if !is_held(name) {
                continue;
            }
            let name = format!("{prefix}{name}");
            match target.filter(|target| !target.is_empty()) {
                Some(target) => drop(self.links.insert(name, RefName::new(target))),
                None => drop(self.refs.insert(name, Oid::new(oid)?)),
            }
        }
        Ok(())
    }
}
