//! Mounts within a folder. Device numbers are not enough to find them: a bind mount can have that of its folder, and a btrfs
//! subvolume has one of its own without being a mount.

use std::path::{Path, PathBuf};

use crate::error::{Code, Error, Result};

use crate::files::durable;
use crate::files::folder_entries;

/// The largest list of mounts that is read, in bytes.
#[cfg(target_os = "linux")]
const LIST_LIMIT: u64 = 64 * 1024 * 1024;

/// The mount points at or below `place`, sorted. Empty where there is nothing at `place`.
///
/// Reads the kernel's list once. If it cannot be read, every folder is checked instead.
pub fn mounts_within(place: &Path) -> Result<Vec<PathBuf>> {
    let Some(place) = resolved(place)? else { return Ok(Vec::new()) };
    let mut found = all(&place)?;
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
        .hint(format!("umount '{}'    then try again", mount.display()))
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

#[cfg(target_os = "linux")]
fn all(place: &Path) -> Result<Vec<PathBuf>> {
    match durable::read(Path::new("/proc/self/mountinfo"), LIST_LIMIT) {
        Ok(list) => Ok(list.split(|byte| *byte == b'\n').filter_map(mount_point).collect()),
        Err(_) => by_walking(place),
    }
}

#[cfg(not(target_os = "linux"))]
fn all(place: &Path) -> Result<Vec<PathBuf>> {
    by_walking(place)
}

/// The mount point in a line of the kernel's list: the fifth field, with blanks written as `\040`.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn mount_point(line: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let field = line.split(|byte| *byte == b' ').nth(4)?;
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// Finds only mounts of other file systems: without the kernel's list, bind mounts cannot be found.
fn by_walking(place: &Path) -> Result<Vec<PathBuf>> {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| crate::files::metadata(path).map(|meta| meta.map(|meta| meta.dev()));
    let mut found = Vec::new();
    let mut walk = walkdir::WalkDir::new(place).into_iter();
    while let Some(entry) = walk.next() {
        // Folders that cannot be read are skipped: removing them will fail anyway.
        let Ok(entry) = entry else { continue };
        if !entry.file_type().is_dir() {
            continue;
        }
        if device(entry.path())? != device(folder_entries::parent(entry.path())?)? {
            found.push(entry.path().to_owned());
            walk.skip_current_dir();
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn the_kernels_list_is_read_with_its_escapes() {
        let point = |line: &str| mount_point(line.as_bytes()).map(|path| path.as_os_str().as_bytes().to_owned());
        let line = r"36 35 98:0 /mnt1 /a\040b\011c\134d\012 rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(point(line), Some(b"/a b\tc\\d\n".to_vec()));
        assert_eq!(point(r"1 2 3 / /\0 x"), Some(br"/\0".to_vec()));
        assert_eq!(point(""), None);
    }

    #[test]
    fn the_root_is_a_mount_and_a_fresh_folder_holds_none() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(mounts_within(dir.path()).unwrap(), [] as [&Path; 0]);
        assert_eq!(mounts_within(&dir.path().join("none/x")).unwrap(), [] as [&Path; 0]);
        assert!(mounts_within(Path::new("/")).unwrap().contains(&PathBuf::from("/")));
        assert_eq!(by_walking(dir.path()).unwrap(), [] as [&Path; 0]);
        let proc = Path::new("/proc");
        assert_eq!(holds_no_mount(proc).unwrap_err().code(), Code::HoldsMount);
        assert_eq!(mounts_within(proc).unwrap()[0], proc);
    }
}
