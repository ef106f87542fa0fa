//! Limits of the system on this process (`ulimit`): errors in words instead of a silent end of the process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::error::{Code, Error, Result};

/// From now on, a write over the limit on the file size (`ulimit -f`) fails with an error instead of ending the process
/// silently. Child processes are not changed.
pub fn say_what_is_too_large() {
    // If the handler cannot be set, the default of the system applies.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// The smallest address space, in bytes, that is enough for threads, git and objects.
const LEAST_MEMORY: u64 = 96 * 1024 * 1024;

/// Checks that there is enough memory: otherwise the process might end silently in the middle of its work.
pub fn check_memory() -> Result<()> {
    match rustix::process::getrlimit(rustix::process::Resource::As).current {
        Some(most) if most < LEAST_MEMORY => {
            Err(Error::new(Code::IoFailed, format!("memory is limited to {} MiB for each process", most / 1024 / 1024))
                .hint(format!("ulimit -v {}    or more; see 'ulimit -v'", LEAST_MEMORY / 1024)))
        }
        Some(_) | None => Ok(()),
    }
}
