//! Which moves of HEAD provably are a session's: those that the log of HEAD of its worktree tells between the two calls of the hook around one shell
//! command, where the command's own words explain them and no other session's command ran meanwhile. What a human commits while
//! `npm test` runs is theirs, and so is what `make release` commits.

use std::path::{Path, PathBuf};

use crate::attach::sessions;
use crate::attach::sessions::attached_session::{AttachedSession, ShellCall};
use axiom_base::{env, files};
use axiom_git::{Head, Repository};
use axiom_model::attach::head_history::{BranchStep, HeadLogSurroundings, HeadPosition, OwnHeadMove, follow, is_nothing};
use axiom_model::attach::shell::head_moves::{HeadLogEntry, HeadMove, explain};
use axiom_model::attach::shell::{self, ShellSurroundings};
use axiom_model::base::names::{Oid, RefName};
use axiom_store::beside::attach::AttachFiles;

/// The most that a command may add to the log of HEAD, in bytes.
const MOST: u64 = 1024 * 1024;

/// What HEAD says, without what git says besides.
pub(in crate::attach) fn position(head: &Head) -> HeadPosition {
    HeadPosition { branch: head.branch().cloned(), commit: head.commit().cloned() }
}

/// The worktree of a session at one moment.
pub(in crate::attach) struct OwnCommitTracker<'a> {
    pub repo: &'a Repository,
    pub worktree: &'a str,
    pub folder: &'a Path,
    pub git_dir: &'a Path,
    /// What is checked out.
    pub head: &'a HeadPosition,
}

impl OwnCommitTracker<'_> {
    /// A shell command begins.
    pub fn begins(&self, command: &str) -> ShellCall {
        let (aliases, folder) = (|name: &str| self.repo.settings().alias(name), self.folder.display().to_string());
        let moves = shell::head_moves(command, ShellSurroundings { aliases: &aliases, worktree: self.worktree, folder: &folder });
        let logged = self.log().metadata().map_or(0, |meta| meta.len());
        ShellCall { began: env::now(), head: self.head.clone(), logged, moves }
    }

    /// A shell command has ended: where it moved HEAD and branches is added to the session's moves.
    pub fn add(&self, files: &AttachFiles, session: &mut AttachedSession, call: Option<ShellCall>) {
        // Meanwhile another one may have begun, of a subagent elsewhere.
        let is_here = session.call_in.as_deref() == Some(self.worktree);
        let is_meant = |call: &ShellCall| is_here && !call.moves.is_empty() && call.head != *self.head;
        let Some(call) = call.filter(is_meant) else { return };
        let entries = self.entries(call.logged);
        let begins = |old: &str| call.head.commit.as_ref().map_or_else(|| is_nothing(old), |commit| commit.as_str() == old);
        let whole = entries.first().is_some_and(|first| begins(&first.old))
            && entries.last().is_some_and(|last| self.head.commit.as_ref().is_some_and(|commit| commit.as_str() == last.new));
        // A new branch without history leaves nothing in the log.
        let goes = |one: &HeadMove| matches!(one.command.as_str(), "switch" | "checkout");
        let is_orphan = entries.is_empty() && self.head.commit.is_none() && call.moves.iter().any(goes);
        let is_own = is_orphan || (whole && explain(&call.moves, &entries));
        if !is_own || sessions::another_ran(files, (session, self.worktree), call.began) {
            return;
        }
        if let Some(branches) = if is_orphan { Some(Vec::new()) } else { self.steps(&call.head, &entries) } {
            let (worktree, from, to) = (self.worktree.to_owned(), call.head, self.head.clone());
            session.moved(OwnHeadMove { worktree, at: env::now(), from, to, branches });
        }
    }

    /// The branches that were moved on the way from there to what is checked out now; `None` where the log does not lead here, or a branch is
    /// not where it left it.
    fn steps(&self, from: &HeadPosition, entries: &[HeadLogEntry]) -> Option<Vec<BranchStep>> {
        let tip = |branch: &RefName| self.repo.refs().read_ref(branch).ok().flatten();
        let is_branch = |name: &str| tip(&RefName::branch(name)).is_some() || self.head.branch == Some(RefName::branch(name));
        let last_step = |branch: &RefName, new: &str| {
            let bytes = files::read_from(&self.repo.common_dir().join("logs").join(branch.as_str()), 0, MOST).ok()?;
            let text = String::from_utf8_lossy(&bytes);
            let mut words = text.lines().last()?.split(' ');
            let old = Oid::new(words.next()?).ok()?;
            (words.next()? == new).then_some(old)
        };
        let (end, steps) = follow(from, entries, &HeadLogSurroundings { is_branch: &is_branch, last_step: &last_step })?;
        let stands = |step: &BranchStep| tip(&step.branch).is_none_or(|tip| tip == step.new);
        (end == *self.head && steps.iter().all(stands)).then_some(steps)
    }

    fn log(&self) -> PathBuf {
        self.git_dir.join("logs").join("HEAD")
    }

    /// The entries of the log of HEAD from this place on; none where it cannot be read, or is another one by now.
    fn entries(&self, from: u64) -> Vec<HeadLogEntry> {
        let bytes = files::read_from(&self.log(), from, MOST).unwrap_or_default();
        let entry = |line: &str| {
            let (head, message) = line.split_once('\t').unwrap_or((line, ""));
            let mut words = head.split(' ');
            let (old, new) = (words.next()?.to_owned(), words.next()?.to_owned());
            Some(HeadLogEntry { old, new, message: message.to_owned() })
        };
        String::from_utf8_lossy(&bytes).lines().filter_map(entry).collect()
    }
}
