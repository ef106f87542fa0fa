//! Which system calls change files, and what each one is about.

#![allow(clippy::wildcard_enum_match_arm)]

/// A path as a call has it: the descriptor of the folder it begins in, and where its text is.
#[derive(Debug, Clone, Copy)]
pub struct At {
    /// The folder's descriptor, or `AT_FDCWD`.
    pub folder: i32,
    /// Where the text is in the caller's memory.
    pub text: u64,
}

/// A call that changes files or makes changes durable.
#[derive(Debug, Clone, Copy)]
pub enum Call {
    /// Opens, and makes or empties a file.
    Open(At, i32),
    /// Changes the content behind a descriptor.
    Write(i32),
    /// Changes the length of the file at a path.
    Truncate(At),
    /// Moves a name; `true`: exchanges the two.
    Rename(At, At, bool),
    /// Makes a name: of a file that has others, of a symbolic link, of a folder.
    Make(At),
    /// Takes a name away.
    Remove(At),
    /// Makes a file or folder durable.
    Sync(i32),
    /// Makes everything durable.
    SyncAll,
}

/// What the call with this number and these arguments is; `None` where no file changes by it.
pub fn decode(number: u64, a: [u64; 6]) -> Option<Call> {
    let here = |text: u64| At { folder: libc::AT_FDCWD, text };
    let at = |folder: u64, text: u64| At { folder: folder as i32, text };
    let open = |at: At, flags: u64| {
        let flags = flags as i32;
        let changes = flags & (libc::O_CREAT | libc::O_TRUNC) != 0 || flags & libc::O_TMPFILE == libc::O_TMPFILE;
        changes.then_some(Call::Open(at, flags))
    };
    if let Some(call) = decode_older(number, a) {
        return Some(call);
    }
    match number as libc::c_long {
        libc::SYS_openat => open(at(a[0], a[1]), a[2]),
        libc::SYS_openat2 => Some(Call::Open(at(a[0], a[1]), libc::O_CREAT)),
        libc::SYS_write | libc::SYS_pwrite64 | libc::SYS_writev | libc::SYS_pwritev | libc::SYS_pwritev2 => {
            Some(Call::Write(a[0] as i32))
        }
        libc::SYS_ftruncate | libc::SYS_fallocate | libc::SYS_sendfile | libc::SYS_ioctl => {
            let copies = number as libc::c_long != libc::SYS_ioctl || a[1] == 0x4004_9409 || a[1] == 0x4020_940d;
            copies.then_some(Call::Write(a[0] as i32))
        }
        libc::SYS_copy_file_range | libc::SYS_splice => Some(Call::Write(a[2] as i32)),
        libc::SYS_truncate => Some(Call::Truncate(here(a[0]))),
        libc::SYS_renameat2 => Some(Call::Rename(at(a[0], a[1]), at(a[2], a[3]), a[4] & 2 != 0)),
        libc::SYS_linkat => Some(Call::Make(at(a[2], a[3]))),
        libc::SYS_symlinkat => Some(Call::Make(at(a[1], a[2]))),
        libc::SYS_mkdirat => Some(Call::Make(at(a[0], a[1]))),
        libc::SYS_unlinkat => Some(Call::Remove(at(a[0], a[1]))),
        libc::SYS_fsync | libc::SYS_fdatasync => Some(Call::Sync(a[0] as i32)),
        libc::SYS_sync | libc::SYS_syncfs => Some(Call::SyncAll),
        _ => None,
    }
}

/// Calls that only older machines have.
#[cfg(target_arch = "x86_64")]
fn decode_older(number: u64, a: [u64; 6]) -> Option<Call> {
    let here = |text: u64| At { folder: libc::AT_FDCWD, text };
    let at = |folder: u64, text: u64| At { folder: folder as i32, text };
    Some(match number as libc::c_long {
        libc::SYS_open if a[1] as i32 & (libc::O_CREAT | libc::O_TRUNC) != 0 => Call::Open(here(a[0]), a[1] as i32),
        libc::SYS_creat => Call::Open(here(a[0]), libc::O_CREAT | libc::O_TRUNC),
        libc::SYS_rename => Call::Rename(here(a[0]), here(a[1]), false),
        libc::SYS_renameat => Call::Rename(at(a[0], a[1]), at(a[2], a[3]), false),
        libc::SYS_link => Call::Make(here(a[1])),
        libc::SYS_symlink => Call::Make(here(a[1])),
        libc::SYS_mkdir => Call::Make(here(a[0])),
        libc::SYS_unlink | libc::SYS_rmdir => Call::Remove(here(a[0])),
        _ => return None,
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn decode_older(_number: u64, _a: [u64; 6]) -> Option<Call> {
    None
}
