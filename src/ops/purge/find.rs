//! What is to be taken out, and who holds it besides us.

use std::collections::BTreeSet;
use std::path::Path;

use super::others;
use crate::domain::base::names::{Oid, RepoPath};
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

/// Those of `secrets` that something besides our refs holds.
pub(super) fn held_elsewhere(ctx: &Context, secrets: &BTreeSet<Oid>) -> Result<BTreeSet<Oid>> {
    let others = others();
    let mut what: Vec<&str> = others.iter().map(String::as_str).collect();
    what.extend(["--reflog", "--indexed-objects"]);
    let reached = ctx.repo.objects().reached_by(&what)?;
    Ok(secrets.intersection(&reached).cloned().collect())
}

/// Who holds these contents besides us, and where the file still is, in words.
pub(super) fn holders(ctx: &Context, held: &BTreeSet<Oid>, subject: &Subject) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let others = others();
    for oid in held {
        let mut named = 0;
        for value in ctx.repo.refs().refs_below("refs/")? {
            let is_ours = others.iter().filter_map(|word| word.strip_prefix("--exclude=")).any(|pattern| {
                pattern.strip_suffix('*').map_or(value.name.as_str() == pattern, |prefix| value.name.as_str().starts_with(prefix))
            });
            if !is_ours && named < NAMED && has(ctx, value.name.as_str(), oid)? {
                found.push(format!("{} has {} in its history", value.name, oid.short()));
                named += 1;
            }
        }
        if named == 0 {
            let what = "a reflog, an index, a worktree's HEAD or a stash entry";
            found.push(format!("{what} holds {}: see 'git reflog expire' and 'git ls-files -s'", oid.short()));
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
