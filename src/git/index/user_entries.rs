//! Finds the entries of an index that the user changed, when an operation is reversed.

use std::collections::BTreeMap;
use std::path::Path;

use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};

use crate::base::tree_change::{FileId, TreeChange, parse_raw};
use crate::repo::handles::Index;

/// The user's entries, which stay; `None` for an entry that the user removed.
pub(crate) type UserIndexEntries = BTreeMap<RepoPath, Option<FileId>>;

impl Index<'_> {
    /// The entries of an index file that match neither tree. Conflicts and `git add -N` are not included. Writes nothing.
    pub(crate) fn users_entries(&self, index: &Path, one: &Oid, two: &Oid) -> Result<UserIndexEntries> {
        let differing = |tree: &Oid| -> Result<Vec<TreeChange>> {
            let git = self.repo.git_in(self.worktree).index(index);
            let git = git.args(["diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none"]);
            // The lower-case `u` excludes conflicts.
            let git = git.args(["--ita-invisible-in-index", "--diff-filter=u", tree.as_str()]);
            parse_raw(&git.run_ok()?.stdout)
        };
        let first: BTreeMap<RepoPath, Option<FileId>> =
            differing(one)?.into_iter().map(|change| (change.path, change.new)).collect();
        if first.is_empty() {
            return Ok(first);
        }
        let both = differing(two)?.into_iter().filter(|change| first.contains_key(&change.path));
        Ok(both.map(|change| (change.path, change.new)).collect())
    }
}
