//! Markers of a conflict that nobody has settled, at paths that git does not have as unmerged any more: `git add -A` is enough for that,
//! or a commit.

use std::collections::BTreeSet;

use super::begun_merge::LIMIT;
use crate::base::conflict_stage::ConflictStage;
use crate::base::modes::GITLINK;
use crate::repo::handles::History;
use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::work::endings::conflict_markers::has_markers;

impl History<'_> {
    /// The files of a tree that have markers of the conflict which a merge of these two commits leaves, ordered by path.
    pub fn left_markers(&self, tree: &Oid, (ours, theirs): (&Oid, &Oid)) -> Result<Vec<RepoPath>> {
        let stages = self.merge_with_markers(ours, theirs)?.unmerged;
        let objects = self.repo.objects();
        let mut left = Vec::new();
        for path in stages.iter().map(|stage| &stage.path).collect::<BTreeSet<_>>() {
            let is_file = |(mode, _): &(u32, Oid)| mode & 0o170_000 == 0o100_000;
            let Some((_, blob)) = objects.mode_and_id(tree, path)?.filter(is_file) else { continue };
            // A larger one than is looked at was none that git would have marked for anybody to read.
            let Ok(content) = objects.read_blob(&blob, LIMIT) else { continue };
            if has_markers(&content, &self.sides_of(&stages, path)?, theirs.as_str()) {
                left.push(path.clone());
            }
        }
        Ok(left)
    }

    /// The contents of ours and theirs at a path in conflict.
    pub(super) fn sides_of(&self, stages: &[ConflictStage], path: &RepoPath) -> Result<Vec<Vec<u8>>> {
        let is_side = |one: &&ConflictStage| one.path == *path && [2, 3].contains(&one.stage) && one.mode != GITLINK;
        stages.iter().filter(is_side).map(|stage| self.repo.objects().read_blob(&stage.oid, LIMIT)).collect()
    }
}
