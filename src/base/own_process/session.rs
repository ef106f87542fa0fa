//! The session and terminal of this process, and where its output goes.

use std::fs::File;
use std::os::fd::BorrowedFd;
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

/// A duplicate of one of our own pipes, without a buffer.
pub fn own_pipe(pipe: BorrowedFd<'_>) -> Result<File> {
    let own = pipe.try_clone_to_owned().map_err(|e| Error::new(Code::IoFailed, "a pipe is closed").because(e))?;
    Ok(File::from(own))
}

/// From now on the standard input of this process is empty, and nobody reads its standard output: whoever has them for itself has
/// duplicates.
pub fn leave_pipes() -> Result<()> {
    let null = Path::new("/dev/null");
    let file = File::options().read(true).write(true).open(null).map_err(|e| Error::io("open", null, e))?;
    let failed = |e: rustix::io::Errno| Error::io("use", null, e);
    rustix::stdio::dup2_stdin(&file).map_err(failed)?;
    rustix::stdio::dup2_stdout(&file).map_err(failed)
}
