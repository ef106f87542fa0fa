//! What the kernel is asked for by name, and of a process. The one place with calls that Rust cannot check.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::AsRawFd;
use std::ptr::null_mut;

/// The bytes of a value of the kernel; `None` where it has none of this name.
pub(super) fn value(name: &CStr) -> Option<Vec<u8>> {
    let mut bytes = vec![0_u8; 1024];
    let mut length = bytes.len();
    // SAFETY: `length` says how much room `bytes` has, and the call says how much it has taken.
    let asked = unsafe { libc::sysctlbyname(name.as_ptr(), bytes.as_mut_ptr().cast(), &mut length, null_mut(), 0) };
    bytes.truncate(length);
    (asked == 0).then_some(bytes)
}

/// What a process was started with: the number of its arguments, its path, arguments and environment, each with a zero at its end.
/// `None` for processes of others, and those that the system protects.
pub(super) fn arguments(pid: i32) -> Option<Vec<u8>> {
    let mut bytes = vec![0_u8; 1024 * 1024];
    let mut length = bytes.len();
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid];
    // SAFETY: three numbers are the name; `length` says how much room `bytes` has, and the call says how much it has taken.
    let asked = unsafe { libc::sysctl(name.as_mut_ptr(), 3, bytes.as_mut_ptr().cast(), &mut length, null_mut(), 0) };
    bytes.truncate(length);
    (asked == 0).then_some(bytes)
}

/// What the table says of a process; `None` where it has ended, or belongs to another user.
pub(super) fn process(pid: i32) -> Option<libc::proc_bsdinfo> {
    let size = i32::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    let mut info = MaybeUninit::<libc::proc_bsdinfo>::zeroed();
    // SAFETY: `info` has `size` bytes.
    let written = unsafe { libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, info.as_mut_ptr().cast(), size) };
    // SAFETY: the call has filled in all of it.
    (written == size).then(|| unsafe { info.assume_init() })
}

/// The numbers of all processes.
pub(super) fn pids() -> Vec<i32> {
    // SAFETY: without room it only says how many there are.
    let many = unsafe { libc::proc_listallpids(null_mut(), 0) };
    let Ok(room) = usize::try_from(many) else { return Vec::new() };
    // More may be started meanwhile.
    let mut pids = vec![0_i32; room + 256];
    let Ok(size) = i32::try_from(pids.len() * size_of::<i32>()) else { return Vec::new() };
    // SAFETY: `pids` has `size` bytes.
    let found = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), size) };
    pids.truncate(usize::try_from(found).unwrap_or(0));
    pids
}

/// The process at the other end of a socket.
pub(super) fn peer(socket: &impl AsRawFd) -> Option<i32> {
    /// Options of sockets on this machine.
    const SOL_LOCAL: i32 = 0;
    let (mut pid, mut length) = (0_i32, u32::try_from(size_of::<i32>()).ok()?);
    let room = std::ptr::from_mut(&mut pid).cast();
    // SAFETY: `length` says how much room `pid` has.
    let asked = unsafe { libc::getsockopt(socket.as_raw_fd(), SOL_LOCAL, libc::LOCAL_PEERPID, room, &mut length) };
    (asked == 0 && pid > 0).then_some(pid)
}

/// The mount points, as the kernel last knew them.
pub(super) fn mount_points() -> Option<Vec<Vec<u8>>> {
    // SAFETY: without room it only says how many there are.
    let many = unsafe { libc::getfsstat(null_mut(), 0, libc::MNT_NOWAIT) };
    let mut mounts: Vec<MaybeUninit<libc::statfs>> = Vec::new();
    mounts.resize_with(usize::try_from(many).ok()? + 16, MaybeUninit::zeroed);
    let size = i32::try_from(mounts.len() * size_of::<libc::statfs>()).ok()?;
    // SAFETY: `mounts` has `size` bytes.
    let found = unsafe { libc::getfsstat(mounts.as_mut_ptr().cast(), size, libc::MNT_NOWAIT) };
    mounts.truncate(usize::try_from(found).ok().filter(|found| *found > 0)?);
    // SAFETY: the call has filled in this many.
    let names = mounts.iter().map(|mount| text(unsafe { &mount.assume_init_ref().f_mntonname }));
    Some(names.collect())
}

/// Syncs the whole volume of an opened file, and waits for the disk's own cache.
pub(super) fn sync_volume(file: &impl AsRawFd) -> std::io::Result<()> {
    const FULLSYNC: i32 = 1;
    const WAIT: i32 = 2;
    unsafe extern "C" {
        fn fsync_volume_np(file: i32, flags: i32) -> i32;
    }
    // SAFETY: takes two numbers.
    match unsafe { fsync_volume_np(file.as_raw_fd(), FULLSYNC | WAIT) } {
        0 => Ok(()),
        -1 => Err(std::io::Error::last_os_error()),
        // The number of the error itself: `errno` is as it was before.
        code => Err(std::io::Error::from_raw_os_error(code)),
    }
}

/// The bytes before the first zero.
pub(super) fn text(chars: &[libc::c_char]) -> Vec<u8> {
    chars.iter().take_while(|byte| **byte != 0).map(|byte| byte.to_ne_bytes()[0]).collect()
}
