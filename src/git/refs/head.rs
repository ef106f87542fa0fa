//! HEAD of a worktree: reading and changing it.

use crate::repo::handles::Refs;
use crate::repo::locked_ref::{LockedRef, RefLockFiles, lock};
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::journal::journaled_changes::HeadState;
use std::path::Path;

use crate::base::head::Head;
use crate::repo::shortcuts::FastWay;
use crate::repo::worktrees::Worktree;

/// The largest HEAD that is read.
const HEAD_LIMIT: u64 = 64 * 1024;

impl Refs<'_> {
    /// Reads HEAD of a worktree.
    pub fn head(&self, worktree: &Worktree) -> Result<Head> {
        if let Some(head) = self.head_in_file(worktree)? {
            return Ok(head);
        }
        let symbolic = self.repo.git_in(worktree).args(["symbolic-ref", "-q", "HEAD"]).run()?;
        let commit = self.repo.git_in(worktree).args(["rev-parse", "-q", "--verify", "HEAD^{commit}"]).run()?;
        let commit = if commit.ok() { Some(Oid::new(commit.text()?)?) } else { None };
        match (symbolic.code, commit) {
            (Some(0), commit) => {
                let name = symbolic.stdout.strip_suffix(b"\n").unwrap_or(&symbolic.stdout);
                Ok(Head::Branch { name: RefName::of_git(name), commit })
            }
            (Some(1), Some(commit)) => Ok(Head::Detached { commit }),
            (_, _) => Err(symbolic.error().context(format!("HEAD of '{}' cannot be read", worktree.path().display()))),
        }
    }

    /// HEAD as read from its file; `None` where git has to read it.
    fn head_in_file(&self, worktree: &Worktree) -> Result<Option<Head>> {
        let file = worktree.git_dir().join("HEAD");
        let plain = std::fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file());
        if !self.repo.shortcuts().allow(FastWay::ReadRefs) || !plain {
            return Ok(None);
        }
        let content = files::read(&file, HEAD_LIMIT)?;
        let content = content.trim_ascii_end();
        match content.strip_prefix(b"ref: ") {
            Some(name) if name.starts_with(b"refs/heads/") => {
                let name = RefName::of_git(name);
                let commit = self.read_ref(&name)?;
                Ok(Some(Head::Branch { name, commit }))
            }
            Some(_) => Ok(None),
            None => {
                Ok(std::str::from_utf8(content).ok().and_then(|text| Oid::new(text).ok()).map(|commit| Head::Detached { commit }))
            }
        }
    }

    /// Sets HEAD of a worktree to another branch or commit, if it still is `expected`, without changing index or files;
    /// durable once this returns. A crash leaves the old or the new HEAD, perhaps with a `HEAD.lock`.
    pub fn set_head(&self, worktree: &Worktree, expected: &Head, target: &HeadState, reflog: &str) -> Result<()> {
        let now = self.head(worktree)?;
        if now != *expected {
            let what = format!("HEAD of '{}' has changed", worktree.path().display());
            return Err(Error::new(Code::ChangedMeanwhile, what));
        }
        env::fault_point("git.before-head");
        if let (HeadState::Detached(commit), Some(old)) = (target, now.commit())
            && self.detach_in_file(worktree, (old, commit), reflog)?
        {
            env::fault_point("git.after-head");
            return files::sync_dir(worktree.git_dir());
        }
        match target {
            HeadState::Branch(name) => {
                self.repo.git_in(worktree).writing().args(["symbolic-ref", "-m", reflog, "HEAD"]).arg(name.in_git()).run_ok()?;
            }
            HeadState::Detached(commit) => {
                let git = self.repo.git_in(worktree).writing().args(["update-ref", "--no-deref", "-m", reflog, "HEAD"]);
                let git = git.arg(commit.as_str());
                // An unborn branch has no old value that git could compare.
                let git = match expected.commit() {
                    Some(old) => git.arg(old.as_str()),
                    None => git,
                };
                git.run_ok()?;
            }
        }
        env::fault_point("git.after-head");
        files::sync_dir(worktree.git_dir())
    }

    /// Detaches HEAD without git. Returns `false` where git has to do it; then nothing was changed.
    fn detach_in_file(&self, worktree: &Worktree, (old, new): (&Oid, &Oid), reflog: &str) -> Result<bool> {
        let file = worktree.git_dir().join("HEAD");
        let log = worktree.git_dir().join("logs/HEAD");
        let is_plain = |file: &Path| std::fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file());
        if !self.repo.own_refs().refs_are_plain() || !is_plain(&file) || !is_plain(&log) {
            return Ok(false);
        }
        let (folder, before) = (self.repo.scratch_folders().make()?, files::read(&file, HEAD_LIMIT)?);
        let ready = LockedRef::ready(&folder, 0, RefName::new("HEAD"), file.clone(), format!("{new}\n").as_bytes())?;
        let Some(ready) = ready else { return Ok(false) };
        let mut locks = RefLockFiles::default();
        if !lock(&ready)? {
            return Ok(false);
        }
        locks.add(&ready);
        if files::read(&file, HEAD_LIMIT)? != before {
            return Ok(false);
        }
        let line = format!("{old} {new} {}\t{reflog}\n", self.repo.objects().signature()?);
        files::append_public(&log, line.as_bytes())?;
        ready.carry_out()?;
        locks.has_moved(&ready);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn head_moves_between_branches_commits_and_unborn_branches() {
        for kind in [&[][..], &["--ref-format=reftable"]] {
            let scratch = ScratchRepository::new(kind);
            let (repo, main) = (scratch.repo(), scratch.main());
            let start = repo.refs().head(&main).unwrap();
            let commit = start.commit().cloned().unwrap();
            repo.refs().set_head(&main, &start, &HeadState::Detached(commit.clone()), "test").unwrap();
            let detached = repo.refs().head(&main).unwrap();
            assert_eq!(detached, Head::Detached { commit: commit.clone() });
            assert_eq!(
                repo.refs().set_head(&main, &start, &HeadState::Detached(commit), "t").unwrap_err().code(),
                Code::ChangedMeanwhile
            );
            let unborn = RefName::branch("new");
            repo.refs().set_head(&main, &detached, &HeadState::Branch(unborn.clone()), "test").unwrap();
            assert_eq!(repo.refs().head(&main).unwrap(), Head::Branch { name: unborn, commit: None });
        }
    }
}
