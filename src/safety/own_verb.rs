//! A verb of git axiom that a human types in the panel: a process of its own, in the foreground of the terminal.

use std::ffi::OsString;
use std::path::Path;

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_process::os::foreground::{ForegroundProgram, status_of};

/// Runs a line as a shell would run it after `git axiom`, to its end. Returns its exit status.
///
/// # Errors
/// `PROGRAM_NOT_FOUND` where it cannot be started.
pub fn run(folder: &Path, line: &str) -> Result<u8> {
    let own = env::own_program()?.into_os_string();
    let script = format!("\"$0\" {line}");
    let command = vec![OsString::from("sh"), OsString::from("-c"), OsString::from(script), own];
    let ended = ForegroundProgram { command, folder: folder.to_owned(), env: Vec::new() }.wait_for();
    let ended = ended.map_err(|e| Error::new(Code::ProgramNotFound, "'sh' cannot be started").because(e))?;
    Ok(status_of(ended))
}
