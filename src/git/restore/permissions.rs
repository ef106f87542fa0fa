//! The permissions of the files that a restore puts into place. In this order: those that the capture recorded; else those
//! of the replaced file, as far as they are narrower; else those of a file created in that folder. Owner and group are those
//! of the replaced file, as far as this user may set them. Prepared files wait in a folder that nobody else can enter, and
//! get their permissions there: so a file is never more open than it will be in the end.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::ExtendedAttributes;
use axiom_model::base::names::RepoPath;

use super::moves::RestoreMoves;
use super::plan::RestoreStep;
use super::prepared_permissions::{PermissionSource, PreparedPermissions, ReplacedFile};
use super::types::{ChangeAttempt, PlannedPath};
use crate::base::path_inspection::{PathOccupant, WorktreeInspector, look};
use crate::capture::permissions::{RecordedPermissions, ResolvedPermissions, recorded};

/// What its owner may do with a folder that is being filled.
const FILLED: u32 = 0o700;

/// The bit with which its owner may change what is in a folder.
const OPEN: u32 = 0o200;

/// The bits of a mode that say of what kind something is, and those of a folder.
const KIND: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;

/// The set-group-id bit of a folder: files created in it get its group.
const SET_GROUP: u32 = 0o2000;

impl RestoreMoves<'_> {
    /// Gives prepared files their permissions before the first file moves: permissions that cannot be kept are found here.
    pub fn ready_all<'p>(&mut self, paths: impl Iterator<Item = &'p RepoPath>) -> Result<()> {
        let mut looks = WorktreeInspector::below(self.root);
        for path in paths {
            let dressed = self.make_ready(path, looks.look(path)?)?;
            self.dressed.insert(path.clone(), dressed);
        }
        Ok(())
    }

    /// Looks again, just before a prepared file takes its place, at the file that it replaces, whose permissions may have been
    /// narrowed since. Only if anything of it changed, the prepared file gets its permissions again.
    pub(crate) fn still_ready(&self, path: &RepoPath) -> Result<PermissionSource> {
        let known = self.dressed.get(path).or_else(|| self.prepared.dressed.get(path));
        let place = self.root.join(path.to_path());
        let now = files::metadata(&place)?.filter(Metadata::is_file).map(|meta| ReplacedFile::of(place, meta)).transpose()?;
        match known {
            Some(known) if known.replaced == now => Ok(known.given),
            Some(_) | None => Ok(self.make_ready(path, look(self.root, path)?)?.given),
        }
    }

    /// Gives one prepared file its permissions.
    fn make_ready(&self, path: &RepoPath, there: PathOccupant) -> Result<PreparedPermissions> {
        let ready = self.prepared.place(path)?;
        let Some(meta) = files::metadata(&ready)?.filter(Metadata::is_file) else {
            return Ok(PreparedPermissions { given: PermissionSource::Nothing, replaced: None });
        };
        let outcome = self.replaced(path, there).and_then(|replaced| {
            let given = self.give_all(path, (&ready, &meta), replaced.as_ref())?;
            Ok(PreparedPermissions { given, replaced })
        });
        match (outcome, self.attempt) {
            (Ok(dressed), _) => Ok(dressed),
            (Err(error), ChangeAttempt::First | ChangeAttempt::Again) => Err(permissions_lost(path, error)),
            // A reversal is always finished.
            (Err(error), ChangeAttempt::Back) => {
                tracing::warn!(%path, %error, "the permissions of a file could not be put back: only its owner can use it");
                give_to_owner_alone(&ready)?;
                Ok(PreparedPermissions { given: PermissionSource::Recorded, replaced: None })
            }
        }
    }

    /// Sets owner and group first, so that no rights are given to the group that the file had before.
    fn give_all(
        &self,
        path: &RepoPath,
        (ready, now): (&Path, &Metadata),
        replaced: Option<&ReplacedFile>,
    ) -> Result<PermissionSource> {
        let is_its = |replaced: &ReplacedFile| (now.uid(), now.gid()) == (replaced.meta.uid(), replaced.meta.gid());
        let has_group = match replaced.filter(|replaced| !is_its(replaced)) {
            Some(replaced) => files::hand_owner(ready, &replaced.meta)?,
            None => true,
        };
        let given = match self.wanted.get(path).filter(|known| !known.folder) {
            Some(known) => give(ready, known.mode, &known.attributes).map(|()| PermissionSource::Recorded)?,
            None => self.hand_over(replaced, ready, now.permissions().mode())?,
        };
        if !has_group && files::opens_for_another_group(mode_of(ready)?) {
            return Err(Error::new(Code::PermissionsLost, "you cannot set its group, and another group would get its rights"));
        }
        Ok(given)
    }

    /// The file that is there, or that an earlier attempt moved to the trash.
    fn replaced(&self, path: &RepoPath, there: PathOccupant) -> Result<Option<ReplacedFile>> {
        let kept = match there {
            PathOccupant::File(meta) => return ReplacedFile::of(self.root.join(path.to_path()), *meta).map(Some),
            PathOccupant::Missing
            | PathOccupant::Below(_)
            | PathOccupant::Link(..)
            | PathOccupant::Folder
            | PathOccupant::Special => self.trash.find(path)?,
        };
        let Some(kept) = kept else { return Ok(None) };
        files::metadata(&kept)?.filter(Metadata::is_file).map(|meta| ReplacedFile::of(kept, meta)).transpose()
    }

    /// Gives a prepared file, which has mode `now`, the permissions of the file that it replaces.
    fn hand_over(&self, replaced: Option<&ReplacedFile>, ready: &Path, now: u32) -> Result<PermissionSource> {
        let Some(ReplacedFile { meta, attributes, .. }) = replaced else { return Ok(PermissionSource::New) };
        let has_acl = attributes.contains_key(files::ACL);
        let mode = handed(now, meta.permissions().mode(), has_acl, self.keeps.modes);
        give(ready, mode, attributes).map(|()| PermissionSource::Replaced)
    }

    /// Gives a prepared file what a folder gives to files that are created in it: its group, and its default ACL. The folder is
    /// made if it is missing.
    pub(crate) fn as_made_there(&self, path: &RepoPath) -> Result<()> {
        let (folder, _) = path.split();
        let folder = self.root.join(RepoPath::new(folder).to_path());
        if !files::metadata(&folder)?.is_some_and(|meta| meta.is_dir()) {
            self.make_folders(path)?;
        }
        if let Some(meta) = files::metadata(&folder)?.filter(|meta| meta.permissions().mode() & SET_GROUP != 0) {
            // As the kernel does it, but not for a group that this user is not in.
            let ready = self.prepared.place(path)?;
            files::hand_group(&ready, meta.gid())?;
        }
        let Some(default) = files::attribute(&folder, files::DEFAULT_ACL)? else { return Ok(()) };
        let ready = self.prepared.place(path)?;
        // Creates a file in a folder of ours with the same default ACL, to see what the kernel gives it.
        let tried = self.prepared.root().join(format!(".made-{}", env::fresh_id()));
        files::create_private_dir(&tried)?;
        files::set_attributes(&tried, &ExtendedAttributes::from([(files::DEFAULT_ACL.to_vec(), default)]))?;
        let made = tried.join("made");
        files::write_users_file(&made, b"", mode_of(&ready)? & 0o100 != 0)?;
        give(&ready, mode_of(&made)?, &files::attributes(&made)?)?;
        files::remove_file(&made)?;
        files::remove_empty_dir(&tried).map(drop)
    }

    /// Opens the folders of this user's that are closed to it by their mode alone and in which something changes. They stay so, but where
    /// the target has recorded other permissions: that of the way back has those of now.
    pub(crate) fn open_folders(&self, plan: &[PlannedPath<'_>]) -> Result<()> {
        let mut seen = BTreeSet::new();
        for planned in plan {
            match planned.step {
                RestoreStep::Remove | RestoreStep::Swap | RestoreStep::Place => {}
                RestoreStep::Done | RestoreStep::Conflict | RestoreStep::Leave => continue,
            }
            let is_folder = |above: &RepoPath| {
                files::metadata(&self.root.join(above.to_path())).is_ok_and(|meta| meta.is_some_and(|meta| meta.is_dir()))
            };
            let Some(lowest) = planned.path.folders_above().take_while(is_folder).last() else { continue };
            let place = self.root.join(lowest.to_path());
            if seen.insert(lowest) && files::may_open(&place) && files::refuses_changes(&place).is_some() {
                env::fault_point("git.before-folder-opened");
                files::set_mode(&place, (mode_of(&place)? & 0o7777) | OPEN)?;
            }
        }
        Ok(())
    }

    /// Gives the recorded permissions to files and folders that stay in place, if the target recorded others than the
    /// present capture; and closes folders that were made to be filled. What lies in a folder comes before it.
    pub fn settle_permissions(&self, old: &[RecordedPermissions], new: &[RecordedPermissions]) -> Result<()> {
        let written: BTreeSet<&RepoPath> = self.report.written.iter().collect();
        let stays = |one: &&RecordedPermissions| recorded(old, &one.path) != Some(one) && !written.contains(&one.path);
        let is_closed = |one: &&RecordedPermissions| one.folder && one.mode & FILLED != FILLED;
        for one in new.iter().rev().filter(|one| stays(one) || is_closed(one)) {
            let Some(known) = self.wanted.get(&one.path) else { continue };
            let found = match look(self.root, &one.path) {
                Err(error) if self.attempt == ChangeAttempt::Back => {
                    tracing::warn!(path = %one.path, %error, "permissions stay as they are");
                    continue;
                }
                found => found?,
            };
            match found {
                PathOccupant::File(_) if known.folder => {}
                PathOccupant::Folder if !known.folder => {}
                PathOccupant::File(_) | PathOccupant::Folder => {
                    env::fault_point("git.before-permissions");
                    let place = self.root.join(one.path.to_path());
                    match (give(&place, known.mode, &known.attributes), self.attempt) {
                        (Ok(()), _) => {}
                        (Err(error), ChangeAttempt::First | ChangeAttempt::Again) => {
                            return Err(permissions_lost(&one.path, error));
                        }
                        (Err(error), ChangeAttempt::Back) => {
                            tracing::warn!(path = %one.path, %error, "permissions stay as they are")
                        }
                    }
                }
                PathOccupant::Missing | PathOccupant::Below(_) | PathOccupant::Link(..) | PathOccupant::Special => {}
            }
        }
        Ok(())
    }

    /// Creates a folder above a path, with its recorded permissions if there are any: its owner can fill it until they are settled.
    pub(crate) fn make_folder(&self, folder: &RepoPath) -> Result<()> {
        let place = self.root.join(folder.to_path());
        match self.wanted.get(folder).filter(|known| known.folder) {
            None => files::create_users_dir(&place),
            Some(_) if !files::create_private_dir(&place)? => Ok(()),
            Some(ResolvedPermissions { mode, folder: _, attributes }) => match give(&place, *mode | FILLED, attributes) {
                Err(error) if self.attempt != ChangeAttempt::Back => Err(permissions_lost(folder, error)),
                _ => Ok(()),
            },
        }
    }
}

fn permissions_lost(path: &RepoPath, error: Error) -> Error {
    if error.is_of_something_gone() {
        return error;
    }
    Error::new(Code::PermissionsLost, format!("the permissions, ACL or attributes of '{path}' cannot be kept"))
        .because(error)
        .hint("see 'getfacl' and 'getfattr -d' of it; remove what prevents this first")
}

fn mode_of(place: &Path) -> Result<u32> {
    let meta = std::fs::symlink_metadata(place).map_err(|e| Error::io("access", place, e))?;
    Ok(meta.permissions().mode())
}

/// Gives a file or folder exactly these permissions. While the ACL changes, only the owner has access: without the ACL, the
/// group would get the rights that were only the ACL's mask.
fn give(place: &Path, mode: u32, attributes: &ExtendedAttributes) -> Result<()> {
    if files::attributes(place)? != *attributes {
        give_to_owner_alone(place)?;
        files::set_attributes(place, attributes)?;
    }
    let now = mode_of(place)?;
    let given = if now & KIND == FOLDER { 0o3777 } else { 0o777 };
    if now & given == mode & given { Ok(()) } else { files::set_mode(place, (now & 0o7777 & !given) | (mode & given)) }
}

fn give_to_owner_alone(place: &Path) -> Result<()> {
    let now = mode_of(place)?;
    files::set_mode(place, (now & 0o7100) | 0o600)
}

/// The mode of a prepared file that git made with mode `new` and that replaces a file with mode `replaced`: no more open
/// than either. With an ACL, the group bits are its mask, and are those of the replaced file. If git ignores execute bits
/// (`keeps_execute` is false), those of the replaced file stay.
fn handed(new: u32, replaced: u32, has_acl: bool, keeps_execute: bool) -> u32 {
    const EXECUTE: u32 = 0o111;
    let others = if has_acl { replaced & 0o666 } else { new & replaced & 0o666 };
    // Without the right to read there is no right to write or execute.
    let readers = ((replaced & 0o044) >> 2) | 0o100;
    let execute = if keeps_execute { new & readers & EXECUTE } else { replaced & EXECUTE };
    let writers = ((replaced & 0o044) >> 1) | 0o200;
    (others & (writers | 0o444)) | execute
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_a_place_is_no_more_open_than_what_was_there() {
        for (new, replaced, has_acl, keeps_execute, expected) in [
            (0o644, 0o644, false, true, 0o644),
            (0o644, 0o600, false, true, 0o600),
            (0o644, 0o444, false, true, 0o444),
            (0o755, 0o644, false, true, 0o755),
            (0o755, 0o640, false, true, 0o750),
            (0o644, 0o755, false, true, 0o644),
            (0o644, 0o755, false, false, 0o755),
            (0o644, 0o666, false, true, 0o644),
            (0o600, 0o660, true, true, 0o660),
            (0o700, 0o640, true, true, 0o740),
            (0o666, 0o622, false, true, 0o600),
        ] {
            let mode = handed(new, replaced, has_acl, keeps_execute);
            assert_eq!(mode, expected, "{new:o} {replaced:o} {has_acl} {keeps_execute}: {mode:o}");
        }
    }
}
