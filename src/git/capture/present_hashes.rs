//! The blobs that files of a worktree would be captured as.

use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};

use crate::index::changed_paths::ChangedPaths;
use crate::index::file::{copy_index, in_folder, index_facts, mark};
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;

/// As [`hash_files`], by everything that applies in the worktree now, as a capture would see it: also attributes that no
/// tree has because git ignores their file, and the index, which influences line ends. `None` for files that git adds to no
/// tree, and for files that vanished.
pub(crate) fn hash_here(r: &Repository, worktree: &Worktree, paths: &[&RepoPath]) -> Result<Vec<Option<Oid>>> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let scratch = r.scratch_folders().make()?;
    let index = in_folder(&scratch, "index");
    copy_index(r.hash(), &worktree.index_file(), &index)?;
    let facts = index_facts(r, worktree, &index)?;
    let these = |marked: Vec<RepoPath>| marked.into_iter().filter(|path| paths.contains(&path)).collect::<Vec<_>>();
    mark(r, worktree, &index, "--no-assume-unchanged", &these(facts.assume_unchanged))?;
    mark(r, worktree, &index, "--no-skip-worktree", &these(facts.skip_worktree))?;
    let paths: Vec<RepoPath> = paths.iter().map(|path| (*path).clone()).collect();
    ChangedPaths::sort(worktree, paths.clone())?.stage_held(r, worktree, &index)?;
    r.kept_bytes().blobs(worktree, &index, &paths)
}
