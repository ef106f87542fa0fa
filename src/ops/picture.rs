//! What happened, gathered for the picture; and what is at risk now.

use crate::domain::base::ids::{CaseId, CheckpointName};
use crate::domain::picture::{Fold, Picture};
use crate::error::Result;
use crate::ops::checkpoint;
use crate::ops::context::handle::Context;
use crate::ops::history;
use crate::ops::undo::Standing;

/// How many events are read for one moment of the picture: most events are none.
const EVENTS: u64 = 40;

/// What no checkpoint and no branch has yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AtRisk {
    /// The newest complete checkpoint, and how many files of the current worktree differ from it.
    pub here: Option<(CheckpointName, usize)>,
    /// Workspaces, with the lines that were changed in them as of their newest capture.
    pub workspaces: Vec<(CaseId, u64)>,
}

/// The newest moments, at most so many; `None` for all that the log has.
///
/// # Errors
/// The codes of a damaged log.
pub fn picture(ctx: &Context, most: Option<usize>) -> Result<Picture> {
    let mut fold = Fold::default();
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
    offer_what_is_accepted(ctx, &mut picture)?;
    Ok(picture)
}

/// What `undo` would refuse is not offered.
fn offer_what_is_accepted(ctx: &Context, picture: &mut Picture) -> Result<()> {
    let Some(oldest) = picture.offered().next().cloned() else { return Ok(()) };
    let all = history::newest_transactions(ctx, |known| known.iter().any(|one| one.id == oldest))?;
    let standing = Standing::new(ctx, &all)?;
    picture.offer_only(|id| all.iter().any(|one| one.id == *id && standing.obstacle(one).is_none()));
    Ok(())
}

/// What is at risk now.
///
/// # Errors
/// Those of comparing with the newest checkpoint.
pub fn at_risk(ctx: &Context) -> Result<AtRisk> {
    let complete = ctx.state().record.checkpoints.newest(50)?.into_iter().rev().find(|record| record.only.is_none());
    let here = match complete {
        None => None,
        Some(record) => {
            let difference = checkpoint::difference(ctx, record.name.as_str(), None)?;
            Some((record.name.clone(), difference.files.len()))
        }
    };
    let lines = |task: &CaseId| {
        let captured = ctx.state().reports(task)?.captured.as_ref()?;
        captured.lines.map(|lines| lines.insertions + lines.deletions)
    };
    let workspaces = ctx.state().restorable.workspaces.keys();
    let workspaces = workspaces.filter_map(|task| Some((task.clone(), lines(task).filter(|lines| *lines > 0)?))).collect();
    Ok(AtRisk { here, workspaces })
}
