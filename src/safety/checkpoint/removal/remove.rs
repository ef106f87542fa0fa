//! Deleting checkpoints: one journaled operation on their capture refs, which undo reverts like any other. Tags and notes
//! are removed afterwards: see [`crate::checkpoint::heal`].

use std::collections::BTreeMap;

use jiff::SignedDuration;

use super::release;
use crate::checkpoint;
use crate::checkpoint::CheckpointRequest;
use crate::checkpoint::heal;
use crate::context::handle::Context;
use crate::operation;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::forms::plural::count;
use axiom_model::base::ids::{CheckpointName, OperationId};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::{capture_ref, checkpoint_tag};
use axiom_model::base::ref_change::RefChange;
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::journal::journaled::{JournaledOperation, OperationKind};
use axiom_model::queries::retention::{RetentionProtection, RetentionRules};
use axiom_model::queries::{expired_checkpoints, retention};

/// The retention rules of the configuration.
pub fn rules(ctx: &Context) -> RetentionRules {
    let config = &ctx.config.checkpoints;
    RetentionRules {
        max_count: config.max_count,
        max_age_days: config.max_age_days,
        protect_named: config.protect_named,
        keep_deleted_days: config.keep_deleted_days,
        keep_prompts: ctx.config.attach.keep_prompts,
    }
}

/// What was deleted.
#[derive(Debug, Clone)]
pub struct CheckpointDeletionReport {
    /// The names of the deleted checkpoints, oldest first.
    pub names: Vec<CheckpointName>,
    /// The transaction id, for `undo`. `None` where there was nothing to delete.
    pub txn: Option<OperationId>,
}

/// The checkpoints that `names` mean, each once. Protected ones are allowed only if `protected`.
pub fn chosen(ctx: &Context, names: &[String], protected: bool) -> Result<Vec<CheckpointRecord>> {
    let kept = retention::protections(ctx.state(), &rules(ctx), env::now())?;
    let mut chosen: BTreeMap<(u64, CheckpointName), CheckpointRecord> = BTreeMap::new();
    for name in names {
        let record = checkpoint::find(ctx, name)?;
        for why in kept.get(&record.name).into_iter().flatten().rev() {
            match why {
                // The newest checkpoints are protected from retention, but the user may delete them.
                RetentionProtection::Newest => {}
                RetentionProtection::OpenOperation => ctx.no_open_operation()?,
                RetentionProtection::Named | RetentionProtection::Undo | RetentionProtection::SessionStart if !protected => {
                    return Err(Error::new(Code::Protected, format!("checkpoint '{}' is protected", record.name))
                        .why(why.why())
                        .hint("--protected deletes it anyway"));
                }
                RetentionProtection::Named | RetentionProtection::Undo | RetentionProtection::SessionStart => {}
            }
        }
        chosen.insert((record.seq, record.name.clone()), record);
    }
    Ok(chosen.into_values().collect())
}

/// What `cleanup` would delete; see [`expired_checkpoints::cleanup`]. Without an age and a count: what retention would delete.
pub fn cleanup_plan(
    ctx: &Context,
    older_than: Option<SignedDuration>,
    keep: Option<usize>,
    named: bool,
) -> Result<Vec<CheckpointName>> {
    let (state, rules, now) = (ctx.state(), rules(ctx), env::now());
    if ctx.found.nothing_expires && older_than.is_none() && keep.is_none() {
        return Err(Error::new(
            Code::ConfigInvalid,
            "a part of the configuration does not count now, so how many are kept is unknown",
        )
        .hint("see the note above; or say what to delete with --older-than or --keep"));
    }
    match (older_than, keep) {
        (None, None) => expired_checkpoints::expired(state, &rules, now),
        (age, keep) => {
            expired_checkpoints::cleanup(state, &rules, now, age.unwrap_or(SignedDuration::ZERO), keep.unwrap_or_default(), named)
        }
    }
}

/// How many checkpoints their names alone keep from being deleted unasked.
pub fn protected_by_name(ctx: &Context) -> Result<usize> {
    let kept = retention::protections(ctx.state(), &rules(ctx), env::now())?;
    Ok(kept.values().filter(|reasons| reasons.contains(&RetentionProtection::Named)).count())
}

/// Deletes checkpoints; waits for other operations. Their contents are kept for `keepDeletedDays`, so that undo can bring
/// them back. A crash leaves all of them, or an operation that the next recovery finishes.
pub fn delete(ctx: &mut Context, names: &[CheckpointName]) -> Result<CheckpointDeletionReport> {
    ctx.with_change_lock(|ctx| delete_locked(ctx, names, DeletedCheckpointFate::ForUndo))
}

/// As [`delete`], after a checkpoint of the state before.
pub fn clean_up(ctx: &mut Context, names: &[CheckpointName]) -> Result<CheckpointDeletionReport> {
    if names.is_empty() {
        return Ok(CheckpointDeletionReport { names: Vec::new(), txn: None });
    }
    ctx.with_change_lock(|ctx| {
        checkpoint::create_locked(ctx, &CheckpointRequest::by(CheckpointTrigger::BeforeCleanup))?;
        let deleted = delete_locked(ctx, names, DeletedCheckpointFate::ForUndo)?;
        if let Err(error) = release::release(ctx) {
            tracing::warn!(%error, "what has had its time is kept for longer");
        }
        Ok(deleted)
    })
}

/// What becomes of the contents of a checkpoint that is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::checkpoint) enum DeletedCheckpointFate {
    /// They are kept for `keepDeletedDays`.
    ForUndo,
    /// Nothing keeps them any more.
    Nothing,
}

pub(in crate::checkpoint) fn delete_locked(
    ctx: &mut Context,
    names: &[CheckpointName],
    keep: DeletedCheckpointFate,
) -> Result<CheckpointDeletionReport> {
    ctx.no_open_operation()?;
    checkpoint::complete_intent(ctx)?;
    // Another process may have deleted some while this one waited for the lock.
    let mut there: Vec<CheckpointRecord> = Vec::new();
    for name in names {
        there.extend(ctx.state().record.checkpoints.get(name)?.cloned());
    }
    there.sort_by(|a, b| a.age().cmp(&b.age()));
    if there.is_empty() {
        return Ok(CheckpointDeletionReport { names: Vec::new(), txn: None });
    }
    let now = env::now();
    let days = match keep {
        DeletedCheckpointFate::ForUndo => SignedDuration::from_hours(24 * i64::from(ctx.config.checkpoints.keep_deleted_days)),
        DeletedCheckpointFate::Nothing => SignedDuration::ZERO,
    };
    let kind = OperationKind::DeleteCheckpoints { until: now.checked_add(days).unwrap_or(now) };
    let title = match there.as_slice() {
        [one] => format!("delete checkpoint {}", one.name),
        many => format!("delete {}", count(many.len(), "checkpoint")),
    };
    let mut operation = JournaledOperation::new(kind, title);
    let names: Vec<RefName> = there.iter().map(|record| capture_ref(&record.name)).collect();
    let values = ctx.repo.refs().read_refs(&names)?;
    operation.refs.extend(rewritten_tags(ctx, &there, &values)?);
    for name in names {
        let old = values.get(&name).cloned();
        // A missing commit cannot be kept: its contents are lost already.
        let there =
            old.clone().filter(|capture| keep == DeletedCheckpointFate::ForUndo && ctx.repo.objects().has_object(capture));
        operation.kept.extend(there);
        operation.refs.push(RefChange { name, value: ValueChange::new(old, None) });
    }
    operation::run(ctx, operation)?;
    env::fault_point("checkpoint.captures-gone");
    heal::clear_deleted(ctx)?;
    let names = there.into_iter().map(|record| record.name).collect();
    Ok(CheckpointDeletionReport { names, txn: Some(ctx.txn().clone()) })
}

/// The tags of checkpoints that a rewrite of the history has ended: it has rewritten them too, so that they are none that we know.
fn rewritten_tags(ctx: &Context, there: &[CheckpointRecord], now: &BTreeMap<RefName, Oid>) -> Result<Vec<RefChange>> {
    let rewritten = there.iter().filter(|record| now.get(&capture_ref(&record.name)).is_some_and(|now| *now != record.capture));
    let mut changes = Vec::new();
    for record in rewritten {
        let name = checkpoint_tag(&record.name);
        let tag = ctx.repo.refs().read_ref(&name)?.filter(|tag| *tag != record.tag);
        if let Some(tag) = tag
            && ctx.repo.checkpoints().is_tag_of_ours(&record.name, &tag)?
        {
            changes.push(RefChange { name, value: ValueChange::new(Some(tag), None) });
        }
    }
    Ok(changes)
}
