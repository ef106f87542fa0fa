//! Entries of the user's stash that went while agents worked on a task.

use axiom_base::error::{Result, some_of};
use axiom_model::base::ids::TaskId;
use axiom_model::base::ref_change::ChangeDirection;
use axiom_model::checkpoint::local_refs::StashEntry;
use axiom_model::journal::journaled_changes::StashChange;
use axiom_safety::context::handle::Context;

/// How many entries a reason names.
const NAMED: usize = 3;

/// The entries that a merge records as removed, so that its undo brings them back: those that the task's iterations took and that are
/// not back.
pub fn taken_by(ctx: &Context, task: &TaskId) -> Result<Vec<StashEntry>> {
    match ctx.state().record.tasks.get(task) {
        Some(record) if !record.stash_taken.is_empty() => {
            gone(ctx, record.stash_taken.iter().map(|one| one.entry.clone()).collect())
        }
        Some(_) | None => Ok(Vec::new()),
    }
}

/// The changes of an operation that records these entries as removed.
pub fn put_aside(entries: &[StashEntry]) -> Vec<StashChange> {
    entries.iter().map(|entry| StashChange { entry: entry.clone(), way: ChangeDirection::PutAside }).collect()
}

/// Those of the entries that are not in the stash now, and can be brought back.
pub fn gone(ctx: &Context, entries: Vec<StashEntry>) -> Result<Vec<StashEntry>> {
    let now = ctx.repo.stash().entries()?;
    let is_gone = |entry: &StashEntry| now.iter().all(|one| one.id != entry.id) && ctx.repo.connectivity().holds(&entry.id);
    Ok(entries.into_iter().filter(is_gone).collect())
}

/// What happened, in words.
pub fn sentence(task: &TaskId, entries: &[StashEntry]) -> String {
    let name =
        |entry: &StashEntry| format!("'{}'", if entry.message.is_empty() { entry.id.short() } else { entry.message.as_str() });
    let named = some_of(&entries.iter().map(name).collect::<Vec<_>>(), NAMED);
    let what = if entries.len() == 1 { "entry" } else { "entries" };
    format!("the stash {what} {named} went while an agent worked on '{task}'")
}
