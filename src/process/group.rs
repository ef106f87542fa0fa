//! Running a short program in a process group of its own, with a time limit after which the whole group is ended.
//!
//! For verify steps and the like. Agent programs belong to keepers, which end every descendant.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::{Code, Error, Result};

/// Runs `program` to its end and says why it failed; `None` is success. `name` is for the error. `cancelled` ends it early.
///
/// # Errors
/// `PROGRAM_NOT_FOUND` where it cannot be started.
pub fn run(program: &mut Command, name: &str, limit: Duration, cancelled: &AtomicBool) -> Result<Option<String>> {
    let mut child = program
        .process_group(0)
        .spawn()
        .map_err(|e| Error::new(Code::ProgramNotFound, format!("'{name}' cannot be started")).because(e))?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let end_group = || group.map(|group| kill_process_group(group, Signal::KILL));
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                end_group();
                return Ok(match (status.code(), status.signal()) {
                    (Some(0), _) => None,
                    (Some(code), _) => Some(format!("exited with status {code}")),
                    (None, signal) => Some(format!("was ended by signal {}", signal.unwrap_or(0))),
                });
            }
            Ok(None) if started.elapsed() > limit => {
                end_group();
                let _ = child.wait();
                return Ok(Some(format!("took longer than {} seconds", limit.as_secs())));
            }
            Ok(None) if cancelled.load(Ordering::Relaxed) => {
                end_group();
                let _ = child.wait();
                return Ok(Some("was stopped".to_owned()));
            }
            Ok(None) => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(50));
            }
            Err(e) => return Err(Error::new(Code::Internal, format!("cannot wait for '{name}'")).because(e)),
        }
    }
}
