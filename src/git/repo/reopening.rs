//! Opening the same repository once more, for a thread of its own: what that writes belongs to no operation of this one, and holds no
//! lock of one.

use std::path::PathBuf;

use super::repository::Repository;
use axiom_base::error::Result;

/// Where a repository is opened again, as the same one; also where it is bare.
#[derive(Debug)]
pub struct RepositoryLocator {
    main: PathBuf,
    entry: Option<String>,
}

impl Repository {
    /// How another thread opens this repository for itself.
    pub fn reopening(&self) -> Result<RepositoryLocator> {
        let worktrees = self.worktrees();
        Ok(RepositoryLocator { main: worktrees.main_worktree()?.path().to_owned(), entry: self.bare().main_entry() })
    }
}

impl RepositoryLocator {
    /// Opens it.
    pub fn open(&self) -> Result<Repository> {
        let repo = Repository::discover(&self.main)?;
        if let Some(entry) = &self.entry {
            repo.bare().choose_main(entry);
        }
        Ok(repo)
    }
}
