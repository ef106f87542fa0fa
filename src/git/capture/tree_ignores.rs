//! Which paths the `.gitignore` files of a tree ignore, whatever is in the worktree now.

use std::collections::BTreeSet;

use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::names::{Oid, RepoPath};

use crate::index::file::{in_folder, nul_list};
use crate::repo::handles::Captures;
use crate::repo::worktrees::Worktree;

impl Captures<'_> {
    /// Those of `paths` that the `.gitignore` files of a tree ignore, together with the present exclude files. Nothing in
    /// the worktree is looked at.
    pub fn ignored_by(&self, worktree: &Worktree, tree: &Oid, paths: &[&RepoPath]) -> Result<BTreeSet<RepoPath>> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let scratch = self.repo.scratch_folders().make()?;
        let (index, files) = (in_folder(&scratch, "index"), in_folder(&scratch, "files"));
        files::create_dir_all(&files)?;
        let here = worktree.with_files_in(&files);
        let git = || self.repo.git_in(&here).index(&index).config("core.sparseCheckout=false");
        git().args(["read-tree", tree.as_str()]).run_ok()?;
        let is_one = |path: &RepoPath| path.file_name() == b".gitignore";
        let all = self.repo.history().files_of(tree)?;
        let rules: Vec<&RepoPath> = all.iter().map(|(path, _)| path).filter(|path| is_one(path)).collect();
        if !rules.is_empty() {
            git().args(["checkout-index", "-f", "-q", "-z", "--stdin"]).stdin(nul_list(rules)).run_ok()?;
        }
        // With `--no-index`, paths that the tree has are checked too. Exit code 1 means that none is ignored.
        let asked = git().args(["check-ignore", "--no-index", "-z", "--stdin"]).stdin(nul_list(paths.iter().copied())).run()?;
        match asked.code {
            Some(0 | 1) => {}
            Some(_) | None => return Err(asked.error()),
        }
        let named = asked.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(named.map(RepoPath::new).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn the_rules_are_those_of_the_tree_and_of_the_exclude_files() {
        let scratch = ScratchRepository::new(&[]);
        scratch.write(".gitignore", b"*.o\nbuilt/\n");
        scratch.write("sub/.gitignore", b"!kept.o\n");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "rules"]);
        scratch.write(".gitignore", b"other\n");
        scratch.write(".git/info/exclude", b"local\n");
        let repo = scratch.repo();
        let tree = Oid::new(scratch.git(&["rev-parse", "HEAD^{tree}"])).unwrap();
        let paths: Vec<RepoPath> =
            ["x.o", "sub/x.o", "sub/kept.o", "built/y", "other", "local"].map(|path| RepoPath::new(path.as_bytes())).into();
        let asked: Vec<&RepoPath> = paths.iter().collect();
        let ignored = repo.captures().ignored_by(&scratch.main(), &tree, &asked).unwrap();
        let names: Vec<String> = ignored.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["built/y", "local", "sub/x.o", "x.o"]);
        assert!(repo.captures().ignored_by(&scratch.main(), &tree, &[&paths[4]]).unwrap().is_empty());
    }
}
