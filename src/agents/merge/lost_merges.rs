//! What was merged, and is no longer in its target: a human took the target back by git alone, of which no event tells.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use super::had_nothing;
use super::replay::{self, ComputedMerge};
use axiom_base::error::some_of;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::operation::task_rollback::HistoryCommit;
use axiom_model::state::current_state::State;
use axiom_model::work::tasks::task::{MergedTaskWork, Task, TaskStatus};
use axiom_safety::context::handle::Context;

/// So many merges are looked at, of the tasks that were done last: each takes part of a millisecond, or a call of git.
const MOST: usize = 50;

/// The tasks whose work was merged and is no longer in its target, by id; of the newest merges. Where git cannot tell, it is there.
pub fn lost_merges(ctx: &Context) -> Vec<TaskId> {
    let state = ctx.state();
    let merged = |task: &&Task| task.merged.is_some() && task.status == TaskStatus::Done;
    let mut tasks: Vec<&Task> = state.restorable.tasks.values().filter(merged).collect();
    tasks.sort_by_key(|task| Reverse(state.record.tasks.get(&task.id).and_then(|record| record.completed_at)));
    let newest = tasks.into_iter().take(MOST).filter_map(|task| task.merged.as_ref().map(|merged| (&task.id, merged)));
    let newest: Vec<(&TaskId, &MergedTaskWork)> = newest.collect();
    let mut targets = BTreeMap::new();
    for (_, merged) in &newest {
        targets.entry(&merged.target).or_insert_with(|| MergeTarget::at_its_tip(ctx, &merged.target));
    }
    let commits = newest.iter().map(|(_, merged)| &merged.commit);
    let seen: Vec<Oid> = commits.chain(targets.values().flatten().map(|target| &target.tip)).cloned().collect();
    let mut last = LAST_LOOK.lock().unwrap_or_else(PoisonError::into_inner);
    if last.seen != seen {
        let lost = newest.into_iter().filter(|(task, merged)| {
            let target = targets.get_mut(&merged.target).and_then(Option::as_mut);
            target.is_some_and(|target| !target.has(ctx, task, merged))
        });
        let mut lost: Vec<TaskId> = lost.map(|(task, _)| task.clone()).collect();
        lost.sort();
        *last = LookAtMerges { seen, lost };
    }
    last.lost.clone()
}

/// The last look of this process: a panel asks for it again and again.
static LAST_LOOK: Mutex<LookAtMerges> = Mutex::new(LookAtMerges { seen: Vec::new(), lost: Vec::new() });

struct LookAtMerges {
    /// The commits of merges and the tips of their targets.
    seen: Vec<Oid>,
    /// The tasks that were not in their targets.
    lost: Vec<TaskId>,
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
}

impl MergeTarget {
    fn at_its_tip(ctx: &Context, name: &RefName) -> Option<Self> {
        // Where the history is cut, it is not known what is below.
        let tip = ctx.repo.refs().read_ref(name).ok().flatten().filter(|_| !ctx.repo.history().is_shallow())?;
        Some(Self { above: tip.clone(), tip })
    }

    fn has(&mut self, ctx: &Context, task: &TaskId, merged: &MergedTaskWork) -> bool {
        let is_below = |commit: &Oid| ctx.repo.history().is_ancestor(&merged.commit, commit);
        let found = match is_below(&self.above) {
            Ok(false) if self.above != self.tip => is_below(&self.tip),
            found => found,
        };
        match found {
            Ok(true) => self.above = merged.commit.clone(),
            Ok(false) => return self.has_anew(ctx, task, merged) || had_nothing(ctx, task, merged),
            Err(_) => {}
        }
        true
    }

    /// Whether the same work is there in other commits: those that a rebase made keep what they say of their task; of others, a merge
    /// would change nothing.
    fn has_anew(&self, ctx: &Context, task: &TaskId, merged: &MergedTaskWork) -> bool {
        let Ok(since) = ctx.repo.task_commits().task_commits_since(&self.tip, Some(&merged.commit)) else { return true };
        let names = |commit: HistoryCommit| commit.marks.tasks.iter().any(|of| of == task.as_str());
        let tree = || ctx.repo.objects().read_commit(&self.tip).map(|commit| commit.tree);
        let changes_nothing = || match (replay::compute(ctx, &self.tip, &merged.commit), tree()) {
            (Ok(ComputedMerge::Clean { tree, .. }), Ok(now)) => tree == now,
            (Ok(_) | Err(_), _) => false,
        };
        since.into_iter().any(names) || changes_nothing()
    }
}

/// That every task is merged, as a session or its hook says it.
pub(crate) fn all_merged_in_words(ctx: &Context) -> String {
    let lost = lost_merges(ctx);
    match lost.is_empty() {
        true => "every task is merged".to_owned(),
        false => format!("every task was merged, and the target no longer has {}", some_of(&lost, 1)),
    }
}
