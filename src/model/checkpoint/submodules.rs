//! Submodules in a checkpoint: each is captured in its own repository, and named in the document of the checkpoint.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::names::{Oid, RefName, RepoPath};
use crate::checkpoint::coverage::{CaptureCoverage, PathSample};

/// A submodule, as captured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubmoduleState {
    /// The absolute path of the worktree of this repository that it is in.
    pub worktree: String,
    /// Its path in that worktree; one within another has the whole path.
    pub path: RepoPath,
    /// Its git directory, absolute.
    pub git_dir: String,
    /// The branch that was checked out in it.
    pub branch: Option<RefName>,
    /// The commit that was checked out in it.
    pub head: Option<Oid>,
    /// Its capture, a commit of its own repository.
    pub capture: Oid,
    /// What the capture does not hold; paths are those in the submodule.
    pub coverage: CaptureCoverage,
}

impl SubmoduleState {
    /// Its absolute path.
    pub fn folder(&self) -> PathBuf {
        Path::new(&self.worktree).join(self.path.to_path())
    }
}

impl From<&SubmoduleState> for HeldSubmodule {
    fn from(state: &SubmoduleState) -> Self {
        let SubmoduleState { path, branch, head, capture, worktree: _, git_dir: _, coverage: _ } = state.clone();
        Self { path, branch, head, capture }
    }
}

impl CaptureCoverage {
    /// Names what is not held of a submodule at `path` too.
    pub fn add_submodule(&mut self, path: &RepoPath, inner: &Self) {
        let Self { ignored, nested_repositories, dirty_submodules, too_large, special, unreadable, .. } = inner;
        let Self {
            refused_names, converted, excluded, purged, over_include_limit, included, not_in_time, others_may_read, ..
        } = inner;
        for (own, theirs) in [
            (&mut self.ignored, ignored),
            (&mut self.nested_repositories, nested_repositories),
            (&mut self.dirty_submodules, dirty_submodules),
            (&mut self.too_large, too_large),
            (&mut self.special, special),
            (&mut self.unreadable, unreadable),
            (&mut self.refused_names, refused_names),
            (&mut self.converted, converted),
            (&mut self.excluded, excluded),
            (&mut self.purged, purged),
            (&mut self.over_include_limit, over_include_limit),
            (&mut self.included, included),
            (&mut self.not_in_time, not_in_time),
            (&mut self.others_may_read, others_may_read),
        ] {
            own.add_below(path, theirs);
        }
    }
}

impl PathSample {
    fn add_below(&mut self, folder: &RepoPath, inner: &Self) {
        let unlisted = inner.count.saturating_sub(inner.paths.len() as u64);
        inner.paths.iter().for_each(|path| self.add(folder.join(path)));
        self.count += unlisted;
    }

    /// Takes a path out of the list.
    pub fn remove(&mut self, path: &RepoPath) {
        if let Some(at) = self.paths.iter().position(|one| one == path) {
            self.paths.remove(at);
            self.count = self.count.saturating_sub(1);
        }
    }
}

/// A submodule of a workspace, as captured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldSubmodule {
    /// Its path in the workspace; one within another has the whole path.
    pub path: RepoPath,
    /// The branch that was checked out in it.
    pub branch: Option<RefName>,
    /// The commit that was checked out in it.
    pub head: Option<Oid>,
    /// Its capture, a commit of its own repository.
    pub capture: Oid,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_held_of_a_submodule_is_named_by_its_path_in_the_worktree() {
        let path = |text: &str| RepoPath::new(text.as_bytes());
        let (mut outer, mut inner) = (CaptureCoverage::default(), CaptureCoverage::default());
        outer.ignored.add(path("target"));
        inner.ignored.add(path("build"));
        inner.too_large.add(path("a/big"));
        inner.too_large.count = 5;
        outer.add_submodule(&path("libs/x"), &inner);
        assert_eq!(outer.ignored.paths, [path("target"), path("libs/x/build")]);
        assert_eq!((outer.too_large.count, outer.too_large.paths), (5, vec![path("libs/x/a/big")]));
        outer.ignored.remove(&path("target"));
        assert_eq!((outer.ignored.count, outer.ignored.paths), (1, vec![path("libs/x/build")]));
    }
}
