//! Sorts untracked paths into ignored ones and content. git itself decides which are ignored, in one call for most
//! worktrees, and in none where no pattern can match (`ignore_hints`). The configuration then includes some ignored files, and
//! excludes some of the others.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags};

use crate::base::readable::is_gap;
use crate::capture::captured::CaptureOptions;
use crate::capture::ignored_held::sort_ignored;
use crate::capture::sorted_ignored::SortedIgnoredPaths;
use crate::repo::handles::QuickCaptures;
use crate::repo::worktrees::Worktree;
use axiom_base::error::Result;
use axiom_base::files::open_at;
use axiom_model::base::names::RepoPath;

use super::ignore_hints::IgnoreHints;
use super::listing::{FolderNames, ListingBuffer};
use super::walk::UntrackedPath;

/// How many paths below folders are listed before git has said whether the folders are ignored: asking once about more paths
/// is cheaper than asking again, but an ignored folder can be huge.
const AHEAD: usize = 1000;

/// The untracked paths, sorted. Each list but `attributes` is ordered by path.
#[derive(Debug, Default)]
pub(super) struct SortedUntracked {
    /// Files and links that are content.
    pub untracked: Vec<RepoPath>,
    /// The topmost ignored files and folders.
    pub ignored: Vec<RepoPath>,
    /// Sockets, fifos and devices in folders that are not ignored.
    pub special: Vec<RepoPath>,
    /// The `.gitattributes` files that are content.
    pub attributes: Vec<RepoPath>,
    /// The topmost files and folders that the configuration excludes.
    pub excluded: Vec<RepoPath>,
    /// Ignored files that are held nevertheless; they are also in `untracked`.
    pub included: Vec<RepoPath>,
    /// Ignored files that would be held but are over the limit.
    pub over_include_limit: Vec<RepoPath>,
    /// Folders that cannot be read, and such ignored files and folders that the configuration includes.
    pub unread: Vec<RepoPath>,
}

/// An untracked path that the caller of the capture named.
#[derive(Debug)]
pub(super) struct NamedUntracked {
    pub path: RepoPath,
    pub kind: NamedUntrackedKind,
}

/// What is at a named path.
#[derive(Debug, Clone, Copy)]
pub(super) enum NamedUntrackedKind {
    /// A file or link.
    File,
    Folder,
    /// A socket, fifo or device.
    Special,
}

/// An untracked path that is being sorted.
#[derive(Debug)]
struct UntrackedNode {
    path: RepoPath,
    kind: UntrackedNodeKind,
    /// The untracked folder above it, by its position among the nodes.
    above: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UntrackedNodeKind {
    File,
    Special,
    Folder,
    /// A folder whose content is among the nodes.
    Listed,
    /// A folder that cannot be listed.
    Unread,
    /// Something that only git handles correctly, unless it is ignored.
    Odd,
}

impl UntrackedNode {
    /// The order of what is in one folder: what is in a folder comes after the `/`.
    fn order_in_folder(&self, other: &Self) -> Ordering {
        let end = |node: &Self| (node.kind == UntrackedNodeKind::Folder).then_some(b'/');
        let (own, others) = (self.path.split().1, other.path.split().1);
        let common = own.len().min(others.len());
        let rest = || own.get(common).copied().or(end(self)).cmp(&others.get(common).copied().or(end(other)));
        own[..common].cmp(&others[..common]).then_with(rest)
    }
}

impl From<UntrackedPath> for UntrackedNode {
    fn from(found: UntrackedPath) -> Self {
        Self {
            path: found.path,
            kind: if found.folder { UntrackedNodeKind::Folder } else { UntrackedNodeKind::File },
            above: None,
        }
    }
}

impl QuickCaptures<'_> {
    /// Sorts the untracked paths; `None` if git has to look at the worktree itself. Folders that the options exclude are not
    /// looked at. `ignores` are the `.gitignore` files in the folders above them.
    pub(super) fn sort_unknown(
        &self,
        worktree: &Worktree,
        (unknown, ignores): (Vec<UntrackedPath>, &[RepoPath]),
        options: &CaptureOptions,
    ) -> Result<Option<SortedUntracked>> {
        self.sort_nodes(worktree, (unknown.into_iter().map(UntrackedNode::from).collect(), ignores), options)
    }

    /// As [`QuickCaptures::sort_unknown`], with named paths. The folders above them may be untracked too: `is_tracked` returns
    /// which folders are tracked. In an untracked folder, only the named path is looked at.
    pub(super) fn sort_named(
        &self,
        worktree: &Worktree,
        (unknown, ignores): (Vec<UntrackedPath>, &[RepoPath]),
        named: Vec<NamedUntracked>,
        is_tracked: impl Fn(&RepoPath) -> bool,
        options: &CaptureOptions,
    ) -> Result<Option<SortedUntracked>> {
        let mut nodes: Vec<UntrackedNode> = unknown.into_iter().map(UntrackedNode::from).collect();
        let mut places: HashMap<RepoPath, usize> = HashMap::new();
        for NamedUntracked { path, kind } in named {
            let mut above = None;
            for folder in path.folders_above().filter(|folder| !is_tracked(folder)) {
                let place = *places.entry(folder.clone()).or_insert(nodes.len());
                if place == nodes.len() {
                    nodes.push(UntrackedNode { path: folder, kind: UntrackedNodeKind::Listed, above });
                }
                above = Some(place);
            }
            let kind = match kind {
                NamedUntrackedKind::File => UntrackedNodeKind::File,
                NamedUntrackedKind::Folder => UntrackedNodeKind::Folder,
                NamedUntrackedKind::Special => UntrackedNodeKind::Special,
            };
            nodes.push(UntrackedNode { path, kind, above });
        }
        self.sort_nodes(worktree, (nodes, ignores), options)
    }

    fn sort_nodes(
        &self,
        worktree: &Worktree,
        (mut nodes, ignores): (Vec<UntrackedNode>, &[RepoPath]),
        options: &CaptureOptions,
    ) -> Result<Option<SortedUntracked>> {
        let root = worktree.path();
        let mut lister = UntrackedLister { root, options, room: ListingBuffer::default() };
        let mut sorted = SortedUntracked::default();
        let mut hints = if nodes.is_empty() { IgnoreHints::default() } else { IgnoreHints::of(self.repo, worktree) };
        ignores.iter().for_each(|path| hints.add_file(&root.join(path.to_path())));
        while !nodes.is_empty() {
            lister.list_ahead(&mut nodes);
            let found = nodes.iter().filter(|node| node.path.file_name() == b".gitignore");
            found.for_each(|node| hints.add_file(&root.join(node.path.to_path())));
            let mut asked = may_be_ignored(&nodes, &hints);
            let named = |(node, asked): (&UntrackedNode, &bool)| *asked && hints.names(node.path.as_bytes());
            let mut ignored: Vec<bool> = nodes.iter().zip(&asked).map(named).collect();
            asked.iter_mut().zip(&ignored).for_each(|(asked, ignored)| *asked &= !ignored);
            if !self.are_ignored(worktree, &nodes, &asked, &mut ignored)? {
                return Ok(None);
            }
            let covers = |path: &RepoPath, is_folder| options.exclude.covers(path, is_folder);
            let Some(folders) = settle(nodes, &ignored, covers, &mut sorted) else { return Ok(None) };
            nodes = Vec::new();
            for folder in folders {
                lister.list(&folder, None, &mut nodes);
            }
        }
        let mut ignored = std::mem::take(&mut sorted.ignored);
        ignored.sort();
        sorted.take_up(sort_ignored(root, ignored, options));
        for paths in [&mut sorted.untracked, &mut sorted.special, &mut sorted.excluded] {
            paths.sort();
        }
        Ok(Some(sorted))
    }

    /// Finds out which of the nodes git ignores, directly or by a folder above them, where it is to be `asked`. Returns whether git gave a
    /// clear answer.
    fn are_ignored(&self, worktree: &Worktree, nodes: &[UntrackedNode], asked: &[bool], ignored: &mut [bool]) -> Result<bool> {
        if !asked.contains(&true) {
            return Ok(true);
        }
        let mut input = Vec::new();
        for (node, _) in nodes.iter().zip(asked).filter(|(_, asked)| **asked) {
            // The dot prevents that a colon at the beginning is taken for pathspec magic.
            input.extend_from_slice(b"./");
            input.extend_from_slice(node.path.as_bytes());
            input.push(0);
        }
        let git = self.repo.git_in(worktree).args(["check-ignore", "--no-index", "-z", "--stdin", "-v", "-n"]);
        let output = git.stdin(input).run()?;
        if !matches!(output.code, Some(0 | 1)) || !output.stderr.is_empty() {
            return Ok(false);
        }
        let mut fields = output.stdout.split(|byte| *byte == 0);
        for (number, node) in nodes.iter().enumerate().filter(|(number, _)| asked[*number]) {
            let mut next = || fields.next();
            let (Some(_source), Some(_line), Some(pattern), Some(path)) = (next(), next(), next(), next()) else {
                return Ok(false);
            };
            if path.strip_prefix(b"./") != Some(node.path.as_bytes()) {
                return Ok(false);
            }
            // The pattern that decides may be a negation.
            ignored[number] = !pattern.is_empty() && !pattern.starts_with(b"!");
        }
        Ok(true)
    }
}

/// Of which nodes git has to be asked whether it ignores them. Each node comes after the folder above it.
fn may_be_ignored(nodes: &[UntrackedNode], hints: &IgnoreHints) -> Vec<bool> {
    // Many nodes in a row are in one folder.
    let (mut folder, mut of_folder): (&[u8], bool) = (b"", false);
    let mut below = Vec::with_capacity(nodes.len());
    for node in nodes {
        let (above, name) = node.path.split();
        if above != folder {
            (folder, of_folder) = (above, above.split(|byte| *byte == b'/').any(|name| hints.may_match(name)));
        }
        below.push(of_folder || hints.may_match(name));
    }
    let is_asked = |node: &UntrackedNode| {
        matches!(node.kind, UntrackedNodeKind::File | UntrackedNodeKind::Folder | UntrackedNodeKind::Listed)
    };
    nodes.iter().zip(below).map(|(node, may)| may && is_asked(node)).collect()
}

impl SortedUntracked {
    /// Adds what the configuration decides about ignored files.
    fn take_up(&mut self, ignored: SortedIgnoredPaths) {
        let SortedIgnoredPaths { held, rest, excluded, over_limit, special, unread } = ignored;
        self.unread.extend(unread);
        self.ignored = rest;
        self.attributes.extend(held.iter().filter(|path| path.file_name() == b".gitattributes").cloned());
        self.untracked.extend(held.iter().cloned());
        self.included = held;
        self.excluded.extend(excluded);
        self.special.extend(special);
        self.over_include_limit = over_limit;
    }
}

/// Lists folders with untracked files.
struct UntrackedLister<'a> {
    root: &'a Path,
    options: &'a CaptureOptions,
    room: ListingBuffer,
}

impl UntrackedLister<'_> {
    /// Lists folders, and the folders in them, as long as there are few paths.
    fn list_ahead(&mut self, nodes: &mut Vec<UntrackedNode>) {
        let mut next = 0;
        let first = nodes.len();
        while next < nodes.len() && nodes.len() < first + AHEAD {
            if nodes[next].kind == UntrackedNodeKind::Folder && !self.options.exclude.covers(&nodes[next].path, true) {
                nodes[next].kind = UntrackedNodeKind::Listed;
                let folder = nodes[next].path.clone();
                self.list(&folder, Some(next), nodes);
            }
            next += 1;
        }
    }

    /// Adds what is in a folder to the nodes, in the order of the paths: what is in order costs little to sort.
    fn list(&mut self, folder: &RepoPath, above: Option<usize>, nodes: &mut Vec<UntrackedNode>) {
        let failed = |kind| UntrackedNode { path: folder.clone(), kind, above };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = match open_at(CWD, &self.root.join(folder.to_path()), flags, Mode::empty()) {
            Ok(dir) => dir,
            Err(errno) if is_gap(&errno.into()) => return nodes.push(failed(UntrackedNodeKind::Unread)),
            Err(_) => return nodes.push(failed(UntrackedNodeKind::Odd)),
        };
        let Some(names) = FolderNames::read(&dir, &mut self.room) else { return nodes.push(failed(UntrackedNodeKind::Odd)) };
        let first = nodes.len();
        for (name, kind) in names.iter() {
            let path = RepoPath::new([folder.as_bytes(), b"/", name.to_bytes()].concat());
            if !self.options.excluded.contains(&path) {
                nodes.push(UntrackedNode { kind: node_kind(name.to_bytes(), kind), path, above });
            }
        }
        nodes[first..].sort_unstable_by(UntrackedNode::order_in_folder);
    }
}

fn node_kind(name: &[u8], kind: FileType) -> UntrackedNodeKind {
    // Most likely a nested repository; or a link that git does not follow.
    if name.eq_ignore_ascii_case(b".git") || (kind == FileType::Symlink && matches!(name, b".gitignore" | b".gitattributes")) {
        return UntrackedNodeKind::Odd;
    }
    match kind {
        FileType::Directory => UntrackedNodeKind::Folder,
        FileType::RegularFile | FileType::Symlink => UntrackedNodeKind::File,
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
            UntrackedNodeKind::Special
        }
    }
}

/// Puts the nodes into the lists, and returns the folders that are content and not listed yet; `None` if git has to decide.
/// Each node comes after the folder above it.
fn settle(
    nodes: Vec<UntrackedNode>,
    ignored: &[bool],
    is_excluded: impl Fn(&RepoPath, bool) -> bool,
    sorted: &mut SortedUntracked,
) -> Option<Vec<RepoPath>> {
    let mut hidden = vec![false; nodes.len()];
    let mut folders = Vec::new();
    for (number, UntrackedNode { path, kind, above }) in nodes.into_iter().enumerate() {
        hidden[number] = ignored[number] || above.is_some_and(|above| hidden[above]);
        if above.is_some_and(|above| hidden[above]) {
            continue;
        }
        let excluded = match kind {
            UntrackedNodeKind::File => is_excluded(&path, false),
            UntrackedNodeKind::Folder | UntrackedNodeKind::Listed => is_excluded(&path, true),
            UntrackedNodeKind::Special | UntrackedNodeKind::Unread | UntrackedNodeKind::Odd => false,
        };
        if excluded {
            hidden[number] = true;
            sorted.excluded.push(path);
            continue;
        }
        match kind {
            _ if ignored[number] => sorted.ignored.push(path),
            UntrackedNodeKind::File => {
                if path.file_name() == b".gitattributes" {
                    sorted.attributes.push(path.clone());
                }
                sorted.untracked.push(path);
            }
            UntrackedNodeKind::Special => sorted.special.push(path),
            UntrackedNodeKind::Folder => folders.push(path),
            UntrackedNodeKind::Listed => {}
            UntrackedNodeKind::Unread => sorted.unread.push(path),
            UntrackedNodeKind::Odd => return None,
        }
    }
    Some(folders)
}
