//! A folder as names and contents, and what happened to it, in order.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::power_loss::tracer::{Change, content};

/// A file or folder, whatever its names.
pub type Node = usize;
/// One name in a folder, or the loss of it.
pub type Name = (Node, Arc<str>, Option<Node>);

/// What a node is.
#[derive(Debug, Clone)]
pub enum Kind {
    /// With its names in [`Disk::names`].
    Folder,
    /// With its content in [`Disk::contents`].
    File,
    /// A symbolic link.
    Link(PathBuf),
}

/// The content of a file at one moment.
#[derive(Debug, Clone)]
pub struct Content {
    /// All bytes.
    pub bytes: Arc<[u8]>,
    /// Equal for equal bytes.
    pub hash: u64,
}

impl Content {
    /// Of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        Self { bytes: bytes.into(), hash: hasher.finish() }
    }
}

/// One thing that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// Names changed, together.
    Names(Vec<Name>),
    /// A file got this content.
    Content(Node, Content),
    /// A file or folder was made durable.
    Sync(Node),
    /// All was made durable.
    SyncAll,
}

/// Names and contents at one moment.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    /// Of each folder.
    pub names: HashMap<Node, BTreeMap<Arc<str>, Node>>,
    /// Of each file.
    pub contents: HashMap<Node, Content>,
}

impl Disk {
    /// Changes one name.
    pub fn set(&mut self, (folder, name, node): &Name) {
        let names = self.names.entry(*folder).or_default();
        match node {
            Some(node) => drop(names.insert(name.clone(), *node)),
            None => drop(names.remove(name)),
        }
    }

    /// What is at a path below the root.
    pub fn find(&self, path: &Path) -> Option<Node> {
        path.components().try_fold(0, |folder, part| match part {
            Component::Normal(name) => self.names.get(&folder)?.get(name.to_str()?).copied(),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => Some(folder),
        })
    }
}

/// A recording: what there was, and what happened to it.
pub struct Recording {
    root: PathBuf,
    /// Kind and permissions of every node that there ever was; the root is the first.
    pub nodes: Vec<(Kind, u32)>,
    /// At the beginning.
    pub before: Disk,
    /// What happened since.
    pub events: Vec<Event>,
    now: Disk,
    inodes: HashMap<u64, Node>,
}

impl Recording {
    /// Of the folder `root` as it is now.
    pub fn begin(root: &Path) -> Self {
        let folder = (Kind::Folder, 0o700);
        let (before, now) = Default::default();
        let mut recording =
            Self { root: root.to_owned(), nodes: vec![folder], before, events: vec![], now, inodes: HashMap::new() };
        recording.now.names.insert(0, BTreeMap::new());
        for entry in walkdir::WalkDir::new(root).min_depth(1) {
            recording.note(entry.unwrap().path());
        }
        recording.before = recording.now.clone();
        recording.events.clear();
        recording
    }

    /// Takes in what changed.
    pub fn take(&mut self, change: Change) {
        match change {
            Change::Opened(Some(path), mut file) => {
                let metadata = file.metadata().unwrap();
                let known = self.find(&path).filter(|node| self.inodes.get(&metadata.ino()) == Some(node));
                match known {
                    Some(node) => self.written(node, &mut file),
                    None => self.appeared(&path, &metadata, Some(&mut file)),
                }
            }
            Change::Opened(None, file) => {
                let metadata = file.metadata().unwrap();
                self.new_node(Kind::File, &metadata);
            }
            Change::Written(mut file) => {
                if let Some(node) = self.inodes.get(&file.metadata().unwrap().ino()).copied() {
                    self.written(node, &mut file);
                }
            }
            Change::WrittenAt(path) => {
                if let (Some(node), Ok(mut file)) = (self.find(&path), File::open(&path)) {
                    self.written(node, &mut file);
                }
            }
            Change::Renamed(from, to, exchange) => self.renamed(&from, &to, exchange),
            Change::Made(path) => self.note(&path),
            Change::Removed(path) => {
                if let Some((folder, name)) = self.place(&path) {
                    self.happened(Event::Names(vec![(folder, name, None)]));
                }
            }
            Change::Synced(file) => {
                if let Some(node) = self.inodes.get(&file.metadata().unwrap().ino()).copied() {
                    self.events.push(Event::Sync(node));
                }
            }
            Change::SyncedAll => self.events.push(Event::SyncAll),
        }
    }

    /// Names and contents as they are now, by this account.
    pub fn now(&self) -> &Disk {
        &self.now
    }

    /// The path below the root.
    fn find(&self, path: &Path) -> Option<Node> {
        self.now.find(path.strip_prefix(&self.root).ok()?)
    }

    fn place(&self, path: &Path) -> Option<(Node, Arc<str>)> {
        Some((self.find(path.parent()?)?, path.file_name()?.to_str()?.into()))
    }

    fn happened(&mut self, event: Event) {
        match &event {
            Event::Names(names) => names.iter().for_each(|name| self.now.set(name)),
            Event::Content(node, content) => drop(self.now.contents.insert(*node, content.clone())),
            Event::Sync(_) | Event::SyncAll => {}
        }
        self.events.push(event);
    }

    fn written(&mut self, node: Node, file: &mut File) {
        // A folder's mode and attributes are not modelled.
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return;
        }
        let content = Content::new(&content(file));
        if self.now.contents.get(&node).is_none_or(|known| known.hash != content.hash) {
            self.happened(Event::Content(node, content));
        }
    }

    fn new_node(&mut self, kind: Kind, metadata: &Metadata) -> Node {
        let node = self.nodes.len();
        self.nodes.push((kind, metadata.mode() & 0o7777));
        self.inodes.insert(metadata.ino(), node);
        node
    }

    /// Something appeared at this path, or a known file got a second name.
    fn note(&mut self, path: &Path) {
        let Ok(metadata) = path.symlink_metadata() else { return };
        let known = self.inodes.get(&metadata.ino()).copied().filter(|_| metadata.nlink() > 1 && metadata.is_file());
        match (known, self.place(path)) {
            (Some(node), Some((folder, name))) => self.happened(Event::Names(vec![(folder, name, Some(node))])),
            _ => {
                let mut file = metadata.is_file().then(|| File::open(path).unwrap());
                self.appeared(path, &metadata, file.as_mut());
            }
        }
    }

    fn appeared(&mut self, path: &Path, metadata: &Metadata, file: Option<&mut File>) {
        let Some((folder, name)) = self.place(path) else { return };
        let kind = match metadata.file_type() {
            kind if kind.is_dir() => Kind::Folder,
            kind if kind.is_symlink() => Kind::Link(std::fs::read_link(path).unwrap()),
            kind if kind.is_file() => Kind::File,
            _ => return,
        };
        // A file that was made by `open` is a file that the account knows without a name.
        let node = self.new_node(kind, metadata);
        if metadata.is_dir() {
            self.now.names.insert(node, BTreeMap::new());
        }
        self.happened(Event::Names(vec![(folder, name, Some(node))]));
        if let Some(file) = file {
            self.written(node, file);
        }
    }

    fn renamed(&mut self, from: &Path, to: &Path, exchange: bool) {
        let (Some(node), Some(source), Some(target)) = (self.find(from), self.place(from), self.place(to)) else {
            return self.note(to);
        };
        let there = self.find(to);
        if there == Some(node) {
            return;
        }
        let left = if exchange { there } else { None };
        self.happened(Event::Names(vec![(source.0, source.1, left), (target.0, target.1, Some(node))]));
    }

    /// Permissions are taken as they are at the end.
    pub fn note_permissions(&mut self) {
        for entry in walkdir::WalkDir::new(&self.root).min_depth(1) {
            let metadata = entry.unwrap().metadata().unwrap();
            if let Some(node) = self.inodes.get(&metadata.ino()) {
                self.nodes[*node].1 = metadata.mode() & 0o7777;
            }
        }
    }
}

impl Recording {
    /// Expects that the account says what is there.
    pub fn check(&self) {
        let mut there = Vec::new();
        for entry in walkdir::WalkDir::new(&self.root).min_depth(1) {
            let entry = entry.unwrap();
            let kind = entry.file_type();
            if !kind.is_dir() && !kind.is_file() && !kind.is_symlink() {
                continue;
            }
            let path = entry.path().strip_prefix(&self.root).unwrap();
            let node = self.now.find(path).unwrap_or_else(|| panic!("not recorded: {}", path.display()));
            if kind.is_file() {
                let bytes = std::fs::read(entry.path()).unwrap();
                assert!(*self.now.contents[&node].bytes == *bytes, "recorded with other content: {}", path.display());
            }
            there.push(path.to_owned());
        }
        let recorded = self.now.paths();
        let gone: Vec<_> = recorded.iter().map(|(path, _)| path).filter(|path| !there.contains(path)).collect();
        assert!(gone.is_empty(), "recorded, but not there: {gone:?}");
    }
}

impl Disk {
    /// All paths, folders before what is in them.
    pub fn paths(&self) -> Vec<(PathBuf, Node)> {
        let mut paths = vec![(PathBuf::new(), 0)];
        let mut next = 0;
        while let Some((path, node)) = paths.get(next).cloned() {
            next += 1;
            // A loss may leave a folder in two places; none is left within itself.
            let deep = path.components().count() > 40;
            let names = self.names.get(&node).filter(|_| !deep).into_iter().flatten();
            paths.extend(names.map(|(name, node)| (path.join(&**name), *node)));
        }
        paths.remove(0);
        paths
    }
}
