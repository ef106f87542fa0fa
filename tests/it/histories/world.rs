//! What there is in a history, and how two moments differ.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

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
    /// The topmost entries that cannot be read: no capture holds them, and no rollback changes them.
    pub closed: BTreeSet<String>,
    /// Of the worktree of a submodule: what belongs to that.
    pub submodule: Option<Submodule>,
    /// `git ls-files --stage -v`.
    pub index: String,
    /// What is staged: of each path, its mode and id.
    pub staged: BTreeMap<String, String>,
    /// What is checked out: a branch, or a commit.
    pub head: String,
    /// Files of an operation in progress, with their contents.
    pub sequencer: BTreeMap<String, Vec<u8>>,
}

/// A submodule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submodule {
    /// The worktree that it is in.
    pub above: String,
    /// The commit that is checked out.
    pub commit: String,
    /// Its repository, and which one that is: another one may lie there later.
    pub git_dir: PathBuf,
    /// See `git_dir`.
    pub inode: u64,
}

/// Everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct World {
    /// By path below the test's folder; those of submodules too.
    pub worktrees: BTreeMap<String, Tree>,
    /// Files of the folders that git cannot work with, by their paths.
    pub beside: BTreeMap<String, File>,
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

impl Tree {
    /// Whether a capture holds one of its files.
    pub fn holds(&self, path: &str) -> bool {
        !self.ignored.contains(path) && !self.is_closed(path)
    }

    /// Whether something cannot be read.
    pub fn is_closed(&self, path: &str) -> bool {
        self.closed.iter().any(|closed| is_at(path, closed))
    }
}

/// Whether a path is another one, or below it.
pub fn is_at(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl World {
    /// The ids of all contents in worktrees that a capture can hold.
    pub fn contents(&self) -> BTreeSet<&str> {
        let files =
            self.worktrees.values().flat_map(|tree| tree.files.iter().filter(|(name, _)| tree.holds(name)).map(|(_, file)| file));
        files.filter_map(File::id).collect()
    }

    /// The ids of all contents in worktrees, and beside them.
    pub fn all_contents(&self) -> BTreeSet<&str> {
        let files = self.worktrees.values().flat_map(|tree| tree.files.values());
        files.chain(self.beside.values()).filter_map(File::id).collect()
    }

    /// A worktree with its submodules as one: files by their paths in it, those that no capture holds, those that cannot be read.
    pub fn whole(&self, name: &str) -> Tree {
        let mut whole = self.worktrees.get(name).cloned().unwrap_or_default();
        for (path, tree) in self.submodules_of(name) {
            let within = |inner: &String| format!("{path}/{inner}");
            whole.files.extend(tree.files.iter().map(|(inner, file)| (within(inner), file.clone())));
            whole.ignored.extend(tree.ignored.iter().map(within));
            whole.closed.extend(tree.closed.iter().map(within));
        }
        whole
    }

    /// A path as `purge` is given it: that of a file in a submodule begins at the worktree that the submodule is in.
    pub fn path_in_worktree(&self, name: &str, path: &str) -> String {
        let mut top = name;
        while let Some(one) = self.worktrees.get(top).and_then(|tree| tree.submodule.as_ref()) {
            top = &one.above;
        }
        match name.strip_prefix(top).and_then(|within| within.strip_prefix('/')) {
            Some(within) => format!("{within}/{path}"),
            None => path.to_owned(),
        }
    }

    /// The submodules of a worktree, those within others too, by their paths in it; not those of worktrees that lie in it.
    pub fn submodules_of(&self, name: &str) -> impl Iterator<Item = (&str, &Tree)> {
        let prefix = format!("{name}/");
        let linked = self.worktrees.iter().filter(|(_, tree)| tree.submodule.is_none()).map(|(other, _)| format!("{other}/"));
        let within: Vec<String> = linked.filter(|other| other.starts_with(&prefix) && *other != prefix).collect();
        self.worktrees.iter().filter_map(move |(other, tree)| {
            tree.submodule.as_ref()?;
            let is_within = within.iter().any(|linked| other.starts_with(linked));
            Some((other.strip_prefix(&prefix).filter(|_| !is_within)?, tree))
        })
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
            if one.submodule != two.submodule {
                lines.push(format!("submodule {name}: {:?} -> {:?}", one.submodule, two.submodule));
            }
            let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
            lines.extend(differing(&one.sequencer, &two.sequencer, |path| format!("{path} of {name}"), text));
        }
        lines.extend(differing(&self.beside, &other.beside, |path| format!("file {path}"), File::clone));
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

#[test]
fn a_file_in_a_submodule_has_the_path_from_the_worktree_around_it() {
    let within = |above: &str| {
        let (commit, git_dir) = (String::new(), PathBuf::new());
        Tree { submodule: Some(Submodule { above: above.to_owned(), commit, git_dir, inode: 0 }), ..Tree::default() }
    };
    let trees = [("repo", Tree::default()), ("repo/sm", within("repo")), ("repo/sm/deep", within("repo/sm"))];
    let world = World { worktrees: trees.map(|(name, tree)| (name.to_owned(), tree)).into(), ..World::default() };
    let paths = ["repo", "repo/sm", "repo/sm/deep"].map(|name| world.path_in_worktree(name, "s.txt"));
    assert_eq!(paths, ["s.txt", "sm/s.txt", "sm/deep/s.txt"]);
}
