//! What was merged, and is no longer in its target: a human took the target back by git alone, of which no event tells.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::had_nothing;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::state::current_state::State;
use axiom_model::work::tasks::task::{MergedTaskWork, Task, TaskStatus};
use axiom_safety::context::handle::Context;

/// So many merges are looked at, the newest: each takes part of a millisecond.
const MOST: usize = 50;

/// The tasks whose work was merged and is no longer in its target, by id; of the newest merges. Where git cannot tell, it is there.
pub fn lost_merges(ctx: &Context) -> Vec<TaskId> {
    let state = ctx.state();
    let merged = |task: &&Task| task.merged.is_some() && task.status == TaskStatus::Done;
    let mut tasks: Vec<&Task> = state.restorable.tasks.values().filter(merged).collect();
    tasks.sort_by_key(|task| Reverse(state.record.tasks.get(&task.id).and_then(|record| record.completed_at)));
    let mut targets = BTreeMap::new();
    let newest = tasks.into_iter().take(MOST).filter_map(|task| task.merged.as_ref().map(|merged| (&task.id, merged)));
    let lost = newest.filter(|(task, merged)| {
        let target = targets.entry(&merged.target).or_insert_with(|| MergeTarget::at_its_tip(ctx, &merged.target));
        target.as_mut().is_some_and(|target| !target.has(ctx, task, merged))
    });
    let mut lost: Vec<TaskId> = lost.map(|(task, _)| task.clone()).collect();
    lost.sort();
    lost
}

/// The groups that are not completed, since these of their parts are in the target no longer.
pub fn groups_of(state: &State, lost: &[TaskId]) -> BTreeSet<TaskId> {
    let tasks = lost.iter().filter_map(|task| state.restorable.tasks.get(task));
    tasks.flat_map(|task| state.restorable.groups_around(task)).map(|group| group.id.clone()).collect()
}

/// Whether the target of a merge has it still.
pub fn is_in_target(ctx: &Context, task: &TaskId, merged: &MergedTaskWork) -> bool {
    MergeTarget::at_its_tip(ctx, &merged.target).is_none_or(|mut target| target.has(ctx, task, merged))
}

/// A branch into which tasks were merged.
struct MergeTarget {
    tip: Oid,
    /// A commit of it, mostly just above the merge that is looked for next: merges are looked at from the newest on.
    above: Oid,
    /// The tasks that its commits name, those apart that the first lost merge has too.
    named: Option<BTreeSet<String>>,
}

impl MergeTarget {
    fn at_its_tip(ctx: &Context, name: &RefName) -> Option<Self> {
        let tip = ctx.repo.refs().read_ref(name).ok().flatten()?;
        Some(Self { above: tip.clone(), tip, named: None })
    }

    fn has(&mut self, ctx: &Context, task: &TaskId, merged: &MergedTaskWork) -> bool {
        let is_below = |commit: &Oid| ctx.repo.history().is_ancestor(&merged.commit, commit).unwrap_or(true);
        if is_below(&self.above) || self.above != self.tip && is_below(&self.tip) {
            self.above = merged.commit.clone();
            return true;
        }
        // A rebase made the commits anew, and keeps what they say of their task.
        let named = match &mut self.named {
            Some(named) => named,
            unknown @ None => {
                let Ok(since) = ctx.repo.task_commits().task_commits_since(&self.tip, Some(&merged.commit)) else { return true };
                unknown.insert(since.into_iter().flat_map(|commit| commit.marks.tasks).collect())
            }
        };
        named.contains(task.as_str()) || had_nothing(ctx, task, merged)
    }
}

/// That every task is merged, as a session or its hook says it.
pub(crate) fn all_merged_in_words(ctx: &Context) -> String {
    let lost = lost_merges(ctx);
    match lost.as_slice() {
        [] => "every task is merged".to_owned(),
        [one] => format!("every task was merged, and the target no longer has {one}"),
        [first, more @ ..] => format!("every task was merged, and the target no longer has {first} and {} more", more.len()),
    }
}
