//! How many files a session changed, in its worktree and elsewhere.

use crate::attach::sessions::attached_session::AttachedSession;
use crate::attach::{elsewhere, prompts};
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_git::{Repository, TreeChange};
use axiom_model::base::names::Oid;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::stamp::AttachedSessionStamp;

/// How many files of its worktree changed since the first checkpoint of the session that is kept.
pub fn files_changed(ctx: &Context, session: &AttachedSession) -> Result<Option<usize>> {
    let all = ctx.state().record.checkpoints.by_age()?;
    let is_of_it = |stamp: &AttachedSessionStamp| stamp.session == session.id;
    let first = all.iter().find(|record| record.attached.as_deref().is_some_and(is_of_it));
    let (Some(first), Some(newest)) = (first, all.last()) else { return Ok(None) };
    let changes = |repo: &Repository, old: &Oid, new: &Oid| -> Result<Vec<TreeChange>> {
        let changes = repo.history().diff_trees(old, new)?.into_iter();
        Ok(changes.filter(TreeChange::changes_a_file).collect())
    };
    let own = prompts::between(ctx, (first, newest), &session.worktree, changes).map(|changes| changes.len());
    let Some(stamp) = first.attached.as_deref() else { return Ok(own) };
    let later: Vec<&CheckpointRecord> = all.iter().skip_while(|one| one.name != first.name).skip(1).copied().collect();
    let stamp = AttachedSessionStamp { worktree: session.worktree.clone(), ..stamp.clone() };
    let elsewhere = elsewhere::files_of_session(ctx, (first, &stamp), &later)?;
    Ok(own.map(|own| own + elsewhere))
}
