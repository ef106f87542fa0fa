//! Gaps: what is not read in a worktree, because it cannot be or because there is no time (`in_time`). The rule, for every way of a
//! capture: what can be saved is saved; a gap is left out, named in the coverage and in the extras, and never changed by whatever
//! goes back to that capture.
//!
//! A tracked file that is not read has its blob of the index in the tree, so that no restore takes it for deleted. The
//! coverage names the first gaps, for people; the extras have all of them, for whatever changes or deletes files.

use std::collections::BTreeSet;
use std::path::Path;

use axiom_model::base::names::RepoPath;
use axiom_model::base::path_set::PathSet;

use crate::base::readable::can_be_read;
use axiom_model::checkpoint::coverage::CaptureCoverage;

/// The paths that were not read.
#[derive(Debug, Clone, Default)]
pub(crate) struct CaptureGaps {
    paths: BTreeSet<RepoPath>,
    /// Those for which there was no time.
    late: BTreeSet<RepoPath>,
}

impl CaptureGaps {
    /// Adds a file or folder.
    pub fn add(&mut self, path: RepoPath) {
        self.paths.insert(path);
    }

    /// Adds files for which there is no time.
    pub fn add_late(&mut self, paths: impl IntoIterator<Item = RepoPath>) {
        self.late.extend(paths);
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &RepoPath> {
        self.paths.iter().chain(&self.late)
    }

    /// Whether a file was not read: what its index entry says is not known of it.
    pub fn has(&self, path: &RepoPath) -> bool {
        self.paths.contains(path) || self.late.contains(path)
    }

    /// Leaves of these paths those that can be read; the others are gaps.
    pub fn sieve(&mut self, root: &Path, paths: &mut Vec<RepoPath>) {
        paths.retain(|path| {
            let reads = can_be_read(&root.join(path.to_path()));
            if !reads {
                self.add(path.clone());
            }
            reads
        });
    }

    /// Adds those of these tracked files that cannot be read. Their stat data may say that they are unchanged: git compares times in
    /// seconds, and a file is closed within the second in which git last read it.
    pub fn add_closed<'p>(&mut self, root: &Path, narrow: impl IntoIterator<Item = &'p RepoPath>) {
        self.sieve(root, &mut narrow.into_iter().cloned().collect());
    }

    /// Names the topmost ones in the coverage, and returns all of these, in order.
    pub fn name(self, coverage: &mut CaptureCoverage) -> Vec<RepoPath> {
        let topmost: Vec<RepoPath> = PathSet::new(self.paths).iter().cloned().collect();
        topmost.iter().for_each(|path| coverage.unreadable.add(path.clone()));
        self.late.iter().for_each(|path| coverage.not_in_time.add(path.clone()));
        topmost.into_iter().chain(self.late).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_gaps_the_topmost_are_named() {
        let mut gaps = CaptureGaps::default();
        ["a/b", "a", "c"].into_iter().for_each(|path| gaps.add(RepoPath::new(path)));
        gaps.add_late([RepoPath::new("b")]);
        let mut coverage = CaptureCoverage::default();
        assert!(["a/b", "b"].into_iter().all(|path| gaps.has(&RepoPath::new(path))) && !gaps.has(&RepoPath::new("d")));
        assert_eq!(gaps.name(&mut coverage), ["a", "b", "c"].map(RepoPath::new));
        assert_eq!((coverage.unreadable.count, coverage.not_in_time.count), (2, 1));
    }
}
