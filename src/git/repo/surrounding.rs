//! In which worktrees, of whatever repositories, a folder lies.

use std::path::{Path, PathBuf};

use axiom_base::files;

/// The largest configuration that is read of another repository.
const LIMIT: u64 = 1024 * 1024;

/// The most entries of a folder that are looked at.
const ENTRIES: usize = 10_000;

/// The outermost folder of `path` and those above it that is a worktree: one that has a `.git`, one of `known`, or one that
/// `core.worktree` of a git directory names which lies right below it or below a folder on the way. `None` where none is.
pub fn outermost_worktree(path: &Path, known: &[PathBuf]) -> Option<PathBuf> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let on_the_way: Vec<&Path> = path.ancestors().collect();
    let configured: Vec<PathBuf> = on_the_way.iter().flat_map(|folder| configured_below(folder)).collect();
    let is_worktree =
        |folder: &Path| is_git_folder(&folder.join(".git")) || is_among(folder, known) || is_among(folder, &configured);
    on_the_way.into_iter().rfind(|folder| is_worktree(folder)).map(Path::to_owned)
}

fn is_among(folder: &Path, worktrees: &[PathBuf]) -> bool {
    worktrees.iter().any(|one| one == folder || one.canonicalize().is_ok_and(|one| one == folder))
}

/// Whether `.git` is a git directory, or a file or link that may name one. An empty folder with that name makes no worktree.
fn is_git_folder(path: &Path) -> bool {
    match path.metadata() {
        Ok(meta) if meta.is_dir() => path.join("HEAD").symlink_metadata().is_ok(),
        Ok(_) => true,
        Err(_) => path.symlink_metadata().is_ok(),
    }
}

/// The worktrees that git directories right below a folder name in their configuration: so are the files of a whole home kept, with no
/// `.git` in it.
fn configured_below(folder: &Path) -> Vec<PathBuf> {
    let entries = files::list(folder).unwrap_or_default().into_iter().take(ENTRIES);
    entries.filter_map(|entry| configured(&entry.path())).collect()
}

fn configured(git_dir: &Path) -> Option<PathBuf> {
    if !git_dir.join("HEAD").is_file() || !git_dir.join("objects").is_dir() {
        return None;
    }
    let bytes = files::read_optional(&git_dir.join("config"), LIMIT).ok()??;
    let config = gix::config::File::try_from(String::from_utf8_lossy(&bytes).as_ref()).ok()?;
    let named = config.string("core.worktree")?;
    git_dir.join(named.to_string()).canonicalize().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;

    #[test]
    fn the_outermost_worktree_counts_whoever_says_that_it_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let at = |path: &str| top.join(path);
        std::fs::create_dir_all(at("a/b/c/d")).unwrap();
        let outermost = |known: &[PathBuf]| outermost_worktree(&at("a/b/c/d"), known);
        // An empty folder is no repository.
        std::fs::create_dir(at("a/.git")).unwrap();
        assert_eq!(outermost(&[]), None);
        std::fs::write(at("a/b/c/.git"), "gitdir: elsewhere\n").unwrap();
        assert_eq!(outermost(&[]), Some(at("a/b/c")));
        assert_eq!(outermost(&[at("a/b"), at("other")]), Some(at("a/b")));
        std::fs::create_dir_all(at("a/.files/objects")).unwrap();
        std::fs::write(at("a/.files/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(at("a/.files/config"), "[core]\n\tworktree = ..\n").unwrap();
        assert_eq!(outermost(&[at("a/b")]), Some(at("a")));
    }
}
