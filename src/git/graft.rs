//! Adding files to a tree.

use crate::domain::names::{Oid, RepoPath};
use crate::error::Result;

use super::history::FileId;
use super::index_file::IndexInfo;
use super::repository::Repository;

impl Repository {
    /// The tree `tree` with these files added. Paths that the tree has, or that a file of it stands in the way of, must not
    /// be among them. A crash leaves objects that nothing names.
    ///
    /// # Errors
    /// `GIT_FAILED`, `DISK_FULL`.
    pub fn graft(&self, tree: &Oid, files: &[(RepoPath, FileId)]) -> Result<Oid> {
        if files.is_empty() {
            return Ok(tree.clone());
        }
        let scratch = self.scratch_folder()?;
        let index = scratch.path().join("index");
        self.git().index(&index).args(["read-tree", tree.as_str()]).run_ok()?;
        let mut lines = IndexInfo::default();
        for (path, file) in files {
            lines.set(path, file.mode, &file.oid, 0);
        }
        self.git().index(&index).args(["update-index", "-z", "--index-info"]).stdin(lines.into_lines()).run_ok()?;
        Oid::new(self.git().index(&index).writing().arg("write-tree").text()?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::*;

    #[test]
    fn files_are_added_beside_and_below_others() {
        let scratch = Scratch::new(&[]);
        let repo = scratch.repo();
        let blob = repo.write_blob(b"x").unwrap();
        let tree = Oid::new(scratch.git(&["rev-parse", "HEAD^{tree}"]).trim()).unwrap();
        let file = |path: &str| (RepoPath::new(path.as_bytes()), FileId { mode: 0o100_644, oid: blob.clone() });
        let grafted = repo.graft(&tree, &[file("new"), file("deep/er/new")]).unwrap();
        let changes = repo.diff_trees(&tree, &grafted).unwrap();
        let paths: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
        assert_eq!(paths, ["deep/er/new", "new"]);
        assert!(changes.iter().all(|change| change.old.is_none()));
    }
}
