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

/// The largest list of names, and the largest value, that Linux allows.
const LARGEST: usize = 64 * 1024;

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
    let mut few = [0_u8; 1024];
    let list = match rustix::fs::llistxattr(path, &mut few[..]) {
        Ok(length) => few[..length].to_vec(),
        Err(Errno::RANGE) => {
            let mut many = vec![0_u8; LARGEST];
            let length = rustix::fs::llistxattr(path, &mut many[..])?;
            many.truncate(length);
            many
        }
        Err(error) if is_none(error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    Ok(list.split(|byte| *byte == 0).filter(|name| platform::is_copied_attribute(name)).map(<[u8]>::to_vec).collect())
}

fn value(path: &Path, name: &[u8]) -> Result<Option<Vec<u8>>, Errno> {
    let mut few = [0_u8; 1024];
    match rustix::fs::lgetxattr(path, name, &mut few[..]) {
        Ok(length) => Ok(Some(few[..length].to_vec())),
        Err(Errno::RANGE) => {
            let mut many = vec![0_u8; LARGEST];
            let length = rustix::fs::lgetxattr(path, name, &mut many[..])?;
            many.truncate(length);
            Ok(Some(many))
        }
        Err(error) if is_none(error) => Ok(None),
        Err(error) => Err(error),
    }
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
