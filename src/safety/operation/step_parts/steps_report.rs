//! What the steps of an operation did, and what of them could not be done.

use std::path::PathBuf;

use axiom_base::error::Result;
use axiom_git::{ChangeAttempt, MovedObstacle, RestoreReport, UnrestoredPath, Worktree};
use axiom_model::base::names::RepoPath;

/// What the steps did, for the report to the user.
#[derive(Debug, Default)]
pub struct OperationStepsReport {
    /// Files that no capture held and that were in the way: they are in the trash.
    pub moved_aside: Vec<MovedObstacle>,
    /// Files that came back from an earlier transaction's trash.
    pub brought_back: Vec<PathBuf>,
    /// Files that should come back and are, entirely or in part, still in the trash: their places are taken.
    pub still_aside: Vec<MovedObstacle>,
    /// Files that should come back and are missing: the user emptied the trash.
    pub lost: Vec<PathBuf>,
    /// The number of files written and removed.
    pub files: usize,
    /// In a reversal: what another process changed meanwhile, which was left as it is.
    pub left: Vec<String>,
    /// In a reversal: what could not be put back, and why.
    pub not_put_back: Vec<String>,
}

impl OperationStepsReport {
    pub(in crate::operation) fn add(&mut self, worktree: &Worktree, report: RestoreReport) {
        let place = |path: &RepoPath| worktree.path().join(path.to_path()).display().to_string();
        self.files += report.written.len() + report.removed.len();
        self.moved_aside.extend(report.moved_aside);
        self.left.extend(report.left.iter().map(place));
        self.not_put_back.extend(report.failed.into_iter().map(|UnrestoredPath { path, why, now_at }| match now_at {
            Some(now_at) => format!("{} (it is '{}'): {why}", place(&path), now_at.display()),
            None => format!("{}: {why}", place(&path)),
        }));
    }

    /// Handles the outcome of one step. Forwards, an error stops the operation. In a reversal, the failure is recorded and
    /// the rest goes on, unless the error passes by waiting or freeing disk space.
    pub(in crate::operation) fn or_named(&mut self, attempt: ChangeAttempt, what: &str, outcome: Result<()>) -> Result<()> {
        match outcome {
            Err(error) if attempt == ChangeAttempt::Back && !error.passes() => {
                self.not_put_back.push(format!("{what}: {error}"));
                Ok(())
            }
            outcome => outcome,
        }
    }
}
