//! What the file system below a repository cannot keep, as git found out or was told.

use super::repository::Repository;

/// What files can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Keeps {
    /// Symbolic links; else they are regular files that hold the link's text.
    pub links: bool,
    /// The execute bit; else it says nothing, and is nobody's to change.
    pub modes: bool,
}

impl Repository {
    /// What the files of this repository's worktrees can be, by `core.symlinks` and `core.fileMode`.
    pub(super) fn keeps(&self) -> Keeps {
        let by_file = |key: &str| self.gix().ok()?.config_snapshot().boolean(key);
        let by_git = |key: &str| {
            let output = self.git().args(["config", "--type=bool", "--get", key]).run().ok()?;
            output.text().ok().filter(|_| output.ok()).map(|value| value == "true")
        };
        // What the caller gives beside the files is git's to read.
        let says = |key: &str| if self.caller_configures() { by_git(key) } else { by_file(key) };
        Keeps { links: says("core.symlinks").unwrap_or(true), modes: says("core.fileMode").unwrap_or(true) }
    }
}
