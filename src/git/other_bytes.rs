//! Files of which two captures have the same content in git's terms and other bytes: where only line ends changed, say.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::names::{Oid, RepoPath};
use crate::error::Result;

use super::capture_extras::CaptureExtras;
use super::history::{FileId, TreeChange};
use super::objects::TREE;
use super::raw_files::RawFile;
use super::repository::Repository;

fn by_path(raw: &[RawFile]) -> BTreeMap<&RepoPath, &RawFile> {
    raw.iter().map(|one| (&one.path, one)).collect()
}

impl Repository {
    /// The paths at which both trees have the same file, and what the captures kept of their bytes differs; as changes from
    /// the file to itself.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub fn other_bytes(&self, (from, to): (&Oid, &Oid), (old, new): (&CaptureExtras, &CaptureExtras)) -> Result<Vec<TreeChange>> {
        if old.raw == new.raw {
            return Ok(Vec::new());
        }
        let (before, after) = (by_path(&old.raw), by_path(&new.raw));
        let (left_out_then, left_out) = (old.index.left_out(), new.index.left_out());
        let paths: BTreeSet<&RepoPath> = before.keys().chain(after.keys()).copied().collect();
        let mut changes = Vec::new();
        for path in paths {
            let (before, after) = (before.get(path), after.get(path));
            if before == after || left_out_then.contains(path) || left_out.contains(path) {
                continue;
            }
            let Some(file) = self.file_at(to, path)? else { continue };
            let is_its = |raw: &&&RawFile| raw.held_as == file.oid;
            let (before, after) = (before.filter(is_its), after.filter(is_its));
            if before != after && self.file_at(from, path)?.as_ref() == Some(&file) {
                changes.push(TreeChange { path: path.clone(), old: Some(file.clone()), new: Some(file) });
            }
        }
        Ok(changes)
    }

    /// What is kept of bytes now and must not be taken for something that a capture has otherwise: of these paths it is not
    /// known what they were, because git took them for unchanged then, or left them out.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub fn bytes_not_known_then(
        &self,
        now: &CaptureExtras,
        then: &CaptureExtras,
        (files, index): (&Oid, &Oid),
    ) -> Result<Vec<RawFile>> {
        let known = by_path(&then.raw);
        let mut unknown = Vec::new();
        for one in now.raw.iter().filter(|one| !known.contains_key(&one.path)) {
            let was = self.file_at(files, &one.path)?;
            // What differs from the index was looked at.
            if was.is_none() || was == self.file_at(index, &one.path)? {
                unknown.push(one.clone());
            }
        }
        Ok(unknown)
    }

    /// Whether a tree has a file or a folder at a path.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub fn is_in_tree(&self, tree: &Oid, path: &RepoPath) -> Result<bool> {
        let mut folder = tree.clone();
        let mut parts = path.as_bytes().split(|byte| *byte == b'/').peekable();
        while let Some(part) = parts.next() {
            let Some(entry) = self.read_tree(&folder)?.into_iter().find(|entry| entry.name == part) else { return Ok(false) };
            match (parts.peek().is_some(), entry.mode == TREE) {
                (true, true) => folder = entry.oid,
                (true, false) => return Ok(false),
                (false, _) => return Ok(true),
            }
        }
        Ok(false)
    }

    /// What a tree has at a path that is no folder.
    fn file_at(&self, tree: &Oid, path: &RepoPath) -> Result<Option<FileId>> {
        let mut folder = tree.clone();
        let mut parts = path.as_bytes().split(|byte| *byte == b'/').peekable();
        while let Some(part) = parts.next() {
            let Some(entry) = self.read_tree(&folder)?.into_iter().find(|entry| entry.name == part) else { return Ok(None) };
            match (parts.peek().is_some(), entry.mode == TREE) {
                (true, true) => folder = entry.oid,
                (false, false) => return Ok(Some(FileId { mode: entry.mode, oid: entry.oid })),
                (true, false) | (false, true) => return Ok(None),
            }
        }
        Ok(None)
    }
}

/// What is kept of bytes after a transaction is taken back: what it changed as before it, everything else as it is now. Of a
/// path of which nothing is kept now it may only be unknown what it is.
///
/// # Errors
/// The paths that both it and somebody since changed.
pub(super) fn settled([left, back, now]: [&CaptureExtras; 3]) -> std::result::Result<Vec<RawFile>, Vec<String>> {
    let [left, back, now] = [left, back, now].map(|extras| by_path(&extras.raw));
    let (mut settled, mut conflicts) = (Vec::new(), Vec::new());
    let paths: BTreeSet<&RepoPath> = left.keys().chain(back.keys()).chain(now.keys()).copied().collect();
    for path in paths {
        let [left, back, now] = [&left, &back, &now].map(|raw| raw.get(path).copied());
        let one = if left == back {
            now
        } else if now.is_none() || now == left || now == back {
            back
        } else {
            conflicts.push(path.to_string());
            None
        };
        settled.extend(one.cloned());
    }
    if conflicts.is_empty() { Ok(settled) } else { Err(conflicts) }
}
