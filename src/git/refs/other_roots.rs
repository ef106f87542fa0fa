//! What holds objects besides refs and indexes: reflogs, and the files and root refs in which git notes where something came from or is
//! to go on (`ORIG_HEAD`, `FETCH_HEAD`, a rebase).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::base::formats::RefFormat;
use crate::repo::handles::RefLists;
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::names::{Oid, RefName};

/// Root refs, which are files in the files format. `FETCH_HEAD` always is one, with many ids.
const ROOT_REFS: [&str; 7] =
    ["ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "AUTO_MERGE", "MERGE_AUTOSTASH"];
/// Folders and files of what is in progress, in which ids stand.
const IN_PROGRESS: [&str; 4] = ["rebase-merge", "rebase-apply", "sequencer", "FETCH_HEAD"];
/// What else is called as such a file. These only remind of something: nothing goes on from them.
const HINTS: [&str; 4] = ["HEAD", "ORIG_HEAD", "FETCH_HEAD", "AUTO_MERGE"];
/// The largest such file that is read.
const LARGEST: u64 = 16 * 1024 * 1024;

impl RefLists<'_> {
    /// What files and root refs of a worktree name, by what names it.
    pub fn named_in(&self, worktree: &Worktree) -> Result<BTreeMap<String, BTreeSet<Oid>>> {
        let mut found = BTreeMap::new();
        for name in IN_PROGRESS {
            found.insert(name.to_owned(), ids_in_file(self.repo, &worktree.git_dir().join(name))?);
        }
        for name in ROOT_REFS {
            let ids = match self.repo.ref_format() {
                RefFormat::Files => ids_in_file(self.repo, &worktree.git_dir().join(name))?,
                RefFormat::Reftable => {
                    let output = self.repo.git_in(worktree).args(["rev-parse", "--verify", "--quiet", name]).run()?;
                    ids_in(self.repo, &output.stdout)
                }
            };
            found.insert(name.to_owned(), ids);
        }
        found.retain(|_, ids| !ids.is_empty());
        Ok(found)
    }

    /// What is named by those of git's own notes that something in progress needs, of all worktrees, damaged ones too: files whose
    /// names are capitals, and what is in progress.
    pub(crate) fn in_all_notes(&self) -> Result<BTreeSet<Oid>> {
        let is_note = |name: &str| !HINTS.contains(&name) && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let common = self.repo.common_dir();
        let linked = files::list(&common.join("worktrees"))?.into_iter().map(|entry| entry.path());
        let mut found = BTreeSet::new();
        for git_dir in std::iter::once(common.to_owned()).chain(linked) {
            for entry in files::list(&git_dir)? {
                if entry
                    .file_name()
                    .to_str()
                    .is_some_and(|name| is_note(name) || IN_PROGRESS.contains(&name) && !HINTS.contains(&name))
                {
                    found.extend(ids_in_file(self.repo, &entry.path())?);
                }
            }
        }
        Ok(found)
    }

    /// What the reflogs name, but those of the refs that are left out, and of which there is an object.
    pub fn in_reflogs(&self, is_left_out: &dyn Fn(&RefName) -> bool) -> Result<BTreeSet<Oid>> {
        let mut found = named_in_reflogs(self.repo, is_left_out)?;
        found.retain(|oid| self.repo.objects().has_object(oid));
        Ok(found)
    }
}

/// As [`RefLists::in_reflogs`], also what is not there.
pub(crate) fn named_in_reflogs(repo: &Repository, is_left_out: &dyn Fn(&RefName) -> bool) -> Result<BTreeSet<Oid>> {
    let mut found = BTreeSet::new();
    let worktrees = repo.worktrees().list()?;
    match repo.ref_format() {
        RefFormat::Files => {
            let mut folders = vec![repo.common_dir().join("logs")];
            folders.extend(worktrees.iter().map(|entry| entry.worktree.git_dir().join("logs")));
            for folder in folders {
                for entry in walkdir::WalkDir::new(&folder).into_iter().flatten().filter(|entry| entry.file_type().is_file()) {
                    let name = entry.path().strip_prefix(&folder).map(|name| RefName::new(name.to_string_lossy()));
                    if !name.is_ok_and(|name| is_left_out(&name)) {
                        let text = files::read_optional(entry.path(), u64::MAX - 1)?.unwrap_or_default();
                        found.extend(named_in(repo, &text));
                    }
                }
            }
        }
        RefFormat::Reftable => {
            let mut read = |worktree: Option<&Worktree>, name: &str| -> Result<()> {
                let git = worktree.map_or_else(|| repo.git(), |worktree| repo.git_in(worktree));
                // One that has no reflog is an error of git's.
                let output = git.args(["log", "-g", "--format=%H", name, "--"]).run()?;
                found.extend(named_in(repo, &output.stdout));
                Ok(())
            };
            worktrees.iter().filter(|entry| entry.present).try_for_each(|entry| read(Some(&entry.worktree), "HEAD"))?;
            for value in repo.refs().refs_below("refs/")?.iter().filter(|value| !is_left_out(&value.name)) {
                read(None, value.name.as_str())?;
            }
        }
    }
    Ok(found)
}

/// What a file names, or the files of a folder.
fn ids_in_file(repo: &Repository, place: &Path) -> Result<BTreeSet<Oid>> {
    let content = |path: &Path| files::read_small(path, LARGEST).map(|small| small.content().unwrap_or_default());
    if !files::metadata(place)?.is_some_and(|meta| meta.is_dir()) {
        return Ok(ids_in(repo, &content(place)?));
    }
    let mut found = BTreeSet::new();
    for entry in files::list(place)? {
        found.extend(ids_in(repo, &content(&entry.path())?));
    }
    Ok(found)
}

/// The ids in a text of which there is an object.
fn ids_in(repo: &Repository, text: &[u8]) -> BTreeSet<Oid> {
    named_in(repo, text).into_iter().filter(|oid| repo.objects().has_object(oid)).collect()
}

/// The words of a text that look like ids.
fn named_in(repo: &Repository, text: &[u8]) -> BTreeSet<Oid> {
    let width = repo.hash().bytes() * 2;
    let words = text.split(|byte| !byte.is_ascii_hexdigit()).filter(|word| word.len() == width);
    words.filter_map(|word| Oid::new(String::from_utf8_lossy(word).into_owned()).ok()).collect()
}
