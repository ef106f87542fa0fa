//! The folders of loose refs and of their logs: which of them are to be synced after a change of refs.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use axiom_base::error::Result;
use axiom_base::{files, platform};
use axiom_model::base::names::RefName;

use crate::base::formats::RefFormat;
use crate::repo::handles::Refs;

/// The folders of the refs of a change: looked at before it, synced after it.
#[derive(Debug)]
pub(crate) struct RefFolders {
    /// The git directory, where packed refs are replaced.
    top: PathBuf,
    /// The files of the refs and of their logs.
    files: Vec<PathBuf>,
    /// Those of their folders that were there, each with the time at which the entries of the folder above it were last changed: as long as
    /// that stays, it is the same folder, and needs no sync of those above it.
    standing: BTreeMap<PathBuf, SystemTime>,
}

impl Refs<'_> {
    /// The folders of refs that are about to be changed by git. None is taken to be on disk.
    pub(crate) fn folders_of<'a>(&self, names: impl Iterator<Item = &'a RefName>) -> RefFolders {
        let top = self.repo.common_dir().to_owned();
        let files = match self.repo.ref_format() {
            RefFormat::Reftable => vec![top.join("reftable").join("tables.list")],
            RefFormat::Files => names.flat_map(|name| [top.join(name.in_git()), top.join("logs").join(name.in_git())]).collect(),
        };
        RefFolders { top, files, standing: BTreeMap::new() }
    }
}

impl RefFolders {
    /// Knows which of them are there already, for a change before which objects are synced, or that only deletes. What is deleted is
    /// gone with its folder's entry; what is made needs all above it on disk, where it is if one call has synced objects and refs.
    pub(crate) fn knowing_what_is_there(mut self, makes: bool) -> Result<Self> {
        let device = |path: &Path| files::metadata(path).map(|found| found.map(|found| found.dev()));
        if !makes || platform::SYNCS_WHOLE_FILE_SYSTEM && device(&self.top)? == device(&self.top.join("objects"))? {
            let above = self.files.iter().flat_map(|file| folders_above(file, &self.top));
            self.standing = above.filter_map(|folder| Some((folder.to_owned(), entries_changed_above(folder)?))).collect();
        }
        Ok(self)
    }

    /// Syncs the folders that the change may have changed.
    pub(crate) fn sync(&self) -> Result<()> {
        let sync = |standing: &BTreeSet<PathBuf>| {
            let folders = changed_folders(&self.files, &self.top, standing);
            files::sync_dirs_if_there(&folders.into_iter().collect::<Vec<_>>())
        };
        // A folder that git removed because it was empty needs no sync; its parent is synced.
        let stands = |(folder, then): &(&PathBuf, &SystemTime)| entries_changed_above(folder) == Some(**then);
        let standing: BTreeSet<PathBuf> = self.standing.iter().filter(stands).map(|(folder, _)| folder.clone()).collect();
        if !sync(&standing)? && !standing.is_empty() {
            sync(&BTreeSet::new())?;
        }
        Ok(())
    }
}

/// When an entry was last made or removed beside a folder; nothing where it is none.
fn entries_changed_above(folder: &Path) -> Option<SystemTime> {
    let above = folder.parent().filter(|_| folder.is_dir())?;
    files::metadata(above).ok().flatten()?.modified().ok()
}

/// The folders between a file and the git directory, the innermost first.
fn folders_above<'p>(file: &'p Path, top: &'p Path) -> impl Iterator<Item = &'p Path> {
    file.ancestors().skip(1).take_while(move |folder| *folder != top)
}

/// The folder of each file, with those above it up to one that stood before; and the git directory.
fn changed_folders<'p>(files: &'p [PathBuf], top: &'p Path, standing: &BTreeSet<PathBuf>) -> BTreeSet<&'p Path> {
    let mut changed = BTreeSet::from([top]);
    for file in files {
        for folder in folders_above(file, top) {
            changed.insert(folder);
            if standing.contains(folder) {
                break;
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stood_before_needs_no_folder_above_it_and_what_was_made_does() {
        let top = Path::new("/r/.git");
        let file = [top.join("refs/heads/axiom/new/task")];
        let changed = |standing: &[&str]| {
            let standing = standing.iter().map(|folder| top.join(folder)).collect();
            let changed = changed_folders(&file, top, &standing);
            changed.into_iter().map(|folder| folder.strip_prefix(top).unwrap().display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(changed(&["refs", "refs/heads", "refs/heads/axiom", "refs/heads/axiom/new"]), ["", "refs/heads/axiom/new"]);
        assert_eq!(changed(&["refs", "refs/heads"]), ["", "refs/heads", "refs/heads/axiom", "refs/heads/axiom/new"]);
        assert_eq!(changed(&[]), ["", "refs", "refs/heads", "refs/heads/axiom", "refs/heads/axiom/new"]);
    }
}
