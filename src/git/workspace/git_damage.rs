//! Finding damage to git's own files and objects, in the main worktree, in linked ones, and among the refs. Changes nothing, but
//! for [`WorkspaceDamage::mend_torn_index`].

use std::collections::BTreeSet;
use std::path::Path;

use gix::index::entry::{Flags, Mode};

use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::checkpoint::local_refs::{STASH, is_held};
use axiom_model::recovery::git_damage::GitDamage;

use super::mend::{ids, named_in_log};
use super::worktrees::move_once;
use crate::base::formats::RefFormat;
use crate::base::head::Head;
use crate::index::{edit, file};
use crate::repo::handles::WorkspaceDamage;
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;

/// The largest log and the largest ref that is read.
const LOG_LIMIT: u64 = 64 * 1024 * 1024;
const SMALL: u64 = 64 * 1024;
/// How many commits of a log are tried.
const MOST_TRIED: usize = 20;

impl WorkspaceDamage<'_> {
    /// What is damaged of git's own in these worktrees, whose registrations are sound, and among the refs.
    pub fn git_damage(&self, worktrees: &[Worktree]) -> Result<Vec<GitDamage>> {
        let something_is_lost = !self.repo.power_losses().lost_objects()?.is_empty();
        let mut found = Vec::new();
        for worktree in worktrees {
            found.extend(self.damage_at(worktree, something_is_lost)?);
        }
        let known: BTreeSet<RefName> = found.iter().filter_map(name_of).cloned().collect();
        found.extend(self.damage_of_refs(&known, something_is_lost)?);
        if something_is_lost && self.repo.ref_format() == RefFormat::Files {
            // What is wrong with a ref comes first: its log is needed for that.
            let known: BTreeSet<RefName> = found.iter().filter_map(name_of).cloned().collect();
            found.extend(damage_of_logs(self.repo, worktrees, &known)?);
        }
        Ok(found)
    }

    /// Why the commit or the branch of a worktree cannot be read; no process is started, and no index is looked at.
    pub fn head_damage(&self, worktree: &Worktree) -> Result<Option<GitDamage>> {
        let place = || worktree.path().display().to_string();
        let logs = |branch: Option<&RefName>| self.newest_whole(Some(worktree), branch);
        // Before HEAD is read: git may refuse it for such a branch.
        if let Some(name) = self.repo.registrations().branch_in(worktree.git_dir())?
            && let Some(damaged) = self.damaged_ref(&name, Some(worktree))?
        {
            return Ok(Some(damaged));
        }
        let Ok(head) = self.repo.refs().head(worktree) else { return Ok(None) };
        if let Some(name) = head.branch()
            && head.commit().is_none()
            && self.has_log(name)?
        {
            let whole = logs(Some(name))?;
            return Ok(Some(GitDamage::BranchGone { worktree: place(), name: name.clone(), whole }));
        }
        let Some(lost) = head.commit().filter(|commit| !self.repo.connectivity().holds(commit)) else { return Ok(None) };
        if self.repo.connectivity().is_partial() {
            return Ok(None);
        }
        let (branch, whole) = (head.branch().cloned(), logs(head.branch())?);
        Ok(Some(GitDamage::Head { worktree: place(), branch, lost: lost.clone(), whole }))
    }

    /// The index of a worktree, if it has no content; nothing else of it is looked at.
    pub fn blank_index(&self, worktree: &Worktree) -> Result<Option<GitDamage>> {
        let begins = files::read_start(&worktree.index_file(), 4)?;
        let is_blank = begins.is_some_and(|begins| begins != b"DIRC");
        Ok(is_blank.then(|| GitDamage::Index { worktree: worktree.path().display().to_string() }))
    }

    fn damage_at(&self, worktree: &Worktree, something_is_lost: bool) -> Result<Vec<GitDamage>> {
        let mut found: Vec<GitDamage> = self.head_damage(worktree)?.into_iter().collect();
        let head = if found.is_empty() { self.repo.refs().head(worktree).ok() } else { None };
        let commit = head.as_ref().and_then(Head::commit);
        let place = || worktree.path().display().to_string();
        if self.is_torn(&worktree.index_file()) {
            // Without a commit to make it from, that comes first.
            if found.is_empty() {
                found.push(GitDamage::Index { worktree: place() });
            }
            return Ok(found);
        }
        if !self.repo.connectivity().is_partial() {
            let paths = self.lost_in_index(worktree);
            if !paths.is_empty() {
                found.push(GitDamage::Staged { worktree: place(), paths, has_commit: commit.is_some() });
            }
        }
        if let (true, Some(commit), Some(head)) = (something_is_lost, commit, &head)
            && !self.repo.connectivity().broken_tips(std::slice::from_ref(commit), None)?.is_empty()
        {
            let name = head.branch().cloned().unwrap_or_else(|| RefName::new("HEAD"));
            let whole = self.newest_whole(Some(worktree), head.branch())?;
            found.push(GitDamage::History { name, worktree: Some(place()), whole });
        }
        Ok(found)
    }

    fn damage_of_refs(&self, known: &BTreeSet<RefName>, something_is_lost: bool) -> Result<Vec<GitDamage>> {
        let mut found = Vec::new();
        let listed = self.repo.ref_lists().listed_refs()?;
        // The stash is no local ref that is listed.
        let stash = RefName::new(STASH);
        for name in listed.unclear.iter().chain([&stash]).filter(|name| !known.contains(*name)) {
            found.extend(self.damaged_ref(name, None)?);
        }
        let stash = self.repo.stash().entries()?;
        let mut broken = BTreeSet::new();
        if something_is_lost {
            let refs = self.repo.ref_lists().listed_by_git()?.refs;
            let refs: Vec<_> = refs.into_iter().filter(|(name, _)| is_held(name)).collect();
            let tips: BTreeSet<Oid> = refs.iter().map(|(_, oid)| oid).chain(stash.iter().map(|one| &one.id)).cloned().collect();
            broken = self.repo.connectivity().broken_tips(&tips.into_iter().collect::<Vec<_>>(), None)?;
            for (name, _) in refs.iter().filter(|(_, oid)| broken.contains(oid)) {
                let name = RefName::new(name.as_str());
                if !known.contains(&name) {
                    let whole = self.newest_whole(None, Some(&name))?;
                    found.push(GitDamage::History { name, worktree: None, whole });
                }
            }
        }
        let is_broken = |oid: &Oid| broken.contains(oid) || !self.repo.connectivity().is_whole_nearby(oid);
        // The last one first: what is given up moves those behind it up.
        let entries = stash.iter().enumerate().rev().filter(|(_, entry)| is_broken(&entry.id));
        found.extend(entries.map(|(number, entry)| {
            let unlogged = entry.is_unlogged().then(|| entry.id.clone());
            GitDamage::Stash { number, unlogged }
        }));
        Ok(found)
    }

    /// A ref whose file is there and names nothing.
    fn damaged_ref(&self, name: &RefName, on_it: Option<&Worktree>) -> Result<Option<GitDamage>> {
        let file = self.repo.common_dir().join(name.in_git());
        if self.repo.ref_format() != RefFormat::Files || !file.is_file() {
            return Ok(None);
        }
        let content = files::read_optional(&file, SMALL)?.unwrap_or_default();
        let content = content.trim_ascii();
        if content.starts_with(b"ref:") || std::str::from_utf8(content).is_ok_and(|hex| Oid::new(hex).is_ok()) {
            return Ok(None);
        }
        let aside = self.repo.common_dir().join(format!("damaged-{}", name.as_str().replace('/', "-")));
        Ok(Some(GitDamage::Ref {
            name: name.clone(),
            file: file.display().to_string(),
            aside: aside.display().to_string(),
            worktree: on_it.map(|worktree| worktree.path().display().to_string()),
            whole: self.newest_whole(on_it, Some(name))?,
        }))
    }

    fn has_log(&self, name: &RefName) -> Result<bool> {
        let log = files::read_optional(&self.repo.common_dir().join("logs").join(name.in_git()), LOG_LIMIT)?;
        Ok(log.is_some_and(|log| log.split(|byte| *byte == b'\n').any(|line| ids(line).is_some())))
    }

    /// The newest commit in the log of a branch, else of HEAD, of which nothing is missing.
    fn newest_whole(&self, worktree: Option<&Worktree>, branch: Option<&RefName>) -> Result<Option<Oid>> {
        let of_branch = branch.map(|name| self.repo.common_dir().join("logs").join(name.in_git()));
        let of_head = worktree.map(|worktree| worktree.git_dir().join("logs/HEAD"));
        let mut tried = BTreeSet::new();
        for log in of_branch.into_iter().chain(of_head) {
            let lines = files::read_optional(&log, LOG_LIMIT)?.unwrap_or_default();
            let lines = lines.split(|byte| *byte == b'\n').rev().filter_map(ids);
            for oid in lines.flat_map(|(old, new)| [new, old]) {
                let is_new = self.repo.connectivity().holds(&oid) && tried.len() < MOST_TRIED && tried.insert(oid.clone());
                if is_new && self.repo.connectivity().missing_below(std::slice::from_ref(&oid))?.is_none() {
                    return Ok(Some(oid));
                }
            }
        }
        Ok(None)
    }

    /// The paths of an index whose contents are not there.
    fn lost_in_index(&self, worktree: &Worktree) -> Vec<RepoPath> {
        let Some(index) = file::read(self.repo, &worktree.index_file()) else { return Vec::new() };
        let (link, folder) = (Mode::COMMIT, Mode::DIR);
        let is_content = |entry: &&gix::index::Entry| {
            entry.mode != link && entry.mode != folder && !entry.flags.contains(Flags::INTENT_TO_ADD)
        };
        let is_lost = |entry: &&gix::index::Entry| {
            Oid::from_bytes(entry.id.as_bytes()).is_ok_and(|oid| !self.repo.connectivity().holds(&oid))
        };
        let lost = index.entries().iter().filter(is_content).filter(is_lost);
        let mut paths: Vec<RepoPath> = lost.map(|entry| RepoPath::new(entry.path(&index).to_vec())).collect();
        paths.dedup();
        paths
    }

    /// Moves an index that is empty or cut off to `trash`, and makes one from the commit that is checked out; without a commit there
    /// is none. The files do not change. Returns whether there was anything to do.
    pub fn mend_torn_index(&self, worktree: &Worktree, trash: &Path) -> Result<bool> {
        let place = worktree.index_file();
        if !self.is_torn(&place) || self.head_damage(worktree)?.is_some() {
            return Ok(false);
        }
        worktree.verify()?;
        move_once(&place, &trash.join("index"))?;
        env::fault_point("git.torn-index-aside");
        if self.repo.refs().head(worktree)?.commit().is_some() {
            self.repo.git_in(worktree).writing().args(["read-tree", "HEAD"]).run_ok()?;
        }
        files::sync_dir(worktree.git_dir()).map(|()| true)
    }

    /// Whether an index is there and is not what git wrote. Of a split index both files are needed.
    fn is_torn(&self, index: &Path) -> bool {
        if !std::fs::symlink_metadata(index).is_ok_and(|meta| meta.is_file()) {
            return false;
        }
        let Ok(content) = std::fs::read(index) else { return false };
        let shared = edit::shared_index(&content, self.repo.hash()).map(|name| index.with_file_name(name));
        let is_lost = |shared: &Path| std::fs::read(shared).map_or(true, |content| !self.is_whole(shared, &content));
        !self.is_whole(index, &content) || shared.is_some_and(|shared| is_lost(&shared))
    }

    /// Whether the file of an index has content, and the sum is that of it.
    fn is_whole(&self, index: &Path, content: &[u8]) -> bool {
        let hash = self.repo.hash();
        let Some(end) = content.len().checked_sub(hash.bytes()) else { return false };
        let (body, sum) = content.split_at(end);
        // With 'index.skipHash' git writes zeros; so may a power loss.
        let is_whole = match sum.iter().all(|byte| *byte == 0) {
            true => file::read(self.repo, index).is_some(),
            false => hash.digest(body).is_ok_and(|digest| digest == sum),
        };
        body.starts_with(b"DIRC") && is_whole
    }
}

/// Logs that name broken commits, but those of the refs that are left out.
fn damage_of_logs(repo: &Repository, worktrees: &[Worktree], but: &BTreeSet<RefName>) -> Result<Vec<GitDamage>> {
    let names = repo.ref_lists().listed_refs()?.refs.into_keys().chain([STASH.to_owned()]).map(RefName::new);
    let logs = names.map(|name| (repo.common_dir().join("logs").join(name.in_git()), name, None));
    let of_heads = worktrees
        .iter()
        .map(|one| (one.git_dir().join("logs/HEAD"), RefName::new("HEAD"), Some(one.path().display().to_string())));
    let mut found = Vec::new();
    for (log, name, worktree) in logs.chain(of_heads).filter(|(_, name, _)| !but.contains(name)) {
        let Some(content) = files::read_optional(&log, LOG_LIMIT)? else { continue };
        let named: BTreeSet<Oid> = named_in_log(&content).collect();
        if repo.connectivity().missing_below(&named.into_iter().collect::<Vec<_>>())?.is_some() {
            found.push(GitDamage::Log { name, worktree });
        }
    }
    Ok(found)
}

/// The ref that a damage is about.
fn name_of(damage: &GitDamage) -> Option<&RefName> {
    match damage {
        GitDamage::Ref { name, .. } | GitDamage::BranchGone { name, .. } | GitDamage::History { name, .. } => Some(name),
        GitDamage::Head { branch, .. } => branch.as_ref(),
        GitDamage::Index { .. } | GitDamage::Stash { .. } | GitDamage::Staged { .. } | GitDamage::Log { .. } => None,
    }
}
