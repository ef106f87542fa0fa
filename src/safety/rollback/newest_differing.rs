//! The checkpoint from which files come back where none is named: the newest complete one in which they are not as they are now.

use std::path::{Path, PathBuf};

use super::some_paths::in_one_worktree;
use crate::checkpoint::{capture_options, files_of_worktree};
use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_base::shell_word::shell_word;
use axiom_git::Worktree;
use axiom_model::base::forms::nearest;
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::checkpoint::record::CheckpointRecord;

/// Paths of one worktree, and its files as they are now.
struct FilesToBringBack {
    /// The worktree's path.
    worktree: String,
    paths: Vec<RepoPath>,
    now: Oid,
}

/// Whether a word is a file or folder, here or in the checkpoint of this name.
pub fn is_file(ctx: &Context, place: &Path, checkpoint: &CheckpointRecord) -> bool {
    if place.symlink_metadata().is_ok() {
        return true;
    }
    let Ok(worktrees) = worktrees(ctx) else { return false };
    let Ok((worktree, paths)) = in_one_worktree(&worktrees, std::slice::from_ref(&place.to_owned())) else { return false };
    let tree = worktree.path_text().ok().and_then(|text| files_of_worktree(ctx, checkpoint, &text));
    tree.is_some_and(|tree| paths.iter().any(|path| ctx.repo.trees().is_in_tree(&tree, path).unwrap_or_default()))
}

/// The checkpoint that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewestDifferingCheckpoint {
    /// Its name.
    pub name: CheckpointName,
    /// Whether a path is not as it is now: else it is the newest of those in which all are the same.
    pub differs: bool,
}

/// The newest complete checkpoint that holds each of these paths, and in which one of them is not as it is now. So a path that no
/// checkpoint has is never taken away.
pub fn newest_differing(ctx: &Context, paths: &[PathBuf]) -> Result<NewestDifferingCheckpoint> {
    let worktrees = worktrees(ctx)?;
    let (worktree, named) = in_one_worktree(&worktrees, paths)?;
    let now = ctx.repo.captures().capture_worktree(worktree, &capture_options(ctx))?.tree;
    let files = FilesToBringBack { worktree: worktree.path_text()?, paths: named, now };
    let all = ctx.state().record.checkpoints.by_age()?;
    let (mut known, mut complete, mut same) = (vec![false; files.paths.len()], 0_usize, None);
    for record in all.iter().rev().filter(|record| record.only.is_none()) {
        // One that cannot be read is none from which anything comes back.
        let Some(then) = files_of_worktree(ctx, record, &files.worktree) else { continue };
        complete += 1;
        match differs(ctx, &files, &then, &mut known) {
            Ok(Some(true)) => return Ok(NewestDifferingCheckpoint { name: record.name.clone(), differs: true }),
            Ok(Some(false)) if same.is_none() => same = Some(record.name.clone()),
            Ok(_) | Err(_) => {}
        }
    }
    if let Some(name) = same.filter(|_| known.iter().all(|known| *known)) {
        return Ok(NewestDifferingCheckpoint { name, differs: false });
    }
    Err(none(ctx, (&files, &known), complete, paths))
}

/// Whether a path is not as it is now; `None` where the checkpoint does not hold all of them. `known` says which paths were in one.
fn differs(ctx: &Context, files: &FilesToBringBack, then: &Oid, known: &mut [bool]) -> Result<Option<bool>> {
    let (mut holds_all, mut differs) = (true, false);
    for (path, known) in files.paths.iter().zip(known) {
        let [old, new] = [then, &files.now].map(|tree| entry(ctx, tree, path));
        let (old, new) = (old?, new?);
        *known |= old.is_some();
        holds_all &= old.is_some();
        differs |= old != new;
    }
    Ok(holds_all.then_some(differs))
}

/// What a tree has at a path: mode and id.
fn entry(ctx: &Context, tree: &Oid, path: &RepoPath) -> Result<Option<(u32, Oid)>> {
    match path.as_bytes().is_empty() {
        true => Ok(Some((0, tree.clone()))),
        false => ctx.repo.trees().mode_and_id(tree, path),
    }
}

fn none(ctx: &Context, (files, known): (&FilesToBringBack, &[bool]), complete: usize, paths: &[PathBuf]) -> Error {
    let no_checkpoint = |what: String| Error::new(Code::InvalidInput, what);
    if complete == 0 {
        return Error::new(Code::UnknownCheckpoint, "there is no complete checkpoint of this worktree yet")
            .hint("git axiom checkpoint create    makes one");
    }
    let unknown = files.paths.iter().zip(known).zip(paths).find(|((_, known), _)| !**known);
    if let Some(((path, _), place)) = unknown {
        let is_here = place.symlink_metadata().is_ok();
        if is_here {
            return no_checkpoint(format!("no complete checkpoint has '{path}'"))
                .why("it is new, ignored, excluded, in a submodule, or in a nested repository")
                .hint(format!("git axiom restore NAME -- {}    names the checkpoint", shell_word(&path.to_string())));
        }
        let word = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let names = ctx.state().record.checkpoints.all().unwrap_or_default();
        let error = no_checkpoint(format!(
            "'{path}' is no checkpoint, and neither the worktree nor a complete checkpoint has it as a file"
        ));
        return nearest::hinted(
            error,
            &word,
            names.iter().map(|record| record.name.as_str()),
            "git axiom checkpoint list    lists the checkpoints",
        );
    }
    no_checkpoint("no complete checkpoint has all that was named".to_owned())
        .hint("repeat the command for each, or name a checkpoint: git axiom restore NAME -- PATH")
}

/// The worktrees that are here, the main one first.
fn worktrees(ctx: &Context) -> Result<Vec<Worktree>> {
    let main = ctx.repo.worktrees().main_worktree()?;
    Ok(std::iter::once(main).chain(ctx.repo.worktrees().list_linked()?).collect())
}
