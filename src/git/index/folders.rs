//! Which folders of a worktree have tracked files, and which paths git ignores: for whoever walks a worktree by itself.

use std::collections::BTreeSet;

use super::file::nul_list;
use crate::repo::handles::Index;
use axiom_base::error::Result;
use axiom_model::base::names::RepoPath;

impl Index<'_> {
    /// The folders that have tracked files, directly or further below; the worktree itself is not one of them.
    pub fn tracked_folders(&self) -> Result<BTreeSet<RepoPath>> {
        let output = self.repo.git_in(self.worktree).args(["ls-files", "-z"]).run_ok()?;
        let mut folders = BTreeSet::new();
        for path in output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            let above: Vec<RepoPath> = RepoPath::new(path).folders_above().collect();
            // From the innermost: where one is known, so are those above it.
            for folder in above.into_iter().rev() {
                if !folders.insert(folder) {
                    break;
                }
            }
        }
        Ok(folders)
    }

    /// Those of these paths that git ignores by the rules that are in force now. A tracked file is not ignored.
    pub fn ignored<'p>(&self, paths: impl IntoIterator<Item = &'p RepoPath>) -> Result<BTreeSet<RepoPath>> {
        // The dot prevents that a colon at the beginning is taken for pathspec magic.
        let dotted: Vec<RepoPath> =
            paths.into_iter().map(|path| RepoPath::new([b"./".as_slice(), path.as_bytes()].concat())).collect();
        if dotted.is_empty() {
            return Ok(BTreeSet::new());
        }
        let git = self.repo.git_in(self.worktree).args(["check-ignore", "-z", "--stdin"]);
        let asked = git.stdin(nul_list(&dotted)).run()?;
        match asked.code {
            // 1: none is.
            Some(0 | 1) => {}
            Some(_) | None => return Err(asked.error()),
        }
        let named = asked.stdout.split(|byte| *byte == 0).filter_map(|name| name.strip_prefix(b"./"));
        Ok(named.map(RepoPath::new).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn tracked_folders_and_ignored_paths_are_those_of_git() {
        let scratch = ScratchRepository::new(&[]);
        scratch.write(".gitignore", b"*.log\nbuilt/\n!kept.log\n");
        scratch.write("a/b/c.txt", b"");
        scratch.write("built/tracked.txt", b"");
        scratch.git(&["add", "-f", "."]);
        let (repo, main) = (scratch.repo(), scratch.main());
        scratch.write("a/x.log", b"");
        scratch.write("a/kept.log", b"");
        scratch.write("built/other.txt", b"");
        let index = repo.index(&main);
        let names = |paths: BTreeSet<RepoPath>| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(index.tracked_folders().unwrap()), ["a", "a/b", "built", "sub"]);
        let asked = ["a/x.log", "a/kept.log", "built/tracked.txt", "built/other.txt", ":a", "built"];
        let asked: Vec<RepoPath> = asked.iter().map(|path| RepoPath::new(path.as_bytes())).collect();
        // Something in `built` is tracked, so the folder is not ignored.
        assert_eq!(names(index.ignored(&asked).unwrap()), ["a/x.log", "built/other.txt"]);
        assert!(index.ignored(&asked[1..2]).unwrap().is_empty() && index.ignored([]).unwrap().is_empty());
    }
}
