//! Names that git may refuse because some file system could take them for git's own folder. Code that meets such a name
//! leaves the decision to git.

use gix::validate::path::component::{self, Mode};

use axiom_model::base::names::RepoPath;

/// Whether git may refuse the path, or a folder above it.
pub(crate) fn is_odd(path: &RepoPath) -> bool {
    path.as_bytes().split(|byte| *byte == b'/').any(is_odd_name)
}

/// Whether git may refuse a file, a folder or a link of this name, whatever it is told to protect. On Windows alone it refuses more.
fn is_odd_name(name: &[u8]) -> bool {
    let options = component::Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
    // git takes what follows a backslash for a name too.
    name.contains(&b'\\') || gix::validate::path::component(name.into(), Some(Mode::Symlink), options).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    const ODD: [&str; 17] = [
        ".git/config",
        "a/../b",
        "x/.GIT/hooks/y",
        ".gitmodules",
        "GIT~1/x",
        "gi7eba~1",
        "a\\b",
        ".g\u{200c}it/x",
        "a//b",
        "a\\.git",
        ".git\\x",
        ".git. /x",
        ".git:x/y",
        "./a",
        ".GITMODULES ",
        "gitmod~2",
        "\u{feff}.git",
    ];
    const PLAIN: [&str; 12] = [
        "a",
        ".gitignore",
        "x/.gitattributes",
        ".github/workflows/ci.yml",
        "git",
        "\u{fc}bung",
        ".hidden/x",
        ".gitlab-more",
        ".\u{fc}bung",
        "gi7eba",
        "git~2",
        "aux.c",
    ];

    #[test]
    fn what_may_be_gits_own_folder_is_odd() {
        for path in ODD {
            assert!(is_odd(&RepoPath::new(path.as_bytes())), "{path}");
        }
        for path in PLAIN {
            assert!(!is_odd(&RepoPath::new(path.as_bytes())), "{path}");
        }
    }

    #[test]
    fn git_refuses_no_name_that_is_not_odd() {
        let scratch = ScratchRepository::new(&[]);
        scratch.git(&["config", "core.protectHFS", "true"]);
        let repo = scratch.repo();
        let id = repo.trees().empty_tree().unwrap();
        for path in ODD.iter().chain(&PLAIN) {
            let takes = |mode: &str| {
                let entry = format!("{mode},{id},{path}");
                repo.git().args(["update-index", "--add", "--cacheinfo", entry.as_str()]).run().unwrap().ok()
            };
            let takes = takes("120000") && takes("100644");
            assert!(takes || is_odd(&RepoPath::new(path.as_bytes())), "{path}");
        }
    }
}
