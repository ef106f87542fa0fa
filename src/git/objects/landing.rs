//! Moves objects from the stage into the object database: all are synced, then moved, then the folders are synced.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::env;
use crate::error::Result;
use crate::files;

use super::durability::sync_file_system;
use super::stage::loose_file;
use crate::git::repo::repository::Repository;

/// The file that marks a folder whose objects may all be moved into the object database.
pub(super) const LANDING: &str = "landing";

/// Syncs a folder, moves its objects into the object database, and syncs that. With `written`, only these loose objects, in
/// this order.
pub(super) fn land_folder(repository: &Repository, folder: &Path, written: Option<&[gix::ObjectId]>) -> Result<()> {
    let objects = repository.common_dir().join("objects");
    let (loose, packs) = match written {
        Some(written) => (written.to_vec(), Vec::new()),
        None => (repository.durability().after_what_they_name(folder, &loose_in(folder)?), packs_in(folder)?),
    };
    if loose.is_empty() && packs.is_empty() {
        return sync_file_system(&objects);
    }
    files::write_scratch(&folder.join(LANDING), b"")?;
    sync_both(folder, &objects)?;
    env::fault_point("git.objects-synced");
    for pack in packs {
        files::create_public_dir(&objects.join("pack"))?;
        place(&folder.join("pack").join(&pack), &objects.join("pack").join(&pack))?;
    }
    let mut seen = BTreeSet::new();
    for id in loose.iter().filter(|id| seen.insert(**id)) {
        place(&loose_file(folder, id), &loose_file(&objects, id))?;
    }
    env::fault_point("git.objects-named");
    sync_file_system(&objects)?;
    files::remove_file(&folder.join(LANDING))
}

/// Syncs both folders, with one call if they are on the same file system, as nearly always.
fn sync_both(folder: &Path, objects: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| files::metadata(path).map(|meta| meta.map(|meta| meta.dev()));
    if !cfg!(target_os = "linux") || device(folder)? != device(objects)? {
        sync_file_system(folder)?;
    }
    sync_file_system(objects)
}

/// Moves a file to its final place. A file that is there already is replaced: it has the same content, or is damaged.
fn place(from: &Path, to: &Path) -> Result<()> {
    let make = || to.parent().map_or(Ok(()), files::create_public_dir);
    if !to.parent().is_some_and(Path::is_dir) {
        make()?;
    }
    // `git gc` removes empty folders, perhaps just now.
    files::move_unsynced(from, to).or_else(|_| make().and_then(|()| files::move_unsynced(from, to)))
}

/// The loose objects in a folder of objects.
pub(in crate::git) fn loose_in(objects: &Path) -> Result<Vec<gix::ObjectId>> {
    let mut found = Vec::new();
    for folder in files::list(objects)? {
        let name = folder.file_name();
        let Some(first) = name.to_str().filter(|name| name.len() == 2 && is_hex(name)) else { continue };
        for entry in files::list(&folder.path())? {
            let name = entry.file_name();
            let id = name.to_str().filter(|rest| is_hex(rest)).map(|rest| format!("{first}{rest}"));
            found.extend(id.and_then(|id| gix::ObjectId::from_hex(id.as_bytes()).ok()));
        }
    }
    Ok(found)
}

/// The files of the packs in a folder of objects. The `.idx` files come last, so that a process that sees the `.idx` also
/// sees the `.pack`.
pub(super) fn packs_in(objects: &Path) -> Result<Vec<String>> {
    let mut by_turn = BTreeMap::new();
    for entry in files::list(&objects.join("pack"))? {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with("pack-")) else { continue };
        by_turn.insert((name.ends_with(".idx"), !name.ends_with(".keep"), name.to_owned()), ());
    }
    Ok(by_turn.into_keys().map(|(_, _, name)| name).collect())
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}
