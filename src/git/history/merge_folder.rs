//! Where git merges in memory: a folder of ours that is git's worktree for the call. It has the attributes files of one commit and
//! nothing of anybody's worktree: `git merge-tree` would obey an uncommitted `.gitattributes` of the folder that it runs in.
//!
//! Merge drivers are programs of the user's, and may read files beside those that they merge. So a first run finds out whether one is
//! called at all; only then the folder gets all files of the commit, and the drivers run there, for a limited time.

use crate::repo::repository::Repository;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use crate::base::marked_merge::MergeToRun;
use crate::base::modes::TREE;
use crate::index::file::in_folder;
use crate::objects::tree_read::RawTree;
use crate::repo::handles::Merges;
use crate::repo::own_scratch::ScratchFolder;
use crate::repo::program::{Git, GitOutput};
use crate::repo::worktrees::Worktree;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::git_config;
use axiom_model::base::names::{Oid, RepoPath};

/// How long the drivers of one merge may take.
pub(crate) const DRIVER_LIMIT: Duration = Duration::from_secs(60);

/// The longest attributes file; git ignores longer ones.
const LONGEST: u64 = 100 * 1024 * 1024;

/// The file that says that a driver was called; beside the worktree.
const CALLED: &str = "called";

/// Which programs a merge may start.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MergePrograms {
    /// None.
    None,
    /// These drivers, where attributes name them.
    Drivers(Vec<String>),
    /// Some for certain, or that cannot be found out.
    Some,
}

impl MergePrograms {
    /// Of what `git config --null --get-regexp ^merge\.` prints.
    fn of(listed: &str, filters: bool) -> Self {
        let (mut drivers, mut renormalizes) = (Vec::new(), false);
        for (key, value) in git_config::entries(listed) {
            if key == "merge.renormalize" {
                renormalizes = !git_config::is_false(value);
            }
            if let Some(name) = key.strip_prefix("merge.").and_then(|rest| rest.strip_suffix(".driver")) {
                drivers.push(name.to_owned());
            }
        }
        // git would take a name with such a sign for a name and a value.
        if filters && renormalizes || drivers.iter().any(|name| name.contains(['=', '\n'])) {
            return Self::Some;
        }
        if drivers.is_empty() { Self::None } else { Self::Drivers(drivers) }
    }
}

impl Merges<'_> {
    /// The programs that merges may start, by the configuration as it is now.
    pub(super) fn merge_programs(&self) -> Result<MergePrograms> {
        if self.repo.settings().config_lacks_section("merge") {
            return Ok(MergePrograms::None);
        }
        // Exit code 1 means that there is nothing.
        let listed = self.repo.git().args(["config", "--null", "--get-regexp", r"^merge\."]).run()?;
        Ok(MergePrograms::of(&String::from_utf8_lossy(&listed.stdout), !self.repo.conversions().filter_names().is_empty()))
    }
}

/// The folder. A crash leaves it for cleanup.
pub(super) struct MergeFolder<'r> {
    repo: &'r Repository,
    scratch: ScratchFolder,
    worktree: Worktree,
}

impl<'r> MergeFolder<'r> {
    /// Makes it, with the attributes files that can matter for a merge.
    pub fn make(repo: &'r Repository, asked: &MergeToRun) -> Result<Self> {
        let scratch = repo.scratch_folders().make()?;
        let files = scratch.path().join("files");
        files::make_scratch_folder(&files)?;
        let worktree = repo.worktrees().main_worktree()?.with_files_in(&files);
        let place = Self { repo, scratch, worktree };
        for (path, blob) in attributes_files(repo, asked)? {
            place.write(&path, &blob)?;
        }
        Ok(place)
    }

    fn write(&self, path: &RepoPath, blob: &Oid) -> Result<()> {
        let file = self.worktree.path().join(path.to_path());
        files::make_scratch_folder(file.parent().unwrap_or(self.worktree.path()))?;
        match self.repo.objects().read_blob(blob, LONGEST) {
            Ok(content) => files::write_scratch(&file, &content),
            Err(error) if error.code() == Code::TooLarge => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Puts all files of a commit there, as a checkout has them, but for what filters make of them.
    pub fn fill(&self, tree: &Oid) -> Result<()> {
        let index = in_folder(&self.scratch, "index");
        let git = || self.repo.git_in(&self.worktree).index(&index).config("core.sparseCheckout=false");
        git().args(["read-tree", tree.as_str()]).run_ok()?;
        git().args(["checkout-index", "-a", "-f", "-q"]).run_ok().map(drop)
    }

    /// A call of git there.
    pub fn git(&self) -> Git<'_> {
        self.repo.git_in(&self.worktree).making_objects()
    }

    /// A call in which no driver runs, but leaves a note that it would have.
    pub fn without(&self, drivers: &[String]) -> Git<'_> {
        drivers.iter().fold(self.git(), |git, name| git.config(format!("merge.{name}.driver=: >../{CALLED}; exit 1")))
    }

    /// Whether a driver would have run.
    pub fn was_called(&self) -> Result<bool> {
        Ok(files::metadata(&self.scratch.path().join(CALLED))?.is_some())
    }
}

/// The attributes files of a commit, and what names its submodules, as far as they can matter for a merge: those of folders that
/// differ between the merged trees.
fn attributes_files(repo: &Repository, asked: &MergeToRun) -> Result<Vec<(RepoPath, Oid)>> {
    let trees = repo.trees();
    let merged = asked.merged(repo)?.iter().map(|commit| trees.tree_of(commit).map(Some)).collect::<Result<Vec<_>>>()?;
    let (mut found, mut folders) = (Vec::new(), vec![(PathBuf::new(), trees.tree_of(&asked.attributes)?, merged)]);
    while let Some((folder, tree, merged)) = folders.pop() {
        let others =
            merged.iter().map(|tree| tree.as_ref().map(|tree| trees.raw_tree(tree)).transpose()).collect::<Result<Vec<_>>>()?;
        for entry in trees.raw_tree(&tree)?.entries() {
            let entry = entry?;
            let is_file = entry.mode & 0o170_000 == 0o100_000;
            if is_file && (entry.name == b".gitattributes" || folder.as_os_str().is_empty() && entry.name == b".gitmodules") {
                let path = folder.join(OsStr::from_bytes(entry.name));
                found.push((RepoPath::new(path.as_os_str().as_bytes()), entry.to_owned()?.oid));
            }
            // Names that no checkout has, of a history that somebody made by hand.
            if entry.mode != TREE || matches!(entry.name, b"" | b"." | b".." | b".git") || entry.name.contains(&b'/') {
                continue;
            }
            let below = |tree: &Option<RawTree>| -> Result<Option<Oid>> {
                let found = tree.as_ref().map(|tree| tree.find(entry.name)).transpose()?.flatten();
                Ok(found.filter(|found| found.mode == TREE).map(|found| found.oid))
            };
            let below = others.iter().map(below).collect::<Result<Vec<_>>>()?;
            if below.windows(2).any(|two| two[0] != two[1]) {
                folders.push((folder.join(OsStr::from_bytes(entry.name)), entry.to_owned()?.oid, below));
            }
        }
    }
    Ok(found)
}

/// The error of a merge whose drivers took too long; otherwise git's.
pub(super) fn failed(output: &GitOutput) -> Error {
    if !output.is_over_limit() {
        return output.error();
    }
    Error::new(Code::FilterFailed, format!("the merge was ended: it took longer than {} s", DRIVER_LIMIT.as_secs()))
        .why("a merge driver does not answer, or the file system does not")
        .hint("git config --get-regexp '^merge\\..*\\.driver'    shows the merge drivers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_of_merges_are_drivers_and_filters_that_renormalize() {
        let of = |listed: &str, filters| MergePrograms::of(listed, filters);
        assert_eq!(of("", true), MergePrograms::None);
        assert_eq!(of("merge.conflictstyle\ndiff3\0merge.renormalize\nfalse\0", true), MergePrograms::None);
        assert_eq!(of("merge.renormalize\0", false), MergePrograms::None);
        assert_eq!(of("merge.renormalize\0", true), MergePrograms::Some);
        assert_eq!(of("merge.renormalize\ntrue\0merge.renormalize\noff\0", true), MergePrograms::None);
        let two = of("merge.a.name\nx\0merge.a.driver\ntrue\0merge.b.c.driver\ny %O\nz\0", true);
        assert_eq!(two, MergePrograms::Drivers(vec!["a".to_owned(), "b.c".to_owned()]));
        assert_eq!(of("merge.a=b.driver\ntrue\0", false), MergePrograms::Some);
    }
}
