//! Mends the registration of a linked worktree where it is certain what the files contained. Nothing is deleted: damaged
//! files are moved to a trash folder first.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use axiom_base::error::{Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::{Oid, RefName, spelled};

use super::damaged_worktree::COMMON_DIR;
use super::damaged_worktree::DamagedWorktree;
use super::damaged_worktree::RegistrationFile;
use super::mend::{MendedBranch, symbolic};
use super::worktrees::move_once;
use crate::repo::handles::WorktreeRegistrations;

/// The largest reflog of a HEAD that is read.
const LOG_LIMIT: u64 = 64 * 1024 * 1024;

/// Where HEAD of a worktree was, according to its reflog.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ReflogHead {
    Branch(RefName),
    Commit(Oid),
}

impl WorktreeRegistrations<'_> {
    /// Whether [`WorktreeRegistrations::mend_worktree`] can mend all of the damage.
    pub fn can_mend_worktree(&self, damaged: &DamagedWorktree) -> Result<bool> {
        let has_log = || Ok::<_, Error>(self.was_at(&damaged.registration)?.is_some());
        let needs_log = damaged.parts.contains(&RegistrationFile::Head) || damaged.parts.contains(&RegistrationFile::Branch);
        Ok(!damaged.half_made && damaged.unread.is_none() && damaged.folder.is_some() && (!needs_log || has_log()?))
    }

    /// Mends what is certain. Damaged files are first moved to `trash`, a fresh folder on the file system of the git
    /// directory. Returns what was done, as messages. After a crash a second call finishes the rest.
    pub fn mend_worktree(&self, damaged: &DamagedWorktree, trash: &Path) -> Result<Vec<String>> {
        let DamagedWorktree { registration, folder, parts, half_made, unread } = damaged;
        if unread.is_some() {
            return Ok(Vec::new());
        }
        let put_aside = |part: RegistrationFile| move_once(&registration.join(part.name()), &trash.join(part.name()));
        let mut done = Vec::new();
        if parts.contains(&RegistrationFile::CommonDir) {
            put_aside(RegistrationFile::CommonDir)?;
            env::fault_point("git.mend-worktree-aside");
            write_common_dir(registration)?;
            done.push("it leads to its repository again".to_owned());
        }
        if *half_made {
            return Ok(done);
        }
        if let Some(folder) =
            folder.as_ref().filter(|_| parts.contains(&RegistrationFile::GitDir) || parts.contains(&RegistrationFile::Pointer))
        {
            if parts.contains(&RegistrationFile::GitDir) {
                put_aside(RegistrationFile::GitDir)?;
            }
            self.repo.worktree_owners().connect(folder, registration)?;
            done.push("folder and repository refer to each other again".to_owned());
        }
        if parts.contains(&RegistrationFile::Head)
            && let Some(was_at) = self.was_at(registration)?
        {
            put_aside(RegistrationFile::Head)?;
            env::fault_point("git.mend-worktree-head");
            let (content, words) = match &was_at {
                ReflogHead::Branch(name) => (symbolic(name), format!("it is on {} again", name.short())),
                ReflogHead::Commit(oid) => (
                    format!("{oid}\n").into_bytes(),
                    format!("it is at {} again, on no branch, since its log names none", oid.short()),
                ),
            };
            files::replace_keeping(&registration.join("HEAD"), &content)?;
            done.push(words);
        }
        // The damage above may have hidden more damage.
        if let (Some(folder), Some(branch)) = (folder, self.branch_in(registration)?)
            && self.is_blank_ref(&branch)?
            && let Some(MendedBranch { now, .. }) = self.repo.workspace_damage().mend_branch(folder, &branch, None, trash)?
        {
            done.push(format!("{} is at {} again, the newest commit of its log", branch.short(), now.short()));
        }
        let index = registration.join(RegistrationFile::Index.name());
        if let Some(folder) = folder
            && files::metadata(&index)?.is_some()
            && !self.is_sound_file(&index, RegistrationFile::Index)?
            && self.repo.workspace_damage().mend_index(folder, trash)?
        {
            done.push("its index was rebuilt from its commit: nothing is staged in it".to_owned());
        }
        Ok(done)
    }

    /// Mends only what makes git fail in the whole repository; returns whether there was anything.
    pub(crate) fn mend_what_stops_git(&self) -> Result<bool> {
        if !self.is_git_s_list_stopped()? {
            return Ok(false);
        }
        for damaged in self.damaged_worktrees()?.into_iter().filter(|one| one.parts.contains(&RegistrationFile::CommonDir)) {
            let trash = self.repo.common_dir().join("axiom/trash").join(env::fresh_id());
            let only = DamagedWorktree { parts: vec![RegistrationFile::CommonDir], ..damaged };
            self.mend_worktree(&only, &trash)?;
            tracing::warn!(worktree = %only.place().display(), "an empty 'commondir' was mended, which made git fail everywhere");
        }
        Ok(true)
    }

    /// Where HEAD was, according to its reflog: on the branch that it was switched to last, or else the branch with the
    /// worktree's name, if that branch is at the last commit; otherwise detached at that commit. `None` where there is no
    /// reflog, or the commit is missing.
    fn was_at(&self, registration: &Path) -> Result<Option<ReflogHead>> {
        let log = files::read_optional(&registration.join("logs/HEAD"), LOG_LIMIT)?.unwrap_or_default();
        let log = spelled(&log);
        let Some((last, switched_to)) = last_of(&log) else { return Ok(None) };
        if !self.repo.connectivity().holds(&last) {
            return Ok(None);
        }
        let name = registration.file_name().map(|name| spelled(name.as_bytes()).into_owned());
        let candidate = switched_to.map(str::to_owned).or(name).map(|name| RefName::branch(&name));
        match candidate {
            Some(branch) if self.repo.refs().read_ref(&branch)?.as_ref() == Some(&last) => Ok(Some(ReflogHead::Branch(branch))),
            Some(_) | None => Ok(Some(ReflogHead::Commit(last))),
        }
    }
}

/// Lets a registration lead to its repository.
pub(super) fn write_common_dir(registration: &Path) -> Result<()> {
    files::replace_keeping(&registration.join(RegistrationFile::CommonDir.name()), &[COMMON_DIR, b"\n"].concat())
}

/// The last commit in the reflog of a HEAD, and the branch that it was switched to last.
fn last_of(log: &str) -> Option<(Oid, Option<&str>)> {
    let new = |line: &str| line.split(' ').nth(1).and_then(|hex| Oid::new(hex).ok());
    let last = log.lines().rev().find_map(new)?;
    let moved = |line| str::split_once(line, "\tcheckout: moving from ").and_then(|(_, moved)| moved.split_once(" to "));
    Some((last, log.lines().rev().find_map(moved).map(|(_, to)| to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_tells_where_head_was() {
        let line = |new: char, words: &str| format!("{} {} A <a@a> 1 +0000{words}\n", "0".repeat(40), new.to_string().repeat(40));
        let oid = |digit: char| Oid::new(digit.to_string().repeat(40)).unwrap();
        assert_eq!(last_of(""), None);
        assert_eq!(last_of(&line('1', "")), Some((oid('1'), None)));
        let log = [
            line('1', ""),
            line('2', "\tcheckout: moving from side to a/b"),
            line('3', "\tcommit: moving from x to y"),
            "torn".to_owned(),
        ];
        assert_eq!(last_of(&log.concat()), Some((oid('3'), Some("a/b"))));
    }
}
