//! What is there: every file of every worktree, indexes, HEADs, refs, stash, tasks. Nothing is asked of git axiom but its tasks.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::common::nothing_lost::blob;
use crate::histories::held;
use crate::histories::place::Place;
use crate::histories::places;
use crate::histories::world::{File, Submodule, Tree, World};

const OPERATIONS: [&str; 7] =
    ["MERGE_HEAD", "MERGE_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG"];

pub fn look(place: &Place) -> World {
    let env = &place.env;
    let mut world = World::default();
    for path in place.worktrees() {
        with_submodules(place, &mut world, &path, None);
    }
    for folder in &place.broken {
        let files = walkdir::WalkDir::new(folder).into_iter().flatten().filter(|entry| !entry.file_type().is_dir());
        for entry in files.filter(|entry| entry.path() != folder.join(".git")) {
            world.beside.insert(entry.path().display().to_string(), file(place, entry.path()));
        }
    }
    let refs = env.try_git(&["for-each-ref", "--format=%(refname) %(objectname) %(*objectname)"]).stdout;
    for line in refs.lines() {
        let mut words = line.split(' ');
        let (name, id, peeled) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap_or_default());
        let ours = ["refs/axiom/", "refs/tags/axiom/", "refs/notes/axiom", "refs/remotes/"];
        if !ours.iter().any(|prefix| name.starts_with(prefix)) {
            world.refs.insert(name.to_owned(), id.to_owned());
            world.tips.insert(if peeled.is_empty() { id } else { peeled }.to_owned());
        }
    }
    world.stash = env.try_git(&["stash", "list", "--format=%H"]).stdout.lines().map(str::to_owned).collect();
    // Without a log (`git reflog expire`) the entry on top is one by its ref alone.
    if let Some(top) = world.refs.get("refs/stash").filter(|top| !world.stash.contains(top)) {
        world.stash.insert(0, top.clone());
    }
    if place.odd.has(places::Oddity::Stash) {
        // What comes back comes on top, also where others were put there since.
        world.stash.sort();
        world.refs.remove("refs/stash");
    }
    if env.axiom_dir().is_dir() {
        let document = |args: &[&str]| {
            let run = env.axiom(args);
            assert_eq!(run.code, Some(0), "{}{args:?} {run}", place.story());
            serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap()
        };
        for task in document(&["task", "list", "--json"])["tasks"].as_array().unwrap() {
            world.titles.insert(task["id"].as_str().unwrap().to_owned(), task["title"].to_string());
            let merged = if task["merged"].is_null() { "" } else { " merged" };
            world.tasks.insert(task["id"].as_str().unwrap().to_owned(), format!("{}{merged}", task["status"].as_str().unwrap()));
        }
        world.mode = document(&["status", "--json"])["session"]["mode"].to_string();
    }
    world
}

/// A worktree, and every submodule in it whose repository is its own.
fn with_submodules(place: &Place, world: &mut World, path: &Path, above: Option<String>) {
    let name = path.strip_prefix(place.env.root()).unwrap_or(path).display().to_string();
    let git = |folder: &Path, args: &[&str]| place.env.try_git_in(folder, args).stdout.trim_end().to_owned();
    let links = git(path, &["ls-files", "--stage", "-z"]);
    let links = links.split('\0').filter(|line| line.starts_with("160000 ")).filter_map(|line| line.split_once('\t'));
    let mut inner: Vec<PathBuf> = links.map(|(_, inside)| path.join(inside)).collect();
    inner.retain(|folder| held::repository_of(place, folder).is_some());
    inner.dedup();
    let mut tree = tree(place, path, &inner);
    tree.submodule = above.zip(held::repository_of(place, path)).map(|(above, git_dir)| Submodule {
        above,
        commit: git(path, &["rev-parse", "-q", "--verify", "HEAD"]),
        inode: git_dir.metadata().unwrap().ino(),
        git_dir,
    });
    world.worktrees.insert(name.clone(), tree);
    inner.iter().for_each(|folder| with_submodules(place, world, folder, Some(name.clone())));
}

fn tree(place: &Place, path: &Path, submodules: &[PathBuf]) -> Tree {
    let env = &place.env;
    let git = |args: &[&str]| env.try_git_in(path, args).stdout;
    let mut tree = Tree { index: git(&["ls-files", "--stage", "-v", "-z"]).replace('\0', "\n"), ..Tree::default() };
    tree.head = git(&["symbolic-ref", "-q", "HEAD"]).trim().to_owned();
    if tree.head.is_empty() {
        tree.head = git(&["rev-parse", "HEAD"]).trim().to_owned();
    }
    // `:100644 100644 OLD NEW M`, then the path.
    let staged = git(&["diff-index", "--cached", "--no-renames", "-z", "HEAD"]);
    let mut parts = staged.split('\0');
    while let (Some(facts), Some(path)) = (parts.next(), parts.next()) {
        let words: Vec<&str> = facts.split(' ').collect();
        tree.staged.insert(path.to_owned(), format!("{} {} {}", words[1], words[3], words[4]));
    }
    let git_dir = PathBuf::from(git(&["rev-parse", "--path-format=absolute", "--git-dir"]).trim_end());
    for name in OPERATIONS {
        for entry in walkdir::WalkDir::new(git_dir.join(name)).into_iter().flatten().filter(|entry| entry.file_type().is_file()) {
            let name = entry.path().strip_prefix(&git_dir).unwrap().display().to_string();
            tree.sequencer.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    let below_others = |entry: &walkdir::DirEntry| {
        let name = entry.file_name();
        // Of no repository the git directory is content, also while HEAD has none at its path. What its objects hold is owed all the same.
        let is_of_git = name == ".git" || entry.depth() == 1 && name == ".worktrees";
        !is_of_git && !submodules.iter().any(|one| one == entry.path())
    };
    // Asked before anything is opened for the look.
    let shown = git(&["-c", "core.quotePath=false", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    tree.closed = places::closed_in(path);
    let _opened = (!tree.closed.is_empty()).then(|| places::opened(path));
    for entry in walkdir::WalkDir::new(path).into_iter().filter_entry(below_others).flatten() {
        if !entry.file_type().is_dir() {
            let name = String::from_utf8_lossy(entry.path().strip_prefix(path).unwrap().as_os_str().as_bytes()).into_owned();
            tree.files.insert(name, file(place, entry.path()));
        }
    }
    // What git shows as `!!` it ignores; what is neither tracked nor shown as untracked lies in a repository within.
    let shown: BTreeSet<&str> = shown.split('\0').collect();
    tree.ignored = tree.files.keys().filter(|name| !shown.contains(name.as_str())).cloned().collect();
    tree
}

/// One file as it lies there.
pub fn file(place: &Place, path: &Path) -> File {
    let meta = path.symlink_metadata().unwrap();
    if meta.file_type().is_symlink() {
        return File::Link(std::fs::read_link(path).unwrap().as_os_str().as_bytes().to_vec());
    }
    if meta.file_type().is_fifo() || meta.file_type().is_socket() {
        return File::Special;
    }
    let content = std::fs::read(path).unwrap_or_else(|e| panic!("{}{}: {e}", place.story(), path.display()));
    File::Regular(blob(place.hash, &content), meta.permissions().mode() & 0o777)
}
