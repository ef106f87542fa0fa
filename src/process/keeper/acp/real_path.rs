//! Where a path leads that an agent names: beneath its workspace, and by no link.

use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use axiom_model::permission::requested::PermissionPlace;

/// Where `said` leads, relative to `workspace` or absolute. What is there may change afterwards: the policy that asks is no sandbox.
pub(super) fn place(workspace: &Path, said: &str) -> PermissionPlace {
    // What an agent may make something else of: a home, a variable, an address, blanks that it takes away.
    let is_made_something_of = said.starts_with(['~', '$', '@']) || said.contains("://") || said.trim() != said;
    if said.is_empty() || said.contains('\0') || is_made_something_of {
        return PermissionPlace::Unclear;
    }
    let Ok(real) = workspace.canonicalize() else { return PermissionPlace::Unclear };
    let said = Path::new(said);
    // The workspace may be named by a path with links.
    let below = said.strip_prefix(workspace).or_else(|_| said.strip_prefix(&real)).ok();
    let path = match below {
        Some(below) => real.join(below),
        None if said.is_relative() => real.join(said),
        None => said.to_owned(),
    };
    let Some(path) = without_dots(&path) else { return PermissionPlace::Unclear };
    let Ok(below) = path.strip_prefix(&real) else {
        // By a link it may lead back into the workspace, and from there anywhere.
        return PermissionPlace::Outside { path: path.to_string_lossy().into_owned() };
    };
    if leads_elsewhere(&real, below) {
        return PermissionPlace::Unclear;
    }
    let Some(relative) = below.to_str().map(str::to_owned) else { return PermissionPlace::Unclear };
    let is_git = |part: Component<'_>| is_git_folder(&part.as_os_str().to_string_lossy());
    if below.components().any(is_git) { PermissionPlace::BelowGit { relative } } else { PermissionPlace::Inside { relative } }
}

/// `.git` as file systems compare it that ignore case, and dots and spaces at the end.
fn is_git_folder(part: &str) -> bool {
    part.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".git")
}

/// The path without `.` and `..`. Below a link `..` would be elsewhere; then the part before it is looked at, and refused there.
fn without_dots(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                if plain.is_symlink() || !plain.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            Component::RootDir | Component::Normal(_) => plain.push(part),
            Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

/// Whether a part of the path is a link, or the file has another name as well, or is no file and no folder.
fn leads_elsewhere(root: &Path, below: &Path) -> bool {
    let mut path = root.to_owned();
    for part in below.components() {
        path.push(part);
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(found) if found.is_file() => {
                if found.nlink() > 1 {
                    return true;
                }
            }
            Ok(_) => return true,
            Err(error) => return error.kind() != std::io::ErrorKind::NotFound,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_what_is_beneath_the_workspace_by_no_link_is_inside() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let workspace = top.join("w");
        for folder in ["w/a", "w/.git/hooks", "out"] {
            std::fs::create_dir_all(top.join(folder)).unwrap();
        }
        for file in ["w/a/f", "out/f"] {
            std::fs::write(top.join(file), "x").unwrap();
        }
        symlink("../out", workspace.join("link")).unwrap();
        symlink("/etc/passwd", workspace.join("file-link")).unwrap();
        symlink(&workspace, top.join("way")).unwrap();
        std::fs::hard_link(top.join("out/f"), workspace.join("hard")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, workspace.join("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let of = |said: &str| match place(&workspace, said) {
            PermissionPlace::Inside { relative } => format!("inside {relative}"),
            PermissionPlace::BelowGit { relative } => format!("git {relative}"),
            PermissionPlace::Outside { .. } => "outside".to_owned(),
            PermissionPlace::Unclear => "unclear".to_owned(),
        };
        let absolute = |below: &str| workspace.join(below).to_string_lossy().into_owned();
        for (said, expected) in [
            ("a/f".to_owned(), "inside a/f"),
            ("new/b/c".into(), "inside new/b/c"),
            ("./a/../a/f".into(), "inside a/f"),
            (absolute("a/f"), "inside a/f"),
            ("../out/f".into(), "outside"),
            (absolute("../out/f"), "outside"),
            ("/etc/passwd".into(), "outside"),
            ("link/f".into(), "unclear"),
            ("link/../a/f".into(), "unclear"),
            ("file-link".into(), "unclear"),
            ("hard".into(), "unclear"),
            ("fifo".into(), "unclear"),
            ("a/f/below".into(), "unclear"),
            (".git/hooks/x".into(), "git .git/hooks/x"),
            ("sub/.GIT/config".into(), "git sub/.GIT/config"),
            (".gitignore".into(), "inside .gitignore"),
            (String::new(), "unclear"),
            ("a\0b".into(), "unclear"),
            ("/../../..".into(), "unclear"),
        ] {
            assert_eq!(of(&said), expected, "{said}");
        }
        let way = top.join("way");
        assert_eq!(place(&way, &way.join("a/f").to_string_lossy()), PermissionPlace::Inside { relative: "a/f".into() });
    }
}
