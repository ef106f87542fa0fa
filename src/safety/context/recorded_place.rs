//! The place of a repository as it is, and its first record.

use std::path::Path;

use axiom_base::env;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_git::Repository;
use axiom_model::state::repository_location::RepositoryLocation;
use axiom_store::identity::{self, RecordedIdentity};
use axiom_store::layout::StoreLayout;

/// Records the place of the repository, where none is recorded yet.
pub fn write_down(layout: &StoreLayout, repo: &Repository) -> Result<()> {
    if files::metadata(&layout.identity())?.is_some() {
        return Ok(());
    }
    layout.ensure()?;
    env::fault_point("placement.before-identity");
    identity::write_first(layout, &RecordedIdentity::fresh(here(repo), repo.bare().main_entry())?)
}

/// Where the repository is.
pub(super) fn here(repo: &Repository) -> RepositoryLocation {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let worktree = repo.worktrees().main_worktree().ok().map(|main| text(main.path()));
    RepositoryLocation { common_dir: text(repo.common_dir()), worktree }
}
