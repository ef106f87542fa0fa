//! What a task changed, or a prompt: commits and files.

use axiom_git::{FileDiffStat, LoggedCommit, looks_secret};
use axiom_model::base::names::{Oid, RepoPath};

/// What a task changed.
#[derive(Debug, Clone)]
pub struct TaskDiff {
    /// Where its branch left the target.
    pub base: Oid,
    /// What it came to: the tree of its workspace, or a commit.
    pub new: Oid,
    /// Its workspace, where that was looked at.
    pub workspace: Option<String>,
    /// Its commits, newest first.
    pub commits: Vec<LoggedCommit>,
    /// The files that it changed.
    pub files: Vec<FileDiffStat>,
    /// Those of them that no commit holds as they are now.
    pub uncommitted: Vec<RepoPath>,
    /// Files of the workspace that are not shown, and why.
    pub not_shown: Vec<(RepoPath, &'static str)>,
}

impl TaskDiff {
    /// Changed files that look like secrets: keys, `.env` and the like.
    pub fn secrets(&self) -> impl Iterator<Item = &RepoPath> {
        self.files.iter().map(|file| &file.path).filter(|path| looks_secret(path))
    }
}
