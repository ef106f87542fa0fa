//! Mounts within a folder. Device numbers are not enough to find them: a bind mount can have that of its folder, and a btrfs
//! subvolume has one of its own without being a mount.

use std::path::{Path, PathBuf};

use crate::error::{Code, Error, Result};

use crate::files::folder_entries;
use crate::platform;
use crate::shell_word::shell_word;

/// The mount points at or below `place`, sorted. Empty where there is nothing at `place`.
///
/// Reads the system's list once. If there is none, every folder is checked instead.
pub fn mounts_within(place: &Path) -> Result<Vec<PathBuf>> {
    let Some(place) = resolved(place)? else { return Ok(Vec::new()) };
    let mut found = platform::mount_points(&place).map_err(|e| Error::io("find the mounts in", &place, e))?;
    found.retain(|mount| mount.starts_with(&place));
    found.sort();
    found.dedup();
    Ok(found)
}

/// Checks that there is no mount at or below `place`, so that moving or removing it does not affect other file systems.
pub fn holds_no_mount(place: &Path) -> Result<()> {
    match mounts_within(place)?.first() {
        None => Ok(()),
        Some(mount) => Err(holds_mount(place, mount)),
    }
}

/// The error for refusing to move or remove `place` because of the mount at `mount`.
pub fn holds_mount(place: &Path, mount: &Path) -> Error {
    let what = if place == mount {
        "something is mounted there".to_owned()
    } else {
        format!("it holds the mount '{}'", mount.display())
    };
    Error::new(Code::HoldsMount, format!("'{}' is neither moved nor deleted", place.display()))
        .why(what)
        .hint(format!("umount {}    then try again", shell_word(&mount.display().to_string())))
}

/// The path as the kernel writes it. If its last part is a link, that is not followed.
fn resolved(place: &Path) -> Result<Option<PathBuf>> {
    use std::io::ErrorKind;
    if crate::files::metadata(place)?.is_none() {
        return Ok(None);
    }
    let resolve = |path: &Path| match path.canonicalize() {
        Ok(path) => Ok(Some(path)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("find", path, e)),
    };
    match place.file_name() {
        Some(name) => Ok(resolve(folder_entries::parent(place)?)?.map(|above| above.join(name))),
        None => resolve(place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_a_mount_and_a_fresh_folder_holds_none() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(mounts_within(dir.path()).unwrap(), [] as [&Path; 0]);
        assert_eq!(mounts_within(&dir.path().join("none/x")).unwrap(), [] as [&Path; 0]);
        assert!(mounts_within(Path::new("/")).unwrap().contains(&PathBuf::from("/")));
        if crate::platform::SYSTEM == "macos" {
            return;
        }
        let proc = Path::new("/proc");
        assert_eq!(holds_no_mount(proc).unwrap_err().code(), Code::HoldsMount);
        assert_eq!(mounts_within(proc).unwrap()[0], proc);
    }
}
