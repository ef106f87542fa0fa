//! What can still be got back: from the objects of the repository and its submodules, and from files on the disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::place::Place;

/// The id that git gives to a content.
pub fn blob(hash: gix::hash::Kind, content: &[u8]) -> String {
    gix::objs::compute_hash(hash, gix::objs::Kind::Blob, content).unwrap().to_string()
}

/// Objects that a ref, an index, a worktree's HEAD or a stash entry reaches, in submodules too.
pub fn reachable(place: &Place) -> BTreeSet<String> {
    objects_of(place, &["--indexed-objects"])
}

/// As [`reachable`], without what an index alone has: that is a person's, who may stage something else.
pub fn reachable_from_refs(place: &Place) -> BTreeSet<String> {
    objects_of(place, &[])
}

fn objects_of(place: &Place, further: &[&str]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for git_dir in repositories(place) {
        let stash = git_of(place, &git_dir, &["stash", "list", "--format=%H"]).stdout;
        let mut args = vec!["rev-list", "--objects", "--all", "--no-object-names"];
        args.extend(further.iter().copied().chain(stash.lines()));
        let run = git_of(place, &git_dir, &args);
        assert_eq!(run.code, Some(0), "{}{}: {run}", place.story(), git_dir.display());
        all.extend(run.stdout.lines().map(str::to_owned));
    }
    all
}

/// git in a repository, whose folder may be gone.
pub fn git_of(place: &Place, git_dir: &Path, args: &[&str]) -> crate::common::Run {
    if git_dir == place.env.repo().join(".git") {
        return place.env.try_git(args);
    }
    let at = git_dir.display();
    let place_of = [&format!("--git-dir={at}")[..], &format!("--work-tree={at}")];
    place.env.try_git_in(git_dir, &[&place_of[..], args].concat())
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

/// The contents of all files, trash and contents of Git LFS included, that are no part of git's own data.
pub fn on_disk(place: &Place) -> BTreeSet<String> {
    let git = place.env.repo().join(".git");
    let walk = walkdir::WalkDir::new(place.env.root()).into_iter().filter_entry(|entry| entry.path() != git);
    let lfs = ["axiom/lfs", "lfs/objects"].map(|folder| walkdir::WalkDir::new(git.join(folder)).into_iter());
    let files = walk.chain(lfs.into_iter().flatten()).flatten().filter(|entry| entry.file_type().is_file());
    files.filter_map(|entry| std::fs::read(entry.path()).ok()).map(|content| blob(place.hash, &content)).collect()
}
