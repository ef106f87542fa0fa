//! Which commits provably are a session's: those that the log of HEAD of its worktree tells between the two calls of the hook around one shell
//! command, where the command's own words explain them and no other session's command ran meanwhile. What a human commits while
//! `npm test` runs is theirs, and so is what `make release` commits.

use std::path::{Path, PathBuf};

use super::sessions::{self, AttachedSession, ShellCall};
use axiom_base::{env, files};
use axiom_git::Repository;
use axiom_model::attach::shell::head_moves::{HeadLogEntry, explain};
use axiom_model::attach::shell::{self, ShellSurroundings};
use axiom_model::base::names::Oid;
use axiom_store::beside::attach::AttachFiles;

/// The most that a command may add to the log of HEAD, in bytes.
const MOST: u64 = 1024 * 1024;

/// The worktree of a session at one moment.
pub(super) struct OwnCommitTracker<'a> {
    pub repo: &'a Repository,
    pub worktree: &'a str,
    pub folder: &'a Path,
    pub git_dir: &'a Path,
    /// What is checked out.
    pub head: Option<&'a Oid>,
}

impl OwnCommitTracker<'_> {
    /// A shell command begins.
    pub fn begins(&self, command: &str) -> ShellCall {
        let (aliases, folder) = (|name: &str| self.repo.alias(name), self.folder.display().to_string());
        let moves = shell::head_moves(command, ShellSurroundings { aliases: &aliases, worktree: self.worktree, folder: &folder });
        let logged = self.log().metadata().map_or(0, |meta| meta.len());
        ShellCall { began: env::now(), head: self.head.cloned(), logged, moves }
    }

    /// A shell command has ended: what it committed is added to the session's.
    pub fn add(&self, files: &AttachFiles, session: &mut AttachedSession, call: Option<ShellCall>) {
        let Some(call) = call.filter(|call| !call.moves.is_empty() && call.head.as_ref() != self.head) else { return };
        let (Some(from), Some(to)) = (call.head.clone(), self.head.cloned()) else { return };
        let entries = self.entries(call.logged);
        let whole = entries.first().is_some_and(|first| first.old == from.as_str())
            && entries.last().is_some_and(|last| last.new == to.as_str());
        if whole && explain(&call.moves, &entries) && !sessions::another_ran(files, session, call.began) {
            session.moved(from, to);
        }
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
