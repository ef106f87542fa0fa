//! What a session did in other worktrees than that of its prompt: a subagent may have one of its own, which is made, worked in, and removed
//! between two prompts.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use crate::attach::since::head_since::{HeadSincePrompt, head_since};
use crate::checkpoint;
use crate::checkpoint::{capture_of_worktree, files_of_worktree};
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_base::shell_word::shell_word;
use axiom_git::TreeChange;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::stamp::AttachedSessionStamp;
use axiom_model::checkpoint::trigger::CheckpointTrigger;

/// What a prompt changed in another worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptElsewhere {
    /// The worktree.
    pub worktree: String,
    /// How many files changed there.
    pub files: usize,
    /// How many lines came.
    pub insertions: u64,
    /// How many lines went.
    pub deletions: u64,
}

/// The files of another worktree, as trees.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ElsewhereTrees {
    worktree: String,
    old: Oid,
    new: Oid,
}

/// Whether one looks at worktrees as they are now, or only as the checkpoints have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElsewhereLook {
    /// As they are now, where the session had no further prompt.
    Now,
    /// As the checkpoints have them.
    AsSaved,
}

/// The checkpoints of a session between a prompt of it and its next one; `later` are those after the prompt, the oldest first.
fn of_prompt<'r>(session: &str, later: &[&'r CheckpointRecord]) -> (Vec<&'r CheckpointRecord>, Option<&'r CheckpointRecord>) {
    let is_own = |one: &CheckpointRecord| one.attached.as_ref().is_some_and(|stamp| stamp.session == session);
    let next = later.iter().position(|one| one.trigger == CheckpointTrigger::Prompt && is_own(one));
    let until = later.get(..next.unwrap_or(later.len())).unwrap_or_default();
    (until.to_vec(), next.and_then(|next| later.get(next)).copied())
}

/// The other worktrees in which a session did something, by these checkpoints.
fn worktrees(stamp: &AttachedSessionStamp, until: &[&CheckpointRecord]) -> BTreeSet<String> {
    let own = until.iter().filter_map(|one| one.attached.as_ref()).filter(|one| one.session == stamp.session);
    own.map(|one| one.worktree.clone()).filter(|worktree| *worktree != stamp.worktree).collect()
}

/// What was there before and after a prompt. What cannot be read any more is left out.
fn trees(
    ctx: &Context,
    (record, stamp): (&CheckpointRecord, &AttachedSessionStamp),
    later: &[&CheckpointRecord],
    look: ElsewhereLook,
) -> Result<Vec<ElsewhereTrees>> {
    let (until, next) = of_prompt(&stamp.session, later);
    trees_between(ctx, (record, stamp), (&until, next), look)
}

fn trees_between(
    ctx: &Context,
    (record, stamp): (&CheckpointRecord, &AttachedSessionStamp),
    (until, next): (&[&CheckpointRecord], Option<&CheckpointRecord>),
    look: ElsewhereLook,
) -> Result<Vec<ElsewhereTrees>> {
    let mut found = Vec::new();
    for worktree in worktrees(stamp, until) {
        let mut saved = next.into_iter().chain(until.iter().rev().copied());
        let new = match now(ctx, &worktree).filter(|_| look == ElsewhereLook::Now && next.is_none()) {
            Some(tree) => Some(tree),
            None => saved.find_map(|one| files_of_worktree(ctx, one, &worktree)),
        };
        if let (Some(old), Some(new)) = (before(ctx, (record, stamp), until, &worktree)?, new) {
            found.push(ElsewhereTrees { worktree, old, new });
        }
    }
    Ok(found)
}

/// What becomes of other worktrees in which a session worked when its prompt is gone back to.
pub(super) struct ElsewhereRollback {
    /// Those that go back too.
    pub others: Vec<String>,
    /// What ought to be known of the rest.
    pub notes: Vec<String>,
}

/// Those go back that the checkpoint holds, that are there, and whose HEAD nobody else moved.
pub(super) fn rollback(
    ctx: &Context,
    (record, document): (&CheckpointRecord, &CheckpointDocument),
    stamp: &AttachedSessionStamp,
) -> Result<ElsewhereRollback> {
    let later = ctx.state().record.checkpoints.after(&record.name)?;
    let (mut others, mut notes) = (Vec::new(), Vec::new());
    for worktree in worktrees(stamp, &later) {
        let entry = ctx.repo.worktrees().worktree_at(Path::new(&worktree))?.filter(|entry| entry.present);
        let held = document.workspaces.iter().find(|one| one.path == worktree);
        let (name, place) = (&record.name, shell_word(&worktree));
        let note = match (entry, held) {
            (None, None) => continue,
            (None, Some(_)) => format!(
                "'{worktree}', where this session worked too, is gone: 'git axiom restore {name} -- {place}' brings its files back"
            ),
            (Some(entry), None) if entry.worktree.is_main() => format!(
                "this session worked in '{worktree}' too, which stays: 'git axiom rollback checkpoint {name} --worktree {place}'"
            ),
            (Some(_), None) => {
                format!("'{worktree}', which is newer than that prompt, stays as it is: 'git worktree remove {place}' removes it")
            }
            (Some(_), Some(_)) => match head_since(ctx, document, (&stamp.session, &worktree))? {
                HeadSincePrompt::Same | HeadSincePrompt::OwnCommits(_) => {
                    others.push(worktree);
                    continue;
                }
                HeadSincePrompt::Others => format!(
                    "'{worktree}', where this session worked too, stays, since not it alone moved its HEAD: 'git axiom rollback \
                     checkpoint {name} --worktree {place}'"
                ),
            },
        };
        notes.push(note);
    }
    Ok(ElsewhereRollback { others, notes })
}

/// How many files a session changed in other worktrees since this checkpoint of it.
pub(super) fn files_of_session(
    ctx: &Context,
    (first, stamp): (&CheckpointRecord, &AttachedSessionStamp),
    later: &[&CheckpointRecord],
) -> Result<usize> {
    let all = trees_between(ctx, (first, stamp), (later, None), ElsewhereLook::AsSaved)?;
    all.iter().try_fold(0, |sum, one| Ok(sum + ctx.repo.history().diff_trees(&one.old, &one.new)?.len()))
}

/// A worktree's files now; `None` where it is gone.
fn now(ctx: &Context, worktree: &str) -> Option<Oid> {
    let entry = ctx.repo.worktrees().worktree_at(Path::new(worktree)).ok()??;
    let entry = Some(entry).filter(|entry| entry.present)?;
    Some(ctx.repo.captures().capture_worktree(&entry.worktree, &checkpoint::capture_options(ctx)).ok()?.tree)
}

/// A worktree's files before the prompt. One that is newer began where its history left that of the session.
fn before(
    ctx: &Context,
    (record, stamp): (&CheckpointRecord, &AttachedSessionStamp),
    until: &[&CheckpointRecord],
    worktree: &str,
) -> Result<Option<Oid>> {
    if let Some(then) = files_of_worktree(ctx, record, worktree) {
        return Ok(Some(then));
    }
    let Some(first) = until.iter().find_map(|one| capture_of_worktree(ctx, one, worktree)) else { return Ok(None) };
    let began = ctx.repo.captures().capture_parts(&first)?.base;
    let own = capture_of_worktree(ctx, record, &stamp.worktree).map(|own| ctx.repo.captures().capture_parts(&own)).transpose()?;
    let forked = own.map(|own| ctx.repo.history().merge_base(&own.base, &began)).transpose()?.flatten();
    Ok(Some(ctx.repo.objects().read_commit(&forked.unwrap_or(began))?.tree))
}

/// How much changed elsewhere by a prompt, by worktree.
pub(super) fn counted(
    ctx: &Context,
    (record, stamp): (&CheckpointRecord, &AttachedSessionStamp),
    later: &[&CheckpointRecord],
) -> Result<Vec<PromptElsewhere>> {
    let mut all = Vec::new();
    for ElsewhereTrees { worktree, old, new } in trees(ctx, (record, stamp), later, ElsewhereLook::AsSaved)? {
        let lines = ctx.repo.history().file_lines(&old, &new)?;
        let sum = |of: fn((u64, u64)) -> u64| lines.iter().filter_map(|file| file.lines).map(of).sum();
        if !lines.is_empty() {
            all.push(PromptElsewhere { worktree, files: lines.len(), insertions: sum(|of| of.0), deletions: sum(|of| of.1) });
        }
    }
    Ok(all)
}

/// The changes elsewhere, with paths from the session's worktree where they are in it, else from the root of the system.
pub(super) fn changes(
    ctx: &Context,
    (record, stamp): (&CheckpointRecord, &AttachedSessionStamp),
    later: &[&CheckpointRecord],
) -> Result<Vec<TreeChange>> {
    let mut all = Vec::new();
    for ElsewhereTrees { worktree, old, new } in trees(ctx, (record, stamp), later, ElsewhereLook::Now)? {
        let place = Path::new(&worktree);
        let inside = place.strip_prefix(&stamp.worktree).or_else(|_| place.strip_prefix("/")).unwrap_or(place);
        let prefix = RepoPath::new(inside.display().to_string());
        let moved = |change: TreeChange| TreeChange { path: prefix.join(&change.path), ..change };
        all.extend(ctx.repo.history().diff_trees(&old, &new)?.into_iter().map(moved));
    }
    Ok(all)
}
