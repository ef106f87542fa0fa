//! Markers of a conflict that nobody has settled, at paths that git does not have as unmerged any more: `git add -A` is enough for that,
//! or a commit.

use std::collections::BTreeSet;

use super::begun_merge::LIMIT;
use crate::base::conflict_stage::ConflictStage;
use crate::base::modes::GITLINK;
use crate::repo::repository::Repository;
use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::work::endings::conflict_markers::has_markers;

/// The files of a tree that have markers of the conflict which a merge of these two commits leaves, ordered by path.
pub fn left_markers(repo: &Repository, tree: &Oid, (ours, theirs): (&Oid, &Oid)) -> Result<Vec<RepoPath>> {
    let stages = repo.history().merge_with_markers(ours, theirs)?.unmerged;
    let objects = repo.objects();
    let mut left = Vec::new();
    for path in stages.iter().map(|stage| &stage.path).collect::<BTreeSet<_>>() {
        let is_file = |(mode, _): &(u32, Oid)| mode & 0o170_000 == 0o100_000;
        let Some((_, blob)) = objects.mode_and_id(tree, path)?.filter(is_file) else { continue };
        // What is larger than is looked at, or has such a side, nobody has read.
        let sides = sides_of(repo, &stages, path);
        let (Ok(content), Ok(sides)) = (objects.read_blob(&blob, LIMIT), sides) else { continue };
        if has_markers(&content, &sides, theirs.as_str()) {
            left.push(path.clone());
        }
    }
    Ok(left)
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

/// The contents of ours and theirs at a path in conflict.
pub(super) fn sides_of(repo: &Repository, stages: &[ConflictStage], path: &RepoPath) -> Result<Vec<Vec<u8>>> {
    let is_side = |one: &&ConflictStage| one.path == *path && [2, 3].contains(&one.stage) && one.mode != GITLINK;
    stages.iter().filter(is_side).map(|stage| repo.objects().read_blob(&stage.oid, LIMIT)).collect()
}
