//! Reads the parts of a capture back from its commits.

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::Oid;

use crate::repo::handles::Captures;

/// The parts of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureParts {
    /// The commit that was checked out, or the empty root commit that stands for a HEAD without a commit.
    pub base: Oid,
    /// The tree of the files.
    pub files: Oid,
    /// The tree of the index.
    pub index: Oid,
    /// The further parents of the index commit, which it keeps alive; the first of them may be the extras commit.
    pub further: Vec<Oid>,
}

impl Captures<'_> {
    /// Reads the commits of a capture.
    pub fn capture_parts(&self, capture: &Oid) -> Result<CaptureParts> {
        let commit = self.repo.objects().read_commit(capture)?;
        let [base, index, ..] = commit.parents.as_slice() else {
            return Err(Error::new(Code::CheckpointDamaged, format!("{} is not a capture", capture.short())));
        };
        let index = self.repo.objects().read_commit(index)?;
        let further = index.parents.into_iter().skip(1).collect();
        Ok(CaptureParts { base: base.clone(), files: commit.tree, index: index.tree, further })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn a_plain_commit_is_no_capture() {
        let scratch = ScratchRepository::new(&[]);
        let head = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        assert_eq!(scratch.repo().captures().capture_parts(&head).unwrap_err().code(), Code::CheckpointDamaged);
    }
}
