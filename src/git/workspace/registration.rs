//! The registration of a linked worktree: three small files in `worktrees/<name>/`, and the `.git` file in its folder. git
//! syncs none of them; after git was killed, or the machine stopped, one of them may be empty. Then git fails in that
//! worktree, and with an empty `commondir` in the whole repository. All of them are read here without git;
//! `registration_mend` mends them.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::names::RefName;
use axiom_model::recovery::torn::is_torn_of;

use super::damaged_worktree::{DamagedWorktree, RegistrationFile};
use super::worktrees::HALF_MADE;
use crate::base::formats::RefFormat;
use crate::base::readable::is_caused_by_gap;
use crate::repo::handles::WorktreeRegistrations;
use crate::repo::ownership::{folder_of, named_by};
use crate::repo::pointer_files::{POINTER_LIMIT, is_same_place, path_of};
use crate::repo::worktree_list::FEW_WORKTREES;
use axiom_base::own_process::threads;

/// git may still be writing a registration that is younger than this.
const YOUNG: Duration = Duration::from_secs(2);

/// The folder of a lost worktree is searched in at most this many folders next to known worktrees.
const SEARCHED: usize = 2000;

/// Whether the `.git` of a folder holds only the beginning of the line that names a registration.
pub(crate) fn is_torn_pointer(folder: &Path, registration: &Path) -> Result<bool> {
    let content = files::read_small(&folder.join(RegistrationFile::Pointer.name()), POINTER_LIMIT)?.content();
    // Nearly always it is whole.
    let Some(content) = content.filter(|content| !content.ends_with(b"\n")) else { return Ok(false) };
    let line = |path: PathBuf| [b"gitdir: ", path.as_os_str().as_bytes()].concat();
    let ways: Vec<Vec<u8>> = spellings(folder, registration).into_iter().map(line).collect();
    Ok(is_torn_of(&content, &ways))
}

/// Whether the `gitdir` of a registration holds only the beginning of the line that names a folder's `.git`.
pub(crate) fn is_torn_back(registration: &Path, folder: &Path) -> Result<bool> {
    let content = files::read_small(&registration.join(RegistrationFile::GitDir.name()), POINTER_LIMIT)?.content();
    let ways = spellings(registration, &folder.join(RegistrationFile::Pointer.name()));
    let ways: Vec<Vec<u8>> = ways.into_iter().map(|path| path.as_os_str().as_bytes().to_owned()).collect();
    Ok(content.is_some_and(|content| is_torn_of(&content, &ways)))
}

/// How git may write the path `to` into a file in the folder `from`: as it is, without links, or relative.
fn spellings(from: &Path, to: &Path) -> Vec<PathBuf> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (from, real_to) = (real(from), to.parent().map_or_else(PathBuf::new, real).join(to.file_name().unwrap_or_default()));
    let same = from.components().zip(real_to.components()).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n(Component::ParentDir, from.components().count() - same);
    let relative = up.chain(real_to.components().skip(same)).collect();
    vec![to.to_owned(), real_to, relative]
}

/// The branch that the content of a HEAD names.
fn branch_of(head: &[u8]) -> Option<RefName> {
    let name = head.trim_ascii().strip_prefix(b"ref: ").filter(|name| name.starts_with(b"refs/heads/"));
    name.map(RefName::of_git).filter(|name| !name.as_str().contains(".."))
}

impl WorktreeRegistrations<'_> {
    /// The linked worktrees whose files git cannot read. A worktree whose folder is missing does not count, unless it stops
    /// git everywhere.
    pub fn damaged_worktrees(&self) -> Result<Vec<DamagedWorktree>> {
        let entries = files::list(&self.repo.common_dir().join("worktrees"))?;
        let looked = threads::for_each(&entries, FEW_WORKTREES, |entry| {
            let registration = entry.path();
            match self.damage_of(&registration) {
                Err(error) if is_caused_by_gap(&error) => {
                    let (folder, unread) = (folder_of(&registration).ok().flatten(), Some(error.to_string()));
                    Ok(Some(DamagedWorktree { registration, folder, parts: Vec::new(), half_made: false, unread }))
                }
                looked => looked,
            }
        })?;
        let mut damaged: Vec<DamagedWorktree> = looked.into_iter().flatten().collect();
        damaged.sort_by(|one, other| one.registration.cmp(&other.registration));
        Ok(damaged)
    }

    pub(crate) fn damage_of(&self, registration: &Path) -> Result<Option<DamagedWorktree>> {
        let Some(meta) = files::metadata(registration)?.filter(std::fs::Metadata::is_dir) else { return Ok(None) };
        let age = meta.modified().ok().and_then(|at| at.elapsed().ok()).unwrap_or(YOUNG);
        let half_made = is_half_made(registration)?;
        if half_made && age < YOUNG {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for part in [RegistrationFile::CommonDir, RegistrationFile::GitDir, RegistrationFile::Head] {
            if !self.is_sound_file(&registration.join(part.name()), part)? {
                parts.push(part);
            }
        }
        let folder = match parts.contains(&RegistrationFile::GitDir) {
            true => self.folder_that_names(registration)?,
            false => folder_of(registration)?,
        };
        let stands = |folder: &PathBuf| files::metadata(folder).map(|meta| meta.is_some_and(|meta| meta.is_dir()));
        let stands = folder.as_ref().map_or(Ok(false), stands)?;
        if let Some(folder) = folder.as_ref().filter(|_| stands) {
            let pointer = folder.join(RegistrationFile::Pointer.name());
            if files::metadata(&pointer)?.is_some()
                && (!self.is_sound_file(&pointer, RegistrationFile::Pointer)? || is_torn_pointer(folder, registration)?)
            {
                parts.push(RegistrationFile::Pointer);
            }
            let index = registration.join(RegistrationFile::Index.name());
            if let Some(branch) = self.branch_in(registration)?
                && self.is_blank_ref(&branch)?
            {
                parts.push(RegistrationFile::Branch);
            }
            if files::metadata(&index)?.is_some() && !self.is_sound_file(&index, RegistrationFile::Index)? {
                parts.push(RegistrationFile::Index);
            }
        }
        // A worktree whose folder was deleted needs no mending; but an empty `commondir` stops git everywhere.
        let matters = stands || folder.is_none() || parts.contains(&RegistrationFile::CommonDir);
        let damaged = DamagedWorktree { registration: registration.to_owned(), folder, parts, half_made, unread: None };
        Ok((matters && !damaged.parts.is_empty()).then_some(damaged))
    }

    pub(crate) fn is_sound_file(&self, path: &Path, part: RegistrationFile) -> Result<bool> {
        // With reftable HEAD is a placeholder. A symbolic link is an old form of HEAD; other things that are not files are
        // not judged.
        if part == RegistrationFile::Head && self.repo.ref_format() == RefFormat::Reftable {
            return Ok(true);
        }
        match files::metadata(path)? {
            Some(meta) if meta.is_file() => {}
            Some(_) => return Ok(true),
            None => return Ok(false),
        }
        match files::read_start(path, POINTER_LIMIT)? {
            Some(content) => Ok(part.is_sound(&content) && !(part == RegistrationFile::Head && self.is_torn_name(&content)?)),
            None => Ok(false),
        }
    }

    /// Whether HEAD names, without the line end that git always writes, no branch that is there: that is the beginning of the
    /// name of another. git would take it for a branch without commits.
    fn is_torn_name(&self, head: &[u8]) -> Result<bool> {
        if head.ends_with(b"\n") || !head.starts_with(b"ref:") {
            return Ok(false);
        }
        Ok(branch_of(head).map_or(Ok(None), |branch| self.repo.refs().read_ref(&branch))?.is_none())
    }

    /// The branch that the HEAD of a registration is on.
    pub(crate) fn branch_in(&self, registration: &Path) -> Result<Option<RefName>> {
        if self.repo.ref_format() == RefFormat::Reftable {
            return Ok(None);
        }
        let head = files::read_start(&registration.join("HEAD"), POINTER_LIMIT)?.unwrap_or_default();
        Ok(branch_of(&head))
    }

    /// Whether a ref has an empty file, as after a power loss: git can neither read nor write such a ref.
    pub fn is_blank_ref(&self, name: &RefName) -> Result<bool> {
        let file = self.repo.common_dir().join(name.in_git());
        let is_file = files::metadata(&file)?.is_some_and(|meta| meta.is_file());
        Ok(is_file && !self.is_sound_file(&file, RegistrationFile::Branch)?)
    }

    /// The folder whose `.git` names this registration, searched next to the known worktrees.
    fn folder_that_names(&self, registration: &Path) -> Result<Option<PathBuf>> {
        let main = self.repo.worktrees().main_worktree().ok().map(|main| main.path().to_owned());
        let known = self
            .repo
            .worktree_owners()
            .linked()?
            .into_iter()
            .filter(|(git_dir, _)| git_dir != registration)
            .map(|(_, folder)| folder);
        let mut places: Vec<PathBuf> = main.iter().map(|main| main.join(".worktrees")).collect();
        places.extend(main.into_iter().chain(known).filter_map(|folder| folder.parent().map(Path::to_owned)));
        // What is left of a torn path leads to the folder above, or to one beside.
        let rest = files::read_start(&registration.join(RegistrationFile::GitDir.name()), POINTER_LIMIT)?.unwrap_or_default();
        let rest = path_of(rest.split(|byte| *byte == 0).next().unwrap_or_default());
        places.extend(rest.parent().filter(|above| above.is_absolute() && above.parent().is_some()).map(Path::to_owned));
        // Whoever calls from there names it.
        if is_same_place(self.repo.git_dir(), registration)
            && let Ok(here) = self.repo.worktrees().current_worktree()
        {
            return Ok(Some(here.path().to_owned()));
        }
        places.sort();
        places.dedup();
        let mut left = SEARCHED;
        for place in places {
            // A folder of another user may be unreadable.
            for entry in files::list(&place).unwrap_or_default() {
                left = left.saturating_sub(1);
                if left == 0 {
                    return Ok(None);
                }
                let folder = entry.path();
                let named = named_by(&folder).ok().flatten();
                if named.is_some_and(|named| is_same_place(&named, registration)) {
                    return Ok(Some(folder));
                }
            }
        }
        Ok(None)
    }

    /// Whether a damaged registration makes `git worktree list` fail.
    pub(crate) fn is_git_s_list_stopped(&self) -> Result<bool> {
        for entry in files::list(&self.repo.common_dir().join("worktrees"))? {
            // One that cannot be read is git's to tell of.
            let content = files::read_optional(&entry.path().join("commondir"), POINTER_LIMIT).ok().flatten();
            if content.is_some_and(|content| content.trim_ascii().is_empty()) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn is_half_made(registration: &Path) -> Result<bool> {
    let locked = files::read_optional(&registration.join("locked"), POINTER_LIMIT)?;
    Ok(locked.is_some_and(|reason| reason.trim_ascii() == HALF_MADE.as_bytes()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn a_path_is_known_in_each_way_that_git_writes_it() {
        let ways = spellings(Path::new("/none/r/.git/worktrees/w"), Path::new("/none/w/.git"));
        assert_eq!(ways[0], Path::new("/none/w/.git"));
        assert_eq!(ways[2], Path::new("../../../../w/.git"));
    }

    #[test]
    fn the_beginning_of_a_branchs_name_is_no_head() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        scratch.git(&["worktree", "add", "-q", "../w", "-b", "agents/two"]);
        let registration = scratch.path().join(".git/worktrees/w");
        let damage = || repo.registrations().damage_of(&registration).unwrap();
        let whole = std::fs::read(registration.join("HEAD")).unwrap();
        for rest in 4..whole.len() - 1 {
            std::fs::write(registration.join("HEAD"), &whole[..rest]).unwrap();
            let damage = damage().unwrap_or_else(|| panic!("{rest}"));
            assert_eq!(damage.parts, [RegistrationFile::Head], "{rest}");
            repo.registrations().mend_worktree(&damage, &scratch.path().join(format!(".git/axiom/trash/{rest}"))).unwrap();
        }
        // Whoever writes it by hand leaves the line end out.
        for sound in [&whole[..whole.len() - 1], b"ref: refs/heads/new\n"] {
            std::fs::write(registration.join("HEAD"), sound).unwrap();
            assert_eq!(damage(), None);
        }
    }

    #[test]
    fn files_that_a_power_loss_left_are_told_from_those_that_git_wrote() {
        type Contents = &'static [&'static [u8]];
        let table: &[(RegistrationFile, Contents, Contents)] = &[
            (RegistrationFile::CommonDir, &[b"../..\n", b"/r/.git\n"], &[b"", b"\n", b"\0\0\0\0\0\0", b"../", b"..", b"../..\0"]),
            (
                RegistrationFile::GitDir,
                &[b"/w/.git\n", b"../../../w/.git\n"],
                &[b"", b"\0\0\0", b"/home/us", b"/w/.gi", b"/w/.git\0\0"],
            ),
            (
                RegistrationFile::Head,
                &[b"ref: refs/heads/x\n", b"1111111111111111111111111111111111111111\n"],
                &[b"", b"ref: \n", b"\0", b"x", b"ref: refs/hea\0\0", b"ref: r", b"ref: refs", b"1111111111"],
            ),
            (RegistrationFile::Index, &[b"DIRC\0\0\0\x02"], &[b"", b"\0\0\0\0\0"]),
            (RegistrationFile::Branch, &[b"1111111111111111111111111111111111111111\n"], &[b"", b"\0\0"]),
            (RegistrationFile::Pointer, &[b"gitdir: /r/.git/worktrees/w\n", b"somebody else's"], &[b"", b" \n", b"\0\0"]),
        ];
        for (part, sound, damaged) in table {
            assert!(sound.iter().all(|content| part.is_sound(content)), "{part:?}");
            assert!(damaged.iter().all(|content| !part.is_sound(content)), "{part:?}");
        }
    }
}
