//! What tests of this crate do with a scratch repository beside git itself.

pub use crate::scratch::*;
use crate::{Repository, Worktree};

impl ScratchRepository {
    pub fn repo(&self) -> Repository {
        Repository::discover(&self.path()).unwrap().isolated()
    }

    /// The result of `make`, with its objects moved into the object database.
    pub fn landed<T>(&self, make: impl FnOnce(&Repository) -> T) -> T {
        let repo = self.repo();
        let made = make(&repo);
        repo.durability().sync_objects().unwrap();
        made
    }

    pub fn main(&self) -> Worktree {
        self.repo().worktrees().main_worktree().unwrap()
    }
}
