//! What every Unix says of itself and of this process.

#![allow(unsafe_code)] // two calls for which neither the standard library nor rustix has a safe function

use rustix::io::Errno;

/// The host name.
pub fn host_name() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}

/// The kernel's name, release and machine, as `uname -srm` prints them. No name of a host or a user is in it.
pub fn system_release() -> String {
    let names = rustix::system::uname();
    [names.sysname(), names.release(), names.machine()].map(|name| name.to_string_lossy().into_owned()).join(" ")
}

/// The processor and the C library that this program was built for, and whether the library is in it.
pub fn built_for() -> String {
    let library = if cfg!(target_env = "musl") { " musl" } else { "" };
    let is_inside = if cfg!(target_feature = "crt-static") { ", static" } else { "" };
    format!("{} {}{library}{is_inside}", std::env::consts::ARCH, std::env::consts::OS)
}

/// Whether this process ignores a signal. Before it takes the signal itself, that is what was set when it started (`nohup`).
pub fn is_ignored(signal: i32) -> bool {
    let mut now = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: asks for the present action and sets none; `now` has room for it.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), now.as_mut_ptr()) };
    // SAFETY: all zeros are an action too, and the call has filled it in.
    asked == 0 && unsafe { now.assume_init() }.sa_sigaction == libc::SIG_IGN
}

/// The processor time of all children of this process that were waited for, in milliseconds.
pub fn children_cpu_millis() -> Option<u64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` has room for what the call writes.
    if unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: the call has filled it in.
    let usage = unsafe { usage.assume_init() };
    let millis = |time: libc::timeval| {
        let (seconds, micros) = (u64::try_from(time.tv_sec).ok()?, u64::try_from(time.tv_usec).ok()?);
        seconds.checked_mul(1000)?.checked_add(micros / 1000)
    };
    millis(usage.ru_utime)?.checked_add(millis(usage.ru_stime)?)
}

/// Whether an error means that the file system or the system does not have a call. Linux has one number for both names of it, others
/// have two.
pub fn is_not_supported(error: Errno) -> bool {
    [Errno::OPNOTSUPP, Errno::NOTSUP, Errno::NOSYS].contains(&error)
}

/// The mode in what `stat` says; the type of that number differs.
#[allow(clippy::useless_conversion)]
pub fn mode_of(stat: &rustix::fs::Stat) -> u32 {
    stat.st_mode.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_ignored_only_where_it_is() {
        assert!(!is_ignored(libc::SIGTERM));
        // The standard library's runtime ignores it.
        assert!(is_ignored(libc::SIGPIPE));
        assert!(!is_ignored(-1));
    }

    #[test]
    fn the_system_says_what_it_is() {
        assert!(host_name().is_some());
        assert_eq!(system_release().split(' ').count(), 3, "{}", system_release());
        assert!(children_cpu_millis().is_some());
    }
}
