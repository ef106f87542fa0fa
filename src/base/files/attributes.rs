//! ACLs and the user's extended attributes: read and set without following a link. Those of the system are not copied.

use std::collections::BTreeMap;
use std::path::Path;

use rustix::fs::XattrFlags;
use rustix::io::Errno;

use crate::env;
use crate::error::{Error, Result};
use crate::platform;

/// Extended attributes: names and values.
pub type ExtendedAttributes = BTreeMap<Vec<u8>, Vec<u8>>;

/// The ACL of a file or folder. With an ACL, the permissions are not fully described by the mode.
pub const ACL: &[u8] = b"system.posix_acl_access";

/// The default ACL of a folder, which new entries inherit.
pub const DEFAULT_ACL: &[u8] = b"system.posix_acl_default";

/// The largest list of names, and the largest value, that is read, in bytes. Linux allows 64 KiB, macOS as much as a file.
const LARGEST: usize = 64 * 1024 * 1024;

/// How often a value is read again that grows meanwhile.
const TRIES: usize = 8;

/// The ACLs and the user's attributes of the file at `path`; empty where there is no file, or the file system has no
/// attributes.
pub fn attributes(path: &Path) -> Result<ExtendedAttributes> {
    let failed = |e: Errno| Error::io("read the attributes of", path, std::io::Error::from(e));
    let mut found = ExtendedAttributes::new();
    for name in names(path).map_err(failed)? {
        match value(path, &name) {
            Ok(Some(value)) => drop(found.insert(name, value)),
            Ok(None) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(found)
}

/// The value of one attribute; `None` where there is none.
pub fn attribute(path: &Path, name: &[u8]) -> Result<Option<Vec<u8>>> {
    value(path, name).map_err(|e| Error::io("read the attributes of", path, std::io::Error::from(e)))
}

fn names(path: &Path) -> Result<Vec<Vec<u8>>, Errno> {
    let list = match whole(|room| rustix::fs::llistxattr(path, room)) {
        Err(error) if is_none(error) => return Ok(Vec::new()),
        list => list?,
    };
    Ok(list.split(|byte| *byte == 0).filter(|name| platform::is_copied_attribute(name)).map(<[u8]>::to_vec).collect())
}

fn value(path: &Path, name: &[u8]) -> Result<Option<Vec<u8>>, Errno> {
    match whole(|room| rustix::fs::lgetxattr(path, name, room)) {
        Err(error) if is_none(error) => Ok(None),
        value => value.map(Some),
    }
}

/// Reads all of a list or value: what fills its room may go on, without an error, as resource forks of macOS do.
fn whole(mut read: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut few = [0_u8; 1024];
    match read(&mut few) {
        Ok(length) if length < few.len() => return Ok(few[..length].to_vec()),
        Ok(_) | Err(Errno::RANGE) => {}
        Err(error) => return Err(error),
    }
    for _ in 0..TRIES {
        let size = read(&mut [])?;
        if size > LARGEST {
            return Err(Errno::TOOBIG);
        }
        let mut all = vec![0_u8; size + 1];
        match read(&mut all) {
            Ok(length) if length <= size => {
                all.truncate(length);
                return Ok(all);
            }
            Ok(_) | Err(Errno::RANGE) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Errno::RANGE)
}

/// Whether the error means that there is nothing to read: no such attribute, no such file, or a file system without
/// attributes.
fn is_none(error: Errno) -> bool {
    platform::NO_ATTRIBUTE.contains(&error) || [Errno::NOENT, Errno::NOTDIR].contains(&error) || platform::is_not_supported(error)
}

/// Whether the file system at `place` supports attributes of this name. Reads one, and sets none.
pub fn knows_attribute(place: &Path, name: &[u8]) -> bool {
    let mut none = [0_u8; 0];
    let refused = env::refusal_point("files.attributes").is_err();
    !refused && !rustix::fs::lgetxattr(place, name, &mut none[..]).is_err_and(platform::is_not_supported)
}

/// Gives a file or folder exactly these attributes, the ACL last, because it changes the mode. Other attributes are removed.
/// Nothing is synced; a crash leaves some of them set.
pub fn set_attributes(path: &Path, wanted: &ExtendedAttributes) -> Result<()> {
    let now = attributes(path)?;
    let failed = |e: Errno| Error::io("set the attributes of", path, std::io::Error::from(e));
    for name in now.keys().filter(|name| !wanted.contains_key(*name)) {
        match rustix::fs::lremovexattr(path, name.as_slice()) {
            Err(error) if !is_none(error) => return Err(failed(error)),
            _ => {}
        }
    }
    let differs = |(name, value): &(&Vec<u8>, &Vec<u8>)| now.get(*name) != Some(*value);
    let (acls, others): (Vec<_>, Vec<_>) = wanted.iter().filter(differs).partition(|(name, _)| name.as_slice() == ACL);
    for (name, value) in others.into_iter().chain(acls) {
        env::refusal_point("files.attributes").map_err(|e| Error::io("set the attributes of", path, e))?;
        rustix::fs::lsetxattr(path, name.as_slice(), value, XattrFlags::empty()).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux does it, which refuses a room that is too small.
    fn strict(value: &[u8]) -> impl FnMut(&mut [u8]) -> Result<usize, Errno> {
        move |room| match (room.len(), value.len()) {
            (0, size) => Ok(size),
            (there, size) if size > there => Err(Errno::RANGE),
            _ => lenient(value)(room),
        }
    }

    /// As macOS does it with a resource fork: it fills the room.
    fn lenient(value: &[u8]) -> impl FnMut(&mut [u8]) -> Result<usize, Errno> {
        move |room| {
            if room.is_empty() {
                return Ok(value.len());
            }
            let fits = value.len().min(room.len());
            room[..fits].copy_from_slice(&value[..fits]);
            Ok(fits)
        }
    }

    #[test]
    fn a_value_of_any_size_is_read_to_its_end() {
        for size in [0, 1, 1023, 1024, 1025, 200_000] {
            let value: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
            assert!(whole(strict(&value)).unwrap() == value && whole(lenient(&value)).unwrap() == value, "{size}");
        }
        let mut grows = 0;
        assert_eq!(
            whole(|room| {
                grows += 2000;
                if room.is_empty() { Ok(grows) } else { Err(Errno::RANGE) }
            }),
            Err(Errno::RANGE)
        );
        assert_eq!(whole(|room| if room.is_empty() { Ok(LARGEST + 1) } else { Err(Errno::RANGE) }), Err(Errno::TOOBIG));
    }
}
