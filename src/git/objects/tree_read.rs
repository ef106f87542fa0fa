//! Reading the entries of trees.

use std::sync::Arc;

use crate::base::limits;
use crate::repo::handles::Trees;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RepoPath};

use super::database::{TreeEntry, gix_id};
use crate::base::modes::{GITLINK, TREE};

/// A tree as it is stored. Its entries are not copied.
#[derive(Debug, Clone)]
pub(crate) struct RawTree {
    tree: Oid,
    content: Arc<[u8]>,
    /// The length of an id in bytes.
    width: usize,
}

/// An entry of a tree as it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawTreeEntry<'t> {
    pub(crate) mode: u32,
    pub(crate) id: &'t gix::oid,
    /// Without `/`.
    pub(crate) name: &'t [u8],
}

impl RawTreeEntry<'_> {
    pub(crate) fn to_owned(self) -> Result<TreeEntry> {
        Ok(TreeEntry { mode: self.mode, oid: Oid::from_bytes(self.id.as_bytes())?, name: self.name.to_vec() })
    }
}

impl RawTree {
    /// The entries in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Result<RawTreeEntry<'_>>> {
        let mut rest = &self.content[..];
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let Some((entry, behind)) = first_entry(rest, self.width) else {
                rest = &[];
                return Some(Err(Error::new(Code::GitFailed, format!("tree {} is damaged", self.tree))));
            };
            rest = behind;
            Some(Ok(entry))
        })
    }

    /// The entry with this name.
    pub(crate) fn find(&self, name: &[u8]) -> Result<Option<TreeEntry>> {
        let found = self.entries().find(|entry| entry.as_ref().is_ok_and(|entry| entry.name == name) || entry.is_err());
        found.transpose()?.map(RawTreeEntry::to_owned).transpose()
    }
}

/// The first entry and what follows it.
fn first_entry(content: &[u8], width: usize) -> Option<(RawTreeEntry<'_>, &[u8])> {
    let nul = memchr::memchr(0, content)?;
    let space = content[..nul].iter().position(|byte| *byte == b' ')?;
    let mode = std::str::from_utf8(&content[..space]).ok().and_then(|mode| u32::from_str_radix(mode, 8).ok())?;
    let id = content.get(nul + 1..nul + 1 + width)?;
    let entry = RawTreeEntry { mode, id: gix::oid::try_from_bytes(id).ok()?, name: &content[space + 1..nul] };
    Some((entry, &content[nul + 1 + width..]))
}

impl Trees<'_> {
    /// The raw content of one tree. Whether the repository still has the tree is another question: it may come from memory.
    pub(crate) fn read_raw_tree(&self, oid: &Oid) -> Result<Arc<[u8]>> {
        let id = gix_id(oid)?;
        if let Some(known) = self.repo.trees.contents.get(&id) {
            return Ok(known);
        }
        let content: Arc<[u8]> = self.repo.objects().read_object("tree", oid, limits::STRUCTURE)?.into();
        self.repo.trees.contents.keep(id, Arc::clone(&content));
        Ok(content)
    }

    /// One tree as it is stored. Whether the repository still has it is another question: it may come from memory.
    pub(crate) fn raw_tree(&self, tree: &Oid) -> Result<RawTree> {
        Ok(RawTree { tree: tree.clone(), content: self.read_raw_tree(tree)?, width: self.repo.hash().bytes() })
    }

    /// Whether a tree has a file or a folder at a path.
    pub fn is_in_tree(&self, tree: &Oid, path: &RepoPath) -> Result<bool> {
        Ok(self.entry_in_tree(tree, path)?.is_some())
    }

    /// The commit of the submodule that a tree has at a path.
    pub fn submodule_in_tree(&self, tree: &Oid, path: &RepoPath) -> Result<Option<Oid>> {
        Ok(self.entry_in_tree(tree, path)?.filter(|entry| entry.mode == GITLINK).map(|entry| entry.oid))
    }

    /// The mode and the id of what a tree has at a path.
    pub fn mode_and_id(&self, tree: &Oid, path: &RepoPath) -> Result<Option<(u32, Oid)>> {
        Ok(self.entry_in_tree(tree, path)?.map(|entry| (entry.mode, entry.oid)))
    }

    pub(crate) fn entry_in_tree(&self, tree: &Oid, path: &RepoPath) -> Result<Option<TreeEntry>> {
        let mut folder = tree.clone();
        let mut parts = path.as_bytes().split(|byte| *byte == b'/').peekable();
        while let Some(part) = parts.next() {
            let Some(entry) = self.raw_tree(&folder)?.find(part)? else { return Ok(None) };
            match (parts.peek().is_some(), entry.mode == TREE) {
                (true, true) => folder = entry.oid,
                (true, false) => return Ok(None),
                (false, _) => return Ok(Some(entry)),
            }
        }
        Ok(None)
    }

    /// The entries of one tree, not recursive.
    pub fn read_tree(&self, oid: &Oid) -> Result<Vec<TreeEntry>> {
        self.raw_tree(oid)?.entries().map(|entry| entry?.to_owned()).collect()
    }

    /// The entry of a tree with this name, not recursive.
    pub fn tree_entry(&self, tree: &Oid, name: &[u8]) -> Result<Option<TreeEntry>> {
        self.raw_tree(tree)?.find(name)
    }
}
