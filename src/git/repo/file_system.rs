//! What the file system below a repository cannot keep, as git found out or was told.

use super::repository::Repository;

/// What files can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::git) struct Keeps {
    /// Symbolic links; else they are regular files that hold the link's text.
    pub links: bool,
    /// The execute bit; else it says nothing, and is nobody's to change.
    pub modes: bool,
}

impl Repository {
    /// What the files of this repository's worktrees can be, by `core.symlinks` and `core.fileMode`.
    pub(in crate::git) fn keeps(&self) -> Keeps {
        let says = |key: &str| self.says(key).unwrap_or(true);
        Keeps { links: says("core.symlinks"), modes: says("core.fileMode") }
    }

    /// Whether git takes names in another case for the same, by `core.ignoreCase`.
    pub(in crate::git) fn ignores_case(&self) -> bool {
        self.says("core.ignoreCase").unwrap_or(false)
    }

    fn says(&self, key: &str) -> Option<bool> {
        // What the caller gives beside the files is git's to read.
        if !self.caller_configures() {
            return self.gix().ok()?.config_snapshot().boolean(key);
        }
        let output = self.git().args(["config", "--type=bool", "--get", key]).run().ok()?;
        output.text().ok().filter(|_| output.ok()).map(|value| value == "true")
    }
}
