//! The session and terminal of this process, and where its output goes.

use std::fs::File;
use std::path::Path;

use crate::error::{Code, Error, Result};

/// Leaves the caller's session and terminal.
pub fn begin_session() -> Result<()> {
    match rustix::process::setsid() {
        Ok(_) => Ok(()),
        Err(e) => Err(Error::new(Code::Internal, "cannot begin a session in the background").because(e)),
    }
}

/// Sends both outputs of this process to another file from now on. Programs that were started before keep what they have.
pub fn output_goes_to(file: &File, path: &Path) -> Result<()> {
    let failed = |e: rustix::io::Errno| Error::io("write to", path, e);
    rustix::stdio::dup2_stdout(file).map_err(failed)?;
    rustix::stdio::dup2_stderr(file).map_err(failed)
}
