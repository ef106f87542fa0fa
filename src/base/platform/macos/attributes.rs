//! Extended attributes of macOS: their names have no prefix. Access control lists are none of them: they are not held.

use rustix::io::Errno;

/// The errors of a read of an attribute that is not there.
pub const NO_ATTRIBUTE: &[Errno] = &[Errno::NOATTR, Errno::NODATA];

/// What the system keeps for itself: it comes and goes by itself, or cannot be set.
const OF_THE_SYSTEM: [&[u8]; 5] =
    [b"com.apple.lastuseddate", b"com.apple.macl", b"com.apple.provenance", b"com.apple.rootless", b"com.apple.system."];

/// Whether an attribute is the user's: what a copy of a file has to have.
pub fn is_copied_attribute(name: &[u8]) -> bool {
    !name.is_empty() && !OF_THE_SYSTEM.iter().any(|own| name.starts_with(own))
}
