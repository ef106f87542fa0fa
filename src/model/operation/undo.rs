//! Which transaction an undo undoes, and what happens to tasks and the mode. Pure.

use std::collections::BTreeSet;

use super::operation_record::{JournaledChanges, OperationRecord};
use crate::base::ids::{AgentId, OperationId, TaskId};
use crate::base::names::RefName;
use crate::base::text::ValueChange;
use crate::journal::journaled::inverse_edits;
use crate::state::current_state::State;
use crate::state::event_envelope::EventAuthor;
use crate::state::settle::edit_fits;
use crate::work::restorable::standing_changes::{TaskStandingChanges, is_put_away};
use crate::work::sessions::session::SessionMode;
use crate::work::tasks::task::{MergedTaskWork, TaskChangeSet, TaskFieldChange, TaskStatus};
use axiom_base::error::{Code, Error, Result, some_of};

/// How many tasks an error message names at most.
const NAMED: usize = 20;

/// Which transaction the user asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoSelector {
    /// The last transaction that changed refs, files or tasks permanently, is no undo, and was not undone.
    Undo,
    /// The last undo that was not undone.
    Redo,
    /// The one with this id, or with a unique beginning of it.
    Named(String),
}

/// Chooses the transaction that the user asked for.
pub fn choose<'t>(all: &'t [OperationRecord], asked: &UndoSelector) -> Result<&'t OperationRecord> {
    let depth = |transaction: &OperationRecord| taken_back(all, transaction).count();
    let nothing = |what: &str| Error::new(Code::NothingToUndo, what.to_owned()).hint("see 'git axiom log'");
    match asked {
        // The last transaction is meant. If it cannot be undone, that is an error: an older one is not undone in its place.
        UndoSelector::Undo => {
            let newest = all.iter().rev().find(|one| stands(one));
            newest.ok_or_else(|| nothing("there is no operation that can be undone")).and_then(possible)
        }
        // An undo of an undo is a redo. To reverse it, the first transaction is undone again.
        UndoSelector::Redo => {
            let mut newest = all.iter().rev().filter(|one| one.by == EventAuthor::User && depth(one) % 2 == 1);
            newest.find(|one| one.undoable()).ok_or_else(|| nothing("there is no undo that can be taken back"))
        }
        UndoSelector::Named(text) => {
            let exact = all.iter().find(|one| one.id.as_str() == text);
            let found: Vec<&OperationRecord> = match exact {
                Some(one) => vec![one],
                None => all.iter().filter(|one| one.id.as_str().starts_with(text.as_str())).collect(),
            };
            match found.as_slice() {
                [one] => possible(one),
                [] => {
                    let what = format!("there is no operation '{text}'");
                    Err(Error::new(Code::UnknownOperation, what)
                        .hint("see 'git axiom log'")
                        .hint("git axiom undo    undoes the last one"))
                }
                _ => Err(Error::new(Code::AmbiguousName, format!("'{text}' fits more than one operation"))
                    .hint("write more of the id")),
            }
        }
    }
}

/// Whether [`choose`] and [`subject`] find the same among the newest transactions `known` as among all.
pub fn is_decided_by(known: &[OperationRecord], asked: &UndoSelector) -> bool {
    let is_known = |id: &OperationId| known.iter().any(|one| one.id == *id);
    match asked {
        UndoSelector::Undo => known.iter().any(stands),
        // How often something was taken back and done again shows only together with its beginning.
        UndoSelector::Redo => known.iter().all(|one| one.undo.of.as_ref().is_none_or(is_known)) && choose(known, asked).is_ok(),
        UndoSelector::Named(id) => {
            let named = known.iter().find(|one| one.id.as_str() == id);
            named.is_some_and(|one| taken_back(known, one).all(is_known))
        }
    }
}

/// Whether a transaction is the one that a plain undo means, if no newer one is.
fn stands(one: &OperationRecord) -> bool {
    one.undo.of.is_none() && one.undo.by.is_none() && one.changes_for_good()
}

fn possible(one: &OperationRecord) -> Result<&OperationRecord> {
    match one.obstacle() {
        None => Ok(one),
        Some(why) => {
            let what = format!("'{}' cannot be undone: {}", one.id, one.what);
            Err(Error::new(Code::NotUndoable, what).why(why.to_owned()))
        }
    }
}

/// The transaction that this one undid, the one that was undone by that, and so on.
fn taken_back<'t>(all: &'t [OperationRecord], transaction: &'t OperationRecord) -> impl Iterator<Item = &'t OperationId> {
    let up = |id: &OperationId| all.iter().find(|other| other.id == *id);
    std::iter::successors(transaction.undo.of.as_ref(), move |id| up(id)?.undo.of.as_ref()).take(all.len())
}

/// The title of the transaction at the start of a chain of undos, and whether undoing `transaction` does it again: then
/// `transaction` is an undo.
pub fn subject<'t>(all: &'t [OperationRecord], transaction: &'t OperationRecord) -> (&'t str, bool) {
    let chain: Vec<&OperationId> = taken_back(all, transaction).collect();
    let first = chain.last().and_then(|id| all.iter().find(|other| other.id == **id));
    (first.map_or(transaction.what.as_str(), |first| first.what.as_str()), chain.len() % 2 == 1)
}

/// The later transactions that are still effective and changed the same things, newest first: why this one cannot be undone.
pub fn later_changes_of_the_same<'t>(all: &'t [OperationRecord], id: &OperationId) -> Vec<&'t OperationRecord> {
    let Some(place) = all.iter().position(|one| one.id == *id) else { return Vec::new() };
    let (mine, later) = (touched(&all[place]), &all[place + 1..]);
    let cancelled = |one: &OperationRecord| {
        one.undo.by.is_some() || one.undo.of.as_ref().is_some_and(|of| later.iter().any(|other| other.id == *of))
    };
    later.iter().rev().filter(|one| !cancelled(one) && !touched(one).is_disjoint(&mine)).collect()
}

/// The ids, names and paths of the tasks, refs, stash entries and worktrees that a transaction changed.
fn touched(transaction: &OperationRecord) -> BTreeSet<&str> {
    let JournaledChanges { refs, advances, worktrees, submodules, stash, .. } = &transaction.changes;
    let tasks = transaction.tasks.ids().map(TaskId::as_str);
    let refs = refs.iter().map(|change| &change.name);
    let refs = refs.chain(advances.iter().map(|change| &change.branch)).map(RefName::as_str);
    let worktrees = worktrees.iter().map(|change| change.path.as_str());
    let submodules = submodules.iter().map(|change| change.worktree.path.as_str());
    let stash = stash.iter().map(|change| change.entry.id.as_str());
    tasks.chain(refs).chain(worktrees).chain(submodules).chain(stash).collect()
}

/// The changes of the state that undo a transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct StateUndo {
    /// Edits of tasks.
    pub edits: Vec<TaskChangeSet>,
    /// The mode.
    pub mode: Option<ValueChange<SessionMode>>,
    /// What was reported of tasks, and the gates at which they wait, as far as neither has changed since.
    pub standing: TaskStandingChanges,
}

/// Whether a merge has all commits of a task's branch as it is now.
pub type MergeContainsCheck<'h> = &'h dyn Fn(&TaskId, &MergedTaskWork) -> bool;

/// Computes the changes of the state that undo a transaction.
pub fn state_back(transaction: &OperationRecord, now: &State, holds: MergeContainsCheck<'_>) -> Result<StateUndo> {
    let mut standing = transaction.brought_back.standing.clone().inverse();
    standing.retain_fitting(&now.restorable);
    let back = StateUndo { edits: edits(transaction, now, holds)?, mode: mode(transaction, now.restorable.mode)?, standing };
    if !transaction.moves() && back.edits.is_empty() && back.mode.is_none() && back.standing.is_empty() {
        let what = format!("'{}' cannot be undone: {}", transaction.id, transaction.what);
        return Err(Error::new(Code::NotUndoable, what).why("its changes are taken back already"));
    }
    Ok(back)
}

/// The edits of tasks that undo a transaction. Added tasks are archived, never forgotten.
fn edits(transaction: &OperationRecord, now: &State, holds: MergeContainsCheck<'_>) -> Result<Vec<TaskChangeSet>> {
    let mut edits = inverse_edits(transaction.tasks.edits.clone());
    for (id, then) in &transaction.tasks.added {
        let task = now.task(id)?;
        let as_added = then.status == task.status && then.merged == task.merged;
        let open = matches!(task.status, TaskStatus::Pending | TaskStatus::Blocked);
        match task.status {
            TaskStatus::Archived => {}
            TaskStatus::Pending | TaskStatus::Blocked | TaskStatus::Done | TaskStatus::Failed if open || as_added => {
                let changes = vec![TaskFieldChange::Status(ValueChange::new(task.status, TaskStatus::Archived))];
                edits.push(TaskChangeSet { id: id.clone(), changes });
            }
            TaskStatus::Pending | TaskStatus::Blocked | TaskStatus::Active | TaskStatus::Done | TaskStatus::Failed => {
                return Err(Error::new(Code::ChangedMeanwhile, format!("'{id}' was worked on since it was added"))
                    .hint(format!("git axiom task archive {id}")));
            }
        }
    }
    let fits = |edit: &&TaskChangeSet| now.restorable.tasks.get(&edit.id).is_some_and(|task| edit_fits(edit, task));
    let changed: Vec<&str> = edits.iter().filter(|edit| !fits(edit)).map(|edit| edit.id.as_str()).collect();
    if !changed.is_empty() {
        return Err(changed_since_then(&changed));
    }
    if let Some((group, agent)) = edits.iter().find_map(|edit| at_work_within(edit, now)) {
        let what = format!("an agent works on what is in '{group}' since; nothing was touched");
        return Err(Error::new(Code::ChangedMeanwhile, what)
            .why(agent.to_string())
            .hint(format!("git axiom stop {agent}    ends its work; then run the command again")));
    }
    let again: Vec<&TaskId> =
        edits.iter().filter(|edit| is_another_attempt(transaction, edit, now, holds)).map(|edit| &edit.id).collect();
    if again.is_empty() { Ok(edits) } else { Err(worked_on_again(&again)) }
}

/// Whether the undo would mark a task as merged by its earlier work while a workspace with newer work exists: that workspace
/// would be taken for the rest of merged work, and moved to the trash.
fn is_another_attempt(transaction: &OperationRecord, edit: &TaskChangeSet, now: &State, holds: MergeContainsCheck<'_>) -> bool {
    let mut merged = edit.changes.iter().filter_map(TaskFieldChange::merges);
    let its_own = transaction.changes.workspaces.iter().any(|change| change.task == edit.id);
    // A workspace that was kept has the merged work, and no more.
    !its_own && now.restorable.workspaces.contains_key(&edit.id) && merged.any(|merged| !holds(&edit.id, merged))
}

/// A group that an edit blocks or archives, and the agent at work on a task in it: whoever blocks a group stops it first.
fn at_work_within<'a>(edit: &'a TaskChangeSet, now: &'a State) -> Option<(&'a TaskId, &'a AgentId)> {
    edit.status().filter(|status| is_put_away(status.new))?;
    let is_within = |task: &TaskId| {
        let task = now.restorable.tasks.get(task);
        task.is_some_and(|task| now.restorable.groups_around(task).any(|group| group.id == edit.id))
    };
    let agent = now.busy_agents().find(|agent| agent.work.as_ref().is_some_and(|work| is_within(&work.task)))?;
    Some((&edit.id, &agent.id))
}

fn worked_on_again(tasks: &[&TaskId]) -> Error {
    let ids: Vec<String> = tasks.iter().map(|id| format!("'{id}'")).collect();
    let first = tasks.first().map(ToString::to_string).unwrap_or_default();
    Error::new(Code::ChangedMeanwhile, format!("{} was worked on again since; nothing was touched", some_of(&ids, NAMED)))
        .hint(format!("git axiom rollback task {first}    takes back the newer work; then try again"))
}

fn changed_since_then(tasks: &[&str]) -> Error {
    let why: Vec<String> = tasks.iter().map(|id| format!("task {id} was changed")).collect();
    Error::new(Code::ChangedMeanwhile, "what the undo would restore was changed since; nothing was touched")
        .why(some_of(&why, NAMED))
}

/// The change of the mode that undoes a transaction; `None` where the mode has its old value already.
fn mode(transaction: &OperationRecord, now: SessionMode) -> Result<Option<ValueChange<SessionMode>>> {
    match transaction.brought_back.mode {
        None => Ok(None),
        Some(change) if now == change.old => Ok(None),
        Some(change) if now == change.new => Ok(Some(change.inverse())),
        Some(_) => Err(Error::new(Code::ChangedMeanwhile, "the mode was changed since; nothing was touched")
            .hint(format!("it is {} now: git axiom mode", now.as_str()))),
    }
}
