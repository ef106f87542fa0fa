//! What a system says of the machine, where nothing is known of the system.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The name of these modules.
pub const SYSTEM: &str = "portable";

/// Whether the program was ever tried on this system.
pub const IS_TRIED: bool = cfg!(target_os = "linux");

/// Unknown: a restart of the machine is not seen.
pub fn boot_id() -> Option<String> {
    None
}

/// Unknown.
pub fn boot_time() -> Option<SystemTime> {
    None
}

/// None: once the program's file is replaced, another version of it is started.
pub fn own_image() -> Option<PathBuf> {
    None
}

/// The terminal of this process, to be read and waited for. Some systems cannot wait for `/dev/tty`: there it is opened by its own name.
pub fn own_terminal() -> io::Result<File> {
    let name = rustix::termios::ttyname(std::io::stdout(), Vec::new());
    let name = name.or_else(|_| rustix::termios::ttyname(std::io::stderr(), Vec::new()));
    match name {
        Ok(name) => File::open(PathBuf::from(std::ffi::OsString::from_vec(name.into_bytes()))),
        Err(_) => File::open("/dev/tty"),
    }
}

/// Unknown.
pub fn file_system_name(_path: &Path) -> Option<String> {
    None
}

/// Not known: a probe alone tells.
pub fn keeps_times(_folder: &Path) -> bool {
    true
}
