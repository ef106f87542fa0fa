//! Extended attributes of Linux.

use rustix::io::Errno;

/// The errors of a read of an attribute that is not there.
pub const NO_ATTRIBUTE: &[Errno] = &[Errno::NODATA];

/// Whether an attribute is the user's, or an ACL: what a copy of a file has to have.
pub fn is_copied_attribute(name: &[u8]) -> bool {
    [&b"system.posix_acl_access"[..], b"system.posix_acl_default"].contains(&name) || name.starts_with(b"user.")
}
