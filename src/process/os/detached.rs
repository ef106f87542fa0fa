//! Starting git axiom itself in the background, in a session of its own, so that closing the terminal or Ctrl+C does not
//! reach it.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use super::command::command_with_callers_repository;
use crate::env;
use crate::error::{Error, Result};

/// Starts this program with these arguments, in the caller's folder and environment; both outputs go to `log`. The started
/// process must call `own_process::session::begin_session` first. It keeps running when this process ends.
///
/// # Errors
/// `IO_FAILED` where the log or the program cannot be used.
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
