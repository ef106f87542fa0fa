//! Size limits for the parts of a checkpoint. Writing and reading use the same constants, so that nothing is written that
//! could not be read again. Each limit is checked before anything refers to the new object.

use axiom_base::error::{Code, Error, Result};

/// The largest document of a checkpoint.
pub const DOCUMENT: u64 = 256 * 1024 * 1024;

/// The largest file of an operation in progress (such as a rebase), and the largest list of a capture's extras.
pub(crate) const EXTRAS: u64 = 256 * 1024 * 1024;

/// The largest commit or tree.
pub(crate) const STRUCTURE: u64 = 256 * 1024 * 1024;

/// The largest tag of a checkpoint.
pub(crate) const TAG: u64 = 1024 * 1024;

/// Checks that content can be read again once it is written.
pub(crate) fn fits(what: &str, content: &[u8], limit: u64) -> Result<()> {
    if content.len() as u64 <= limit {
        return Ok(());
    }
    Err(Error::new(Code::TooLarge, format!("{what} has {} bytes, the limit is {limit}", content.len()))
        .why("it could not be read again, so it is not written"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::object_kind::ObjectKind;
    use crate::repo::scratch::ScratchRepository;
    use crate::{CaptureOptions, Repository};
    use axiom_model::base::ids::CheckpointName;

    /// Content with one byte too many. The memory is never touched.
    fn over(limit: u64) -> Vec<u8> {
        vec![0; usize::try_from(limit).unwrap() + 1]
    }

    fn objects(repo: &Repository) -> String {
        repo.git().args(["count-objects", "-v"]).text().unwrap()
    }

    #[test]
    fn what_could_not_be_read_again_is_not_written() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let options = CaptureOptions { max_file_size: 1000, ..Default::default() };
        let taken = repo.captures().capture_worktree(&scratch.main(), &options).unwrap();
        let name = CheckpointName::new("x").unwrap();
        let refs = repo.checkpoints().hold_local_refs().unwrap();
        let before = objects(&repo);
        let document = repo.checkpoints().checkpoint_objects(&name, &taken, &over(DOCUMENT), &[], &refs).unwrap_err();
        assert_eq!(document.code(), Code::TooLarge);
        for kind in [ObjectKind::Commit, ObjectKind::Tree] {
            assert_eq!(repo.objects().write_object(kind, over(STRUCTURE)).unwrap_err().code(), Code::TooLarge, "{kind:?}");
        }
        assert_eq!(fits("a list", &over(EXTRAS), EXTRAS).unwrap_err().code(), Code::TooLarge);
        assert!(fits("a list", &over(EXTRAS - 1), EXTRAS).is_ok());
        assert_eq!(objects(&repo), before);
    }
}
