//! Checks that git is new enough, once for each git program.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};

use super::handles::Merges;
use super::repository::Repository;

/// The oldest supported version. What needs a newer one says so by itself: [`MERGES`].
const OLDEST: (u32, u32) = (2, 34);

/// The oldest that merges commits without a worktree.
const MERGES: (u32, u32) = (2, 38);

/// The oldest that does so with a base that is named.
const MERGES_WITH_BASE: (u32, u32) = (2, 40);

/// The largest note that is read.
const LIMIT: u64 = 16 * 1024;

impl Repository {
    /// Checks that git is 2.34 or newer. The result is noted below `axiom/tmp` with the path, inode, size and times of the
    /// program, so that the check runs again only for another program. Losing the note costs one call of git.
    pub fn require_git_version(&self) -> Result<()> {
        // Only git 2.44 and newer knows ref formats.
        if self.knows_ref_formats() {
            return Ok(());
        }
        let (note, program) = (self.scratch_folders().own().join("git-program"), program());
        let noted = files::read_optional(&note, LIMIT).ok().flatten();
        if noted.is_some() && noted == program {
            return Ok(());
        }
        let text = self.git().arg("version").text()?;
        match version_of(&text) {
            Some(version) if version >= OLDEST => {
                if let Some(program) = program.filter(|_| note.parent().is_some_and(std::path::Path::is_dir))
                    && let Err(error) = files::write_scratch(&note, &program)
                {
                    tracing::debug!(%error, "the version of git is asked for again the next time");
                }
                Ok(())
            }
            Some(_) | None => {
                Err(Error::new(Code::GitTooOld, format!("'{text}' is too old")).hint("install git 2.34 or newer, better 2.40"))
            }
        }
    }
}

impl Merges<'_> {
    /// Checks that git can merge as a session needs it, before anything is begun.
    pub fn require_git_version(&self) -> Result<()> {
        self.may_name_base().map(drop)
    }

    /// Checks that git can merge without a worktree; returns whether the base may be named.
    pub(crate) fn may_name_base(&self) -> Result<bool> {
        if self.repo.knows_ref_formats() {
            return Ok(true);
        }
        let text = self.repo.git().arg("version").text()?;
        match version_of(&text) {
            Some(version) if version >= MERGES => Ok(version >= MERGES_WITH_BASE),
            Some(_) | None => {
                let needs = format!("merging, sessions and taking back merged work need git 2.38, and this is '{text}'");
                Err(Error::new(Code::GitTooOld, needs).hint("checkpoints, rollbacks and undo work with it"))
            }
        }
    }
}

/// Identifies the `git` that is first in PATH.
fn program() -> Option<Vec<u8>> {
    let path = env::var("PATH")?;
    let is_there = |file: &PathBuf| file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok();
    let file = std::env::split_paths(&path).map(|folder| folder.join("git")).find(is_there)?;
    let meta = file.metadata().ok()?;
    let times = format!("{}.{} {}.{}", meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
    Some(format!("{} {} {} {times} {}\n", meta.dev(), meta.ino(), meta.size(), file.display()).into_bytes())
}

fn version_of(text: &str) -> Option<(u32, u32)> {
    let numbers = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = numbers.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn a_version_is_read_and_noted_for_the_program_alone() {
        assert_eq!(version_of("git version 2.47.3"), Some((2, 47)));
        assert_eq!(version_of("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(version_of("git version"), None);
        let scratch = ScratchRepository::new(&[]);
        let note = scratch.path().join(".git/axiom/tmp/git-program");
        scratch.repo().require_git_version().unwrap();
        assert!(!note.exists(), "where nothing of ours is, nothing is made");
        scratch.write(".git/axiom/tmp/git-program", b"another program\n");
        scratch.repo().require_git_version().unwrap();
        assert_eq!(axiom_base::files::read_optional(&note, LIMIT).unwrap(), program());
        assert!(program().is_some());
    }
}
