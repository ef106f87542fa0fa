//! What happened, gathered for the picture; and what is at risk now.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::handle::Context;
use crate::context::target::left_target_at;
use crate::folders::workspaces;
use crate::undo::UndoabilityCheck;
use crate::{checkpoint, history};
use axiom_base::error::Result;
use axiom_model::base::ids::{CheckpointName, OperationId, TaskId};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::BRANCHES;
use axiom_model::operation::operation_record::{OperationRecord, UndoLinks};
use axiom_model::picture::{MomentStanding, Picture, PictureFold};
use axiom_model::work::signals::report_parts::ChangedLineCounts;
use axiom_model::work::tasks::task::{Task, TaskKind, TaskStatus};

/// How many events are read for one moment of the picture: most events are none.
const EVENTS: u64 = 40;

/// What no checkpoint and no branch has yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkAtRisk {
    /// The newest complete checkpoint, and how many files of the current worktree differ from it.
    pub here: Option<(CheckpointName, usize)>,
    /// Tasks with work that is not merged.
    pub not_merged: Vec<UnmergedTask>,
}

/// A task with work that is not merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmergedTask {
    /// The task.
    pub task: TaskId,
    /// What it changed since its branch left the target; `None` where that cannot be counted.
    pub changed: Option<ChangedLineCounts>,
}

/// The newest moments, at most so many; `None` for all that the log has. The merge of a task that no undo takes back is offered with what
/// `takes_merge_back` says of it, which is asked about the newest first.
pub fn picture(ctx: &Context, most: Option<usize>, takes_merge_back: &dyn Fn(&TaskId) -> Option<String>) -> Result<Picture> {
    let mut fold = PictureFold::default();
    let mut push = |envelope| {
        fold.push(&envelope);
        Ok(())
    };
    match most {
        None => history::each_event(ctx.layout(), push)?,
        Some(most) => {
            let events = EVENTS.saturating_mul(u64::try_from(most).unwrap_or(u64::MAX));
            let after = ctx.state().seq.saturating_sub(events);
            match after {
                0 => history::each_event(ctx.layout(), push)?,
                after => drop(history::events_after(ctx.layout(), after, None, &mut push)?),
            }
        }
    }
    let whole = fold.finish();
    let mut picture = match most {
        Some(most) => whole.newest(most),
        None => whole,
    };
    offer_what_is_accepted(ctx, &mut picture, takes_merge_back)?;
    Ok(picture)
}

/// What `undo` or a rollback would refuse is not offered.
fn offer_what_is_accepted(
    ctx: &Context,
    picture: &mut Picture,
    takes_merge_back: &dyn Fn(&TaskId) -> Option<String>,
) -> Result<()> {
    let checkpoints = ctx.state().record.checkpoints.all()?;
    let names: BTreeSet<&str> = checkpoints.iter().map(|record| record.name.as_str()).collect();
    picture.offer_checkpoints(|name| names.contains(name));
    let Some(oldest) = picture.offered().next().cloned() else { return Ok(()) };
    let all = history::newest_transactions(ctx, |known| known.iter().any(|one| one.id == oldest))?;
    let standing = UndoabilityCheck::new(ctx, &all)?;
    let now = |id: &OperationId| match all.iter().find(|one| one.id == *id) {
        Some(OperationRecord { undo: UndoLinks { by: Some(by), .. }, .. }) => MomentStanding::UndoneBy(by.clone()),
        Some(one) if standing.obstacle(one).is_none() => MomentStanding::CanBeUndone,
        Some(_) | None => MomentStanding::Refused,
    };
    picture.offer_only(now, takes_merge_back);
    Ok(())
}

/// What is at risk now.
pub fn at_risk(ctx: &Context) -> Result<WorkAtRisk> {
    let complete = ctx.state().record.checkpoints.newest(50)?.into_iter().rev().find(|record| record.only.is_none());
    let here = match complete {
        None => None,
        Some(record) => {
            let difference = checkpoint::difference(ctx, record.name.as_str(), None)?;
            Some((record.name.clone(), difference.files.len()))
        }
    };
    Ok(WorkAtRisk { here, not_merged: not_merged(ctx)? })
}

/// The tasks that are still wanted and whose branches have work that the target does not have: what git says, whether or not it was
/// captured meanwhile.
fn not_merged(ctx: &Context) -> Result<Vec<UnmergedTask>> {
    let open = |case: &&Task| case.kind == TaskKind::Task && case.merged.is_none() && case.status != TaskStatus::Archived;
    let listed = ctx.repo.refs().refs_below(BRANCHES)?;
    let tips: BTreeMap<RefName, Oid> = listed.into_iter().map(|branch| (branch.name, branch.oid)).collect();
    if tips.is_empty() {
        return Ok(Vec::new());
    }
    let tasks = ctx.state().restorable.tasks.values().filter(open).map(|case| &case.id);
    let with_tips = tasks.filter_map(|task| Some((task, tips.get(&workspaces::branch_of(ctx, task))?)));
    let all = with_tips.filter_map(|(task, tip)| {
        // One that cannot be counted is named all the same.
        let changed = changed_by(ctx, task, tip).unwrap_or(None);
        let is_some = changed.is_none_or(|changed| changed.files > 0);
        is_some.then(|| UnmergedTask { task: task.clone(), changed })
    });
    Ok(all.collect())
}

/// What the work on a task changed: up to the newest commit of its branch, or to the capture that was made after that.
fn changed_by(ctx: &Context, task: &TaskId, tip: &Oid) -> Result<Option<ChangedLineCounts>> {
    let begun_at = || ctx.state().restorable.workspaces.get(task).map(|workspace| workspace.base.clone());
    let Some(base) = left_target_at(ctx, tip, None)?.or_else(begun_at) else { return Ok(None) };
    ctx.repo.history().changed_lines(&base, newer_capture(ctx, task, tip).unwrap_or(tip))
}

/// The newest capture of the workspace of a task, where an agent is at work and has committed nothing since: without one, all that
/// counts is committed.
fn newer_capture<'a>(ctx: &'a Context, task: &TaskId, tip: &Oid) -> Option<&'a Oid> {
    ctx.state().agent_on(task)?;
    let capture = &ctx.state().reports(task)?.captured.as_ref()?.capture;
    ctx.repo.captures().capture_parts(capture).is_ok_and(|parts| parts.base == *tip).then_some(capture)
}
