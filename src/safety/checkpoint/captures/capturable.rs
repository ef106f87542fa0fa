//! Which worktrees are there to be captured, and what stands for one that is damaged or gone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::own_process::threads;
use axiom_git::{DamagedWorktree, FEW_WORKTREES, Worktree, WorktreeOwner};
use axiom_model::checkpoint::coverage::CaptureCoverage;

/// The worktrees of the repository.
#[derive(Debug)]
pub(in crate::checkpoint) struct CapturableWorktrees {
    /// Those that can be captured, the main one first.
    pub worktrees: Vec<Worktree>,
    /// The coverage of those that cannot be captured.
    pub coverage: BTreeMap<String, CaptureCoverage>,
    /// The paths of linked worktrees, also of missing ones.
    pub linked: Vec<PathBuf>,
}

/// Lists the worktrees: those that can be captured, and the coverage of the others.
pub(in crate::checkpoint) fn there(ctx: &Context) -> Result<CapturableWorktrees> {
    there_beside(ctx, &ctx.repo.registrations().damaged_worktrees()?)
}

/// As [`there`], where these worktrees are known to be damaged.
pub(in crate::checkpoint) fn there_beside(ctx: &Context, damaged: &[DamagedWorktree]) -> Result<CapturableWorktrees> {
    let main = ctx.repo.worktrees().main_worktree()?;
    let mut worktrees = vec![main];
    let mut coverage = BTreeMap::new();
    let mut known = Vec::new();
    let damaged: Vec<&DamagedWorktree> = damaged.iter().filter(|one| !one.lacks_only_its_index()).collect();
    for one in &damaged {
        known.extend(one.folder().map(Path::to_owned));
        coverage.insert(one.place().display().to_string(), CaptureCoverage::of_nothing(one.why()));
    }
    let scratch = crate::folders::scratch_worktrees::places(ctx)?;
    let is_damaged = |worktree: &Worktree| damaged.iter().any(|one| one.is_at(worktree.git_dir()));
    let linked: Vec<Worktree> = ctx.repo.worktrees().list_linked()?.into_iter().filter(|one| !is_damaged(one)).collect();
    known.extend(linked.iter().map(|worktree| worktree.path().to_owned()));
    let linked: Vec<Worktree> = linked.into_iter().filter(|one| !scratch.iter().any(|place| place == one.path())).collect();
    let instead = threads::for_each(&linked, FEW_WORKTREES, |worktree| in_the_place_of(ctx, worktree))?;
    for (worktree, instead) in linked.into_iter().zip(instead) {
        let path = worktree.path();
        match instead {
            None => worktrees.push(worktree),
            Some(nothing) => drop(coverage.insert(path.display().to_string(), nothing)),
        }
    }
    // Each place is looked up once: with a thousand workspaces, comparing all with all takes a minute.
    let mut places: BTreeSet<PathBuf> = known.iter().filter_map(|known| known.canonicalize().ok()).collect();
    places.extend(known.iter().cloned());
    for workspace in ctx.state().restorable.workspaces.values() {
        let path = Path::new(&workspace.path);
        if places.contains(path) || path.canonicalize().is_ok_and(|path| places.contains(&path)) {
            continue;
        }
        let nothing = match gone(path) {
            Ok(true) => CaptureCoverage { missing: true, ..CaptureCoverage::default() },
            Ok(false) => CaptureCoverage::of_nothing("it is no longer a worktree of this repository"),
            Err(error) => CaptureCoverage::of_nothing(error.to_string()),
        };
        coverage.insert(workspace.path.clone(), nothing);
    }
    Ok(CapturableWorktrees { worktrees, coverage, linked: known })
}

/// The coverage of a linked worktree that is missing, replaced by something else, or cannot be read; `None` where it is
/// valid. None of them keeps a checkpoint from being made.
fn in_the_place_of(ctx: &Context, worktree: &Worktree) -> Result<Option<CaptureCoverage>> {
    let path = worktree.path();
    let looked = gone(path).and_then(|gone| {
        if gone {
            return Ok(Some(CaptureCoverage { missing: true, ..CaptureCoverage::default() }));
        }
        // Fails where the path is not UTF-8: it could not be recorded.
        worktree.path_text()?;
        // In a copied repository, for example: the folder is a worktree of the original, which holds its contents.
        if let WorktreeOwner::Others(other) = ctx.repo.worktree_owners().whose(path)? {
            return Ok(Some(CaptureCoverage::of_nothing(format!("its .git names '{}'", other.git_dir.display()))));
        }
        Ok(match worktree.verify() {
            Ok(()) => None,
            Err(_) if ctx.repo.worktree_owners().has_a_repository_in(path) => {
                Some(CaptureCoverage::of_nothing("another repository is in its place"))
            }
            Err(error) => Some(CaptureCoverage::of_nothing(error.to_string())),
        })
    });
    match looked {
        Err(error) if !error.is_everybodys() => Ok(Some(CaptureCoverage::of_nothing(error.to_string()))),
        looked => looked,
    }
}

/// # Errors
/// `FILE_UNREADABLE`.
fn gone(path: &Path) -> Result<bool> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(false),
        Err(e) if files::says_nothing_is_there(&e) => Ok(true),
        Err(e) => Err(Error::new(Code::FileUnreadable, format!("'{}' cannot be read", path.display())).because(e)),
    }
}
