//! Merges that git computes in memory (`git merge-tree`), and commits made from their results.

use crate::domain::base::names::{Oid, RepoPath};
use crate::error::{Code, Error, Result};

use crate::git::index::file::ConflictStage;
use crate::git::objects::database::NewCommit;
use crate::git::repo::handles::History;
use crate::git::repo::shortcuts::FastWay;

/// How many commits of a branch are read before git is asked.
const A_FEW: usize = 64;

/// A merge as git would leave it in a worktree, with the conflicts marked in the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct MarkedMerge {
    /// The tree of the files.
    pub tree: Oid,
    /// The stages of the paths in conflict; none where it is clean.
    pub unmerged: Vec<ConflictStage>,
}

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeResult {
    /// No conflict; the tree of the result.
    Clean(Oid),
    /// The files that are in conflict.
    Conflict(Vec<RepoPath>),
}

impl History<'_> {
    /// Merges two commits in memory: no worktree, index or ref is touched.
    ///
    /// # Errors
    /// `GIT_FAILED` (unrelated histories, a missing commit).
    pub fn merge_in_memory(&self, ours: &Oid, theirs: &Oid) -> Result<MergeResult> {
        if let Some(tree) = self.tree_on_top_of(ours, theirs)? {
            return Ok(MergeResult::Clean(tree));
        }
        self.merge_tree(&[ours.as_str(), theirs.as_str()])
    }

    /// Merges two commits in memory, as `git merge` would leave them in a worktree.
    ///
    /// # Errors
    /// `GIT_FAILED` (unrelated histories, a missing commit).
    pub(in crate::git) fn merge_with_markers(&self, ours: &Oid, theirs: &Oid) -> Result<MarkedMerge> {
        let git = self.repo.git().making_objects().args(["merge-tree", "--write-tree", "-z", "--no-messages"]);
        let output = git.args([ours.as_str(), theirs.as_str()]).run()?;
        let mut fields = output.stdout.split(|b| *b == 0).filter(|field| !field.is_empty());
        let tree = fields.next().and_then(|tree| std::str::from_utf8(tree).ok()).map(Oid::new);
        match (output.code, tree) {
            (Some(0 | 1), Some(tree)) => {
                let unclear = || Error::new(Code::GitFailed, "cannot make sense of what 'git merge-tree' printed");
                let unmerged = fields.map(|field| stage(field).ok_or_else(unclear)).collect::<Result<_>>()?;
                Ok(MarkedMerge { tree: tree?, unmerged })
            }
            (_, _) => Err(output.error()),
        }
    }

    /// Applies the difference between `base` and `theirs` to `ours`; all three are commits. With the commit to be reverted
    /// as `base` and its parent as `theirs` this is a revert.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub fn merge_with_base(&self, base: &Oid, ours: &Oid, theirs: &Oid) -> Result<MergeResult> {
        self.merge_tree(&[&format!("--merge-base={base}"), ours.as_str(), theirs.as_str()])
    }

    /// The tree of `theirs`, if it is a few commits on top of `ours`: then that is the result of their merge. `None` where this
    /// is not so, or only git can tell.
    fn tree_on_top_of(&self, ours: &Oid, theirs: &Oid) -> Result<Option<Oid>> {
        if !self.repo.shortcuts().allow(FastWay::ReadHistory) {
            return Ok(None);
        }
        let (mut tree, mut at) = (None, theirs.clone());
        for _ in 0..A_FEW {
            if at == *ours {
                // Nothing to merge at all is git's to say.
                return Ok(tree);
            }
            let commit = self.repo.objects().read_commit(&at)?;
            tree.get_or_insert(commit.tree);
            let Some(parent) = commit.parents.into_iter().next() else { break };
            at = parent;
        }
        Ok(None)
    }

    fn merge_tree(&self, arguments: &[&str]) -> Result<MergeResult> {
        let git = self.repo.git().making_objects().args(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"]);
        let output = git.args(arguments).run()?;
        let mut fields = output.stdout.split(|b| *b == 0).filter(|field| !field.is_empty());
        let tree = fields.next().and_then(|tree| std::str::from_utf8(tree).ok()).map(Oid::new);
        match (output.code, tree) {
            (Some(0), Some(tree)) => Ok(MergeResult::Clean(tree?)),
            (Some(1), Some(_)) => Ok(MergeResult::Conflict(fields.map(RepoPath::new).collect())),
            (_, _) => Err(output.error()),
        }
    }

    /// Writes a commit by the user, with the current time; no hook runs. Nothing refers to it yet.
    ///
    /// # Errors
    /// `IDENTITY_MISSING`, `DISK_FULL`, `GIT_FAILED`.
    pub fn commit_tree(&self, tree: &Oid, parents: &[Oid], message: &str) -> Result<Oid> {
        let who = self.repo.objects().users_signature()?;
        let author = self.repo.author(&who)?;
        self.repo.objects().write_commit_of(&NewCommit { tree, parents: parents.to_vec(), who: &who, message }, &author)
    }

    /// Writes the merge commit of `theirs` into `ours`, as `git merge --no-ff` would. Nothing refers to it yet.
    ///
    /// # Errors
    /// `MERGE_CONFLICT` with the files; as [`History::commit_tree`].
    pub fn merge_commit(&self, ours: &Oid, theirs: &Oid, message: &str) -> Result<Oid> {
        match self.merge_in_memory(ours, theirs)? {
            MergeResult::Clean(tree) => self.commit_tree(&tree, &[ours.clone(), theirs.clone()], message),
            MergeResult::Conflict(files) => {
                let shown: Vec<String> = files.iter().take(20).map(ToString::to_string).collect();
                Err(Error::new(Code::MergeConflict, "the merge has conflicts").why(shown.join(", ")))
            }
        }
    }
}

/// A line such as `100644 OID 2<tab>PATH`.
fn stage(field: &[u8]) -> Option<ConflictStage> {
    let tab = memchr::memchr(b'\t', field)?;
    let mut meta = std::str::from_utf8(&field[..tab]).ok()?.split(' ');
    let (mode, oid, stage) = (meta.next()?, meta.next()?, meta.next()?);
    Some(ConflictStage {
        path: RepoPath::new(&field[tab + 1..]),
        stage: stage.parse().ok()?,
        mode: u32::from_str_radix(mode, 8).ok()?,
        oid: Oid::new(oid).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::repo::scratch::Scratch;

    #[test]
    fn merges_and_reverts_come_out_clean_or_name_the_files() {
        let scratch = Scratch::new(&[]);
        let repo = scratch.repo();
        let head = || Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        let base = head();
        scratch.git(&["switch", "-q", "-c", "side"]);
        scratch.write("side.txt", b"side\n");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-qm", "side"]);
        let side = head();
        scratch.write("a.txt", b"side\n");
        scratch.git(&["commit", "-qam", "conflicting"]);
        let conflicting = head();
        scratch.git(&["switch", "-q", "main"]);
        scratch.write("a.txt", b"main\n");
        scratch.git(&["commit", "-qam", "main"]);
        let main = head();
        let merged = repo.history().merge_commit(&main, &side, "merge side").unwrap();
        assert_eq!(repo.objects().read_commit(&merged).unwrap().parents, [main.clone(), side]);
        assert_eq!(repo.history().diff_trees(&main, &merged).unwrap().len(), 1);
        let conflict = repo.history().merge_in_memory(&main, &conflicting).unwrap();
        assert_eq!(conflict, MergeResult::Conflict(vec![RepoPath::new(&b"a.txt"[..])]));
        let error = repo.history().merge_commit(&main, &conflicting, "m").unwrap_err();
        assert_eq!(error.code(), Code::MergeConflict);
        let MergeResult::Clean(tree) = repo.history().merge_with_base(&main, &merged, &base).unwrap() else { panic!() };
        let changes = repo.history().diff_trees(&merged, &repo.history().commit_tree(&tree, &[], "revert").unwrap()).unwrap();
        assert_eq!(changes.len(), 1);
    }
}
