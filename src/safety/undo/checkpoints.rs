//! Checkpoints whose deletion is undone: their names must still be free, and they come back complete.

use std::collections::BTreeMap;

use crate::context::handle::Context;
use crate::{checkpoint, history};
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{CheckpointName, TaskId};
use axiom_model::base::names::Oid;
use axiom_model::base::own_names::{CAPTURES, checkpoint_tag};
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::state::event::Event;

/// Checks that the names of the checkpoints that come back are free. In use are the names of other checkpoints and of tasks
/// (archived ones too), without regard to case, and the names of other tags.
pub(super) fn names_are_free(ctx: &Context, operation: &JournaledOperation) -> Result<()> {
    let state = ctx.state();
    for (name, capture) in coming(operation) {
        let folded = name.folded();
        let all = state.record.checkpoints.all()?;
        let other = all.iter().map(|one| &one.name).find(|other| **other != name && other.folded() == folded);
        if let Some(other) = other {
            let free = format!("git axiom checkpoint delete {other}    frees the name, and can be undone in turn");
            return Err(taken(&name, format!("a checkpoint is called '{other}' now")).hint(free));
        }
        if let Some(task) = state.restorable.tasks.keys().map(TaskId::as_str).find(|id| id.to_ascii_lowercase() == folded) {
            let why = format!("a task is called '{task}' now, and tasks and checkpoints share their names, archived ones too");
            return Err(taken(&name, why));
        }
        let tag = checkpoint_tag(&name);
        let own = state.record.deleted_checkpoints.get(&capture).map(|gone| &gone.record.tag);
        if let Some(there) = ctx.repo.refs().read_ref(&tag)?
            && Some(&there) != own
            && !ctx.repo.checkpoints().is_tag_of_ours(&name, &there)?
        {
            let free = format!("rename it: git tag new-name {0} && git tag -d {0}", tag.short());
            return Err(taken(&name, format!("another tag has the name {}", tag.short())).hint(free));
        }
    }
    Ok(())
}

fn taken(name: &CheckpointName, why: String) -> Error {
    Error::new(Code::ChangedMeanwhile, format!("checkpoint '{name}' cannot be restored; nothing was touched")).why(why)
}

/// The checkpoints that an operation brings back, with their captures.
fn coming(operation: &JournaledOperation) -> Vec<(CheckpointName, Oid)> {
    let back = operation.refs.iter().filter_map(|change| match (&change.value.old, &change.value.new) {
        (None, Some(capture)) => {
            let name = CheckpointName::new(change.name.as_str().strip_prefix(CAPTURES)?).ok()?;
            Some((name, capture.clone()))
        }
        (Some(_), Some(_) | None) | (None, None) => None,
    });
    back.collect()
}

/// Rebuilds tags and notes of checkpoints that came back, and removes those of deleted checkpoints. The record of a
/// checkpoint that the state has forgotten (after the retention time) is read from the log. A crash in between leaves what
/// the next look completes.
pub(super) fn follow(ctx: &mut Context, operation: &JournaledOperation) -> Result<()> {
    let back = coming(operation);
    if back.is_empty() && !operation.refs.iter().any(|change| change.name.as_str().starts_with(CAPTURES)) {
        return Ok(());
    }
    let mut forgotten: Vec<&(CheckpointName, Oid)> = Vec::new();
    for one in &back {
        if ctx.state().record.checkpoints.get(&one.0)?.is_none() {
            forgotten.push(one);
        }
    }
    if !forgotten.is_empty() {
        let records = records_of(ctx, &forgotten)?;
        for record in records.into_values() {
            ctx.append(Event::CheckpointCreated { checkpoint: record })?;
        }
    }
    let names: Vec<CheckpointName> = back.into_iter().map(|(name, _)| name).collect();
    checkpoint::complete_all(ctx, &names).map_err(|error| {
        let what = "the undo is done, but not every tag and note of the checkpoints";
        error.context(what).hint("git axiom checkpoint verify --repair    rebuilds them")
    })
}

/// The log's records of checkpoints when they were made.
fn records_of(ctx: &Context, wanted: &[&(CheckpointName, Oid)]) -> Result<BTreeMap<CheckpointName, CheckpointRecord>> {
    let mut found = BTreeMap::new();
    history::each_event(ctx.layout(), |envelope| {
        if let Event::CheckpointCreated { checkpoint: record } = envelope.event
            && wanted.iter().any(|(name, capture)| *name == record.name && *capture == record.capture)
        {
            found.insert(record.name.clone(), record);
        }
        Ok(())
    })?;
    Ok(found)
}
