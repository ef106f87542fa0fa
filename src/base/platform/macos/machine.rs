//! What macOS says of the machine.

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::of_kernel;
pub use crate::platform::portable::machine::{own_image, own_terminal};

/// The name of these modules.
pub const SYSTEM: &str = "macos";

/// Whether the program was ever tried on this system.
pub const IS_TRIED: bool = false;

/// Identifies the current boot of the machine.
pub fn boot_id() -> Option<String> {
    let text = String::from_utf8(of_kernel::value(c"kern.bootsessionuuid")?).ok()?;
    Some(text.trim_end_matches('\0').to_owned()).filter(|id| !id.is_empty())
}

/// When the machine was started, by its own clock: a `timeval`.
pub fn boot_time() -> Option<SystemTime> {
    let bytes = of_kernel::value(c"kern.boottime")?;
    let seconds = i64::from_ne_bytes(bytes.get(..8)?.try_into().ok()?);
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}

/// The name of the file system that a path is on.
pub fn file_system_name(path: &Path) -> Option<String> {
    let name = of_kernel::text(&rustix::fs::statfs(path).ok()?.f_fstypename);
    Some(String::from_utf8_lossy(&name).into_owned())
}

/// Whether the file system of a folder is known to keep the time at which a file was changed, and its number.
pub fn keeps_times(folder: &Path) -> bool {
    file_system_name(folder).is_some_and(|name| matches!(name.as_str(), "apfs" | "hfs"))
}
