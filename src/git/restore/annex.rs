//! Where git-annex writes a pointer when git checks a file out, it puts the content in its place afterwards, in its hooks for merges and
//! checkouts. Those do not run for what is restored here, so it is asked to.

use std::time::Duration;

use crate::repo::handles::Restores;
use crate::repo::worktrees::Worktree;

/// What it has put off, in its folder in the git directory.
const PUT_OFF: &str = "annex/smudge.log";

/// How long it may take: contents are linked, or copied.
const LIMIT: Duration = Duration::from_secs(120);

impl Restores<'_> {
    /// Whether git-annex has put anything off.
    pub fn annex_has_put_off(&self) -> bool {
        self.repo.common_dir().join(PUT_OFF).metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0)
    }

    /// Lets git-annex write the contents of files that were written as pointers. Where it cannot, they stay pointers, and
    /// `git annex smudge --update` writes them later.
    pub fn write_what_annex_put_off(&self, worktree: &Worktree) {
        for verb in [&["annex", "smudge", "--update"][..], &["annex", "restage", "--quiet"]] {
            match self.repo.git_in(worktree).writing().limited(LIMIT).args(verb).run() {
                Ok(output) if output.ok() => {}
                Ok(output) => tracing::warn!(error = %output.error(), "git-annex has not written all contents"),
                Err(error) => tracing::warn!(%error, "git-annex has not written all contents"),
            }
        }
    }
}
