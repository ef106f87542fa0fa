//! The user's own files in the folder of the workspaces: captures leave that folder out, so the coverage names these files.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::context::handle::Context;
use crate::folders::{trash, workspace_folder};
use axiom_base::error::{Error, Result};
use axiom_base::files;
use axiom_git::{CaptureCoverage, Worktree};
use axiom_model::base::names::RepoPath;
use axiom_model::base::path_set::PathSet;

/// Adds the user's own files and folders there to the ignored paths of `coverage`: the topmost ones that git does not track.
/// `known` are the repository's other worktrees.
pub(super) fn name_users_own(
    ctx: &Context,
    (main, known): (&Worktree, &[PathBuf]),
    coverage: &mut CaptureCoverage,
) -> Result<()> {
    let Some(folder) = workspace_folder::folder(ctx) else { return Ok(()) };
    let theirs = match main.path().join(folder.to_path()).symlink_metadata() {
        Ok(meta) if meta.is_dir() => not_ours(ctx, (main, known), &folder)?,
        Ok(_) => vec![folder],
        Err(_) => Vec::new(),
    };
    if theirs.is_empty() {
        return Ok(());
    }
    let git = ctx.repo.git_in(main).arg("--literal-pathspecs").args(["ls-files", "--others", "--directory", "-z", "--"]);
    let output = git.args(theirs.iter().map(RepoPath::to_path)).run_ok()?;
    let paths = output.stdout.split(|byte| *byte == 0).map(|path| path.strip_suffix(b"/").unwrap_or(path));
    for path in paths.filter(|path| !path.is_empty()) {
        coverage.ignored.add(RepoPath::new(path));
    }
    Ok(())
}

/// As [`name_users_own`], for a coverage that still lists what was in the folder at an earlier capture.
pub(super) fn name_again(ctx: &Context, both: (&Worktree, &[PathBuf]), coverage: &mut CaptureCoverage) -> Result<()> {
    let left_out = PathSet::new(workspace_folder::folder(ctx));
    let ignored = &mut coverage.ignored;
    let listed = ignored.paths.len();
    ignored.paths.retain(|path| !left_out.covers(path));
    ignored.count = ignored.count.saturating_sub((listed - ignored.paths.len()) as u64);
    name_users_own(ctx, both, coverage)
}

/// The entries of the folder that are neither worktrees of this repository nor the trash, and the entries of the trash
/// without a name of ours.
fn not_ours(ctx: &Context, (main, known): (&Worktree, &[PathBuf]), folder: &RepoPath) -> Result<Vec<RepoPath>> {
    let known = known.iter().cloned();
    let recorded = ctx.state().restorable.workspaces.values().map(|workspace| PathBuf::from(&workspace.path));
    let known: BTreeSet<PathBuf> = known.chain(recorded).map(|path| path.canonicalize().unwrap_or(path)).collect();
    let (root, trash) = (main.path().join(folder.to_path()), trash::root(ctx)?);
    let is_ours = |place: &PathBuf| known.contains(&place.canonicalize().unwrap_or_else(|_| place.clone()));
    let mut theirs: Vec<PathBuf> = listed(&root)?.into_iter().filter(|place| *place != trash && !is_ours(place)).collect();
    let is_trashed = |place: &PathBuf| place.file_name().is_some_and(|name| files::is_trashed_name(name.as_bytes()));
    theirs.extend(listed(&trash)?.into_iter().filter(|place| place.starts_with(&root) && !is_trashed(place)));
    let inside = |place: &PathBuf| place.strip_prefix(main.path()).ok().map(|path| RepoPath::new(path.as_os_str().as_bytes()));
    Ok(theirs.iter().filter_map(inside).collect())
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(e) if files::says_nothing_is_there(&e) => return Ok(Vec::new()),
        Err(e) => return Err(Error::io("list", folder, e)),
    };
    let places = listing.map(|entry| entry.map(|entry| entry.path()).map_err(|e| Error::io("list", folder, e)));
    places.collect()
}
