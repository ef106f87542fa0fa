//! The submodules that an index has.

use axiom_model::base::names::{Oid, RepoPath};

use super::file;
use crate::repo::handles::Index;

impl Index<'_> {
    /// The submodules that the index has, with their commits.
    pub fn submodules(&self) -> Vec<(RepoPath, Oid)> {
        let Some(index) = file::read(self.repo, &self.worktree.index_file()) else { return Vec::new() };
        let is_link = |entry: &&gix::index::Entry| entry.mode == gix::index::entry::Mode::COMMIT && entry.stage_raw() == 0;
        let of = |entry: &gix::index::Entry| {
            Some((RepoPath::new(entry.path(&index).to_vec()), Oid::from_bytes(entry.id.as_bytes()).ok()?))
        };
        index.entries().iter().filter(is_link).filter_map(of).collect()
    }
}
