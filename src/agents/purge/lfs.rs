//! Contents that git has only a pointer to (Git LFS): ours go when no capture names them any more, the user's store is named and stays.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::lfs_pointer::{LONGEST, LfsPointer};
use axiom_model::base::names::Oid;
use axiom_model::base::own_names::LFS_OBJECTS;
use axiom_safety::beside_log::journals::purge::PurgeJournal;
use axiom_safety::checkpoint::submodules::repositories;
use axiom_safety::context::handle::Context;

/// The contents that these pointers stand for, by name; other contents stand for none.
fn named_by<'o>(ctx: &Context, contents: impl IntoIterator<Item = &'o Oid>) -> BTreeMap<String, LfsPointer> {
    let objects = ctx.repo.objects();
    let pointers = contents.into_iter().filter(|oid| ctx.repo.forgotten().blob_size(oid).is_some_and(|size| size <= LONGEST));
    let texts = pointers.filter_map(|oid| objects.read_blob(oid, LONGEST).ok());
    texts.filter_map(|text| LfsPointer::parse(&text)).map(|pointer| (pointer.sha256.clone(), pointer)).collect()
}

/// Our store.
pub(super) fn ours(ctx: &Context) -> PathBuf {
    ctx.repo.common_dir().join(LFS_OBJECTS)
}

/// The user's store.
fn users(ctx: &Context) -> Result<PathBuf> {
    let output = ctx.repo.git().args(["config", "--type=path", "--get", "lfs.storage"]).run()?;
    let set = if output.ok() { output.text()?.to_owned() } else { String::new() };
    let folder = if set.is_empty() { "lfs".to_owned() } else { set };
    Ok(ctx.repo.common_dir().join(folder).join("objects"))
}

/// The contents themselves, as far as they are here and not larger than `limit`.
pub(super) fn contents(ctx: &Context, secrets: &BTreeSet<Oid>, limit: u64) -> Result<Vec<Vec<u8>>> {
    let pointers = named_by(ctx, secrets);
    let mut found = Vec::new();
    if pointers.is_empty() {
        return Ok(found);
    }
    let stores = [ours(ctx), users(ctx)?];
    for pointer in pointers.values().filter(|pointer| pointer.size <= limit) {
        let place = stores.iter().map(|store| store.join(pointer.place())).find(|place| place.is_file());
        if let Some(place) = place {
            found.extend(files::read_optional(&place, limit)?);
        }
    }
    Ok(found)
}

/// The user's files that have it, in words.
pub(super) fn named(ctx: &Context, secrets: &BTreeSet<Oid>) -> Result<Vec<String>> {
    let pointers = named_by(ctx, secrets);
    if pointers.is_empty() {
        return Ok(Vec::new());
    }
    let store = users(ctx)?;
    let there = pointers.values().map(|pointer| store.join(pointer.place())).filter(|place| place.is_file());
    Ok(there.map(|place| format!("'{}' has it: the store of Git LFS, and perhaps its server", place.display())).collect())
}

/// Those of ours that go: what they hold is taken out, and nothing else names it.
pub(super) fn going(ctx: &Context, journal: &PurgeJournal) -> Vec<PathBuf> {
    let goes = |oid: &&Oid| !journal.held.contains(*oid) && !journal.elsewhere.contains(*oid);
    let store = ours(ctx);
    let places = named_by(ctx, journal.secrets.iter().filter(goes)).into_values().map(|pointer| store.join(pointer.place()));
    places.filter(|place| place.symlink_metadata().is_ok()).collect()
}

/// Deletes what no capture names any more. What it is a link to is the user's, and stays.
pub(super) fn release(ctx: &Context) -> Result<()> {
    ctx.repo.lfs_files().release_lfs(Duration::ZERO)?;
    repositories(ctx)?.iter().try_for_each(|inner| inner.lfs_files().release_lfs(Duration::ZERO).map(drop))
}
