//! Letting go of what was kept for an undo, and of captures of workspaces that no longer exist, once they have had their time.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::checkpoint::live;
use crate::checkpoint::submodules;
use crate::context::handle::Context;
use crate::upkeep::tidy;
use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_git::{ExpectedRefValue, RefEdit};
use axiom_model::base::names::RefName;
use axiom_model::base::own_names::KEPT;

/// How long contents of LFS files stay that no capture names: one that is being made may need them. So often it is looked at, too.
const LFS_AGE: Duration = Duration::from_secs(3600);

/// Releases what has expired. A crash leaves some of it, which the next call releases.
pub(in crate::checkpoint) fn release(ctx: &Context) -> Result<()> {
    let kept = release_kept(ctx);
    // Whatever became of the others.
    let live = live::release(ctx).map(drop);
    // What these named is not named any more.
    if let Err(error) = ctx.repo.lfs_files().release_lfs(LFS_AGE) {
        tracing::warn!(%error, "contents of LFS files that no checkpoint names stay for now");
    }
    live.and(kept).and(submodules::collect(ctx, LFS_AGE))
}

/// Releases what was kept for undo longer than `keepDeletedDays`.
fn release_kept(ctx: &Context) -> Result<()> {
    let now = env::now();
    let limit = SignedDuration::from_hours(24 * i64::from(ctx.config.checkpoints.keep_deleted_days));
    // A clock that was ahead has made a mark that says nothing.
    if oldest_left(ctx).is_some_and(|oldest| oldest <= now && now.duration_since(oldest) <= limit) {
        return Ok(());
    }
    let open = ctx.state().record.open.as_ref().map(|open| RefName::new(format!("{KEPT}{}", open.txn)));
    let (mut edits, mut oldest) = (Vec::new(), now);
    for kept in ctx.repo.refs().refs_below(KEPT)? {
        let made = ctx.repo.objects().commit_time(&kept.oid)?.unwrap_or(now);
        if now.duration_since(made) > limit && Some(&kept.name) != open.as_ref() {
            edits.push(RefEdit { name: kept.name, expected: ExpectedRefValue::Value(kept.oid), new: None });
        } else {
            oldest = oldest.min(made);
        }
    }
    env::fault_point("checkpoint.before-release");
    ctx.repo.refs().update_refs(&edits, "git axiom: no longer kept")?;
    if let Err(error) = files::write_scratch(&ctx.layout().oldest_kept(), oldest.to_string().as_bytes()) {
        tracing::debug!(%error, "the next call reads what is kept again");
    }
    Ok(())
}

/// A time before which nothing was made that is still kept: until it has expired, nothing has to be read. What is made later is
/// younger; where the clock is set back meanwhile, it is kept longer by as much. `None` where nobody looked yet, or the mark, which
/// may be lost at any time, cannot be read.
fn oldest_left(ctx: &Context) -> Option<Timestamp> {
    tidy::time_in(&ctx.layout().oldest_kept()).ok()?
}
