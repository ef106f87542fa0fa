//! Preparing a repository for a hook that is there for all of them, so that nobody has to call `git axiom init` in each.

use std::path::Path;

use crate::context::placement;
use crate::context::placement::VerbPurpose;
use crate::context::recorded_place;
use crate::opening;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_git::Repository;

/// Prepares the repository with this worktree, and says whether that is so now. One around the home folder is not: its files are everything
/// that its user has. It has to be named, by `git axiom init` there.
pub(super) fn prepare(repo: &Repository, top: &Path) -> bool {
    if holds_home(repo) {
        return false;
    }
    match prepared(top) {
        Ok(()) => true,
        Err(error) => {
            tracing::debug!(%error, "the repository was not prepared");
            false
        }
    }
}

fn prepared(top: &Path) -> Result<()> {
    let ctx = opening::open(top, VerbPurpose::Write)?;
    ctx.layout().ensure()?;
    recorded_place::write_down(ctx.layout(), &ctx.repo)?;
    // Without it only `recover --all` does not know of this repository.
    if let Err(error) = placement::list(ctx.layout()) {
        tracing::debug!(%error, "the repository was not listed");
    }
    Ok(())
}

/// Whether one of its worktrees is the user's home folder, or is around it.
fn holds_home(repo: &Repository) -> bool {
    let Some(home) = env::home_dir().and_then(|home| home.canonicalize().ok()) else { return false };
    let main = repo.worktrees().main_worktree().ok();
    let all = main.into_iter().chain(repo.worktrees().list_linked().unwrap_or_default());
    all.map(|worktree| worktree.path().canonicalize().unwrap_or_else(|_| worktree.path().to_owned()))
        .any(|top| home.starts_with(top))
}
