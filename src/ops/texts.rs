//! Long texts: over 1 KiB they are blobs that `refs/axiom/texts` keeps alive, so that log and snapshot stay small.
//!
//! The ref's commit has no parent; its tree holds each text under its own id, in folders by its first two digits.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::names::{Oid, RefName};
use crate::domain::text::{INLINE_LIMIT, MAX_TEXT, Text};
use crate::env;
use crate::error::{Code, Error, Result};
use crate::git::{Expected, NewCommit, RefEdit, Repository, Signature, TreeEntry};

/// How often storing is tried again when others store at the same time.
const ATTEMPTS: u32 = 20;

/// Modes of a folder's and a file's entry in a tree.
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_644;

/// The ref that keeps texts alive.
fn texts_ref() -> RefName {
    RefName::new("refs/axiom/texts")
}

/// Makes texts storable, in order: short ones stay inline, long ones are written, referenced and synced. Nothing is in
/// the state yet: a crash leaves blobs that nobody names, which is harmless.
///
/// # Errors
/// `TOO_LARGE`; what git says; `BUSY` where others keep changing the ref.
pub fn store(repo: &Repository, texts: &[&str]) -> Result<Vec<Text>> {
    let mut stored = Vec::with_capacity(texts.len());
    let mut blobs = Vec::new();
    for text in texts {
        if text.len() > MAX_TEXT {
            let what = format!("a text of {} bytes is over the limit of {MAX_TEXT}", text.len());
            return Err(Error::new(Code::TooLarge, what).hint("put long material into a file of the repository and refer to it"));
        }
        if text.len() <= INLINE_LIMIT {
            stored.push(Text::Inline((*text).to_owned()));
        } else {
            let blob = repo.write_blob(text.as_bytes())?;
            blobs.push(blob.clone());
            stored.push(Text::Stored { blob, size: text.len() as u64 });
        }
    }
    if !blobs.is_empty() {
        keep(repo, &blobs)?;
    }
    Ok(stored)
}

/// The text itself.
///
/// # Errors
/// `GIT_FAILED` where the blob is missing; `TOO_LARGE`.
pub fn load(repo: &Repository, text: &Text) -> Result<String> {
    match text {
        Text::Inline(text) => Ok(text.clone()),
        Text::Stored { blob, .. } => {
            let bytes = repo.read_blob(blob, MAX_TEXT as u64)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        }
    }
}

/// Adds blobs to the ref's tree by compare-and-swap.
fn keep(repo: &Repository, blobs: &[Oid]) -> Result<()> {
    let mut attempt = 0;
    loop {
        env::fault_point("texts.before-ref");
        match try_keep(repo, blobs) {
            Err(error) if matches!(error.code(), Code::ChangedMeanwhile | Code::GitLocked) && attempt < ATTEMPTS => {
                attempt += 1;
                std::thread::sleep(Duration::from_millis(u64::from(attempt) * 10));
            }
            outcome => return outcome,
        }
    }
}

fn try_keep(repo: &Repository, blobs: &[Oid]) -> Result<()> {
    let old = repo.read_ref(&texts_ref())?;
    let entries = match &old {
        Some(commit) => repo.read_tree(&repo.read_commit(commit)?.tree)?,
        None => Vec::new(),
    };
    let mut folders: BTreeMap<Vec<u8>, TreeEntry> = entries.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
    let mut wanted: BTreeMap<Vec<u8>, Vec<&Oid>> = BTreeMap::new();
    for blob in blobs {
        wanted.entry(blob.as_str().as_bytes()[..2].to_vec()).or_default().push(blob);
    }
    for (name, blobs) in wanted {
        let present = match folders.get(&name) {
            Some(folder) => repo.read_tree(&folder.oid)?,
            None => Vec::new(),
        };
        let mut files: BTreeMap<Vec<u8>, TreeEntry> = present.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
        for blob in blobs {
            let name = blob.as_str().as_bytes().to_vec();
            files.insert(name.clone(), TreeEntry { mode: FILE, oid: blob.clone(), name });
        }
        let oid = repo.write_tree(&files.into_values().collect::<Vec<_>>())?;
        folders.insert(name.clone(), TreeEntry { mode: FOLDER, oid, name });
    }
    let tree = repo.write_tree(&folders.into_values().collect::<Vec<_>>())?;
    let who = Signature { name: "git axiom".into(), email: "git-axiom@localhost".into(), seconds: 0 };
    let commit = repo.write_commit(&NewCommit { tree: &tree, parents: Vec::new(), who: &who, message: "long texts" })?;
    if old.as_ref() == Some(&commit) {
        return Ok(());
    }
    let edit = RefEdit { name: texts_ref(), expected: Expected::from_old(old), new: Some(commit) };
    repo.update_refs(&[edit], "git axiom: store texts")
}
