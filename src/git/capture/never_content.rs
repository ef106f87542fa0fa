//! What lies in a worktree and is never its content, whatever its name and whatever git says of it: the git directory
//! (`--git-dir` with `--work-tree`, `--separate-git-dir`, `core.worktree`), and the folders of the repository's other worktrees,
//! whatever state their `.git` is in. A capture neither reads nor walks them, also where git tracks something in them, and
//! nothing that goes back to a capture changes anything there: they are among its gaps.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::repo::handles::Captures;
use crate::repo::pointer_files::is_same_place;
use crate::repo::worktrees::Worktree;
use axiom_model::base::names::RepoPath;

use super::captured::{CaptureOptions, WorktreeCapture};
use super::worktree::is_below;

/// What is never content of one worktree.
#[derive(Debug, Default)]
pub(super) struct NonContentPaths {
    git_dirs: Vec<RepoPath>,
    worktrees: Vec<RepoPath>,
}

impl Captures<'_> {
    /// The git directories that lie in a worktree under another name than `.git`.
    pub fn git_directories_in(&self, worktree: &Worktree) -> Vec<RepoPath> {
        self.never_content(worktree, &CaptureOptions::default()).git_dirs
    }

    /// What is never content of a worktree.
    pub(super) fn never_content(&self, worktree: &Worktree, options: &CaptureOptions) -> NonContentPaths {
        let root = worktree.path();
        let mut git_dirs: Vec<RepoPath> = Vec::new();
        for git_dir in [self.repo.common_dir(), worktree.git_dir()] {
            // Git itself leaves alone what has this name; and of thousands of linked worktrees nearly none has it inside.
            let is_beside = !worktree.is_main() && !git_dir.starts_with(root);
            if is_beside || git_dir == root.join(".git") || git_dirs.iter().any(|known| root.join(known.to_path()) == git_dir) {
                continue;
            }
            let is_plain =
                |inside: &RepoPath| matches!(inside.as_bytes(), b"" | b".git") || inside.as_bytes().starts_with(b".git/");
            git_dirs.extend(by_identity(root, git_dir).filter(|inside| !is_plain(inside)));
        }
        git_dirs.sort();
        git_dirs.dedup();
        let is_nested = |inside: &Path| !inside.as_os_str().is_empty() && !inside.starts_with(".git");
        // What is below a folder follows it in the order of paths: of thousands none is looked at that lies elsewhere.
        let below = options.apart.range(root.to_owned()..).map_while(|place| place.strip_prefix(root).ok());
        let others = below.filter(|inside| is_nested(inside));
        let others = others.map(|inside| RepoPath::new(inside.as_os_str().as_bytes()));
        // Thousands may be in the folder of the workspaces, which is left out as a whole.
        let worktrees = others.filter(|inside| !options.excluded.iter().any(|root| is_below(inside, root))).collect();
        NonContentPaths { git_dirs, worktrees }
    }
}

impl NonContentPaths {
    /// The options of a capture that leaves these out; `None` where there is nothing to leave out.
    pub fn leaving_out(&self, options: &CaptureOptions) -> Option<CaptureOptions> {
        if self.git_dirs.is_empty() && self.worktrees.is_empty() {
            return None;
        }
        let mut options = options.clone();
        options.never.extend(self.git_dirs.iter().chain(&self.worktrees).cloned());
        options.excluded.extend(options.never.iter().cloned());
        Some(options)
    }

    /// Names them in a capture.
    pub fn named_in(self, mut capture: WorktreeCapture) -> WorktreeCapture {
        let named = &mut capture.coverage.git_directories;
        let is_new: Vec<RepoPath> = self.git_dirs.iter().filter(|path| !named.paths.contains(path)).cloned().collect();
        is_new.into_iter().for_each(|path| named.add(path));
        let gaps = &mut capture.extras.gaps;
        gaps.extend(self.git_dirs.into_iter().chain(self.worktrees));
        gaps.sort();
        gaps.dedup();
        capture
    }
}

/// Where a folder lies below a root: compared by device and inode, so that neither links, nor bind mounts, nor a file system that
/// ignores case hide it.
fn by_identity(root: &Path, folder: &Path) -> Option<RepoPath> {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let above = real.ancestors().find(|above| is_same_place(above, root))?;
    Some(RepoPath::new(real.strip_prefix(above).ok()?.as_os_str().as_bytes()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_is_found_below_a_root_however_both_are_spelled() {
        let dir = tempfile::tempdir().unwrap();
        let (root, other) = (dir.path().join("root"), dir.path().join("other"));
        std::fs::create_dir_all(root.join("a/b.git")).unwrap();
        symlink(&root, &other).unwrap();
        let found = |root: &Path, folder: &Path| by_identity(root, folder).map(|path| path.to_string());
        assert_eq!(found(&root, &root.join("a/b.git")).as_deref(), Some("a/b.git"));
        assert_eq!(found(&root, &other.join("a/b.git")).as_deref(), Some("a/b.git"));
        assert_eq!(found(&other, &root.join("a/../a/b.git")).as_deref(), Some("a/b.git"));
        assert_eq!(found(&root.join("a/b.git"), &root), None);
    }
}
