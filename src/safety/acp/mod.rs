//! `git axiom acp`: between an editor and an agent that speak the Agent Client Protocol. Every line is passed on as it came (`pass_on`);
//! what a line means is decided by the model, and done by the same hook that other programs call (`saver`), in a process of its own that stays
//! (`hook_process`, `answering`), so that nothing that fails there touches the conversation (`conversation`). Whatever ends, the rest ends
//! too (`run`).
//!
//! Begin reading with `run`.

mod answering;
mod conversation;
mod hook_process;
mod pass_on;
mod run;
mod saver;

use std::ffi::OsString;
use std::path::PathBuf;

use axiom_base::error::{Code, Error, Result};
use axiom_process::os::foreground::ForegroundProgram;
use axiom_process::os::guarded;

pub use answering::{EACH_LINE, answer_calls};
pub use run::{AcpRun, run};

/// Runs an agent in place of this process, with nothing of ours between it and its editor. Returns only if that fails.
pub fn run_alone(command: Vec<OsString>, folder: PathBuf) -> Error {
    let error = ForegroundProgram { command, folder, env: Vec::new() }.replace_us();
    Error::new(Code::ProgramNotFound, "the agent cannot be started").because(error)
}

/// The guard of an agent, in a process of its own: see [`guarded`].
pub fn guard(wanted_by: i32, command: &[OsString]) -> Result<u8> {
    guarded::guard(wanted_by, command)
}
