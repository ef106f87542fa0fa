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

/// What starts this very program once more, also after its file was replaced or removed: the image that runs, where the
/// system names it. Only for our own children: for others the name means something else.
///
/// # Errors
/// As [`own_program`].
pub fn own_image() -> Result<PathBuf> {
    let image = PathBuf::from("/proc/self/exe");
    if image.exists() { Ok(image) } else { own_program() }
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

/// Which start of the machine this is: two answers that differ are of two of them. Empty where the system does not tell.
/// `AXIOM_TEST_BOOT` (debug builds) says another one.
pub fn boot_id() -> String {
    if let Some(text) = test_var("AXIOM_TEST_BOOT") {
        return text.to_string_lossy().into_owned();
    }
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
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
    static PLAN: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static HITS: AtomicU64 = AtomicU64::new(0);
    static LOG: OnceLock<Option<OsString>> = OnceLock::new();
    append_name(LOG.get_or_init(|| var("AXIOM_TEST_FAULT_LOG")).as_ref(), name);
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

fn append_name(log: Option<&OsString>, name: &str) {
    use std::io::Write;
    if let Some(path) = log
        && let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path)
    {
        let _ = file.write_all(format!("{name}\n").as_bytes());
    }
}

/// A named place at which a test lets the operating system refuse: a file system that cannot be had on every machine, or a
/// disk that fails at one call.
///
/// In debug builds, `AXIOM_TEST_REFUSE=name:errno` is what every call of `name` ends with; `name:errno:n` only the n-th one
/// (from 1), `name:errno:n+` that one and all after it; several such are separated by commas. `AXIOM_TEST_REFUSE_LOG=file`
/// appends each name that is reached. Does nothing in release builds.
///
/// # Errors
/// The one that is asked for.
pub fn refusal_point(name: &'static str) -> std::io::Result<()> {
    if cfg!(debug_assertions) { refused(name) } else { Ok(()) }
}

/// What is refused: calls, counted from 1, of one name.
struct Refusal {
    name: String,
    errno: i32,
    calls: std::ops::RangeInclusive<u64>,
    hits: AtomicU64,
}

impl Refusal {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let (name, errno) = (parts.next()?.to_owned(), parts.next()?.parse().ok()?);
        let calls = match parts.next() {
            None => 1..=u64::MAX,
            Some(from) => match from.strip_suffix('+') {
                Some(first) => first.parse().ok()?..=u64::MAX,
                None => from.parse().ok()?..=from.parse().ok()?,
            },
        };
        Some(Self { name, errno, calls, hits: AtomicU64::new(0) })
    }
}

fn refused(name: &str) -> std::io::Result<()> {
    static PLAN: OnceLock<Vec<Refusal>> = OnceLock::new();
    static LOG: OnceLock<Option<OsString>> = OnceLock::new();
    append_name(LOG.get_or_init(|| var("AXIOM_TEST_REFUSE_LOG")).as_ref(), name);
    let plan = PLAN.get_or_init(|| {
        let text = var("AXIOM_TEST_REFUSE").and_then(|text| text.into_string().ok()).unwrap_or_default();
        text.split(',').filter_map(Refusal::parse).collect()
    });
    let mut named = plan.iter().filter(|refusal| refusal.name == name);
    match named.find(|refusal| refusal.calls.contains(&(refusal.hits.fetch_add(1, Ordering::Relaxed) + 1))) {
        Some(refusal) => Err(std::io::Error::from_raw_os_error(refusal.errno)),
        None => Ok(()),
    }
}

/// The time now, to be compared with the times of files: it is never fixed.
pub fn file_clock() -> std::time::SystemTime {
    std::time::SystemTime::now()
}

/// The name of this machine, where the system tells it in a file.
pub fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The command line, the program's name first.
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}
