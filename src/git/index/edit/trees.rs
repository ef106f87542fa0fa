//! Updates the cached trees of an index (its `TREE` extension) when the index changes from one tree to another.

use super::{EditKind, EntryEdit, oid};
use crate::domain::base::names::Oid;
use crate::error::Result;
use crate::git::objects::database::{TREE, gix_id};
use crate::git::repo::repository::Repository;

/// The trees before and after the edits. If the cached tree of a folder is the one in the old tree, it becomes the one in
/// the new tree. The cached tree of any other folder with an edit below it is dropped.
#[derive(Debug, Clone, Copy)]
pub(in crate::git) struct Trees<'a> {
    pub repository: &'a Repository,
    pub old: &'a Oid,
    pub new: &'a Oid,
}

/// A folder: its number of entries and its cached tree; `None` if there is no valid cached tree.
#[derive(Debug)]
struct Known {
    name: Vec<u8>,
    tree: Option<(i64, Oid)>,
    folders: Vec<Known>,
}

impl Trees<'_> {
    /// The extension's data after the edits; `None` if the data cannot be parsed or a tree cannot be read.
    pub(super) fn updated(&self, data: &[u8], width: usize, edits: &[EntryEdit<'_>]) -> Option<Vec<u8>> {
        let mut rest = data;
        let mut root = read(&mut rest, width, 0)?;
        let paths: Vec<Path<'_>> = edits.iter().filter_map(Path::of).collect();
        if !paths.is_empty() {
            let (old, new) =
                (self.repository.objects().tree_of(self.old).ok()?, self.repository.objects().tree_of(self.new).ok()?);
            self.bring(&mut root, Some(&old), Some(&new), &paths)?;
        }
        let mut out = Vec::with_capacity(data.len() + 64);
        write(&root, &mut out)?;
        Some(out)
    }

    /// Updates a folder. `paths` are the paths of the edits below it, relative to it.
    fn bring(&self, known: &mut Known, old: Option<&Oid>, new: Option<&Oid>, paths: &[Path<'_>]) -> Option<()> {
        let more: i64 = paths.iter().map(|path| path.more).sum();
        known.tree = match (known.tree.take(), old, new) {
            (Some((count, tree)), Some(old), Some(new)) if tree == *old => Some((count + more, new.clone())),
            (_, _, _) => None,
        };
        let (old, new) = (self.folders(old)?, self.folders(new)?);
        let mut kept = Vec::with_capacity(known.folders.len());
        for mut folder in std::mem::take(&mut known.folders) {
            let inside: Vec<Path<'_>> = paths.iter().filter_map(|path| path.inside(&folder.name)).collect();
            if inside.is_empty() {
                kept.push(folder);
                continue;
            }
            let tree =
                |folders: &[(Vec<u8>, Oid)]| folders.iter().find(|(name, _)| *name == folder.name).map(|(_, tree)| tree.clone());
            let (before, after) = (tree(&old), tree(&new));
            // A folder that the new tree does not have is dropped: it is empty, or only entries of the user keep it.
            if after.is_some() {
                self.bring(&mut folder, before.as_ref(), after.as_ref(), &inside)?;
                kept.push(folder);
            }
        }
        known.folders = kept;
        Some(())
    }

    fn folders(&self, tree: Option<&Oid>) -> Option<Vec<(Vec<u8>, Oid)>> {
        let Some(tree) = tree else { return Some(Vec::new()) };
        let tree = self.repository.objects().raw_tree(tree).ok()?;
        let folders = tree.entries().filter(|entry| entry.as_ref().is_ok_and(|entry| entry.mode == TREE) || entry.is_err());
        folders.map(|entry| entry?.to_owned().map(|entry| (entry.name, entry.oid))).collect::<Result<_>>().ok()
    }
}

/// The tree of the whole index, if it covers all entries.
pub(super) fn root(mut data: &[u8], width: usize, entries: i64) -> Option<Oid> {
    let (count, tree) = read(&mut data, width, 0)?.tree?;
    (count == entries).then_some(tree)
}

/// The rest of an edit's path below a folder, and by how much the edit changes the number of entries.
#[derive(Debug, Clone, Copy)]
struct Path<'a> {
    rest: &'a [u8],
    more: i64,
}

impl<'a> Path<'a> {
    fn of(edit: &EntryEdit<'a>) -> Option<Self> {
        match &edit.kind {
            EditKind::Set(_, _) => Some(Self { rest: edit.path.as_bytes(), more: i64::from(edit.is_new) }),
            EditKind::Remove => Some(Self { rest: edit.path.as_bytes(), more: -1 }),
            EditKind::Look(..) => None,
        }
    }

    fn inside(&self, folder: &[u8]) -> Option<Self> {
        let rest = self.rest.strip_prefix(folder)?.strip_prefix(b"/")?;
        Some(Self { rest, more: self.more })
    }
}

/// How deeply folders may be nested.
const DEPTH: usize = 500;

fn read(rest: &mut &[u8], width: usize, depth: usize) -> Option<Known> {
    let mut until = |end: u8| -> Option<Vec<u8>> {
        let at = rest.iter().position(|byte| *byte == end)?;
        let field = rest[..at].to_vec();
        *rest = &rest[at + 1..];
        Some(field)
    };
    let (name, count, folders) = (until(0)?, until(b' ')?, until(b'\n')?);
    let decimal = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<i64>().ok();
    let (count, folders) = (decimal(&count)?, decimal(&folders)?);
    let tree = if count < 0 {
        None
    } else {
        let id = rest.get(..width)?;
        *rest = &rest[width..];
        Some((count, oid(id)?))
    };
    if depth > DEPTH {
        return None;
    }
    let folders: Option<Vec<Known>> = (0..folders).map(|_| read(rest, width, depth + 1)).collect();
    Some(Known { name, tree, folders: folders? })
}

fn write(known: &Known, out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(&known.name);
    let count = known.tree.as_ref().map_or(-1, |(count, _)| *count);
    out.extend_from_slice(format!("\0{count} {}\n", known.folders.len()).as_bytes());
    if let Some((_, tree)) = &known.tree {
        out.extend_from_slice(gix_id(tree).ok()?.as_slice());
    }
    known.folders.iter().try_for_each(|folder| write(folder, out))
}
