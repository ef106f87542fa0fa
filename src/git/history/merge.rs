//! Merges that git computes in memory (`git merge-tree`), and commits made from their results. Attributes, merge drivers and settings
//! count as in `git merge`, but never those of a file that nobody committed to the target (`merge_folder`).

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RepoPath};

use super::merge_folder::{DRIVER_LIMIT, MergeFolder, MergePrograms, failed};
use crate::base::conflict_stage::ConflictStage;
use crate::base::marked_merge::{MarkedMerge, MergeToRun};
use crate::base::merge_cache::CachedMerge;
use crate::objects::database::NewCommit;
use crate::repo::handles::Merges;
use crate::repo::person_ident::PersonIdent;
use crate::repo::program::GitOutput;
use crate::repo::repository::Repository;
use crate::repo::shortcuts::FastWay;

/// How many commits of a branch are read before git is asked.
const A_FEW: usize = 64;

impl MergeToRun {
    /// The commits whose trees are compared.
    pub(super) fn merged(&self, repo: &Repository) -> Result<Vec<Oid>> {
        let base = match &self.base {
            Some(base) => Some(base.clone()),
            None => repo.history().merge_base(&self.ours, &self.theirs)?,
        };
        Ok(base.into_iter().chain([self.ours.clone(), self.theirs.clone()]).collect())
    }

    fn arguments(&self) -> Vec<String> {
        let base = self.base.as_ref().map(|base| format!("--merge-base={base}"));
        let fixed = ["merge-tree", "--write-tree", "-z", "--no-messages"].map(str::to_owned);
        fixed.into_iter().chain(base).chain([self.ours.to_string(), self.theirs.to_string()]).collect()
    }
}

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeResult {
    /// No conflict; the tree of the result.
    Clean(Oid),
    /// The files that are in conflict.
    Conflict(Vec<RepoPath>),
}

impl From<MarkedMerge> for MergeResult {
    fn from(merge: MarkedMerge) -> Self {
        if merge.is_clean {
            return Self::Clean(merge.tree);
        }
        let mut files: Vec<RepoPath> = merge.unmerged.into_iter().map(|stage| stage.path).collect();
        files.dedup();
        Self::Conflict(files)
    }
}

impl Merges<'_> {
    /// Merges two commits in memory, as `git merge` would on a branch at `ours`, by the attributes of `ours`: no worktree, index or
    /// ref is touched.
    pub fn merge_in_memory(&self, ours: &Oid, theirs: &Oid) -> Result<MergeResult> {
        if let Some(tree) = self.tree_on_top_of(ours, theirs)? {
            return Ok(MergeResult::Clean(tree));
        }
        let asked = MergeToRun { attributes: ours.clone(), base: None, ours: ours.clone(), theirs: theirs.clone() };
        self.merge(asked).map(MergeResult::from)
    }

    /// Merges two commits in memory, as `git merge` would leave them in a worktree, but by the attributes of `theirs`.
    pub(crate) fn merge_with_markers(&self, ours: &Oid, theirs: &Oid) -> Result<MarkedMerge> {
        self.merge(MergeToRun { attributes: theirs.clone(), base: None, ours: ours.clone(), theirs: theirs.clone() })
    }

    /// Applies the difference between `base` and `theirs` to `ours`, by the attributes of a fourth commit. With the commit to be
    /// reverted as `base` and its parent as `theirs` this is a revert.
    pub fn merge_with_base(&self, base: &Oid, (ours, attributes): (&Oid, &Oid), theirs: &Oid) -> Result<MergeResult> {
        let (base, attributes) = (Some(base.clone()), attributes.clone());
        self.merge(MergeToRun { attributes, base, ours: ours.clone(), theirs: theirs.clone() }).map(MergeResult::from)
    }

    pub(super) fn merge(&self, asked: MergeToRun) -> Result<MarkedMerge> {
        if let Some(known) = self.known_merge(&asked) {
            return Ok(known);
        }
        let run = self.with_a_base_that_git_finds(&asked)?;
        let place = MergeFolder::make(self.repo, &asked)?;
        let drivers = match self.repo.merges().merge_programs()? {
            MergePrograms::None => return read(&place.git().args(run.arguments()).run()?),
            MergePrograms::Drivers(drivers) => drivers,
            MergePrograms::Some => Vec::new(),
        };
        if !drivers.is_empty() {
            let output = place.without(&drivers).args(run.arguments()).run()?;
            if !place.was_called()? {
                return read(&output);
            }
        }
        let given_up = self.may_run_programs(&asked)?;
        place.fill(&self.repo.trees().tree_of(&asked.attributes)?)?;
        let git = place.git().limited(DRIVER_LIMIT).ended_by(given_up);
        let merge = read(&git.args(run.arguments()).run()?)?;
        self.remember_merge(CachedMerge { asked, merge: merge.clone() });
        Ok(merge)
    }

    /// A merge as this git takes it: before 2.40 a base cannot be named, so both sides become commits on top of it.
    fn with_a_base_that_git_finds(&self, asked: &MergeToRun) -> Result<MergeToRun> {
        let Some(base) = &asked.base else { return Ok(asked.clone()) };
        if self.may_name_base()? {
            return Ok(asked.clone());
        }
        let on_top = |side: &Oid| self.commit_in_memory(&self.repo.trees().tree_of(side)?, base);
        Ok(MergeToRun {
            attributes: asked.attributes.clone(),
            base: None,
            ours: on_top(&asked.ours)?,
            theirs: on_top(&asked.theirs)?,
        })
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

    /// Writes a commit by the user, with the current time; no hook runs. Nothing refers to it yet.
    pub fn commit_tree(&self, tree: &Oid, parents: &[Oid], message: &str) -> Result<Oid> {
        let who = self.repo.objects().users_signature()?;
        let author = self.repo.identities().author(&who)?;
        self.repo.objects().write_commit_of(&NewCommit { tree, parents: parents.to_vec(), who: &who, message }, &author)
    }

    /// Writes a commit that no ref ever points to: the same for the same tree and parent, whenever it is made.
    pub fn commit_in_memory(&self, tree: &Oid, parent: &Oid) -> Result<Oid> {
        let (who, message) = (&PersonIdent::fixed(), "A commit of a task, applied in memory");
        self.repo.objects().write_commit(&NewCommit { tree, parents: vec![parent.clone()], who, message })
    }

    /// Writes the merge commit of `theirs` into `ours`, as `git merge --no-ff` would. Nothing refers to it yet.
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

/// What `git merge-tree` printed.
fn read(output: &GitOutput) -> Result<MarkedMerge> {
    let mut fields = output.stdout.split(|b| *b == 0).filter(|field| !field.is_empty());
    let tree = fields.next().and_then(|tree| std::str::from_utf8(tree).ok()).map(Oid::new);
    match (output.code, tree) {
        (Some(code @ (0 | 1)), Some(tree)) => {
            let unclear = || Error::new(Code::GitFailed, "cannot make sense of what 'git merge-tree' printed");
            let unmerged = fields.map(|field| stage(field).ok_or_else(unclear)).collect::<Result<_>>()?;
            Ok(MarkedMerge { tree: tree?, is_clean: code == 0, unmerged })
        }
        (_, _) => Err(failed(output)),
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
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn merges_and_reverts_come_out_clean_or_name_the_files() {
        let scratch = ScratchRepository::new(&[]);
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
        let merged = repo.merges().merge_commit(&main, &side, "merge side").unwrap();
        assert_eq!(repo.objects().read_commit(&merged).unwrap().parents, [main.clone(), side]);
        assert_eq!(repo.history().diff_trees(&main, &merged).unwrap().len(), 1);
        let conflict = repo.merges().merge_in_memory(&main, &conflicting).unwrap();
        assert_eq!(conflict, MergeResult::Conflict(vec![RepoPath::new(&b"a.txt"[..])]));
        let error = repo.merges().merge_commit(&main, &conflicting, "m").unwrap_err();
        assert_eq!(error.code(), Code::MergeConflict);
        let MergeResult::Clean(tree) = repo.merges().merge_with_base(&main, (&merged, &merged), &base).unwrap() else { panic!() };
        let changes = repo.history().diff_trees(&merged, &repo.merges().commit_tree(&tree, &[], "revert").unwrap()).unwrap();
        assert_eq!(changes.len(), 1);
    }
}
