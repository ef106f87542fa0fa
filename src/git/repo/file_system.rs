//! What the file system of a repository cannot store, according to git's configuration.

use super::shortcuts::FastWay;
use crate::repo::handles::GitSettings;

/// Which properties of files can be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileSystemSupport {
    /// Symbolic links; otherwise links are regular files that contain the link's target.
    pub links: bool,
    /// The executable bit; otherwise it means nothing, and is never changed.
    pub modes: bool,
}

impl GitSettings<'_> {
    /// The properties that files of this repository's worktrees can have, from `core.symlinks` and `core.fileMode`.
    pub(crate) fn keeps(&self) -> FileSystemSupport {
        let says = |key: &str| self.says(key).unwrap_or(true);
        FileSystemSupport { links: says("core.symlinks"), modes: says("core.fileMode") }
    }

    /// Whether git treats names that differ only in case as the same, from `core.ignoreCase`.
    pub(crate) fn ignores_case(&self) -> bool {
        self.says("core.ignoreCase").unwrap_or(false)
    }

    fn says(&self, key: &str) -> Option<bool> {
        if self.repo.shortcuts().allow(FastWay::ReadConfiguration) {
            return self.repo.gix().ok()?.config_snapshot().boolean(key);
        }
        let output = self.repo.git().args(["config", "--type=bool", "--get", key]).run().ok()?;
        output.text().ok().filter(|_| output.ok()).map(|value| value == "true")
    }
}
