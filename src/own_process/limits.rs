//! Limits of the system on this process (`ulimit`), said in words in place of a silent death.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::error::{Code, Error, Result};

/// From now on a write beyond the limit on the size of files (`ulimit -f`) fails with an error, instead of ending the process
/// without a word. Programs that we start are as they were.
pub fn say_what_is_too_large() {
    // Where it cannot be set the system does as it always does.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// The least address space in which threads, git and objects find room.
const LEAST_MEMORY: u64 = 96 * 1024 * 1024;

/// Checks that there is room to work in: where memory ends in the middle of something, a process dies without a word.
///
/// # Errors
/// `IO_FAILED` where the address space is limited to less than is needed.
pub fn check_memory() -> Result<()> {
    match rustix::process::getrlimit(rustix::process::Resource::As).current {
        Some(most) if most < LEAST_MEMORY => {
            Err(Error::new(Code::IoFailed, format!("memory is limited to {} MiB for each process", most / 1024 / 1024))
                .hint(format!("ulimit -v {}    or more; see 'ulimit -v'", LEAST_MEMORY / 1024)))
        }
        Some(_) | None => Ok(()),
    }
}
