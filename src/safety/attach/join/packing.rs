//! What sessions leave in the object database, packed now and then: each checkpoint of an edit writes a handful of small objects, most of
//! them nearly the same as those of the one before.

use crate::checkpoint;
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_model::base::names::Oid;
use axiom_store::beside::attach::AttachFiles;

/// After so many events it is packed again: some fifty checkpoints, some hundred objects.
const EVENTS: u64 = 100;
/// From so many packs on, the small ones are joined: fifty would start a `git gc --auto`.
const PACKS: u64 = 20;

/// Whether it is time to pack. A log that was made anew counts from its beginning.
fn is_due(seq: u64, packed: u64) -> bool {
    seq.saturating_sub(if packed > seq { 0 } else { packed }) >= EVENTS
}

/// Packs what checkpoints of sessions wrote since the last time, where it is time. Nobody waits for this.
pub(super) fn pack(ctx: &Context) -> Result<()> {
    let files = AttachFiles::of(ctx.layout());
    let (seq, packed) = (ctx.state().seq, files.packed());
    if !is_due(seq, packed) {
        return Ok(());
    }
    files.note_packed(seq)?;
    let all = ctx.state().record.checkpoints.all()?;
    let newer = all.iter().filter(|record| record.attached.is_some() && (record.seq >= packed || packed > seq));
    let roots: Vec<Oid> = newer.map(|record| record.capture.clone()).collect();
    ctx.repo.durability().pack_below(&roots)?;
    if checkpoint::objects(ctx)?.packs >= PACKS {
        ctx.repo.durability().join_small_packs()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_packed_after_so_many_events() {
        assert!(!is_due(0, 0) && !is_due(EVENTS - 1, 0) && is_due(EVENTS, 0));
        assert!(!is_due(EVENTS + 10, 20) && is_due(EVENTS + 20, 20));
        assert!(!is_due(5, 900) && is_due(EVENTS, 900), "the log was made anew");
    }
}
