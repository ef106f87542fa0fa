//! Which folders git treats as nested repositories. git descends into all other folders, even if they contain something
//! called `.git`. So a capture contains the files of those folders, and a restore must not treat them as nested
//! repositories.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use axiom_base::files;

/// The largest `.git` file or HEAD that is read.
const LIMIT: u64 = 64 * 1024;

/// Whether git treats a folder as a nested repository. A test compares the result with git's.
pub(crate) fn is_repository(folder: &Path) -> bool {
    let dot = folder.join(".git");
    match std::fs::metadata(&dot) {
        Ok(meta) if meta.is_dir() => is_git_dir(&dot),
        Ok(meta) if meta.is_file() => match content(&dot) {
            // An unreadable `.git` file may name a repository.
            None => true,
            Some(content) => named_by(folder, &content).is_some_and(|named| is_git_dir(&named)),
        },
        Ok(_) | Err(_) => false,
    }
}

/// The path in a `.git` file.
fn named_by(folder: &Path, content: &[u8]) -> Option<PathBuf> {
    let named = content.strip_prefix(b"gitdir: ")?;
    let end = named.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))?;
    Some(folder.join(OsStr::from_bytes(&named[..=end])))
}

/// Whether a folder has what git expects of a git directory: a valid HEAD, objects and refs.
pub(crate) fn is_git_dir(dir: &Path) -> bool {
    if !is_head(&dir.join("HEAD")) {
        return false;
    }
    let common = content(&dir.join("commondir")).and_then(|named| {
        let end = named.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))?;
        Some(dir.join(OsStr::from_bytes(&named[..=end])))
    });
    let common = common.as_deref().unwrap_or(dir);
    common.join("objects").is_dir() && common.join("refs").is_dir()
}

/// Whether git takes a file for the HEAD of a repository.
pub(super) fn is_head(head: &Path) -> bool {
    if let Ok(target) = std::fs::read_link(head) {
        return target.as_os_str().as_bytes().starts_with(b"refs/");
    }
    let Some(content) = content(head) else { return false };
    match content.strip_prefix(b"ref:") {
        Some(name) => name.trim_ascii_start().starts_with(b"refs/"),
        None => content.iter().take_while(|byte| byte.is_ascii_hexdigit()).count() >= 40,
    }
}

/// The content of a small regular file.
fn content(path: &Path) -> Option<Vec<u8>> {
    std::fs::metadata(path).ok().filter(Metadata::is_file)?;
    files::read(path, LIMIT).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::{ScratchRepository, git_at};

    #[test]
    fn what_git_looks_into_is_no_repository_and_what_it_does_not_is_one() {
        let scratch = ScratchRepository::new(&[]);
        let at = |path: &str| scratch.path().join(path);
        let make = |name: &str| {
            git_at(&scratch.path(), &["init", "-q", name]);
            scratch.write(&format!("{name}/x"), b"x");
        };
        for name in ["whole", "head-empty", "head-odd", "head-detached", "head-link", "no-objects", "no-refs", "no-head"] {
            make(name);
        }
        make("head-spaces");
        std::fs::write(at("head-empty/.git/HEAD"), b"").unwrap();
        std::fs::write(at("head-odd/.git/HEAD"), b"nonsense\n").unwrap();
        std::fs::write(at("head-detached/.git/HEAD"), "1".repeat(40)).unwrap();
        std::fs::write(at("head-spaces/.git/HEAD"), "ref:   refs/heads/x").unwrap();
        std::fs::remove_file(at("head-link/.git/HEAD")).unwrap();
        std::os::unix::fs::symlink("refs/heads/none", at("head-link/.git/HEAD")).unwrap();
        std::fs::remove_dir_all(at("no-objects/.git/objects")).unwrap();
        std::fs::remove_dir_all(at("no-refs/.git/refs")).unwrap();
        std::fs::remove_file(at("no-head/.git/HEAD")).unwrap();
        let whole = at("whole/.git");
        for (name, content) in [
            ("dangling", "gitdir: /nowhere\n".to_owned()),
            ("named", format!("gitdir: {}\n", whole.display())),
            ("relative", "gitdir: ../whole/.git".to_owned()),
            ("nonsense", "what\n".to_owned()),
            ("nothing", String::new()),
        ] {
            scratch.write(&format!("{name}/x"), b"x");
            std::fs::write(at(name).join(".git"), content).unwrap();
        }
        scratch.write("plain/x", b"x");
        scratch.write("empty/.git/x", b"x");
        scratch.write("empty/x", b"x");
        let status = scratch.git(&["status", "--porcelain", "-uall"]);
        let mut folders = 0;
        for entry in std::fs::read_dir(scratch.path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if !at(&name).join("x").exists() {
                continue;
            }
            folders += 1;
            let by_git = !status.lines().any(|line| line == format!("?? {name}/x"));
            assert_eq!(is_repository(&at(&name)), by_git, "{name}: {status}");
        }
        assert_eq!(folders, 16);
    }
}
