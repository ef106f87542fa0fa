//! The session and terminal of this process.

use crate::error::{Code, Error, Result};

/// Leaves the caller's session and terminal.
///
/// # Errors
/// `INTERNAL` where this process leads a group: it was not started in the background.
pub fn begin_session() -> Result<()> {
    match rustix::process::setsid() {
        Ok(_) => Ok(()),
        Err(e) => Err(Error::new(Code::Internal, "cannot begin a session in the background").because(e)),
    }
}
