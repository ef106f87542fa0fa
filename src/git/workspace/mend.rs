//! Mends workspaces after a power loss. git syncs none of the files that register a worktree: a file of the registration,
//! the ref of the branch or the index may be empty, and the newest commits may be missing. One such file can make git fail
//! in the whole repository. Nothing is deleted here: damaged files go to the trash.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::damaged_worktree::RegistrationFile;
use super::registration::{is_torn_back, is_torn_pointer};
use super::registration_mend::write_common_dir;
use super::worktrees::move_once;
use crate::index::file;
use crate::index::filters::FILTER_LIMIT;
use crate::refs::edits::{ExpectedRefValue, RefEdit};
use crate::repo::handles::{UnfinishedWork, WorkspaceDamage, Workspaces, WorktreeRegistrations};
use crate::repo::pointer_files::is_same_place;
use crate::repo::pointer_files::path_of;
use crate::repo::pointer_files::trimmed;
use crate::repo::worktrees::Worktree;
use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_model::base::names::{Oid, RefName};

/// The largest file of a registration, the largest ref, and the largest reflog that is read.
const SMALL: u64 = 64 * 1024;
const LOG_LIMIT: u64 = 64 * 1024 * 1024;

/// A damaged branch that was mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MendedBranch {
    /// The commit that is missing or incomplete; `None` where not even its id is left.
    pub lost: Option<Oid>,
    /// The new commit of the branch: the newest complete one in its reflog, or its base.
    pub now: Oid,
}

impl WorkspaceDamage<'_> {
    /// Makes sure that the branch of the workspace at `path` is at a complete commit. If it is not, it is set to the newest
    /// complete commit of its reflog, or to `base`, which is assumed to be complete. A commit that only a log names any more
    /// is lost too. The files of the workspace do not change.
    pub fn mend_branch(&self, path: &Path, branch: &RefName, base: Option<&Oid>, trash: &Path) -> Result<Option<MendedBranch>> {
        let Some(registration) = self.repo.registrations().registration_of(path)? else { return Ok(None) };
        let file = self.repo.common_dir().join(branch.in_git());
        let loose = files::read_optional(&file, SMALL)?;
        let damaged = loose.is_some_and(|content| {
            let content = content.trim_ascii();
            !content.starts_with(b"ref:") && std::str::from_utf8(content).map_or(true, |hex| Oid::new(hex).is_err())
        });
        if damaged {
            move_once(&file, &trash.join("ref"))?;
        }
        let tip = self.repo.refs().read_ref(branch)?;
        let missing = |tip: &Oid| match base {
            Some(base) => self.repo.connectivity().missing_since(tip, base),
            None => self.repo.connectivity().missing_below(std::slice::from_ref(tip)),
        };
        let is_whole = |tip: &Oid| -> Result<bool> { Ok(self.repo.connectivity().holds(tip) && missing(tip)?.is_none()) };
        let logs = [self.repo.common_dir().join("logs").join(branch.in_git()), registration.join("logs/HEAD")];
        if let Some(now) = tip.as_ref().filter(|tip| !damaged && is_whole(tip).unwrap_or(true)) {
            let lost = logs.iter().map(|log| self.forget_lost(log, base)).collect::<Result<Vec<_>>>()?;
            return Ok(lost.into_iter().flatten().next_back().map(|lost| MendedBranch { lost: Some(lost), now: now.clone() }));
        }
        let mut candidates = Vec::new();
        for log in &logs {
            let lines = files::read_optional(log, LOG_LIMIT)?.unwrap_or_default();
            candidates.extend(lines.split(|byte| *byte == b'\n').rev().filter_map(|line| ids(line).map(|(_, new)| new)));
        }
        candidates.extend(base.cloned());
        let mut whole = None;
        for candidate in &candidates {
            if is_whole(candidate)? {
                whole = Some(candidate);
                break;
            }
        }
        let Some(now) = whole.cloned() else { return Ok(None) };
        if tip.as_ref() != Some(&now) {
            let edit =
                RefEdit { name: branch.clone(), expected: ExpectedRefValue::from_old(tip.clone()), new: Some(now.clone()) };
            self.repo.refs().update_refs(&[edit], "git axiom: commits were lost with the power")?;
        }
        env::fault_point("git.mend-branch-moved");
        for log in &logs {
            self.forget_lost(log, base)?;
        }
        Ok(Some(MendedBranch { lost: tip.filter(|tip| *tip != now), now }))
    }

    /// Removes lines from a reflog that name commits of which something is missing: git reports them as damage, for as long as the log
    /// has them. Everything that `base` reaches is assumed to be complete. Returns the newest of these commits.
    pub(crate) fn forget_lost(&self, log: &Path, base: Option<&Oid>) -> Result<Option<Oid>> {
        let Some(content) = files::read_optional(log, LOG_LIMIT)? else { return Ok(None) };
        let connectivity = self.repo.connectivity();
        let (held, mut lost): (BTreeSet<Oid>, BTreeSet<Oid>) = named_in_log(&content).partition(|oid| connectivity.holds(oid));
        lost.extend(connectivity.broken_tips(&held.into_iter().collect::<Vec<_>>(), base)?);
        let is_there = |oid: &Oid| !lost.contains(oid);
        let lines = content.split_inclusive(|byte| *byte == b'\n');
        let kept = lines.filter(|line| ids(line).is_some_and(|(old, new)| is_there(&old) && is_there(&new)));
        let kept = kept.collect::<Vec<_>>().concat();
        if kept == content {
            return Ok(None);
        }
        let mode = mode_of(log);
        files::write_atomic(log, &kept)?;
        files::set_mode(log, mode)?;
        let named = content.rsplit(|byte| *byte == b'\n').filter_map(ids).map(|(_, new)| new);
        Ok(named.into_iter().find(|oid| !is_there(oid)))
    }

    /// Makes the index of the workspace at `path` again from its commit, if the index cannot be read or names missing
    /// objects; returns whether it did. The files do not change: changes that were staged are then unstaged.
    pub fn mend_index(&self, path: &Path, trash: &Path) -> Result<bool> {
        let Some(registration) = self.repo.registrations().registration_of(path)? else { return Ok(false) };
        let worktree = Worktree::linked(path.to_owned(), registration);
        if worktree.verify().is_err() || self.is_sound(&worktree.index_file()) {
            return Ok(false);
        }
        move_once(&worktree.index_file(), &trash.join("index"))?;
        env::fault_point("git.mend-index-moved");
        self.repo.git_in(&worktree).writing().args(["read-tree", "HEAD"]).run_ok()?;
        files::sync_dir(worktree.git_dir())?;
        Ok(true)
    }

    fn is_sound(&self, index: &Path) -> bool {
        let Some(file) = file::read(self.repo, index) else { return false };
        let link = gix::index::entry::Mode::COMMIT;
        let is_there = |entry: &gix::index::Entry| {
            Oid::from_bytes(entry.id.as_bytes()).is_ok_and(|oid| self.repo.connectivity().holds(&oid))
        };
        self.repo.connectivity().is_partial() || file.entries().iter().filter(|entry| entry.mode != link).all(is_there)
    }
}

impl UnfinishedWork<'_> {
    /// Whether the workspace at `path` has changes or untracked files, or is no worktree any more; `false` where nothing is there.
    pub fn is_workspace_changed(&self, path: &Path) -> Result<bool> {
        let Some(entry) = self.repo.worktrees().worktree_at(path)?.filter(|entry| entry.present) else {
            // What stands there is no worktree: of one, its '.git' is lost.
            return Ok(path.symlink_metadata().is_ok());
        };
        let status =
            self.repo.git_in(&entry.worktree).limited(FILTER_LIMIT).args(["status", "--porcelain", "--untracked-files=normal"]);
        Ok(!status.run_ok()?.stdout.is_empty())
    }
}

impl Workspaces<'_> {
    /// Moves a workspace's folder and registration to the trash. The branch stays.
    pub fn put_in_trash(&self, path: &Path, trash: &Path) -> Result<()> {
        let registration = self.repo.registrations().registration_of(path)?;
        move_once(path, &trash.join("folder"))?;
        env::fault_point("git.mend-folder-moved");
        registration.map_or(Ok(()), |from| move_once(&from, &self.repo.common_dir().join("axiom/trash").join(env::fresh_id())))
    }
}

impl WorktreeRegistrations<'_> {
    /// Checks the files that register the workspace at `path`, without git. If `commondir` or `gitdir` was never synced, and
    /// neither was what is written before it, the workspace was still being made: its folder and registration go to the trash.
    /// Returns what was done.
    pub fn mend_registration(&self, path: &Path, branch: &RefName, trash: &Path) -> Result<Option<&'static str>> {
        let Some(registration) = self.registration_of(path)? else { return Ok(None) };
        let is_empty = |name: &str| -> Result<bool> {
            let content = files::read_optional(&registration.join(name), SMALL)?;
            Ok(content.is_none_or(|content| content.trim_ascii().is_empty()))
        };
        let is_named = self
            .repo
            .worktree_owners()
            .own_git_dir_of(path)
            .is_ok_and(|named| named.is_some_and(|named| is_same_place(&named, &registration)));
        // The folder names its registration and has an index: its files were written, whatever the registration lost.
        let is_made = is_named && self.repo.workspace_damage().is_sound(&registration.join("index"));
        let (is_lost, leads_nowhere) =
            (is_empty("gitdir")?, !self.is_sound_file(&registration.join("commondir"), RegistrationFile::CommonDir)?);
        // Without its folder there is nothing that a torn registration could be connected with; git would go on taking its branch for
        // one that is checked out, at the torn path.
        let is_torn_alone = path.symlink_metadata().is_err() && is_torn_back(&registration, path)?;
        if (leads_nowhere || is_lost || is_torn_alone) && !is_made {
            self.repo.workspaces().put_in_trash(path, trash)?;
            return Ok(Some("was incomplete when the machine stopped, and was moved to the trash"));
        }
        if leads_nowhere {
            write_common_dir(&registration)?;
            env::fault_point("git.mend-leads-home");
        }
        let torn = leads_nowhere || is_lost || is_torn_pointer(path, &registration)? || is_torn_back(&registration, path)?;
        if torn && path.symlink_metadata().is_ok() {
            self.repo.worktree_owners().connect(path, &registration)?;
            env::fault_point("git.mend-connected");
        }
        if !self.is_sound_file(&registration.join("HEAD"), RegistrationFile::Head)? {
            let head = registration.join("HEAD");
            files::write_atomic(&head, &symbolic(branch))?;
            files::set_mode(&head, mode_of(&registration.join("commondir")))?;
            return Ok(Some("had lost its HEAD, and is on its branch again"));
        }
        Ok(torn.then_some("was no longer connected with its repository, and is again"))
    }

    /// The registration of the workspace at `path`, whether or not git lists it: the one whose `gitdir` names it, or one with an empty
    /// or torn `gitdir` that the workspace's `.git` names or that has the folder's name.
    fn registration_of(&self, path: &Path) -> Result<Option<PathBuf>> {
        let pointer = path.join(".git");
        let there = files::read_small(&pointer, SMALL)?.content().unwrap_or_default();
        let named = there.strip_prefix(b"gitdir: ").map(|named| path.join(path_of(trimmed(named))));
        let mut nameless = None;
        for entry in files::list(&self.repo.common_dir().join("worktrees"))? {
            let registration = entry.path();
            let back = files::read_optional(&registration.join("gitdir"), SMALL)?.unwrap_or_default();
            let back = trimmed(&back);
            if !back.is_empty() && path_of(back) == pointer {
                return Ok(Some(registration));
            }
            let is_somebodys = back.ends_with(b"/.git");
            let is_its_own = named.as_ref() == Some(&registration) || path.file_name() == registration.file_name();
            if !is_somebodys && is_its_own && (back.is_empty() || is_torn_back(&registration, path)?) {
                nameless = Some(registration);
            }
        }
        Ok(nameless)
    }
}

/// The content of a HEAD that is on a branch.
pub(crate) fn symbolic(branch: &RefName) -> Vec<u8> {
    [b"ref: ", branch.in_git().as_bytes(), b"\n"].concat()
}

/// The two ids of a reflog line.
pub(super) fn ids(line: &[u8]) -> Option<(Oid, Oid)> {
    let mut words = std::str::from_utf8(line.get(..line.len().min(200))?).ok()?.split(' ');
    Some((Oid::new(words.next()?).ok()?, Oid::new(words.next()?).ok()?))
}

/// All that a log names.
pub(super) fn named_in_log(log: &[u8]) -> impl Iterator<Item = Oid> {
    let named = log.split(|byte| *byte == b'\n').filter_map(ids).flat_map(|(old, new)| [old, new]);
    named.filter(|oid| oid.as_str().bytes().any(|byte| byte != b'0'))
}

fn mode_of(path: &Path) -> u32 {
    path.metadata().map_or(0o600, |metadata| metadata.permissions().mode() & 0o7777)
}
