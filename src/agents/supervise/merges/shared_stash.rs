//! The stash is one for all worktrees: an agent that says `git stash pop` in its workspace takes the user's entry. What was there when an
//! iteration began is kept alive, and an entry that is gone at its end is recorded as an operation, which `undo` takes back; the merge
//! waits for a human.

use std::collections::BTreeSet;
use std::path::Path;

use crate::merge::taken_stash::{gone, put_aside, sentence, taken_by};
use crate::supervise::core::desk::SessionDesk;
use axiom_base::error::{Error, Result};
use axiom_base::{env, files};
use axiom_git::{ExpectedRefValue, NewCommit, RefEdit};
use axiom_model::base::ids::{OperationId, TaskId};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::{BRANCHES, STASHED};
use axiom_model::checkpoint::local_refs::StashEntry;
use axiom_model::journal::journaled::{JournaledOperation, OperationKind};
use axiom_safety::context::handle::Context;
use axiom_safety::operation;

/// The file in the folder of an iteration with the entries that were there when it began.
const FILE: &str = "stash.json";
/// The largest such file that is read, and the most entries that are looked after.
const LIMIT: u64 = 4 * 1024 * 1024;
const MOST: usize = 500;

/// The ref that keeps the entries alive that were in the stash when the newest iteration of a task began.
fn stashed_ref(task: &TaskId) -> RefName {
    RefName::new(format!("{STASHED}{task}"))
}

/// Notes the entries of the stash before an iteration begins, and keeps them alive. Costs nothing where the stash is empty.
pub(crate) fn hold_stash(ctx: &Context, task: &TaskId, run: &Path) -> Result<()> {
    let mut entries = ctx.repo.stash().entries()?;
    entries.retain(|entry| !is_of_an_agent(entry));
    entries.truncate(MOST);
    if entries.is_empty() {
        return Ok(());
    }
    let (objects, refs) = (ctx.repo.objects(), ctx.repo.refs());
    let ids: BTreeSet<&Oid> = entries.iter().map(|entry| &entry.id).filter(|id| ctx.repo.connectivity().holds(id)).collect();
    let parents: Vec<Oid> = ids.into_iter().cloned().collect();
    let held = refs.read_ref(&stashed_ref(task))?.and_then(|held| objects.read_commit(&held).ok());
    if held.is_none_or(|held| held.parents != parents) {
        let (tree, who) = (ctx.repo.trees().write_tree(&[])?, objects.signature()?);
        let message = format!("the stash when an iteration of {task} began");
        let commit = objects.write_commit(&NewCommit { tree: &tree, parents, who: &who, message: &message })?;
        let edit = RefEdit { name: stashed_ref(task), expected: ExpectedRefValue::Any, new: Some(commit) };
        refs.update_refs(&[edit], "git axiom: the stash before an iteration")?;
    }
    let json = serde_json::to_vec(&entries).unwrap_or_default();
    files::write_atomic(&run.join(FILE), &json)
}

/// Records the entries that are gone since the iteration began. Where that fails it is said, and the iteration ends all the same.
pub(crate) fn stash_after(desk: &mut SessionDesk<'_>, task: &TaskId, run: &Path) {
    match note_taken(desk, task, run) {
        Ok(None) => {}
        Ok(Some((taken, txn))) => {
            desk.warn(format!("{}; git axiom undo {txn} brings back what it holds", sentence(task, &taken)))
        }
        Err(error) => desk.warn(format!("whether '{task}' took something from the stash is not known: {error}")),
    }
}

fn note_taken(desk: &mut SessionDesk<'_>, task: &TaskId, run: &Path) -> Result<Option<(Vec<StashEntry>, OperationId)>> {
    let file = run.join(FILE);
    let Some(json) = files::read_optional(&file, LIMIT)? else { return Ok(None) };
    let before: Vec<StashEntry> = serde_json::from_slice(&json).unwrap_or_default();
    let taken = gone(desk.ctx, before)?;
    let mut noted = None;
    if !taken.is_empty() {
        desk.ctx.act_as(desk.by.clone())?;
        desk.ctx.with_change_lock(|ctx| {
            let kind = OperationKind::StashTaken { task: task.clone() };
            let mut operation = JournaledOperation::new(kind, sentence(task, &taken));
            operation.kept = taken.iter().map(|entry| entry.id.clone()).collect();
            operation.stash = put_aside(&taken);
            operation::run(ctx, operation).map(drop)
        })?;
        noted = Some((taken, desk.ctx.txn().clone()));
        // What follows is no part of it: it is undone by itself.
        desk.act()?;
    }
    env::fault_point("finish.stash-noted");
    files::remove_file(&file)?;
    Ok(noted)
}

/// Why the merge of a task waits: entries that its iterations took from the stash and that are not back.
pub(crate) fn taken_from_stash(ctx: &Context, task: &TaskId) -> Result<Option<String>> {
    let entries = taken_by(ctx, task)?;
    if entries.is_empty() {
        return Ok(None);
    }
    let mut taken = ctx.state().record.tasks.get(task).into_iter().flat_map(|record| &record.stash_taken);
    let undo = taken.find(|one| entries.contains(&one.entry)).map(|one| one.operation.to_string()).unwrap_or_default();
    Ok(Some(format!(
        "{}, and its content may be in this merge (git axiom undo {undo} brings the entry back; approving merges all the same)",
        sentence(task, &entries)
    )))
}

/// Whether an agent made an entry, on the branch of its task: several work at once, and each may take its own.
fn is_of_an_agent(entry: &StashEntry) -> bool {
    let branches = BRANCHES.strip_prefix("refs/heads/").unwrap_or(BRANCHES);
    ["WIP on ", "On "].iter().any(|word| entry.message.strip_prefix(word).is_some_and(|rest| rest.starts_with(branches)))
}

/// Where an entry cannot be kept, the iteration begins all the same: nothing of the user's is changed by that.
pub(crate) fn said(error: &Error) -> String {
    format!("the stash is not looked after in this iteration: {error}")
}
