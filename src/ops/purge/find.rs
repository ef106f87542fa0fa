//! What is to be taken out, and who holds it besides us.

use std::collections::BTreeSet;
use std::path::Path;

use super::others;
use crate::domain::base::names::{Oid, RefName, RepoPath};
use crate::domain::base::own_names::{NOTES, REFS, TAGS};
use crate::error::{Code, Error, Result};
use crate::files;
use crate::ops::context::handle::Context;

/// The most refs that are named.
const NAMED: usize = 20;

/// What is to be taken out.
#[derive(Debug, Clone)]
pub struct Subject {
    /// A file or folder.
    pub path: Option<RepoPath>,
    /// The content of a file.
    pub blob: Option<Oid>,
    /// As it was given.
    pub given: String,
}

impl Subject {
    /// What a word means: the id of a blob, or else a path below `here`.
    ///
    /// # Errors
    /// `INVALID_INPUT` where it is neither.
    pub fn of(ctx: &Context, word: &str, here: &Path) -> Result<Self> {
        let is_hex = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hex && here.join(word).symlink_metadata().is_err() {
            let named = format!("{word}^{{blob}}");
            let output = ctx.repo.git().args(["rev-parse", "--verify", "--quiet", "--end-of-options", &named]).run()?;
            if output.ok() {
                return Ok(Self { path: None, blob: Some(Oid::new(output.text()?)?), given: word.to_owned() });
            }
        }
        let mut place = std::path::PathBuf::new();
        for part in here.join(word).components() {
            match part {
                std::path::Component::ParentDir => drop(place.pop()),
                std::path::Component::CurDir => {}
                std::path::Component::Prefix(_) | std::path::Component::RootDir | std::path::Component::Normal(_) => {
                    place.push(part);
                }
            }
        }
        if place.to_str().is_none() {
            return Err(Error::new(Code::InvalidInput, "the path is not UTF-8").hint("name the id of its content instead"));
        }
        Ok(Self { path: Some(super::path_in_worktree(ctx, &place)?), blob: None, given: word.to_owned() })
    }
}

/// What holds objects besides refs and indexes: what names it, in words, and what is named.
pub(super) struct Besides(Vec<(String, BTreeSet<Oid>)>);

impl Besides {
    /// As it is now. Our own reflogs are not among it: purge empties them.
    ///
    /// # Errors
    /// Those of reading worktrees, reflogs and files.
    pub(super) fn of(ctx: &Context) -> Result<Self> {
        let refs = ctx.repo.refs();
        let mut all = vec![("a reflog (see 'git reflog expire')".to_owned(), refs.in_reflogs(&is_ours)?)];
        for entry in ctx.repo.worktrees().list()?.into_iter().filter(|entry| entry.present) {
            let place = entry.worktree.path().display().to_string();
            let named = refs.named_in(&entry.worktree)?;
            all.extend(named.into_iter().map(|(name, ids)| (format!("{name} of '{place}'"), ids)));
        }
        Ok(Self(all))
    }

    fn ids(&self) -> BTreeSet<Oid> {
        self.0.iter().flat_map(|(_, ids)| ids).cloned().collect()
    }

    /// All that something holds, us included.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub(super) fn reached_with_all(&self, ctx: &Context) -> Result<BTreeSet<Oid>> {
        ctx.repo.objects().reached_by(&["--all", "--indexed-objects"], &self.ids())
    }

    /// Those of `secrets` that something besides our refs holds.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub(super) fn held_elsewhere(&self, ctx: &Context, secrets: &BTreeSet<Oid>) -> Result<BTreeSet<Oid>> {
        let others = others();
        let mut what: Vec<&str> = others.iter().map(String::as_str).collect();
        what.push("--indexed-objects");
        let reached = ctx.repo.objects().reached_by(&what, &self.ids())?;
        Ok(secrets.intersection(&reached).cloned().collect())
    }
}

/// Whether a ref is one of ours, whose values purge changes.
pub(super) fn is_ours(name: &RefName) -> bool {
    let name = name.as_str();
    name.starts_with(REFS) || name.starts_with(TAGS) || name == NOTES
}

/// Who holds these contents besides us, and where the file still is, in words.
pub(super) fn holders(ctx: &Context, held: &BTreeSet<Oid>, subject: &Subject) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let besides = if held.is_empty() { Besides(Vec::new()) } else { Besides::of(ctx)? };
    for oid in held {
        let mut named = 0;
        for value in ctx.repo.refs().refs_below("refs/")?.iter().filter(|value| !is_ours(&value.name)) {
            if named < NAMED && has(ctx, value.name.as_str(), oid)? {
                found.push(format!("{} has {} in its history", value.name, oid.short()));
                named += 1;
            }
        }
        for (what, ids) in &besides.0 {
            if named < NAMED && ctx.repo.objects().reached_from(ids)?.contains(oid) {
                found.push(format!("{what} holds {}", oid.short()));
                named += 1;
            }
        }
        if named == 0 {
            let what = "an index, a worktree's HEAD or a stash entry";
            found.push(format!(
                "{what} holds {}: see 'git ls-files -s', 'git ls-files --resolve-undo' and 'git stash list'",
                oid.short()
            ));
        }
    }
    if let Some(path) = &subject.path {
        for entry in ctx.repo.worktrees().list()? {
            let place = entry.worktree.path().join(path.to_path());
            if files::metadata(&place)?.is_some() {
                let place = place.display();
                found.push(format!("the file '{place}' itself: ignore or delete it, or the next checkpoint holds it again"));
            }
        }
    }
    Ok(found)
}

fn has(ctx: &Context, name: &str, oid: &Oid) -> Result<bool> {
    let find = format!("--find-object={oid}");
    let log = ctx.repo.git().args(["log", "--format=%H", "-m", "--max-count=1", &find, name, "--"]).run()?;
    Ok(log.ok() && !log.stdout.is_empty())
}
