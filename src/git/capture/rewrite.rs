//! Captures without some of their files: the same commits, made anew. Deterministic: the same capture gives the same one.

use std::collections::BTreeSet;

use super::extras::{CaptureExtras, LIST};
use crate::base::limits;
use crate::base::modes::{GITLINK as SUBMODULE, TREE};
use crate::base::object_kind::ObjectKind;
use crate::capture::worktree::captured_trees::INDEX_OF;
use crate::objects::database::{CommitContent, TreeEntry};
use crate::repo::handles::{CaptureRewrites, Objects, Trees};
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::checkpoint::purge::CaptureRemovals;

/// A capture that was made anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewrittenCapture {
    /// The new capture.
    pub capture: Oid,
    /// The paths that it lacks.
    pub paths: BTreeSet<RepoPath>,
}

/// What a capture consists of, without what is taken out.
struct ReducedCapture {
    base: Oid,
    index: Oid,
    files: Oid,
    staged: Oid,
    /// The further parents of the index commit, and what becomes of those with extras.
    extras: Vec<(Oid, Option<Oid>)>,
    paths: BTreeSet<RepoPath>,
    /// Whether anything is another one.
    changed: bool,
}

impl CaptureRewrites<'_> {
    /// The capture without what `cut` takes; where the checked-out commit has another file in its place, that is there instead.
    /// What that commit has itself stays. `further` gives the new id of each commit that the index commit keeps beside extras.
    /// `None` where nothing changes. Nothing refers to the new objects yet.
    pub fn without(
        &self,
        capture: &Oid,
        cut: &CaptureRemovals,
        mut further: impl FnMut(&Oid) -> Result<Oid>,
    ) -> Result<Option<RewrittenCapture>> {
        let objects = self.repo.objects();
        let ReducedCapture { base, index, files, staged, extras, paths, changed: _ } = self.trees_without(capture, cut)?;
        let mut parents = vec![base.clone()];
        for (parent, extras) in extras {
            parents.push(match extras {
                Some(extras) => extras,
                None => further(&parent)?,
            });
        }
        let new_index = objects.commit_with(&index, &staged, &parents)?;
        let made = objects.commit_with(capture, &files, &[base, new_index])?;
        Ok((made != *capture).then_some(RewrittenCapture { capture: made, paths }))
    }

    /// The paths that a capture has and lacks without what `cut` takes; `None` where nothing changes. No capture is made.
    pub fn paths_without(&self, capture: &Oid, cut: &CaptureRemovals) -> Result<Option<BTreeSet<RepoPath>>> {
        self.trees_without(capture, cut).map(|trees| trees.changed.then_some(trees.paths))
    }

    fn trees_without(&self, capture: &Oid, cut: &CaptureRemovals) -> Result<ReducedCapture> {
        let objects = self.repo.objects();
        let commit = objects.read_commit(capture)?;
        let [base, index, ..] = commit.parents.as_slice() else {
            return Err(Error::new(Code::CheckpointDamaged, format!("{} is not a capture", capture.short())));
        };
        let instead = objects.read_commit(base)?.tree;
        let index_data = objects.read_commit(index)?;
        let (root, mut paths) = (RepoPath::new(Vec::new()), BTreeSet::new());
        let files = self.repo.trees().tree_without(&commit.tree, Some(&instead), cut, &root, &mut paths)?;
        let staged = self.repo.trees().tree_without(&index_data.tree, Some(&instead), cut, &root, &mut paths)?;
        let extras = index_data.parents.into_iter().skip(1);
        let extras: Vec<(Oid, Option<Oid>)> =
            extras.map(|parent| Ok((parent.clone(), self.extras_without(&parent, cut)?))).collect::<Result<_>>()?;
        let others = extras.iter().any(|(old, new)| new.as_ref().is_some_and(|new| new != old));
        let changed = others || files != commit.tree || staged != index_data.tree;
        Ok(ReducedCapture { base: base.clone(), index: index.clone(), files, staged, extras, paths, changed })
    }

    /// The contents that a capture has at a path: of files, staged ones, those with exact bytes and in conflict. What is missing of it is
    /// passed over, and nothing is written.
    pub fn contents_at(&self, capture: &Oid, path: &RepoPath) -> BTreeSet<Oid> {
        let objects = self.repo.objects();
        let mut found = BTreeSet::new();
        let Ok(commit) = objects.read_commit(capture) else { return found };
        found.extend(self.repo.forgotten().contents_at(&commit.tree, path).unwrap_or_default());
        let Some(index) = commit.parents.get(1).and_then(|index| objects.read_commit(index).ok()) else { return found };
        found.extend(self.repo.forgotten().contents_at(&index.tree, path).unwrap_or_default());
        let cut = CaptureRemovals { path: Some(path.clone()), blobs: BTreeSet::new() };
        for parent in index.parents.iter().skip(1).filter(|parent| self.repo.connectivity().holds(parent)) {
            let Ok(Some((_, extras, _))) = self.extras_in(parent) else { continue };
            let raw = extras.raw.into_iter().map(|raw| (raw.path, raw.oid));
            let stages = extras.index.unmerged.into_iter().map(|stage| (stage.path, stage.oid));
            found.extend(raw.chain(stages).filter(|(path, _)| cut.names(path)).map(|(_, oid)| oid));
        }
        found
    }

    /// The captures that are not among what is held.
    pub fn left_over(&self, held: &BTreeSet<Oid>) -> Result<Vec<Oid>> {
        let args = ["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectname)"];
        let mut left = Vec::new();
        self.repo.git().args(args).each_part(b'\n', |line| {
            if let Some(id) = line.strip_prefix(b"commit ") {
                let oid = Oid::new(String::from_utf8_lossy(id).into_owned())?;
                left.extend((!held.contains(&oid)).then_some(oid));
            }
            Ok(())
        })?;
        left.retain(|oid| self.kept_beside_index(oid).is_some());
        Ok(left)
    }

    /// Of these commits, those that captures keep beside the index: documents, flags and what else has no files of a worktree.
    pub fn structure<'c>(&self, commits: impl Iterator<Item = &'c Oid>) -> BTreeSet<Oid> {
        commits.filter_map(|commit| self.kept_beside_index(commit)).flatten().collect()
    }

    /// What the index commit of a capture keeps besides the checked-out commit; `None` where the commit is no capture.
    fn kept_beside_index(&self, commit: &Oid) -> Option<Vec<Oid>> {
        let commit = self.repo.objects().read_commit(commit).ok()?;
        let [base, index, ..] = commit.parents.as_slice() else { return None };
        let index = self.repo.objects().read_commit(index).ok()?;
        let is_capture = index.parents.first() == Some(base) && index.message.starts_with(INDEX_OF);
        is_capture.then(|| index.parents.into_iter().skip(1).collect())
    }

    /// The commit with the extras, without bytes and stages of what is taken out; `None` where it is no such commit.
    fn extras_without(&self, commit: &Oid, cut: &CaptureRemovals) -> Result<Option<Oid>> {
        let objects = self.repo.objects();
        let Some((data, mut extras, mut entries)) = self.extras_in(commit)? else { return Ok(None) };
        let before = extras.clone();
        let mut gone = BTreeSet::new();
        let mut taken = |is_taken: bool, oid: &Oid| {
            if is_taken {
                gone.insert(oid.clone());
            }
            is_taken
        };
        extras.raw.retain(|raw| !taken(cut.takes(&raw.path, &raw.oid) || cut.blobs.contains(&raw.held_as), &raw.oid));
        extras.index.unmerged.retain(|stage| !taken(cut.takes(&stage.path, &stage.oid), &stage.oid));
        extras.operation.retain(|file| !taken(cut.blobs.contains(&file.oid), &file.oid));
        if extras == before {
            return Ok(Some(commit.clone()));
        }
        let list = objects.write_blob(&serde_json::to_vec_pretty(&extras).map_err(damaged)?)?;
        entries.iter_mut().filter(|entry| entry.name == LIST).for_each(|entry| entry.oid = list.clone());
        let raw = extras.raw.iter().map(|raw| &raw.oid);
        let stages = extras.index.unmerged.iter().map(|one| &one.oid);
        let kept: BTreeSet<&Oid> = raw.chain(stages).chain(extras.operation.iter().map(|file| &file.oid)).collect();
        let is_gone = |oid: &Oid| gone.contains(oid) && !kept.contains(oid);
        let tree = self.repo.trees().entries_without(entries, &is_gone)?;
        objects.commit_with(commit, &tree, &data.parents).map(Some)
    }

    /// A commit with extras, what is in it, and the entries of its tree; `None` where it is no such commit.
    fn extras_in(&self, commit: &Oid) -> Result<Option<(CommitContent, CaptureExtras, Vec<TreeEntry>)>> {
        let objects = self.repo.objects();
        let data = objects.read_commit(commit)?;
        let entries = self.repo.trees().read_tree(&data.tree)?;
        let Some(list) = entries.iter().find(|entry| entry.name == LIST) else { return Ok(None) };
        let extras = serde_json::from_slice(&objects.read_blob(&list.oid, limits::EXTRAS)?).map_err(damaged)?;
        Ok(Some((data, extras, entries)))
    }
}

fn damaged(e: serde_json::Error) -> Error {
    Error::new(Code::CheckpointDamaged, "extras of a capture are damaged").because(e)
}

impl Objects<'_> {
    /// As a commit was, with another tree and other parents, and without a signature.
    pub fn commit_with(&self, commit: &Oid, tree: &Oid, parents: &[Oid]) -> Result<Oid> {
        let raw = self.read_object("commit", commit, limits::STRUCTURE)?;
        let end = memchr::memmem::find(&raw, b"\n\n").unwrap_or(raw.len());
        let (head, rest) = raw.split_at(end);
        let mut content = format!("tree {tree}\n").into_bytes();
        parents.iter().for_each(|parent| content.extend(format!("parent {parent}\n").into_bytes()));
        let (mut lines, mut in_signature) = (Vec::new(), false);
        for line in head.split(|byte| *byte == b'\n') {
            in_signature = line.starts_with(b"gpgsig") || in_signature && line.starts_with(b" ");
            let is_replaced = line.starts_with(b"tree ") || line.starts_with(b"parent ");
            if !in_signature && !is_replaced {
                lines.push(line);
            }
        }
        content.extend(lines.join(&b'\n'));
        content.extend(rest);
        self.write_object(ObjectKind::Commit, content)
    }
}

impl Trees<'_> {
    fn entries_without(&self, entries: Vec<TreeEntry>, is_gone: &impl Fn(&Oid) -> bool) -> Result<Oid> {
        let mut left = Vec::with_capacity(entries.len());
        for mut entry in entries {
            if entry.mode == TREE {
                entry.oid = self.entries_without(self.read_tree(&entry.oid)?, is_gone)?;
            } else if is_gone(&entry.oid) {
                continue;
            }
            left.push(entry);
        }
        self.write_tree(&left)
    }

    /// A tree without what is taken out, with what `instead` has in its place.
    fn tree_without(
        &self,
        tree: &Oid,
        instead: Option<&Oid>,
        cut: &CaptureRemovals,
        above: &RepoPath,
        gone: &mut BTreeSet<RepoPath>,
    ) -> Result<Oid> {
        if instead == Some(tree) {
            return Ok(tree.clone());
        }
        let others = instead.map(|other| self.read_tree(other)).transpose()?.unwrap_or_default();
        let (mut left, mut changed) = (Vec::new(), false);
        for entry in self.read_tree(tree)? {
            let path = match above.as_bytes() {
                b"" => RepoPath::new(entry.name.clone()),
                above => RepoPath::new([above, b"/", &entry.name].concat()),
            };
            let other = others.iter().find(|other| other.name == entry.name);
            if entry.mode == TREE {
                let below = other.filter(|other| other.mode == TREE).map(|other| &other.oid);
                let oid = self.tree_without(&entry.oid, below, cut, &path, gone)?;
                changed |= oid != entry.oid;
                if oid != self.empty_tree()? || oid == entry.oid {
                    left.push(TreeEntry { oid, ..entry });
                }
            // Which commit a submodule is at is none of its contents: those are in captures of its own.
            } else if other == Some(&entry) || entry.mode == SUBMODULE || !cut.takes(&path, &entry.oid) {
                left.push(entry);
            } else {
                changed = true;
                left.extend(other.filter(|other| !cut.blobs.contains(&other.oid)).cloned());
                gone.insert(path);
            }
        }
        if !changed {
            return Ok(tree.clone());
        }
        self.write_tree(&left)
    }
}
