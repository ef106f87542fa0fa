//! Which calls a program is stopped at: those by which files change, and no other, or it would take a hundred times as long.
//!
//! The kernel decides, by a seccomp filter, which all that the program starts has too.

use std::os::unix::process::CommandExt;
use std::process::Command;

const OPENS: [(libc::c_long, u32); 2] = [(libc::SYS_open, 1), (libc::SYS_openat, 2)];

const CHANGES: &[libc::c_long] = &[
    libc::SYS_creat,
    libc::SYS_openat2,
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_sendfile,
    libc::SYS_copy_file_range,
    libc::SYS_splice,
    libc::SYS_truncate,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_unlink,
    libc::SYS_rmdir,
    libc::SYS_unlinkat,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync,
    libc::SYS_syncfs,
    libc::SYS_ioctl,
];

/// The program, once it is started, stops for whoever watches it at each call that may change files.
#[allow(unsafe_code)]
pub fn stop_at_changes(command: &mut Command) {
    let filter = filter();
    let apply = move || {
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
        // SAFETY: the filter outlives the call, and neither call touches memory of ours.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0
        };
        if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: two system calls, and nothing is allocated.
    unsafe { command.pre_exec(apply) };
}

fn filter() -> Vec<libc::sock_filter> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const ANY_BIT: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let (stop, go_on) = (step(RETURN, 0, 0, libc::SECCOMP_RET_TRACE), step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW));
    let mut steps = vec![step(LOAD, 0, 0, 0)];
    for number in CHANGES {
        steps.extend([step(EQUAL, 0, 1, *number as u32), stop]);
    }
    for (number, flags) in OPENS {
        // The lower half of the argument with the flags.
        let at = 16 + 8 * flags;
        let changes = (libc::O_CREAT | libc::O_TRUNC | (libc::O_TMPFILE & !libc::O_DIRECTORY)) as u32;
        steps.extend([step(EQUAL, 0, 4, number as u32), step(LOAD, 0, 0, at), step(ANY_BIT, 0, 1, changes), stop, go_on]);
    }
    steps.push(go_on);
    steps
}
