//! The process environment: clock, environment variables, fresh ids, working directory, and the fault points.
//!
//! This is the only module that reads them, so that a test can fix each. The overrides for tests (`AXIOM_TEST_*`) exist in
//! debug builds only; a release build has no fault points.

#![allow(clippy::disallowed_methods)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::process::Signal;

use crate::error::{Error, Result};
use crate::platform;
pub use crate::platform::host_name;

/// The value of an environment variable; `None` when it is unset or empty.
pub fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// All environment variables of this process. The caller removes some before it passes them to a child.
pub fn all_vars() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// The current working directory, absolute.
pub fn current_dir() -> Result<PathBuf> {
    std::env::current_dir()
        .map_err(|e| Error::io("find the current folder", Path::new("."), e).hint("cd into a folder that exists"))
}

/// The path of this program's file, for starting keepers and detached supervisors.
pub fn own_program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|e| Error::io("find the program", Path::new("git-axiom"), e))
}

/// The path to execute to start this program again, even after its file was replaced or removed, where the system has such a path.
/// Only for our own children: in any other process the path names another program.
pub fn own_image() -> Result<PathBuf> {
    platform::own_image().map_or_else(own_program, Ok)
}

/// The folder for temporary files that need not survive a reboot (sockets, agents' own temporary folders).
pub fn temp_dir() -> PathBuf {
    std::env::temp_dir()
}

/// The folder for temporary files that every program of this machine finds, whatever its `TMPDIR` is. `AXIOM_TEST_SHARED`
/// (debug builds) overrides it.
pub fn shared_temp_dir() -> PathBuf {
    test_var("AXIOM_TEST_SHARED").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
}

/// The user's home directory, from `HOME`; a relative one is none.
pub fn home_dir() -> Option<PathBuf> {
    var("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

/// The folder for what programs remember of this user: `$XDG_STATE_HOME`, or `~/.local/state`.
pub fn user_state_dir() -> Option<PathBuf> {
    user_dir("XDG_STATE_HOME", ".local/state")
}

/// The folder for the user's configuration of programs: `$XDG_CONFIG_HOME`, or `~/.config`.
pub fn user_config_dir() -> Option<PathBuf> {
    user_dir("XDG_CONFIG_HOME", ".config")
}

/// The folder that a variable names, or one below the home directory; a relative one does not count.
fn user_dir(variable: &str, below_home: &str) -> Option<PathBuf> {
    match var(variable).map(PathBuf::from) {
        Some(folder) if folder.is_absolute() => Some(folder),
        Some(_) | None => home_dir().map(|home| home.join(below_home)),
    }
}

/// The time now, UTC, rounded to milliseconds. `AXIOM_TEST_NOW` (debug builds) sets the first reading; each later reading is
/// one millisecond later.
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

/// The time zone in which times are printed: `TZ`, or the system's; UTC where neither can be read. Read once, as the C library does.
pub fn time_zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(read_time_zone).clone()
}

fn read_time_zone() -> TimeZone {
    // An empty TZ is one too: it means UTC.
    let known = match std::env::var_os("TZ") {
        None => linked_zone(Path::new("/etc/localtime")),
        Some(name) => name.to_str().and_then(named_zone),
    };
    known.or_else(|| TimeZone::try_system().ok()).unwrap_or(TimeZone::UTC)
}

/// The zone whose file a path links to, as on nearly all systems. Asked for a zone by its name, jiff lists the whole database first:
/// a hundred calls of the system, in each checkpoint.
fn linked_zone(link: &Path) -> Option<TimeZone> {
    let target = std::fs::read_link(link).ok()?;
    let (_, name) = target.to_str()?.rsplit_once("zoneinfo/")?;
    TimeZone::tzif(name, &std::fs::read(link).ok()?).ok()
}

/// The zone of this name, where it is one of the usual names and its file is where nearly all systems have it. Of other values, such as
/// rules and names with digits, jiff knows what they mean.
fn named_zone(name: &str) -> Option<TimeZone> {
    let is_usual = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if name == "UTC" {
        return Some(TimeZone::UTC);
    }
    if !name.split('/').all(is_usual) || std::env::var_os("TZDIR").is_some() {
        return None;
    }
    TimeZone::tzif(name, &std::fs::read(Path::new("/usr/share/zoneinfo").join(name)).ok()?).ok()
}

/// Sixteen hexadecimal digits, different at each call. `AXIOM_TEST_IDS` (debug builds) makes them count up from a seed.
pub fn fresh_id() -> String {
    static SEED: OnceLock<Option<u64>> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let seed = SEED.get_or_init(|| test_var("AXIOM_TEST_IDS").and_then(|text| text.to_str()?.parse().ok()));
    if let Some(seed) = seed {
        return format!("{:016x}", seed.wrapping_add(count));
    }
    if let Some(random) = random() {
        return format!("{random:016x}");
    }
    // Without the kernel's random numbers: time, process id and a counter make a collision on one machine unlikely.
    let nanos = Timestamp::now().as_nanosecond() as u64;
    format!("{:016x}", nanos ^ (u64::from(std::process::id()) << 40) ^ count)
}

/// Identifies the current boot of the machine: two different values mean that it was started again in between. Empty where
/// the system does not provide one. `AXIOM_TEST_BOOT` (debug builds) overrides it.
pub fn boot_id() -> String {
    // No process lives longer than its boot.
    static ID: OnceLock<String> = OnceLock::new();
    let read = || {
        if let Some(text) = test_var("AXIOM_TEST_BOOT") {
            return text.to_string_lossy().into_owned();
        }
        platform::boot_id().unwrap_or_default()
    };
    ID.get_or_init(read).clone()
}

/// When the machine was started, by its own clock. `None` where the system does not say it. Where `AXIOM_TEST_BOOT` says that it was
/// started again (debug builds), that was just now.
pub fn boot_time() -> Option<std::time::SystemTime> {
    if test_var("AXIOM_TEST_BOOT").is_some() {
        return Some(std::time::SystemTime::now());
    }
    platform::boot_time()
}

/// Eight of the kernel's random bytes. They are asked for many at a time, in one read: an operation takes a dozen.
fn random() -> Option<u64> {
    use std::io::Read;
    static WAITING: Mutex<Vec<[u8; 8]>> = Mutex::new(Vec::new());
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    if waiting.is_empty() {
        let mut bytes = [0_u8; 32 * 8];
        std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)).ok()?;
        waiting.extend_from_slice(bytes.as_chunks().0);
    }
    waiting.pop().map(u64::from_ne_bytes)
}

/// The value of a variable that only tests set: `None` in release builds.
pub fn test_var(name: &str) -> Option<OsString> {
    if cfg!(debug_assertions) { var(name) } else { None }
}

/// A named place in code that changes something, at which crash tests kill the program.
///
/// In debug builds, `AXIOM_TEST_FAULT=name:n` kills this process with SIGKILL when `name` is reached for the n-th time
/// (from 1), `AXIOM_TEST_STOP=name:n` stops it there until it gets SIGCONT, and `AXIOM_TEST_FAULT_LOG=file` appends each name that is
/// reached. Does nothing in release builds.
pub fn fault_point(name: &'static str) {
    if cfg!(debug_assertions) {
        reached(name);
    }
}

fn reached(name: &str) {
    static LOG: OnceLock<Option<OsString>> = OnceLock::new();
    static STOPS: FaultMoment = FaultMoment::of("AXIOM_TEST_STOP");
    static ENDS: FaultMoment = FaultMoment::of("AXIOM_TEST_FAULT");
    append_name(LOG.get_or_init(|| var("AXIOM_TEST_FAULT_LOG")).as_ref(), name);
    for (moment, signal) in [(&STOPS, Signal::STOP), (&ENDS, Signal::KILL)] {
        if moment.is_now(name) {
            let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
        }
    }
}

/// The n-th time that a place is reached, from a variable `name:n`.
struct FaultMoment {
    variable: &'static str,
    wanted: OnceLock<Option<(String, u64)>>,
    hits: AtomicU64,
}

impl FaultMoment {
    const fn of(variable: &'static str) -> Self {
        Self { variable, wanted: OnceLock::new(), hits: AtomicU64::new(0) }
    }

    fn is_now(&self, place: &str) -> bool {
        let wanted = self.wanted.get_or_init(|| {
            let text = var(self.variable)?.into_string().ok()?;
            let (name, count) = text.rsplit_once(':')?;
            Some((name.to_owned(), count.parse().ok()?))
        });
        let is_it = |(name, count): &(String, u64)| name == place && self.hits.fetch_add(1, Ordering::Relaxed) + 1 == *count;
        wanted.as_ref().is_some_and(is_it)
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

/// A named place at which a test lets the program panic: in debug builds, where `AXIOM_TEST_PANIC` names it.
pub fn panic_point(name: &'static str) {
    if test_var("AXIOM_TEST_PANIC").is_some_and(|wanted| wanted == name) {
        #[allow(clippy::panic)] // that is what it is for
        {
            panic!("AXIOM_TEST_PANIC: {name}");
        }
    }
}

/// A named place at which a test simulates an error of the operating system: a file system that is not available on every
/// machine, or a disk that fails at one call.
///
/// In debug builds, `AXIOM_TEST_REFUSE=name:errno` makes every call of `name` fail with that error number; `name:errno:n`
/// only the n-th call (from 1), `name:errno:n+` that call and all later ones. Several are separated by commas.
/// `AXIOM_TEST_REFUSE_LOG=file` appends each name that is reached. Does nothing in release builds.
pub fn refusal_point(name: &'static str) -> std::io::Result<()> {
    if cfg!(debug_assertions) { refused(name) } else { Ok(()) }
}

/// One entry of `AXIOM_TEST_REFUSE`: which calls of `name`, counted from 1, fail with `errno`.
struct RefusalRule {
    name: String,
    errno: i32,
    calls: std::ops::RangeInclusive<u64>,
    hits: AtomicU64,
}

impl RefusalRule {
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
    static PLAN: OnceLock<Vec<RefusalRule>> = OnceLock::new();
    static LOG: OnceLock<Option<OsString>> = OnceLock::new();
    append_name(LOG.get_or_init(|| var("AXIOM_TEST_REFUSE_LOG")).as_ref(), name);
    let plan = PLAN.get_or_init(|| {
        let text = var("AXIOM_TEST_REFUSE").and_then(|text| text.into_string().ok()).unwrap_or_default();
        text.split(',').filter_map(RefusalRule::parse).collect()
    });
    let mut named = plan.iter().filter(|refusal| refusal.name == name);
    match named.find(|refusal| refusal.calls.contains(&(refusal.hits.fetch_add(1, Ordering::Relaxed) + 1))) {
        Some(refusal) => Err(std::io::Error::from_raw_os_error(refusal.errno)),
        None => Ok(()),
    }
}

/// The time now, for comparison with file times: no test variable changes it.
pub fn file_clock() -> std::time::SystemTime {
    std::time::SystemTime::now()
}

/// The command line, the program's name first.
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of a zone that is always an hour east of UTC.
    const AN_HOUR_EAST: &[u8] = b"TZif\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x04\
        \0\0\x0e\x10\0\0EAS\0";

    #[test]
    fn a_zone_is_read_from_where_the_system_links_to_and_keeps_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let zones = folder.path().join("zoneinfo/Far");
        std::fs::create_dir_all(&zones).unwrap();
        std::fs::write(zones.join("East"), AN_HOUR_EAST).unwrap();
        let link = folder.path().join("localtime");
        assert_eq!(linked_zone(&link), None, "there is no link");
        std::os::unix::fs::symlink(zones.join("East"), &link).unwrap();
        let zone = linked_zone(&link).unwrap();
        assert_eq!(zone.iana_name(), Some("Far/East"));
        assert_eq!(zone.to_offset(Timestamp::UNIX_EPOCH), jiff::tz::offset(1));
        std::fs::write(zones.join("East"), b"no zone").unwrap();
        assert_eq!(linked_zone(&link), None);
    }

    #[test]
    fn a_zone_that_is_named_is_the_one_that_jiff_finds_by_its_name() {
        for name in ["UTC", "Europe/Berlin", "America/North_Dakota/Center"] {
            if let Some(zone) = named_zone(name) {
                assert_eq!(zone, TimeZone::get(name).unwrap());
                assert_eq!(zone.iana_name(), Some(name));
            }
        }
        for name in ["", "EST5EDT", ":UTC", "/etc/localtime", "../UTC", "Europe/", "No/Such_Zone", "Etc/GMT+5"] {
            assert_eq!(named_zone(name), None, "{name}");
        }
    }

    #[test]
    fn no_id_comes_twice() {
        let threads: Vec<_> =
            (0..4).map(|_| std::thread::spawn(|| (0..100).map(|_| random().unwrap()).collect::<Vec<_>>())).collect();
        let all: Vec<u64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
    }
}
