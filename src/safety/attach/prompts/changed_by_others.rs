//! Which of the files that going back to a prompt changes were changed since by somebody else than its session: by another session, or by the
//! human while the session rested.

use std::collections::BTreeSet;
use std::path::Path;

use crate::attach::prompts;
use crate::attach::sessions;
use crate::checkpoint;
use crate::checkpoint::files_of_worktree;
use crate::context::handle::Context;
use axiom_base::error::{Result, some_of};
use axiom_model::base::names::Oid;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::stamp::AttachedSessionStamp;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_store::beside::attach::AttachFiles;

/// How many files are named.
const NAMED: usize = 5;
/// The most checkpoints that are compared.
const MOST: usize = 200;

/// What a human ought to know of a rollback to a prompt, which takes these worktrees back too; `None` where nothing is known of others.
pub fn note(ctx: &Context, number: u32, beside: &[String]) -> Result<Option<String>> {
    let (record, document) = prompts::find(ctx, number)?;
    let Some(stamp) = document.attached else { return Ok(None) };
    let mut paths = changed(ctx, &record, &stamp)?;
    for worktree in beside {
        let there = AttachedSessionStamp { worktree: worktree.clone(), ..(*stamp).clone() };
        let inside = changed(ctx, &record, &there)?.into_iter();
        paths.extend(inside.map(|path| Path::new(worktree).join(path).display().to_string()));
    }
    Ok((!paths.is_empty()).then(|| format!("changed since by you or another session too: {}", some_of(&paths, NAMED))))
}

/// The same for the files that a prompt changed, by their paths in the worktree of its session.
pub fn among(ctx: &Context, number: u32, changed_files: &[String]) -> Result<Option<String>> {
    let (record, document) = prompts::find(ctx, number)?;
    let Some(stamp) = document.attached else { return Ok(None) };
    let mut paths = changed(ctx, &record, &stamp)?;
    paths.retain(|path| changed_files.contains(path));
    Ok((!paths.is_empty()).then(|| format!("not this prompt alone changed: {}", some_of(&paths, NAMED))))
}

/// These files, sorted. The checkpoints between tell whose a change is: what differs between the end of the session's turn and its next
/// prompt, and what a checkpoint of another session's edits adds, is not its work.
fn changed(ctx: &Context, record: &CheckpointRecord, stamp: &AttachedSessionStamp) -> Result<Vec<String>> {
    let entry = ctx.repo.worktrees().worktree_at(Path::new(&stamp.worktree))?.filter(|entry| entry.present);
    let (Some(entry), Some(then)) = (entry, files_of_worktree(ctx, record, &stamp.worktree)) else { return Ok(Vec::new()) };
    let now = ctx.repo.captures().capture_worktree(&entry.worktree, &checkpoint::capture_options(ctx))?.tree;
    let since = ctx.state().record.checkpoints.after(&record.name)?.into_iter().take(MOST);
    let is_own = |one: &CheckpointRecord| one.attached.as_ref().is_some_and(|of| of.session == stamp.session);
    let mut others = BTreeSet::new();
    // What the session left last, and what the last checkpoint of anybody holds.
    let (mut left, mut last) = (then.clone(), then.clone());
    for one in since {
        let Some(tree) = files_of_worktree(ctx, one, &stamp.worktree) else { continue };
        match (is_own(one), one.trigger) {
            (true, CheckpointTrigger::Prompt) => add(ctx, &mut others, &left, &tree)?,
            (false, CheckpointTrigger::Edits) if one.attached.is_some() => add(ctx, &mut others, &last, &tree)?,
            (true | false, _) => {}
        }
        if is_own(one) {
            left = tree.clone();
        }
        last = tree;
    }
    let rests =
        sessions::list(ctx).into_iter().find(|one| one.id == stamp.session).is_none_or(|one| one.rests || !one.is_alive());
    // What the session did last may wait to be saved in the background: then it is not known whose it is.
    if rests && AttachFiles::of(ctx.layout()).lines().is_empty() {
        add(ctx, &mut others, &left, &now)?;
    }
    let mut goes_back = BTreeSet::new();
    add(ctx, &mut goes_back, &then, &now)?;
    Ok(others.intersection(&goes_back).cloned().collect())
}

fn add(ctx: &Context, paths: &mut BTreeSet<String>, old: &Oid, new: &Oid) -> Result<()> {
    if old != new {
        paths.extend(ctx.repo.history().diff_trees(old, new)?.into_iter().map(|change| change.path.to_string()));
    }
    Ok(())
}
