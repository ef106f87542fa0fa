//! Starting git axiom itself in the background, in a session of its own, so that closing the terminal or Ctrl+C does not
//! reach it.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Output, Stdio};

use super::command::{command, command_with_callers_repository};
use axiom_base::env;
use axiom_base::error::{Error, Result};

/// Starts this program with these arguments, in the caller's folder and environment; both outputs go to `log`. The started
/// process must call `own_process::session::begin_session` first. It keeps running when this process ends.
pub fn start(arguments: &[OsString], log: File) -> Result<Child> {
    let program = env::own_image()?;
    let failed = |e: std::io::Error| Error::io("start", &program, e);
    let second = log.try_clone().map_err(failed)?;
    command_with_callers_repository(&program)
        .arg0("git-axiom")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(second)
        .spawn()
        .map_err(failed)
}

/// Runs this program with these arguments in another repository, to its end, and returns what it printed. The verb that is called
/// limits how long that takes.
pub fn in_repository(folder: &Path, arguments: &[OsString]) -> Result<Output> {
    let program = env::own_image()?;
    let mut child = command(&program);
    let child = child.arg0("git-axiom").arg("-C").arg(folder).args(arguments).stdin(Stdio::null());
    child.output().map_err(|e| Error::io("start", &program, e))
}

/// As [`start`], in the root folder and with no descriptor of the caller's: for work that outlives the caller, and of which the caller may
/// know nothing.
pub fn start_alone(arguments: &[OsString], null: File) -> Result<Child> {
    close_on_exec();
    let program = env::own_image()?;
    let failed = |e: std::io::Error| Error::io("start", &program, e);
    let second = null.try_clone().map_err(failed)?;
    let mut child = command(&program);
    let child = child.arg0("git-axiom").args(arguments).current_dir("/").stdin(Stdio::null()).stdout(null).stderr(second);
    child.spawn().map_err(failed)
}

/// Sets close-on-exec on every descriptor except the three standard ones, so that the keeper inherits none: the process that
/// started this one may have had a lock open for a git child at that moment.
#[allow(unsafe_code)]
pub(crate) fn close_on_exec() {
    let Ok(entries) = std::fs::read_dir("/dev/fd") else { return };
    let open: Vec<i32> = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for fd in open.into_iter().filter(|fd| *fd > 2) {
        // SAFETY: the number is only used for this one call, which reads and writes nothing and closes nothing. If it was
        // closed after it was listed, the call fails with EBADF.
        let fd = unsafe { rustix::fd::BorrowedFd::borrow_raw(fd) };
        let _ = rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC);
    }
}
