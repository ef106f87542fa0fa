//! Copies of files that nobody needs after a power loss, from one folder to the same place in another.

#![allow(clippy::disallowed_methods)]

use std::fs;
use std::io;
use std::path::{Component, Path};

use crate::error::{Error, Result};

/// Copies a file or a link from one folder to the same place in another; folders on the way are made. The system shares the blocks where the
/// file system can. Whatever is at the place stays; nothing is read or written through a link. Returns whether it was copied.
pub fn copy_beside(from: &Path, to: &Path, inside: &Path) -> Result<bool> {
    let Some(above) = inside.parent() else { return Ok(false) };
    let (source, target) = (from.join(inside), to.join(inside));
    let Ok(meta) = source.symlink_metadata() else { return Ok(false) };
    if !is_plain(from, above)? || target.symlink_metadata().is_ok() || !(meta.is_file() || meta.is_symlink()) {
        return Ok(false);
    }
    if !make_plain(to, above)? {
        return Ok(false);
    }
    let copied = if meta.is_symlink() {
        fs::read_link(&source).and_then(|text| std::os::unix::fs::symlink(text, &target))
    } else {
        fs::copy(&source, &target).map(drop)
    };
    copied.map(|()| true).map_err(|e| Error::io("copy", &source, e))
}

/// Whether the folders on the way are folders, and no links.
fn is_plain(root: &Path, inside: &Path) -> Result<bool> {
    let mut place = root.to_owned();
    for part in inside.components() {
        let Component::Normal(name) = part else { return Ok(false) };
        place.push(name);
        if !place.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Makes the folders on the way that are missing; whether all are folders then, and no links.
fn make_plain(root: &Path, inside: &Path) -> Result<bool> {
    let mut place = root.to_owned();
    for part in inside.components() {
        let Component::Normal(name) = part else { return Ok(false) };
        place.push(name);
        match fs::create_dir(&place) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(Error::io("make", &place, e)),
        }
        if !place.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays_and_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to, other) = (folder.path().join("from"), folder.path().join("to"), folder.path().join("other"));
        for place in [from.join("deep/er"), to.clone(), other.clone()] {
            fs::create_dir_all(place).unwrap();
        }
        let copied = |path: &str| copy_beside(&from, &to, Path::new(path)).unwrap();
        fs::write(from.join("deep/er/a"), "a").unwrap();
        assert!(copied("deep/er/a") && fs::read(to.join("deep/er/a")).unwrap() == b"a");
        fs::write(from.join("deep/er/a"), "b").unwrap();
        assert!(!copied("deep/er/a") && fs::read(to.join("deep/er/a")).unwrap() == b"a", "it is there");
        std::os::unix::fs::symlink("a", from.join("deep/link")).unwrap();
        assert!(copied("deep/link") && fs::read_link(to.join("deep/link")).unwrap() == Path::new("a"));
        std::os::unix::fs::symlink(&other, to.join("out")).unwrap();
        fs::create_dir(from.join("out")).unwrap();
        fs::write(from.join("out/x"), "x").unwrap();
        assert!(!copied("out/x") && !other.join("x").exists(), "a link of the branch leads out");
        fs::write(other.join("y"), "y").unwrap();
        std::os::unix::fs::symlink(&other, from.join("in")).unwrap();
        assert!(!copied("in/y") && !copied("../other/y") && !copied("nothing"));
    }
}
