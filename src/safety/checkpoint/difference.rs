//! Comparing a checkpoint with another one, or with the present files.

use std::sync::Arc;

use serde::Serialize;

use super::captures::capture_options;
use super::checkpoint_list::{find, read_document};
use super::submodules::{options_within, repository_of};
use crate::context::handle::Context;
use crate::operation::differences::{ComparedCapture, differences, differences_of_two};
use axiom_base::error::{Code, Error, Result};
use axiom_git::{CaptureExtras, Repository, TREE, TreeChange, TreeEntry, Worktree};
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::operation::change_json::FileChange;

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedPath {
    /// The path.
    pub path: RepoPath,
    /// How it differs.
    pub change: FileChange,
}

/// Which files differ.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointDifference {
    /// The older side: a checkpoint.
    pub old: CheckpointName,
    /// The other one; `None` for the files as they are now.
    pub new: Option<CheckpointName>,
    /// With those of which only bytes differ that git's conversions hide; without `--json` these are named on standard error.
    pub files: Vec<ChangedPath>,
    /// The trees of both sides, for git.
    #[serde(skip)]
    pub trees: (Oid, Oid),
    /// The submodules in which files differ.
    #[serde(skip)]
    pub submodules: Vec<SubmoduleDifference>,
    /// Paths of `files` that are equal in both trees: they differ only in bytes that git's conversions hide.
    #[serde(skip)]
    pub hidden: Vec<RepoPath>,
}

impl CheckpointDifference {
    /// What `git diff` prints of it with these options, submodules too. Writes at most objects that nothing refers to.
    pub fn shown_by_git(&self, ctx: &Context, options: &[&str]) -> Result<Vec<u8>> {
        let of = |repo: &Repository, more: &[&str], (old, new): &(Oid, Oid)| {
            let git = repo.git().args(["diff", "--no-ext-diff"]).args(more).args(options);
            Ok::<_, Error>(git.args([old.as_str(), new.as_str(), "--"]).run_ok()?.stdout)
        };
        let mut whole = of(&ctx.repo, &[], &self.trees)?;
        for inner in &self.submodules {
            whole.extend(of(&inner.repo, &["--no-textconv"], &inner.trees_from_above()?)?);
        }
        Ok(whole)
    }
}

/// Compares the files that a checkpoint holds of the current worktree with those of another checkpoint, or with the files as
/// they are now, tracked and untracked. Changes nothing.
pub fn difference(ctx: &Context, from: &str, to: Option<&str>) -> Result<CheckpointDifference> {
    let from = find(ctx, from)?;
    let to = to.map(|to| find(ctx, to)).transpose()?;
    let worktree = ctx.repo.worktrees().current_worktree()?;
    let old = held(ctx, &from, &worktree)?;
    let (new, changes) = match &to {
        Some(to) => {
            let new = held(ctx, to, &worktree)?;
            let changes = differences_of_two(&ctx.repo, old.files(), new.files())?;
            (new.tree, changes)
        }
        None => {
            let now = ctx.repo.captures().capture_worktree(&worktree, &capture_options(ctx))?;
            let back = differences(&ctx.repo, (&worktree, &now), old.files(), None)?;
            (now.tree, back.into_iter().map(TreeChange::reversed).collect())
        }
    };
    let hidden = changes.iter().filter(|change| change.is_of_bytes_alone()).map(|change| change.path.clone()).collect();
    let files = changes.into_iter().map(|change| ChangedPath { change: change.what(), path: change.path });
    let mut files: Vec<ChangedPath> = files.collect();
    let submodules = in_submodules(ctx, (&from, to.as_ref()), &worktree)?;
    files.extend(submodules.iter().flat_map(|one| one.files.iter().cloned()));
    Ok(CheckpointDifference { old: from.name, new: to.map(|to| to.name), files, trees: (old.tree, new), hidden, submodules })
}

/// The difference in one submodule.
#[derive(Debug, Clone)]
pub struct SubmoduleDifference {
    /// Its path in the worktree.
    pub path: RepoPath,
    /// Its repository.
    pub repo: Arc<Repository>,
    /// The trees of both sides, in that repository.
    pub trees: (Oid, Oid),
    /// The paths that differ, from the worktree.
    pub files: Vec<ChangedPath>,
}

impl SubmoduleDifference {
    /// The trees of both sides below the submodule's path, as whoever looks from the worktree around sees them. Writes objects that
    /// nothing refers to.
    fn trees_from_above(&self) -> Result<(Oid, Oid)> {
        let below = |tree: &Oid| {
            self.path.as_bytes().split(|byte| *byte == b'/').rev().try_fold(tree.clone(), |inner, name| {
                self.repo.trees().write_tree(&[TreeEntry { mode: TREE, oid: inner, name: name.into() }])
            })
        };
        Ok((below(&self.trees.0)?, below(&self.trees.1)?))
    }
}

/// A submodule's repository, and its captures in two checkpoints.
type SubmoduleCapturePair = (Arc<Repository>, (Oid, Oid));

/// The submodules of a worktree that two checkpoints hold differently: their repositories and trees of files.
pub(crate) fn submodules_between(
    ctx: &Context,
    (from, to): (&CheckpointRecord, &CheckpointRecord),
    worktree: &str,
) -> Result<Vec<SubmoduleCapturePair>> {
    let (old, new) = (read_document(ctx, from)?, read_document(ctx, to)?);
    let mut found = Vec::new();
    for then in old.submodules_in(worktree) {
        let later = new.submodules_in(worktree).find(|one| one.path == then.path && one.capture != then.capture);
        let Some(later) = later else { continue };
        let Ok(repo) = repository_of(ctx, then) else { continue };
        if repo.connectivity().holds(&later.capture) {
            let [old, new] = [then, later].map(|one| repo.captures().capture_parts(&one.capture).map(|parts| parts.files));
            let trees = (old?, new?);
            found.push((repo, trees));
        }
    }
    Ok(found)
}

/// The differences in the submodules that the older checkpoint holds and that are on both sides.
fn in_submodules(
    ctx: &Context,
    (from, to): (&CheckpointRecord, Option<&CheckpointRecord>),
    worktree: &Worktree,
) -> Result<Vec<SubmoduleDifference>> {
    let Ok(old) = read_document(ctx, from) else { return Ok(Vec::new()) };
    let new = to.map(|to| read_document(ctx, to)).transpose()?;
    let place = worktree.path_text()?;
    let mut found = Vec::new();
    for then in old.submodules_in(&place) {
        let Ok(repo) = repository_of(ctx, then) else { continue };
        let held = repo.captures().capture_parts(&then.capture)?.files;
        let extras = CaptureExtras::of_capture(&repo, &then.capture)?;
        let before = ComparedCapture { tree: &held, extras: &extras, coverage: Some(&then.coverage) };
        let (tree, changes) = match &new {
            Some(new) => {
                let Some(later) = new.submodules_in(&place).find(|one| one.path == then.path) else { continue };
                let tree = repo.captures().capture_parts(&later.capture)?.files;
                let extras = CaptureExtras::of_capture(&repo, &later.capture)?;
                let after = ComparedCapture { tree: &tree, extras: &extras, coverage: Some(&later.coverage) };
                let changes = differences_of_two(&repo, before, after)?;
                (tree, changes)
            }
            None => {
                let there = repo.submodule_worktree();
                let options = options_within(&capture_options(ctx), &then.path);
                // Another repository in its place is not compared with it.
                if there.path().is_dir() && there.verify().is_err() {
                    continue;
                }
                let now = match there.path().is_dir() {
                    true => repo.captures().capture_worktree(&there, &options)?,
                    false => repo.captures().capture_without_files(&there, &options)?,
                };
                let back = differences(&repo, (&there, &now), before, None)?;
                (now.tree, back.into_iter().map(TreeChange::reversed).collect())
            }
        };
        let line = |change: TreeChange| ChangedPath { change: change.what(), path: then.path.join(&change.path) };
        let files: Vec<ChangedPath> = changes.into_iter().filter(TreeChange::changes_a_file).map(line).collect();
        if !files.is_empty() {
            found.push(SubmoduleDifference { path: then.path.clone(), repo, trees: (held, tree), files });
        }
    }
    Ok(found)
}

/// What a checkpoint holds of a worktree.
struct CheckpointWorktree {
    tree: Oid,
    extras: CaptureExtras,
    coverage: Option<CaptureCoverage>,
}

impl CheckpointWorktree {
    fn files(&self) -> ComparedCapture<'_> {
        ComparedCapture { tree: &self.tree, extras: &self.extras, coverage: self.coverage.as_ref() }
    }
}

fn held(ctx: &Context, record: &CheckpointRecord, worktree: &Worktree) -> Result<CheckpointWorktree> {
    let document = read_document(ctx, record);
    let (capture, coverage) = if worktree.is_main() {
        // Where the document is damaged, only the coverage is unknown: the capture is in the record.
        (record.capture.clone(), document.ok().and_then(|document| document.main_coverage().cloned()))
    } else {
        let document = document?;
        let coverage = worktree.path().to_str().and_then(|path| document.coverage.get(path)).cloned();
        (capture_of(record, document, worktree)?, coverage)
    };
    let extras = CaptureExtras::of_capture(&ctx.repo, &capture)?;
    Ok(CheckpointWorktree { tree: ctx.repo.objects().read_commit(&capture)?.tree, extras, coverage })
}

/// The capture of a linked worktree.
fn capture_of(record: &CheckpointRecord, document: CheckpointDocument, worktree: &Worktree) -> Result<Oid> {
    let then = document.workspaces.into_iter().find(|then| std::path::Path::new(&then.path) == worktree.path());
    then.map(|then| then.capture).ok_or_else(|| {
        let what = format!("checkpoint '{}' holds no worktree at '{}'", record.name, worktree.path().display());
        Error::new(Code::InvalidInput, what).hint("call it in another worktree: git -C PATH axiom checkpoint diff NAME")
    })
}
