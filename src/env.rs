//! The process's surroundings: clock, environment variables, fresh ids, working directory, and the fault points.
//!
//! This is the only place that reads them, so that a test can fix each. The overrides for tests
//! (`AXIOM_TEST_*`) exist in debug builds only; a release build has no fault points.

#![allow(clippy::disallowed_methods)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;

use crate::error::{Error, Result};

/// The value of an environment variable of ours or of the system; `None` when unset or empty.
pub fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// All environment variables, to be passed on to a child after stripping.
pub fn all_vars() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// The current working directory, absolute.
///
/// # Errors
/// `IO_FAILED` when it was deleted.
pub fn current_dir() -> Result<PathBuf> {
    std::env::current_dir()
        .map_err(|e| Error::io("find the current folder", Path::new("."), e).hint("cd into a folder that exists"))
}

/// The path of this very program, for starting keepers and detached supervisors.
///
/// # Errors
/// `IO_FAILED` where the system cannot tell.
pub fn own_program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|e| Error::io("find the program", Path::new("git-axiom"), e))
}

/// The folder for temporary files that need not survive a reboot (sockets, agents' own temporary folders).
pub fn temp_dir() -> PathBuf {
    std::env::temp_dir()
}

/// The user's home, where the system says.
pub fn home_dir() -> Option<PathBuf> {
    var("HOME").map(PathBuf::from)
}

/// The time now, UTC, cut to milliseconds. `AXIOM_TEST_NOW` (debug builds) fixes the first reading; each later one is a
/// millisecond on.
pub fn now() -> Timestamp {
    static FIXED: OnceLock<Option<Timestamp>> = OnceLock::new();
    static READINGS: AtomicU64 = AtomicU64::new(0);
    let fixed = FIXED.get_or_init(|| test_var("AXIOM_TEST_NOW").and_then(|text| text.to_str()?.parse().ok()));
    let now = match fixed {
        Some(start) => {
            let step = READINGS.fetch_add(1, Ordering::Relaxed);
            start.checked_add(Duration::from_millis(step)).unwrap_or(*start)
        }
        None => Timestamp::now(),
    };
    now.round(jiff::Unit::Millisecond).unwrap_or(now)
}

/// The time zone that people are shown times in: `TZ`, or what the system is set to; UTC where neither can be read.
pub fn time_zone() -> jiff::tz::TimeZone {
    jiff::tz::TimeZone::try_system().unwrap_or(jiff::tz::TimeZone::UTC)
}

/// Sixteen hexadecimal digits that no other call on this machine returns. `AXIOM_TEST_IDS` (debug builds) makes them
/// count up from a seed.
pub fn fresh_id() -> String {
    static SEED: OnceLock<Option<u64>> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let seed = SEED.get_or_init(|| test_var("AXIOM_TEST_IDS").and_then(|text| text.to_str()?.parse().ok()));
    if let Some(seed) = seed {
        return format!("{:016x}", seed.wrapping_add(count));
    }
    let mut bytes = [0_u8; 8];
    if getrandom(&mut bytes) {
        return format!("{:016x}", u64::from_ne_bytes(bytes));
    }
    // Without the kernel's randomness: time, process and a counter still never collide on one machine.
    let nanos = Timestamp::now().as_nanosecond() as u64;
    format!("{:016x}", nanos ^ (u64::from(std::process::id()) << 40) ^ count)
}

fn getrandom(bytes: &mut [u8; 8]) -> bool {
    use std::io::Read;
    std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(bytes)).is_ok()
}

fn test_var(name: &str) -> Option<OsString> {
    if cfg!(debug_assertions) { var(name) } else { None }
}

/// A named place in a mutating path at which crash tests stop the program.
///
/// In debug builds, `AXIOM_TEST_FAULT=name:n` kills this process with SIGKILL when `name` is reached for the n-th time
/// (from 1), and `AXIOM_TEST_FAULT_LOG=file` appends each name that is reached. Does nothing in release builds.
pub fn fault_point(name: &'static str) {
    if cfg!(debug_assertions) {
        reached(name);
    }
}

fn reached(name: &str) {
    use std::io::Write;
    static PLAN: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static HITS: AtomicU64 = AtomicU64::new(0);
    static LOG: OnceLock<Option<OsString>> = OnceLock::new();
    if let Some(path) = LOG.get_or_init(|| var("AXIOM_TEST_FAULT_LOG"))
        && let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path)
    {
        let _ = file.write_all(format!("{name}\n").as_bytes());
    }
    let plan = PLAN.get_or_init(|| {
        let text = var("AXIOM_TEST_FAULT")?.into_string().ok()?;
        let (name, count) = text.rsplit_once(':')?;
        Some((name.to_owned(), count.parse().ok()?))
    });
    if let Some((wanted, count)) = plan
        && wanted == name
        && HITS.fetch_add(1, Ordering::Relaxed) + 1 == *count
    {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// The command line, the program's name first.
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}
