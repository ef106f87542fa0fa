//! What is there: every file of every worktree, indexes, HEADs, refs, stash, tasks. Nothing is asked of git axiom but its tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::place::Place;

/// A file as it lies in a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum File {
    /// Its content as a blob's id, and its permissions.
    Regular(String, u32),
    /// Where it points.
    Link(Vec<u8>),
    /// Neither.
    Special,
}

/// One worktree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree {
    /// By path, repositories within included.
    pub files: BTreeMap<String, File>,
    /// Those that git ignores, or that are in a repository within: no capture holds them.
    pub ignored: BTreeSet<String>,
    /// `git ls-files --stage -v`.
    pub index: String,
    /// What is staged: of each path, its mode and id.
    pub staged: BTreeMap<String, String>,
    /// What is checked out: a branch, or a commit.
    pub head: String,
    /// Files of an operation in progress, with their contents.
    pub sequencer: BTreeMap<String, Vec<u8>>,
}

/// Everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct World {
    /// By path below the test's folder.
    pub worktrees: BTreeMap<String, Tree>,
    /// Local refs that are not ours; the tasks' branches too.
    pub refs: BTreeMap<String, String>,
    /// What they name, tags peeled.
    pub tips: BTreeSet<String>,
    /// Entries of the stash, newest first.
    pub stash: Vec<String>,
    /// Status of each task, and whether it is merged.
    pub tasks: BTreeMap<String, String>,
    /// Titles of the tasks.
    pub titles: BTreeMap<String, String>,
    /// Who decides.
    pub mode: String,
    /// Of a world that a checkpoint saved: what was taken out of it since.
    pub purged: Vec<String>,
}

impl World {
    /// Whether a file or a ref is another one there: then it was saved before. Tasks alone are in the log.
    pub fn has_other_contents(&self, other: &Self) -> bool {
        (&self.worktrees, &self.refs, &self.stash) != (&other.worktrees, &other.refs, &other.stash)
    }
}

const OPERATIONS: [&str; 7] =
    ["MERGE_HEAD", "MERGE_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG"];

pub fn look(place: &Place) -> World {
    let env = &place.env;
    let mut world = World::default();
    for path in place.worktrees() {
        let name = path.strip_prefix(env.root()).unwrap_or(&path).display().to_string();
        world.worktrees.insert(name, tree(place, &path));
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

fn tree(place: &Place, path: &Path) -> Tree {
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
        !(entry.depth() == 1 && (name == ".git" || name == ".worktrees"))
    };
    for entry in walkdir::WalkDir::new(path).into_iter().filter_entry(below_others).flatten() {
        if !entry.file_type().is_dir() {
            let name = String::from_utf8_lossy(entry.path().strip_prefix(path).unwrap().as_os_str().as_bytes()).into_owned();
            tree.files.insert(name, file(place, entry.path()));
        }
    }
    // What git shows as `!!` it ignores; what is neither tracked nor shown as untracked lies in a repository within.
    let shown = git(&["-c", "core.quotePath=false", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
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
    let content = std::fs::read(path).unwrap();
    File::Regular(blob(place.hash, &content), meta.permissions().mode() & 0o777)
}

/// The id that git gives to a content.
pub fn blob(hash: gix::hash::Kind, content: &[u8]) -> String {
    gix::objs::compute_hash(hash, gix::objs::Kind::Blob, content).unwrap().to_string()
}

impl World {
    /// The ids of all contents in worktrees that a capture can hold.
    pub fn contents(&self) -> BTreeSet<&str> {
        let files = self
            .worktrees
            .values()
            .flat_map(|tree| tree.files.iter().filter(|(name, _)| !tree.ignored.contains(*name)).map(|(_, file)| file));
        files.filter_map(File::id).collect()
    }

    /// The ids of all contents in worktrees.
    pub fn all_contents(&self) -> BTreeSet<&str> {
        self.worktrees.values().flat_map(|tree| tree.files.values()).filter_map(File::id).collect()
    }

    /// How two worlds differ, a line each.
    pub fn differs(&self, other: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        let nothing = Tree::default();
        for name in keys(&self.worktrees, &other.worktrees) {
            let [one, two] = [self, other].map(|world| world.worktrees.get(name));
            if one.is_none() || two.is_none() {
                lines.push(format!("worktree {name}: {} -> {}", one.is_some(), two.is_some()));
            }
            let (one, two) = (one.unwrap_or(&nothing), two.unwrap_or(&nothing));
            lines.extend(differing(&one.files, &two.files, |path| format!("file {name}/{path}"), File::clone));
            if one.index != two.index {
                lines.push(format!("index of {name}:\n{}\n->\n{}", one.index, two.index));
            }
            if one.head != two.head {
                lines.push(format!("HEAD of {name}: {} -> {}", one.head, two.head));
            }
            let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
            lines.extend(differing(&one.sequencer, &two.sequencer, |path| format!("{path} of {name}"), text));
        }
        lines.extend(differing(&self.refs, &other.refs, |name| format!("ref {name}"), String::clone));
        lines.extend(differing(&self.tasks, &other.tasks, |id| format!("task {id}"), String::clone));
        lines.extend(differing(&self.titles, &other.titles, |id| format!("title of {id}"), String::clone));
        if self.stash != other.stash {
            lines.push(format!("stash: {:?} -> {:?}", self.stash, other.stash));
        }
        if self.mode != other.mode {
            lines.push(format!("mode: {} -> {}", self.mode, other.mode));
        }
        lines
    }
}

impl File {
    /// The id of a regular file's content.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Regular(id, _) => Some(id),
            Self::Link(_) | Self::Special => None,
        }
    }
}

/// What differs between two maps, a line each.
fn differing<V: PartialEq, S: std::fmt::Debug>(
    one: &BTreeMap<String, V>,
    two: &BTreeMap<String, V>,
    name: impl Fn(&str) -> String,
    show: impl Fn(&V) -> S,
) -> Vec<String> {
    let differs = |key: &&String| one.get(*key) != two.get(*key);
    let line = |key: &String| format!("{}: {:?} -> {:?}", name(key), one.get(key).map(&show), two.get(key).map(&show));
    keys(one, two).into_iter().filter(differs).map(line).collect()
}

/// The keys of both.
pub fn keys<'a, V>(one: &'a BTreeMap<String, V>, two: &'a BTreeMap<String, V>) -> BTreeSet<&'a String> {
    one.keys().chain(two.keys()).collect()
}
