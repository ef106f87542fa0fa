//! Updates the cached trees of an index (its `TREE` extension) when the index changes from one tree to another.

use gix::ObjectId;
use gix::index::extension::Tree;
use gix::index::extension::tree::decode;

use super::{IndexEntryEdit, IndexEntryEditKind};
use crate::base::modes::TREE;
use crate::objects::database::gix_id;
use crate::repo::repository::Repository;
use axiom_base::error::Result;
use axiom_model::base::names::Oid;

/// The trees before and after the edits. If the cached tree of a folder is the one in the old tree, it becomes the one in
/// the new tree. The cached tree of any other folder with an edit below it is dropped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CachedTreeUpdate<'a> {
    pub repository: &'a Repository,
    pub old: &'a Oid,
    pub new: &'a Oid,
}

/// The length of an extension's name and size, in bytes, which the caller writes.
const HEAD: usize = 8;

impl CachedTreeUpdate<'_> {
    /// The extension's data after the edits; `None` if the data cannot be parsed or a tree cannot be read.
    pub(super) fn updated(&self, data: &[u8], edits: &[IndexEntryEdit<'_>]) -> Option<Vec<u8>> {
        let mut root = decode(data, self.repository.hash().gix(), None)?;
        let paths: Vec<CachedTreePath<'_>> = edits.iter().filter_map(CachedTreePath::of).collect();
        if !paths.is_empty() {
            let id = |commit| gix_id(&self.repository.trees().tree_of(commit).ok()?).ok();
            self.bring(&mut root, Some(id(self.old)?), Some(id(self.new)?), &paths)?;
        }
        let mut out = Vec::with_capacity(HEAD + data.len() + 64);
        root.write_to(&mut out).ok()?;
        Some(out.split_off(HEAD))
    }

    /// Updates a folder. `paths` are the paths of the edits below it, relative to it.
    fn bring(&self, known: &mut Tree, old: Option<ObjectId>, new: Option<ObjectId>, paths: &[CachedTreePath<'_>]) -> Option<()> {
        let more: i64 = paths.iter().map(|path| path.more).sum();
        known.num_entries = known.num_entries.filter(|_| old == Some(known.id)).and_then(|count| {
            known.id = new?;
            u32::try_from(i64::from(count) + more).ok()
        });
        let (old, new) = (self.folders(old)?, self.folders(new)?);
        let mut kept = Vec::with_capacity(known.children.len());
        for mut folder in std::mem::take(&mut known.children) {
            let inside: Vec<CachedTreePath<'_>> = paths.iter().filter_map(|path| path.inside(&folder.name)).collect();
            if inside.is_empty() {
                kept.push(folder);
                continue;
            }
            let tree =
                |folders: &[(Vec<u8>, ObjectId)]| folders.iter().find(|(name, _)| *name == *folder.name).map(|(_, tree)| *tree);
            let (before, after) = (tree(&old), tree(&new));
            // A folder that the new tree does not have is dropped: it is empty, or only entries of the user keep it.
            if after.is_some() {
                self.bring(&mut folder, before, after, &inside)?;
                kept.push(folder);
            }
        }
        known.children = kept;
        Some(())
    }

    fn folders(&self, tree: Option<ObjectId>) -> Option<Vec<(Vec<u8>, ObjectId)>> {
        let Some(tree) = tree else { return Some(Vec::new()) };
        let tree = self.repository.trees().raw_tree(&Oid::from_bytes(tree.as_bytes()).ok()?).ok()?;
        let folders = tree.entries().filter(|entry| entry.as_ref().is_ok_and(|entry| entry.mode == TREE) || entry.is_err());
        folders.map(|entry| entry.map(|entry| (entry.name.to_vec(), entry.id.to_owned()))).collect::<Result<_>>().ok()
    }
}

/// The tree of the whole index, if it covers all entries.
pub(super) fn root(data: &[u8], hash: gix::hash::Kind, entries: u32) -> Option<Oid> {
    let root = decode(data, hash, None).filter(|root| root.num_entries == Some(entries))?;
    Oid::from_bytes(root.id.as_bytes()).ok()
}

/// The rest of an edit's path below a folder, and by how much the edit changes the number of entries.
#[derive(Debug, Clone, Copy)]
struct CachedTreePath<'a> {
    rest: &'a [u8],
    more: i64,
}

impl<'a> CachedTreePath<'a> {
    fn of(edit: &IndexEntryEdit<'a>) -> Option<Self> {
        match &edit.kind {
            IndexEntryEditKind::Set(_, _) => Some(Self { rest: edit.path.as_bytes(), more: i64::from(edit.is_new) }),
            IndexEntryEditKind::Remove => Some(Self { rest: edit.path.as_bytes(), more: -1 }),
            IndexEntryEditKind::Look(..) => None,
        }
    }

    fn inside(&self, folder: &[u8]) -> Option<Self> {
        let rest = self.rest.strip_prefix(folder)?.strip_prefix(b"/")?;
        Some(Self { rest, more: self.more })
    }
}
