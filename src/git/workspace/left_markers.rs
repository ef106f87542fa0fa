//! Markers of a conflict that nobody has settled, at paths that git does not have as unmerged any more: `git add -A` is enough for that,
//! or a commit.

use std::collections::BTreeSet;

use crate::base::conflict_stage::ConflictStage;
use crate::base::modes::GITLINK;
use crate::repo::repository::Repository;
use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::work::endings::conflict_markers::has_markers;

/// The largest file that is looked at for markers, in bytes. A larger one stays open.
pub(super) const LIMIT: u64 = 16 * 1024 * 1024;

/// The files of a tree that have markers of the conflict which a merge of these two commits leaves, ordered by path.
pub fn left_markers(repo: &Repository, tree: &Oid, (ours, theirs): (&Oid, &Oid)) -> Result<Vec<RepoPath>> {
    let stages = repo.merges().merge_with_markers(ours, theirs)?.unmerged;
    let objects = repo.objects();
    let is_file = |(mode, _): &(u32, Oid)| mode & 0o170_000 == 0o100_000;
    // What is larger than is looked at nobody has read.
    let content = |path: &RepoPath| {
        let file = repo.trees().mode_and_id(tree, path)?.filter(is_file);
        Ok(file.and_then(|(_, blob)| objects.read_blob(&blob, LIMIT).ok()))
    };
    marked_among(repo, (&stages, theirs), content)
}

/// The paths in conflict, ordered, whose files have markers that neither side has. What is no file is left out, and what has a side that is
/// larger than is looked at.
pub(super) fn marked_among(
    repo: &Repository,
    (stages, theirs): (&[ConflictStage], &Oid),
    content: impl Fn(&RepoPath) -> Result<Option<Vec<u8>>>,
) -> Result<Vec<RepoPath>> {
    let mut marked = Vec::new();
    for path in stages.iter().map(|stage| &stage.path).collect::<BTreeSet<_>>() {
        let Some(content) = content(path)? else { continue };
        if sides_of(repo, stages, path).is_ok_and(|sides| has_markers(&content, &sides, theirs.as_str())) {
            marked.push(path.clone());
        }
    }
    Ok(marked)
}

/// The merges among the commits that `tip` has and `without` has not, the newest first, at most so many: each with its two parents.
pub fn merges_since(repo: &Repository, tip: &Oid, without: &Oid, most: usize) -> Result<Vec<(Oid, Oid)>> {
    let range = [tip.as_str().to_owned(), format!("^{without}")];
    let git = repo.git().args(["rev-list", "--merges", "--max-parents=2", "--parents"]);
    let output = git.arg(format!("--max-count={most}")).args(range).run_ok()?;
    let parents = |line: &str| {
        let mut ids = line.split(' ').skip(1).map(|id| Oid::new(id.to_owned()).ok());
        Some((ids.next()??, ids.next()??))
    };
    Ok(output.text()?.lines().filter_map(parents).collect())
}

/// The contents of ours and theirs at a path in conflict, in this order.
pub(super) fn sides_of(repo: &Repository, stages: &[ConflictStage], path: &RepoPath) -> Result<Vec<Vec<u8>>> {
    let side = |number| stages.iter().find(|one| one.path == *path && one.stage == number);
    let sides = [2, 3].into_iter().filter_map(side).filter(|stage| stage.mode != GITLINK);
    sides.map(|stage| repo.objects().read_blob(&stage.oid, LIMIT)).collect()
}
