//! Files in which a capture remembers what the next one need not find out again. Each may go at any time: then it is found out
//! again. What they say is in `round_trip_cache` and `file_blob_cache`.

use std::path::PathBuf;

use axiom_base::files;

use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;

/// The largest such file that is written and read, in bytes.
const LIMIT: u64 = 256 * 1024 * 1024;

/// What is remembered of a worktree.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CaptureCacheKind {
    /// Which unchanged files a checkout gives back.
    GivenBack,
    /// The blobs of files.
    FileBlobs,
}

impl CaptureCacheKind {
    /// What was remembered; `None` if there is nothing, or it is damaged.
    pub fn read(self, repository: &Repository, worktree: &Worktree) -> Option<Vec<u8>> {
        let mut content = files::read_optional(&self.place(repository, worktree), LIMIT).ok()??;
        let sum = content.split_off(content.len().checked_sub(repository.hash().bytes())?);
        (repository.hash().digest(&content).ok()? == sum).then_some(content)
    }

    /// Remembers `content`. A failure does no harm and is only traced; a crash leaves the old file, the new one, or a damaged one.
    pub fn write(self, mut content: Vec<u8>, repository: &Repository, worktree: &Worktree) {
        if content.len() as u64 > LIMIT - 64 {
            return;
        }
        let written = repository.hash().digest(&content).and_then(|sum| {
            content.extend(sum);
            let folder = repository.scratch_folders().make()?;
            let new = folder.path().join(self.name());
            files::write_scratch(&new, &content)?;
            files::replace_unsynced(&new, &self.place(repository, worktree))
        });
        if let Err(error) = written {
            tracing::warn!(%error, what = self.name(), "the next capture has to find out again what this one did");
        }
    }

    /// The file of a worktree. A linked worktree's file is removed together with the worktree.
    pub fn place(self, repository: &Repository, worktree: &Worktree) -> PathBuf {
        if worktree.is_main() || worktree.is_submodule() {
            repository.scratch_folders().own().join(self.name())
        } else {
            worktree.git_dir().join(format!("axiom-{}", self.name()))
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::GivenBack => "given-back",
            Self::FileBlobs => "file-blobs",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn a_file_is_read_back_whole_or_not_at_all() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            let (repo, main) = (scratch.repo(), scratch.main());
            assert_eq!(CaptureCacheKind::FileBlobs.read(&repo, &main), None);
            CaptureCacheKind::FileBlobs.write(b"all of it".to_vec(), &repo, &main);
            assert_eq!(CaptureCacheKind::FileBlobs.read(&repo, &main).unwrap(), b"all of it");
            assert_eq!(CaptureCacheKind::GivenBack.read(&repo, &main), None);
            let place = CaptureCacheKind::FileBlobs.place(&repo, &main);
            let whole = std::fs::read(&place).unwrap();
            for cut in [0, 10, whole.len() / 2, whole.len() - 1] {
                axiom_base::files::write_scratch(&place, &whole[..cut]).unwrap();
                assert_eq!(CaptureCacheKind::FileBlobs.read(&repo, &main), None, "{cut}");
            }
        }
    }
}
