//! The index that a capture begins with: the worktree's own, or one made from HEAD in the place of an index that cannot be read.

use std::path::Path;

use super::file::{IndexFacts, StatTrust, copy_index_believing, in_folder, index_facts, read};
use crate::base::head::Head;
use crate::base::readable::is_gap;
use crate::repo::handles::Index;
use crate::repo::own_scratch::ScratchFolder;
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;
use axiom_base::error::{Code, Error, Result};

/// What an index has.
#[derive(Debug)]
pub(crate) struct StartingIndex {
    pub facts: IndexFacts,
    /// The worktree with an index made from HEAD, where its own cannot be read.
    pub with_head: Option<Worktree>,
}

/// Copies the index of a worktree to `copy`. One that is torn, or may not be read, says nothing of the files, so those are saved all the
/// same: compared with HEAD. What was staged is not held. The other index lies in `folder`.
pub(crate) fn copy_or_make(
    repo: &Repository,
    worktree: &Worktree,
    head: &Head,
    (folder, copy): (&ScratchFolder, &Path),
    belief: StatTrust,
) -> Result<StartingIndex> {
    let copied = |worktree: &Worktree| -> Result<IndexFacts> {
        copy_index_believing(belief, repo.hash(), &worktree.index_file(), copy)?;
        index_facts(repo, worktree, copy)
    };
    let error = match copied(worktree) {
        Ok(facts) => return Ok(StartingIndex { facts, with_head: None }),
        Err(error) if error.code() == Code::GitFailed || error.io_cause().is_some_and(is_gap) => error,
        Err(error) => return Err(error),
    };
    tracing::warn!(%error, worktree = %worktree.path().display(), "its index cannot be read: HEAD is taken in its place");
    let other = worktree.with_index(&in_folder(folder, "head"));
    if let Some(commit) = head.commit() {
        let git = repo.git_in(&other).config("core.splitIndex=false").config("index.sparse=false");
        git.args(["read-tree", commit.as_str()]).run_ok()?;
    }
    Ok(StartingIndex { facts: copied(&other)?, with_head: Some(other) })
}

impl Index<'_> {
    /// Checks that git can read the worktree's index, before anything relies on it.
    pub fn can_be_read(&self) -> Result<()> {
        let file = self.worktree.index_file();
        if read(self.repo, &file).is_some() || !file.exists() {
            return Ok(());
        }
        self.repo.git_in(self.worktree).args(["ls-files", "-u"]).run_ok().map(drop).map_err(|error| {
            let what = format!("the index of '{}' cannot be read", self.worktree.path().display());
            let hint = "git axiom recover    makes it again from its commit, and keeps the damaged one";
            Error::new(Code::GitFailed, what).because(error).hint(hint)
        })
    }
}
