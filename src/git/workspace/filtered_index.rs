//! Lets the filters of a workspace's files do their work before the work is committed, in an index of ours, while nobody waits and no
//! lock is held: a filter may take its time, or never answer. The commit then finds the files stored.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::leftovers::LOCK;
use super::secret_names::{is_larger, looks_secret};
use crate::index::changed_paths::ChangedPaths;
use crate::index::file::{copy_index, in_folder, nul_list};
use crate::index::filters::{FilesByFilter, FilterDrivers, is_of_a_filter};
use crate::index::lock::IndexLock;
use crate::index::status::{StatusEntry, StatusKind};
use crate::repo::handles::Workspaces;
use crate::repo::worktrees::Worktree;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::names::RepoPath;

/// How long the filters of one workspace may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The largest index that is stored aside, in bytes.
const LARGEST: u64 = 1024 * 1024 * 1024;

/// An index of a workspace in which its changed files with filters are stored.
#[derive(Debug)]
pub struct FilteredIndex {
    made_from: Option<Vec<u8>>,
    index: Vec<u8>,
}

impl Workspaces<'_> {
    /// Whether files of this repository may have filters at all.
    pub fn may_have_filters(&self) -> bool {
        !self.repo.settings().config_lacks_section("filter")
    }

    /// Stores the changed files of a workspace that have filters; `None` where there are none. Ends the filters when `given_up`
    /// becomes true. Its index is not touched; a crash leaves unreferenced objects and a scratch folder.
    pub fn store_aside(
        &self,
        workspace: &Worktree,
        max_file_size: u64,
        given_up: &Arc<AtomicBool>,
    ) -> Result<Option<FilteredIndex>> {
        workspace.verify()?;
        let filters = self.repo.conversions().filters(workspace)?;
        if filters.is_empty() {
            return Ok(None);
        }
        let scratch = self.repo.scratch_folders().make()?;
        let index = in_folder(&scratch, "index");
        copy_index(self.repo.hash(), &workspace.index_file(), &index)?;
        let made_from = files::read_optional(&index, LARGEST)?;
        let (entries, _) = self.repo.index(workspace).status_and_unread(Some(&index), None)?;
        let wanted = |entry: &StatusEntry| {
            let is_new = match entry.kind {
                StatusKind::Untracked => true,
                StatusKind::Tracked { worktree, .. } if worktree != b'.' => false,
                StatusKind::Tracked { .. } | StatusKind::Unmerged | StatusKind::NestedRepository | StatusKind::Ignored => {
                    return false;
                }
            };
            !(is_larger(workspace.path(), &entry.path, max_file_size) || is_new && looks_secret(&entry.path))
        };
        let paths = entries.into_iter().filter(wanted).map(|entry| entry.path).collect();
        let changed = ChangedPaths::sort(workspace, paths)?;
        let there: Vec<&RepoPath> = changed.there().collect();
        let attributes = self.repo.git_in(workspace).arg("check-attr");
        let FilesByFilter { filtered, plain: _ } = self.repo.conversions().by_filter(&filters, attributes, &there)?;
        if filtered.is_empty() {
            return Ok(None);
        }
        let until = Instant::now() + LIMIT;
        for (name, paths) in filtered {
            let time = until.saturating_duration_since(Instant::now());
            self.store_by(workspace, &index, (&filters, &name, &paths), (time, given_up))?;
        }
        let stored = files::read(&index, LARGEST)?;
        Ok(Some(FilteredIndex { made_from, index: stored }))
    }

    fn store_by(
        &self,
        workspace: &Worktree,
        index: &Path,
        (filters, name, paths): (&FilterDrivers, &str, &[RepoPath]),
        (time, given_up): (Duration, &Arc<AtomicBool>),
    ) -> Result<()> {
        // What the index names must be on disk before anybody takes it.
        let git = self.repo.git_in(workspace).index(index).config("core.splitIndex=false").writing();
        let git = git.with_filter(name).limited(time).ended_by(Arc::clone(given_up));
        let output = git.args(["update-index", "--add", "-z", "--stdin"]).stdin(nul_list(paths)).run()?;
        let failed = |how: &str| {
            let some: Vec<String> = paths.iter().take(3).map(ToString::to_string).collect();
            let command = filters.get(name).map(|filter| filter.stores_by.replace('\0', " ")).unwrap_or_default();
            Error::new(Code::FilterFailed, format!("the filter '{name}' {how}"))
                .why(format!("it stores {} by: {}", some.join(", "), command.trim()))
                .hint(format!("git config --get-regexp '^filter\\.{name}\\.'    shows it; mend it, or remove the attribute"))
        };
        match output {
            output if output.ok() => Ok(()),
            output if output.is_over_limit() => Err(failed("does not answer")),
            output if is_of_a_filter(&output.stderr) => Err(failed("fails")),
            output => Err(output.error()),
        }
    }

    /// Makes the stored files the workspace's, unless its index has changed since; returns whether it has not. The caller holds
    /// the change lock. A crash leaves the old index or the new one.
    pub fn take_stored(&self, workspace: &Worktree, stored: &FilteredIndex) -> Result<bool> {
        IndexLock::remove_if_ours_stale(workspace, LOCK)?;
        let lock = IndexLock::take_patiently(workspace, LOCK)?;
        if files::read_optional(&workspace.index_file(), LARGEST)? != stored.made_from {
            lock.release()?;
            return Ok(false);
        }
        lock.clear_new_index()?;
        files::write_scratch(lock.new_index(), &stored.index)?;
        lock.install()?;
        lock.release()?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    fn with_filter(clean: &str) -> ScratchRepository {
        let scratch = ScratchRepository::new(&[]);
        scratch.write(".gitattributes", b"*.f filter=f\n");
        scratch.git(&["config", "filter.f.clean", clean]);
        scratch.write("x.f", b"x\n");
        scratch.write("other", b"o\n");
        scratch
    }

    fn store(scratch: &ScratchRepository) -> Result<Option<FilteredIndex>> {
        scratch.repo().workspaces().store_aside(&scratch.main(), 1000, &Arc::default())
    }

    #[test]
    fn what_was_stored_aside_is_taken_unless_the_index_is_another_one_by_then() {
        let scratch = with_filter("tr x y");
        // Of a file as new as the index git does not know whether it is stored.
        let long_ago = std::time::SystemTime::now() - Duration::from_secs(100);
        std::fs::File::options().append(true).open(scratch.main().path().join("x.f")).unwrap().set_modified(long_ago).unwrap();
        let stored = store(&scratch).unwrap().unwrap();
        assert_eq!(scratch.git(&["diff", "--cached", "--name-only"]), "");
        let take = || scratch.repo().workspaces().take_stored(&scratch.main(), &stored).unwrap();
        assert!(take());
        assert_eq!(scratch.git(&["cat-file", "blob", ":x.f"]), "y");
        assert_eq!(scratch.git(&["diff", "--cached", "--name-only"]), "x.f");
        assert!(!take(), "it is another one by now");
        assert!(store(&scratch).unwrap().is_none(), "nothing is left to store");
    }

    #[test]
    fn a_filter_that_fails_is_named() {
        let scratch = with_filter("false");
        scratch.git(&["config", "filter.f.required", "true"]);
        let error = store(&scratch).unwrap_err();
        assert_eq!(error.code(), Code::FilterFailed);
        assert!(error.to_string().contains("'f'"), "{error}");
    }

    #[test]
    fn filters_that_are_given_up_end_at_once() {
        let scratch = with_filter("sleep 100; cat");
        let given_up = Arc::new(AtomicBool::new(true));
        let begun = Instant::now();
        let error = scratch.repo().workspaces().store_aside(&scratch.main(), 1000, &given_up).unwrap_err();
        assert_eq!(error.code(), Code::FilterFailed);
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}
