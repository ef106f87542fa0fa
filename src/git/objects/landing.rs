//! Moves objects from the stage into the object database: all are synced, then moved, then the folders are synced.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use gix::odb::memory::Storage;

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};

use super::durability::{sync_file_system, sync_file_systems};
use crate::base::loose::{encoded, loose_file, move_to};
use crate::repo::repository::Repository;

/// The file that marks a folder whose objects may all be moved into the object database.
pub(super) const LANDING: &str = "landing";

/// Syncs a folder that has the layout of an object database, moves its objects into the object database, and syncs that. With
/// `written`, only these loose objects, in this order.
pub(super) fn land_folder(repository: &Repository, folder: &Path, written: Option<&[gix::ObjectId]>) -> Result<()> {
    let (loose, packs) = match written {
        Some(written) => (written.to_vec(), Vec::new()),
        None => (repository.durability().after_what_they_name(folder, &loose_in(folder)?), packs_in(folder)?),
    };
    let loose: Vec<_> = each_once(&loose).map(|id| (loose_file(folder, &id), id)).collect();
    land(repository, folder, &loose, &packs)
}

/// The same for these objects, in this order, which wait in memory; returns how many bytes the file of each has. It is a file of
/// the folder with the id as its name, until it is moved. On an error these files are removed.
pub(super) fn land_from_memory(
    repo: &Repository,
    folder: &Path,
    written: &[gix::ObjectId],
    waiting: &Storage,
) -> Result<Vec<(gix::ObjectId, u64)>> {
    let loose: Vec<_> = each_once(written).map(|id| (folder.join(id.to_string()), id)).collect();
    let write = |(file, id): &(PathBuf, gix::ObjectId)| match waiting.get(id) {
        Some((kind, content)) => {
            let content = encoded(*kind, content)?;
            files::write_read_only(file, &content).map(|()| (*id, content.len() as u64))
        }
        None => Err(Error::new(Code::Internal, format!("the object {id} does not wait"))),
    };
    let written: Result<Vec<_>> = loose.iter().map(write).collect();
    written.and_then(|written| land(repo, folder, &loose, &[]).map(|()| written)).inspect_err(|_| {
        for (file, _) in &loose {
            if let Err(error) = files::remove_file(file) {
                tracing::warn!(%error, "an object that did not land stays for cleanup");
            }
        }
    })
}

/// Two threads may have written the same object.
fn each_once(ids: &[gix::ObjectId]) -> impl Iterator<Item = gix::ObjectId> {
    let mut seen = HashSet::new();
    ids.iter().copied().filter(move |id| seen.insert(*id))
}

fn land(repository: &Repository, folder: &Path, loose: &[(PathBuf, gix::ObjectId)], packs: &[String]) -> Result<()> {
    let objects = repository.common_dir().join("objects");
    if loose.is_empty() && packs.is_empty() {
        return sync_file_system(&objects);
    }
    files::write_scratch(&folder.join(LANDING), b"")?;
    sync_file_systems(&[folder, &objects])?;
    env::fault_point("git.objects-synced");
    for pack in packs {
        files::create_public_dir(&objects.join("pack"))?;
        move_to(&folder.join("pack").join(pack), &objects.join("pack").join(pack))?;
    }
    for (file, id) in loose {
        move_to(file, &loose_file(&objects, id))?;
    }
    env::fault_point("git.objects-named");
    sync_file_system(&objects)?;
    files::remove_file(&folder.join(LANDING))
}

/// Gives the objects of an interrupted landing from memory the layout of an object database. Safe to repeat.
pub(super) fn lay_out(folder: &Path) -> Result<()> {
    for entry in files::list(folder)? {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| gix::ObjectId::from_hex(name.as_bytes()).ok()) else { continue };
        let place = loose_file(folder, &id);
        if !place.exists() {
            move_to(&entry.path(), &place)?;
        }
    }
    Ok(())
}

/// The loose objects in a folder of objects.
pub(crate) fn loose_in(objects: &Path) -> Result<Vec<gix::ObjectId>> {
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
