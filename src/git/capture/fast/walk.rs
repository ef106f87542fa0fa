//! Looks once at every folder that holds tracked files: lists its names and reads the stat data of tracked files, several
//! folders at once.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

use axiom_model::base::names::RepoPath;

use super::listing::{FolderNames, ListingBuffer};
use super::live_index::LiveIndex;
use crate::capture::file_stat::SeenFile;
use crate::capture::permissions::UsualPermissions;
use axiom_base::files::open_at;
use axiom_base::own_process::threads;

/// So many tracked files are worth more than one thread: each costs as much as looks at a few hundred.
const FEW: usize = 2000;

/// An untracked path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UntrackedPath {
    /// Its path.
    pub path: RepoPath,
    /// Whether it is a folder; nothing below it is tracked.
    pub folder: bool,
}

/// A tracked file or link that the index does not prove unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnsureEntry {
    /// The position of its entry.
    pub entry: usize,
    /// What a look at it showed; `None` if it is no file.
    pub seen: Option<SeenFile>,
}

impl UnsureEntry {
    /// How many bytes are to be read.
    pub fn size(&self) -> u64 {
        self.seen.map_or(0, |seen| seen.size)
    }
}

/// What a walk found. Numbers are positions of index entries.
#[derive(Debug, Default)]
pub(super) struct WalkFindings {
    /// Tracked files that have to be read, unless they are remembered.
    pub unsure: Vec<UnsureEntry>,
    /// Tracked files that fewer users may read than usual.
    pub narrow: Vec<RepoPath>,
    /// Tracked files that are missing.
    pub gone: Vec<usize>,
    /// Untracked files, links and folders.
    pub unknown: Vec<UntrackedPath>,
    /// Sockets, fifos and devices.
    pub special: Vec<RepoPath>,
    /// The `.gitattributes` files.
    pub attributes: Vec<RepoPath>,
    /// The `.gitignore` files.
    pub ignores: Vec<RepoPath>,
}

impl WalkFindings {
    /// Adds what another walk or thread found.
    pub fn add(&mut self, more: Self) {
        let Self { unsure, narrow, gone, unknown, special, attributes, ignores } = more;
        self.unsure.extend(unsure);
        self.narrow.extend(narrow);
        self.gone.extend(gone);
        self.unknown.extend(unknown);
        self.special.extend(special);
        self.attributes.extend(attributes);
        self.ignores.extend(ignores);
    }
}

/// A folder to be looked at: the open folder above it, its name there, its path with a `/` at the end, and its index
/// entries.
struct WalkFolder {
    above: Option<Arc<OwnedFd>>,
    name: CString,
    prefix: Vec<u8>,
    entries: Range<usize>,
}

#[derive(Default)]
struct WalkQueue {
    waiting: Vec<WalkFolder>,
    at_work: usize,
    failed: bool,
}

/// A walk in progress.
pub(super) struct WorktreeWalk<'a> {
    root: &'a Path,
    index: &'a LiveIndex,
    excluded: &'a [RepoPath],
    usual: UsualPermissions,
    queue: Mutex<WalkQueue>,
    changed: Condvar,
}

/// The tracked entries directly in a folder: files with their entry, folders with their entries.
#[derive(Default)]
struct TrackedChildren<'i> {
    files: Vec<(&'i [u8], usize)>,
    folders: HashMap<&'i [u8], Range<usize>>,
}

impl<'a> WorktreeWalk<'a> {
    /// A walk over the worktree at `root`. Untracked paths in `excluded` are not reported. If a folder in `excluded`
    /// contains tracked files, the walk gives up.
    pub fn new(root: &'a Path, index: &'a LiveIndex, excluded: &'a [RepoPath], usual: UsualPermissions) -> Self {
        Self { root, index, excluded, usual, queue: Mutex::default(), changed: Condvar::new() }
    }

    /// Walks; `None` if it meets something that only git handles correctly, or that changes meanwhile.
    pub fn run(self) -> Option<WalkFindings> {
        let root = WalkFolder { above: None, name: CString::default(), prefix: Vec::new(), entries: 0..self.index.len() };
        self.run_from(vec![root])
    }

    /// As [`WorktreeWalk::run`], for some folders only, none of them below another: their paths, and the entries below each.
    pub fn run_in(self, folders: Vec<(RepoPath, Range<usize>)>) -> Option<WalkFindings> {
        if folders.is_empty() {
            return Some(WalkFindings::default());
        }
        let mut tasks = Vec::with_capacity(folders.len());
        for (path, entries) in folders {
            let (above, name) = match path.as_bytes().iter().rposition(|byte| *byte == b'/') {
                Some(at) => (self.root.join(RepoPath::new(&path.as_bytes()[..at]).to_path()), &path.as_bytes()[at + 1..]),
                None => (self.root.to_owned(), path.as_bytes()),
            };
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let above = open_at(CWD, &above, flags, Mode::empty()).ok()?;
            let prefix = [path.as_bytes(), b"/"].concat();
            tasks.push(WalkFolder { above: Some(Arc::new(above)), name: CString::new(name).ok()?, prefix, entries });
        }
        self.run_from(tasks)
    }

    fn run_from(self, tasks: Vec<WalkFolder>) -> Option<WalkFindings> {
        self.lock().waiting.extend(tasks);
        let threads = match self.index.len() {
            0..FEW => 1,
            _ => threads::at_once().min(4),
        };
        let mut seen = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (1..threads).filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, || self.work()).ok()).collect();
            let mut seen = self.work();
            for thread in threads {
                let Ok(more) = thread.join() else {
                    self.lock().failed = true;
                    continue;
                };
                seen.add(more);
            }
            seen
        });
        seen.unknown.sort_by(|a, b| a.path.cmp(&b.path));
        seen.unsure.sort_unstable();
        seen.gone.sort_unstable();
        (!self.lock().failed).then_some(seen)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, WalkQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes folders until none is left and no other thread can add one.
    fn work(&self) -> WalkFindings {
        let (mut seen, mut room) = (WalkFindings::default(), ListingBuffer::default());
        loop {
            let mut queue = self.lock();
            let task = loop {
                if queue.failed {
                    return seen;
                }
                if let Some(task) = queue.waiting.pop() {
                    queue.at_work += 1;
                    break task;
                }
                if queue.at_work == 0 {
                    return seen;
                }
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            };
            drop(queue);
            let mut more = Vec::new();
            let done = self.folder(&task, &mut room, &mut seen, &mut more);
            let mut queue = self.lock();
            queue.at_work -= 1;
            queue.failed |= done.is_none();
            let is_end = queue.failed || (queue.at_work == 0 && queue.waiting.is_empty());
            let is_more = !more.is_empty();
            queue.waiting.extend(more);
            // Nobody is woken for nothing: each time is a call of the system.
            if is_more || is_end {
                self.changed.notify_all();
            }
        }
    }

    fn open(&self, task: &WalkFolder) -> Option<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = match &task.above {
            Some(above) => open_at(above, task.name.as_c_str(), flags | OFlags::NOFOLLOW, Mode::empty()),
            None => open_at(CWD, self.root, flags, Mode::empty()),
        };
        folder.ok()
    }

    fn folder(
        &self,
        task: &WalkFolder,
        room: &mut ListingBuffer,
        seen: &mut WalkFindings,
        more: &mut Vec<WalkFolder>,
    ) -> Option<()> {
        let dir = Arc::new(self.open(task)?);
        let listing = FolderNames::read(&dir, room)?;
        let mut children = self.children(task);
        let mut is_there = vec![false; children.files.len()];
        for (name, kind) in listing.iter() {
            let bytes = name.to_bytes();
            if bytes.eq_ignore_ascii_case(b".git") {
                if task.above.is_none() && bytes == b".git" {
                    continue;
                }
                return None;
            }
            match kind {
                FileType::Directory => {
                    if let Some(entries) = children.folders.remove(bytes) {
                        let prefix = [&task.prefix, bytes, b"/"].concat();
                        if self.is_excluded(&task.prefix, bytes) {
                            return None;
                        }
                        more.push(WalkFolder { above: Some(Arc::clone(&dir)), name: name.to_owned(), prefix, entries });
                    } else {
                        self.unknown(task, bytes, true, seen);
                    }
                }
                FileType::RegularFile | FileType::Symlink => {
                    match bytes {
                        b".gitignore" | b".gitattributes" if kind == FileType::Symlink => return None,
                        b".gitattributes" => seen.attributes.push(child(task, bytes)),
                        b".gitignore" => seen.ignores.push(child(task, bytes)),
                        _ => {}
                    }
                    match children.files.binary_search_by(|(file, _)| (*file).cmp(bytes)) {
                        Ok(at) => {
                            is_there[at] = true;
                            self.tracked(&dir, name, children.files[at].1, seen)?;
                        }
                        Err(_) => self.unknown(task, bytes, false, seen),
                    }
                }
                FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice => {
                    if !self.is_excluded(&task.prefix, bytes) {
                        seen.special.push(child(task, bytes));
                    }
                }
                FileType::Unknown => return None,
            }
        }
        let absent = children.files.iter().zip(is_there).filter(|(_, there)| !there);
        seen.gone.extend(absent.map(|((_, entry), _)| *entry));
        seen.gone.extend(children.folders.into_values().flatten());
        Some(())
    }

    /// The index entries directly in a folder.
    fn children(&self, task: &WalkFolder) -> TrackedChildren<'a> {
        let mut children = TrackedChildren::default();
        let (mut at, skip) = (task.entries.start, task.prefix.len());
        while at < task.entries.end {
            let path: &'a [u8] = self.index.path(at);
            let rest = &path[skip..];
            match rest.iter().position(|byte| *byte == b'/') {
                None => {
                    children.files.push((rest, at));
                    at += 1;
                }
                Some(end) => {
                    let run = at..self.index.run_end(at..task.entries.end, &path[..skip + end + 1]);
                    at = run.end;
                    children.folders.insert(&rest[..end], run);
                }
            }
        }
        children
    }

    fn tracked(&self, dir: &OwnedFd, name: &CStr, entry: usize, seen: &mut WalkFindings) -> Option<()> {
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
        if stat.as_ref().is_ok_and(|stat| self.usual.is_narrow(axiom_base::platform::mode_of(stat))) {
            seen.narrow.push(RepoPath::new(self.index.path(entry)));
        }
        match stat {
            Ok(stat) if self.index.is_unchanged(entry, &stat) => {}
            Ok(stat) => seen.unsure.push(UnsureEntry { entry, seen: SeenFile::of_stat(&stat) }),
            Err(rustix::io::Errno::NOENT) => seen.gone.push(entry),
            Err(_) => return None,
        }
        Some(())
    }

    fn unknown(&self, task: &WalkFolder, name: &[u8], folder: bool, seen: &mut WalkFindings) {
        if !self.is_excluded(&task.prefix, name) {
            seen.unknown.push(UntrackedPath { path: child(task, name), folder });
        }
    }

    fn is_excluded(&self, prefix: &[u8], name: &[u8]) -> bool {
        let is_it = |root: &RepoPath| root.as_bytes().strip_prefix(prefix) == Some(name);
        self.excluded.iter().any(is_it)
    }
}

fn child(task: &WalkFolder, name: &[u8]) -> RepoPath {
    RepoPath::new([task.prefix.as_slice(), name].concat())
}
