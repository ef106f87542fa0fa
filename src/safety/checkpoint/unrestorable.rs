//! Which checkpoints cannot be restored any more, or have lost their refs: what `list`, `verify` and `recover` say of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_git::{ExpectedRefValue, RefEdit};
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::{CAPTURES, capture_ref};
use axiom_model::checkpoint::availability::{CheckpointAvailability, rewritten_in};
use axiom_model::checkpoint::record::CheckpointRecord;

/// The largest map of a rewrite that is read.
const MAP_LIMIT: u64 = 256 * 1024 * 1024;
/// Up to this many refs are read by their names; of more, all are listed.
const FEW: usize = 64;

/// How those checkpoints stand that are not simply there.
pub fn ended(ctx: &Context) -> Result<BTreeMap<CheckpointName, CheckpointAvailability>> {
    let all = ctx.state().record.checkpoints.all()?;
    ended_of(ctx, &all)
}

/// The same for some checkpoints.
pub(super) fn ended_of(ctx: &Context, records: &[&CheckpointRecord]) -> Result<BTreeMap<CheckpointName, CheckpointAvailability>> {
    let now = named_now(ctx, records)?;
    let odd: Vec<&CheckpointRecord> =
        records.iter().copied().filter(|record| now.get(&record.name) != Some(&record.capture)).collect();
    if odd.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rewritten = rewritten(ctx)?;
    let without: BTreeSet<Oid> =
        odd.iter().filter(|record| !now.contains_key(&record.name)).map(|record| record.capture.clone()).collect();
    let broken = ctx.repo.connectivity().broken_tips(&without.into_iter().collect::<Vec<_>>(), None)?;
    let standing = |record: &&CheckpointRecord| {
        let (is_whole, is_rewritten) = (!broken.contains(&record.capture), rewritten.contains(&record.capture));
        (record.name.clone(), CheckpointAvailability::of(&record.capture, now.get(&record.name), is_whole, is_rewritten))
    };
    Ok(odd.iter().map(standing).collect())
}

/// What the capture refs of these checkpoints name.
fn named_now(ctx: &Context, records: &[&CheckpointRecord]) -> Result<BTreeMap<CheckpointName, Oid>> {
    if records.len() <= FEW {
        let names: Vec<RefName> = records.iter().map(|record| capture_ref(&record.name)).collect();
        let values = ctx.repo.refs().read_refs(&names)?;
        let named =
            records.iter().zip(&names).filter_map(|(record, name)| Some((record.name.clone(), values.get(name)?.clone())));
        return Ok(named.collect());
    }
    let [captures] = ctx.repo.ref_lists().ref_listings([CAPTURES])?;
    let mut named = BTreeMap::new();
    for (name, value) in captures.iter() {
        if let Ok(name) = CheckpointName::new(name) {
            named.insert(name, Oid::new(value)?);
        }
    }
    Ok(named)
}

/// The commits that a rewrite of the history has made something else of.
fn rewritten(ctx: &Context) -> Result<BTreeSet<Oid>> {
    let map = files::read_optional(&ctx.repo.common_dir().join("filter-repo/commit-map"), MAP_LIMIT)?;
    Ok(map.map(|map| rewritten_in(&String::from_utf8_lossy(&map))).unwrap_or_default())
}

/// Makes the refs of checkpoints again that are gone and of which all data is there; returns their names. The caller holds the
/// change lock. Safe to repeat.
pub fn refs_again(ctx: &mut Context) -> Result<Vec<CheckpointName>> {
    let gone: Vec<CheckpointName> = ended(ctx)?
        .into_iter()
        .filter(|(_, standing)| *standing == CheckpointAvailability::RefGone)
        .map(|(name, _)| name)
        .collect();
    let mut edits = Vec::new();
    for name in &gone {
        if let Some(record) = ctx.state().record.checkpoints.get(name)? {
            let (name, new) = (capture_ref(name), Some(record.capture.clone()));
            edits.push(RefEdit { name, expected: ExpectedRefValue::Absent, new });
        }
    }
    if !edits.is_empty() {
        ctx.repo.refs().update_refs(&edits, "git axiom: repaired")?;
    }
    Ok(gone)
}
