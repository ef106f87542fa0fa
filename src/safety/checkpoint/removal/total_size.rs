//! `checkpoints.maxTotal`: how much checkpoints alone hold, and thinning before that is more.
//!
//! Counted are the objects that captures of existing checkpoints reach and that no branch, tag, index or other ref of the user's reaches. git
//! walks them, which takes time, so that is done only where all objects of the repository have grown by as much as there was room.

use serde::{Deserialize, Serialize};

use super::remove::{DeletedCheckpointFate, delete_locked, rules};
use crate::checkpoint::compact::space;
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_model::base::names::Oid;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::queries::expired_checkpoints;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::sessions::disk::MB;

/// The largest file that is read.
const LARGEST: u64 = 1024;

/// What was measured last. It may be lost at any time: then it is measured anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointsTotal {
    /// The bytes that checkpoints alone hold.
    pub alone: u64,
    /// The bytes of all objects.
    of_all: u64,
    /// Whether nothing is left that may be thinned.
    is_rest: bool,
}

impl CheckpointsTotal {
    /// Whether checkpoints may hold more than this by now.
    fn may_be_over(&self, of_all: u64, max: u64) -> bool {
        of_all < self.of_all || self.alone.saturating_add(of_all - self.of_all) > max
    }

    /// Whether those that are always kept are over the limit alone.
    pub fn is_over(&self, max: u64) -> bool {
        self.is_rest && self.alone > max
    }
}

/// The limit in bytes.
pub fn limit(ctx: &Context) -> Option<u64> {
    ctx.config.checkpoints.max_total.map(|megabytes| megabytes.saturating_mul(MB))
}

/// What was measured last, where there is a limit.
pub fn known(ctx: &Context) -> Option<CheckpointsTotal> {
    limit(ctx)?;
    let json = files::read_optional(&ctx.layout().total_held(), LARGEST).ok()??;
    serde_json::from_slice(&json).ok()
}

/// Deletes checkpoints until the rest holds no more than the limit: automatic ones first, the oldest first. Nothing of these is kept for
/// an undo: that would hold as much as they did.
pub(in crate::checkpoint) fn thin(ctx: &mut Context) -> Result<()> {
    let Some(max) = limit(ctx) else { return Ok(()) };
    let of_all = space(ctx)?.bytes;
    if known(ctx).is_some_and(|last| !last.may_be_over(of_all, max)) {
        return Ok(());
    }
    let all: Vec<CheckpointRecord> = ctx.state().record.checkpoints.all()?.into_iter().cloned().collect();
    let thinnable = expired_checkpoints::thinnable(ctx.state(), &rules(ctx), env::now())?;
    let without = |count: usize| -> Result<u64> {
        let gone = &thinnable[..count];
        let rest = all.iter().filter(|record| !gone.contains(&record.name));
        ctx.repo.objects().held_alone(&rest.map(|record| record.capture.clone()).collect::<Vec<Oid>>())
    };
    let count = fewest(thinnable.len(), |count| Ok(without(count)? <= max))?;
    let alone = without(count)?;
    let total = CheckpointsTotal { alone, of_all, is_rest: count == thinnable.len() };
    if count > 0 {
        let gone = thinnable[..count].to_vec();
        ctx.in_its_own_transaction(EventAuthor::Supervisor, |ctx| delete_locked(ctx, &gone, DeletedCheckpointFate::Nothing))?;
        tracing::info!(count, "checkpoints were deleted: checkpoints.maxTotal");
    }
    let json = serde_json::to_vec(&total).unwrap_or_default();
    files::write_scratch(&ctx.layout().total_held(), &json)
}

/// The smallest number up to `most` with which it is enough; `most` where none is. With more than enough it stays enough.
fn fewest(most: usize, is_enough: impl Fn(usize) -> Result<bool>) -> Result<usize> {
    let (mut least, mut end) = (0, most);
    while least < end {
        // Mostly none or a few have to go.
        let middle = least + (end - least) / 4;
        if is_enough(middle)? { end = middle } else { least = middle + 1 }
    }
    Ok(least)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn no_more_go_than_have_to_and_few_are_tried() {
        for most in [0, 1, 2, 7, 500] {
            for wanted in 0..=most {
                let tried = Cell::new(0);
                let found = fewest(most, |count| {
                    tried.set(tried.get() + 1);
                    Ok(count >= wanted)
                });
                assert_eq!(found.unwrap(), wanted);
                assert!(tried.get() <= 24, "{} for {wanted} of {most}", tried.get());
            }
            assert_eq!(fewest(most, |_| Ok(false)).unwrap(), most, "all of them are not enough");
        }
    }

    #[test]
    fn it_is_measured_anew_only_where_it_may_be_over() {
        let known = CheckpointsTotal { alone: 40, of_all: 100, is_rest: false };
        let table = [(100, 50, false), (110, 50, false), (111, 50, true), (99, 50, true), (100, 39, true)];
        for (of_all, max, expected) in table {
            assert_eq!(known.may_be_over(of_all, max), expected, "{of_all} {max}");
        }
        let rest = CheckpointsTotal { is_rest: true, ..known };
        assert_eq!((known.is_over(10), rest.is_over(10), rest.is_over(40)), (false, true, false));
    }
}
