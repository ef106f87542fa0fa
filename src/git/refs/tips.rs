//! Keeping the objects that refs point to reachable, of whatever type.
//!
//! A commit is kept by a commit that has it as a parent; one such commit keeps a bucket of many. A tag object can be neither
//! a parent nor a tree entry: its content is kept in a blob, from which the same tag is written again, byte for byte. Blobs
//! and trees that tags point to are tree entries.

use std::collections::{BTreeMap, BTreeSet};

use gix::objs::Kind;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::Oid;
use axiom_model::checkpoint::local_refs::{BUCKET, buckets};

use crate::base::modes::TREE;
use crate::base::object_kind::ObjectKind;
use crate::objects::database::{NewCommit, TreeEntry, gix_id};
use crate::repo::handles::Tips;
use crate::repo::person_ident::PersonIdent;
use crate::repo::repository::Repository;

/// The message of a commit that keeps tips; no other commit has it.
const MESSAGE: &str = "what refs named, kept by git axiom\n";
/// The entry with the contents of tags.
const TAGS: &str = "tags";
/// The folder with blobs and trees.
const OBJECTS: &str = "objects";
/// The largest tag, and the largest blob with contents of tags.
const LIMIT: u64 = 1024 * 1024 * 1024;
/// The longest chain of tags that point to tags.
const DEPTH: usize = 100;

/// What is needed to keep some tips reachable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeptTips {
    /// The commits among the tips, and the commits that tags point to.
    commits: BTreeSet<Oid>,
    /// The contents of tags, each after a line with its id and length.
    tags: Vec<u8>,
    /// Blobs and trees, with their modes.
    objects: BTreeMap<Oid, u32>,
}

impl KeptTips {
    /// The entries of a tree that keeps the tags, blobs and trees.
    pub fn entries(&self, repository: &Repository) -> Result<Vec<TreeEntry>> {
        let mut entries = Vec::new();
        if !self.tags.is_empty() {
            entries.push(TreeEntry { mode: 0o100_644, oid: repository.objects().write_blob(&self.tags)?, name: TAGS.into() });
        }
        if !self.objects.is_empty() {
            let objects = self.objects.iter();
            let objects = objects.map(|(oid, mode)| TreeEntry { mode: *mode, oid: oid.clone(), name: oid.as_str().into() });
            let tree = repository.trees().write_tree(&objects.collect::<Vec<_>>())?;
            entries.push(TreeEntry { mode: TREE, oid: tree, name: OBJECTS.into() });
        }
        Ok(entries)
    }

    /// Commits that keep the commits, one per bucket; they have no other history.
    pub fn buckets(&self, repository: &Repository) -> Result<Vec<Oid>> {
        let all: Vec<Oid> = self.commits.iter().cloned().collect();
        let parts = buckets(&all, BUCKET).into_iter().filter_map(|part| all.get(part));
        parts.map(|part| repository.tips().write_bucket(part)).collect()
    }
}

impl Tips<'_> {
    /// Adds what is needed to keep a tip to `kept`; returns `false` where the tip, or the object that its tag points to, is
    /// missing.
    pub(crate) fn keep_tip(&self, gix: &gix::Repository, tip: &Oid, kept: &mut KeptTips) -> Result<bool> {
        let (mut oid, mut tags) = (tip.clone(), Vec::new());
        for _ in 0..DEPTH {
            let kind = if kept.commits.contains(&oid) {
                // Many tags point to the same commit.
                Kind::Commit
            } else {
                let Ok(header) = gix.find_header(gix_id(&oid)?) else { return Ok(false) };
                header.kind()
            };
            match kind {
                Kind::Commit => drop(kept.commits.insert(oid)),
                Kind::Blob => drop(kept.objects.insert(oid, 0o100_644)),
                Kind::Tree => drop(kept.objects.insert(oid, TREE)),
                Kind::Tag => {
                    let content = self.repo.objects().read_object("tag", &oid, LIMIT)?;
                    tags.extend_from_slice(format!("{oid} {}\n", content.len()).as_bytes());
                    tags.extend_from_slice(&content);
                    let Some(next) = target_of(&content) else { return Ok(false) };
                    oid = next;
                    continue;
                }
            }
            kept.tags.extend_from_slice(&tags);
            return Ok(true);
        }
        Ok(false)
    }

    /// What keeps these commits, and these tips of any type, reachable: commits, or buckets where there are many, and
    /// entries for a tree. Missing tips are left out.
    pub fn keep_tips<'o>(
        &self,
        commits: impl IntoIterator<Item = &'o Oid>,
        tips: impl IntoIterator<Item = &'o Oid>,
    ) -> Result<(Vec<Oid>, Vec<TreeEntry>)> {
        let (gix, mut kept) = (self.repo.gix()?, KeptTips::default());
        kept.commits.extend(commits.into_iter().cloned());
        for tip in tips {
            if !self.keep_tip(&gix, tip, &mut kept)? {
                tracing::warn!(%tip, "what a ref names is not here, and is not kept");
            }
        }
        let few = kept.commits.len() <= BUCKET;
        let commits = if few { kept.commits.iter().cloned().collect() } else { kept.buckets(self.repo)? };
        Ok((commits, kept.entries(self.repo)?))
    }

    fn write_bucket(&self, commits: &[Oid]) -> Result<Oid> {
        let who = PersonIdent::fixed();
        let tree = self.repo.trees().empty_tree()?;
        self.repo.objects().write_commit(&NewCommit { tree: &tree, parents: commits.to_vec(), who: &who, message: MESSAGE })
    }

    /// The commits that these keep: for a bucket its parents, otherwise the commit itself.
    pub fn without_buckets(&self, commits: &[Oid]) -> Result<BTreeSet<Oid>> {
        let mut all = BTreeSet::new();
        for oid in commits {
            let commit = self.repo.objects().read_commit(oid)?;
            if commit.message == MESSAGE {
                all.extend(commit.parents);
            } else {
                all.insert(oid.clone());
            }
        }
        Ok(all)
    }

    /// The contents of the tags that are kept below a tree, by id.
    pub(crate) fn tags_below(&self, tree: &Oid) -> Result<BTreeMap<Oid, Vec<u8>>> {
        let mut found = BTreeMap::new();
        for entry in self.repo.trees().read_tree(tree)? {
            if entry.mode == TREE && entry.name != OBJECTS.as_bytes() {
                found.append(&mut self.tags_below(&entry.oid)?);
            } else if entry.name == TAGS.as_bytes() {
                let text = self.repo.objects().read_blob(&entry.oid, LIMIT)?;
                let mut rest = text.as_slice();
                while !rest.is_empty() {
                    let Some((oid, content, after)) = first_tag(rest) else { return Err(damaged(&entry.oid)) };
                    found.insert(oid, content.to_vec());
                    rest = after;
                }
            }
        }
        Ok(found)
    }

    /// What a tree keeps in addition to commits: the ids of tags, blobs and trees.
    pub fn kept_below(&self, tree: &Oid) -> Result<BTreeSet<Oid>> {
        let mut kept = self.objects_below(tree)?;
        kept.extend(self.tags_below(tree)?.into_keys());
        Ok(kept)
    }

    /// The blobs and trees that are kept below a tree.
    pub(crate) fn objects_below(&self, tree: &Oid) -> Result<BTreeSet<Oid>> {
        let mut found = BTreeSet::new();
        for entry in self.repo.trees().read_tree(tree)?.into_iter().filter(|entry| entry.mode == TREE) {
            if entry.name == OBJECTS.as_bytes() {
                found.extend(self.repo.trees().read_tree(&entry.oid)?.into_iter().map(|entry| entry.oid));
            } else {
                found.append(&mut self.objects_below(&entry.oid)?);
            }
        }
        Ok(found)
    }

    /// Writes those of `tips` again that are tags, are missing, and are kept below a tree, together with the tags that they
    /// point to.
    pub fn write_tags_again(&self, tree: &Oid, tips: &[Oid]) -> Result<()> {
        let mut open: Vec<Oid> = tips.iter().filter(|tip| !self.repo.connectivity().holds(tip)).cloned().collect();
        if open.is_empty() {
            return Ok(());
        }
        let tags = self.tags_below(tree)?;
        while let Some(oid) = open.pop() {
            let Some(content) = tags.get(&oid) else { continue };
            if self.repo.objects().write_object(ObjectKind::Tag, content)? != oid {
                return Err(damaged(&oid));
            }
            open.extend(target_of(content).filter(|next| !self.repo.connectivity().holds(next)));
        }
        Ok(())
    }
}

fn damaged(oid: &Oid) -> Error {
    Error::new(Code::CheckpointDamaged, format!("the tags in {} are not as they were written", oid.short()))
}

/// The object that a tag points to, from the tag's content.
fn target_of(content: &[u8]) -> Option<Oid> {
    let line = content.split(|byte| *byte == b'\n').next()?.strip_prefix(b"object ")?;
    Oid::new(std::str::from_utf8(line).ok()?).ok()
}

/// The first tag of the blob, and the rest.
fn first_tag(text: &[u8]) -> Option<(Oid, &[u8], &[u8])> {
    let end = memchr::memchr(b'\n', text)?;
    let (oid, length) = std::str::from_utf8(&text[..end]).ok()?.split_once(' ')?;
    let (content, rest) = text[end + 1..].split_at_checked(length.parse().ok()?)?;
    Some((Oid::new(oid).ok()?, content, rest))
}
