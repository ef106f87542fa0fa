//! What can still be got back: from the objects of the repository and its submodules, and from files on the disk.

use std::path::{Path, PathBuf};

use crate::common::nothing_lost::Holders;
use crate::histories::place::Place;

/// The refs and stash entries of the repository and its submodules: what an index alone has is a person's, who may stage something else.
pub fn refs(place: &Place) -> Holders<'_> {
    Holders::refs(&place.env).in_repositories(repositories(place), place.hash)
}

/// All that holds something: indexes too, and all files, trash and contents of Git LFS included, that are no part of git's own data.
pub fn anywhere(place: &Place) -> Holders<'_> {
    let git = place.env.repo().join(".git");
    let folders = vec![place.env.root().to_owned(), git.join("axiom/lfs"), git.join("lfs/objects")];
    refs(place).and_indexes().and_files(folders, Some(git))
}

/// The git directories of the repository, of submodules, and of repositories within, also in a trash.
pub fn repositories(place: &Place) -> Vec<PathBuf> {
    let (root, main) = (place.env.root(), place.env.repo().join(".git"));
    let linked = std::fs::read_dir(main.join("worktrees")).into_iter().flatten().flatten();
    let mut found = vec![main.clone()];
    for modules in linked.map(|entry| entry.path().join("modules")).chain([main.join("modules")]) {
        found.extend(git_dirs_below(&modules));
    }
    if place.has_repositories_within {
        let skipped = |path: &Path| path == main || path.starts_with(root) && path.parent() == Some(root) && is_foreign(path);
        let walk = walkdir::WalkDir::new(root).into_iter().filter_entry(|entry| !skipped(entry.path())).flatten();
        let within = walk.filter(|entry| entry.file_type().is_dir() && entry.file_name() == ".git");
        found.extend(within.map(walkdir::DirEntry::into_path).filter(|path| path.join("HEAD").is_file()));
    }
    found
}

/// Where submodules come from, and where people push to.
fn is_foreign(path: &Path) -> bool {
    path.file_name().is_some_and(|name| ["origin", "origin-deep", "remote.git"].iter().any(|foreign| name == *foreign))
}

/// A submodule's repository may have those of others below it.
fn git_dirs_below(folder: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(folder).into_iter().flatten();
    let dirs = walk.filter(|entry| entry.file_type().is_dir() && entry.path().join("HEAD").is_file());
    dirs.map(walkdir::DirEntry::into_path).filter(|path| path.join("objects").is_dir()).collect()
}

/// The git directory of the submodule in a folder, where it is the submodule's own: below the repository's, or in the folder.
pub fn repository_of(place: &Place, folder: &Path) -> Option<PathBuf> {
    let dot = folder.join(".git");
    if dot.is_dir() {
        return dot.join("HEAD").is_file().then_some(dot);
    }
    let named = std::fs::read_to_string(&dot).ok()?;
    let git_dir = folder.join(named.strip_prefix("gitdir: ")?.trim_end()).canonicalize().ok()?;
    (git_dir.starts_with(place.env.repo().join(".git")) && git_dir.join("HEAD").is_file()).then_some(git_dir)
}
