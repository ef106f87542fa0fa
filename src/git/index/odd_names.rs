//! Names that git may refuse because some file system could take them for git's own folder. Code that meets such a name
//! leaves the decision to git.

use crate::domain::base::names::RepoPath;

/// Names that begin like git's own folder but are harmless.
const HARMLESS: [&[u8]; 6] = [b".gitignore", b".gitattributes", b".gitkeep", b".github", b".gitlab", b".gitlab-ci.yml"];

impl RepoPath {
    /// Whether git may refuse the path, or a folder above it.
    pub(in crate::git) fn is_odd(&self) -> bool {
        self.as_bytes().split(|byte| *byte == b'/').any(is_odd_name)
    }
}

/// Whether git may refuse a file or folder of this name.
fn is_odd_name(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let like_git = lower.starts_with(b".git") && !HARMLESS.contains(&lower.as_slice());
    let short = lower.starts_with(b"git~") || lower.starts_with(b"gi7");
    // Some file systems ignore invisible characters.
    let hidden = name.first() == Some(&b'.') && !name.is_ascii();
    matches!(name, b"" | b"." | b"..") || like_git || short || hidden || name.contains(&b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_gits_own_folder_is_odd() {
        let odd =
            [".git/config", "a/../b", "x/.GIT/hooks/y", ".gitmodules", "GIT~1/x", "gi7eba~1", "a\\b", ".g\u{200c}it/x", "a//b"];
        for path in odd {
            assert!(RepoPath::new(path.as_bytes()).is_odd(), "{path}");
        }
        for path in ["a", ".gitignore", "x/.gitattributes", ".github/workflows/ci.yml", "git", "übung", ".hidden/x"] {
            assert!(!RepoPath::new(path.as_bytes()).is_odd(), "{path}");
        }
    }
}
