//! The contents that are to go: what the path has, or ever had, in captures, in commits, in what is kept for undo.

use std::collections::BTreeSet;

use super::find::PurgeSubject;
use axiom_base::error::Result;
use axiom_git::{ObjectGraph, RefValue, Repository, TREE};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::own_names::{KEPT, LIVE, LOST};
use axiom_model::checkpoint::purge::CaptureRemovals;
use axiom_safety::checkpoint;
use axiom_safety::context::handle::Context;

/// What is taken out of captures.
pub(super) fn cut(subject: &PurgeSubject) -> CaptureRemovals {
    CaptureRemovals { path: subject.path.clone(), blobs: subject.blob.iter().cloned().collect() }
}

/// All that is at the path in captures, in commits that only we hold, in what undo needs, and in the history of branches; or the
/// content that was named. `graph` is all that only we hold.
pub(super) fn of(ctx: &Context, subject: &PurgeSubject, own: &[RefValue], graph: &ObjectGraph) -> Result<BTreeSet<Oid>> {
    // It may be that of a submodule alone.
    let is_here = |blob: &&Oid| ctx.repo.forgotten().is_blob(blob);
    let Some(path) = &subject.path else { return Ok(subject.blob.iter().filter(is_here).cloned().collect()) };
    let captures = ctx.repo.capture_rewrites();
    let mut found = BTreeSet::new();
    for record in ctx.state().record.checkpoints.all()? {
        found.extend(captures.contents_at(&record.capture, path));
        for workspace in &checkpoint::read_document(ctx, record)?.workspaces {
            found.extend(captures.contents_at(&workspace.capture, path));
        }
    }
    for live in live(ctx)? {
        found.extend(captures.contents_at(&live.oid, path));
    }
    // What something else held when the path was taken out before may be held by nothing now.
    let cut = cut(subject);
    let before = ctx.state().record.left_by_purges.iter().filter(|left| cut.names(&left.path));
    found.extend(before.flat_map(|left| &left.contents).filter(|oid| ctx.repo.forgotten().is_blob(oid)).cloned());
    let kept: BTreeSet<&Oid> = own.iter().filter(|value| is_kept(&value.name)).map(|value| &value.oid).collect();
    found.extend(in_commits(ctx, graph, &kept, path)?.into_iter().flat_map(|(_, contents)| contents));
    for kept in kept {
        found.extend(in_kept(&ctx.repo, kept, path)?);
    }
    let others = super::others();
    let refs: Vec<&str> = others.iter().map(String::as_str).collect();
    found.extend(ctx.repo.history().contents_ever_at(path, &refs)?);
    Ok(found)
}

/// The commits that only we hold and that have the path, with its contents there. Commits of our own making without files are left out,
/// those that are `kept` too.
pub(super) fn in_commits(
    ctx: &Context,
    graph: &ObjectGraph,
    kept: &BTreeSet<&Oid>,
    path: &RepoPath,
) -> Result<Vec<(Oid, BTreeSet<Oid>)>> {
    let structure = ctx.repo.capture_rewrites().structure(graph.commits().map(|(commit, _)| commit));
    let mut found = Vec::new();
    for (commit, tree) in graph.commits().filter(|(commit, _)| !structure.contains(*commit) && !kept.contains(commit)) {
        let contents = ctx.repo.forgotten().contents_at(tree, path)?;
        if !contents.is_empty() {
            found.push((commit.clone(), contents));
        }
    }
    Ok(found)
}

/// What the trees of worktrees have at the path that are kept for an undo.
pub(super) fn in_kept(repo: &Repository, kept: &Oid, path: &RepoPath) -> Result<BTreeSet<Oid>> {
    let objects = repo.objects();
    let mut found = BTreeSet::new();
    for entry in repo.trees().read_tree(&objects.read_commit(kept)?.tree)?.into_iter().filter(|entry| entry.mode == TREE) {
        found.extend(repo.forgotten().contents_at(&entry.oid, path)?);
    }
    Ok(found)
}

pub(super) fn is_kept(name: &RefName) -> bool {
    name.as_str().starts_with(KEPT)
}

/// Captures of work that goes on, and of what was lost.
pub(super) fn live(ctx: &Context) -> Result<Vec<RefValue>> {
    Ok([ctx.repo.refs().refs_below(LIVE)?, ctx.repo.refs().refs_below(LOST)?].concat())
}
