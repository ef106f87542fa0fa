//! `git axiom hook`: what the hooks of agent programs call. It ends with status 0 whatever happens, so that no agent is kept from its
//! work; the one exception is an agent that calls a verb for humans where its program cannot ask.

use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use clap::Args;

use super::Ended;
use crate::cli::screen::Screen;
use crate::domain::attach::answer::Answer;
use crate::domain::attach::program::Program;
use crate::env;
use crate::error::{Exit, Result};
use crate::ops::attach::{hook, join};
use crate::ops::context::handle::calling_agent;

/// The most bytes of a payload.
const MOST: u64 = 32 * 1024 * 1024;
/// How long a program may take to send it.
const PATIENCE: Duration = Duration::from_secs(4);
/// The exit status by which a program is kept from what it was about to do.
const BLOCKS: u8 = 2;

/// Arguments of `hook`.
#[derive(Debug, Args)]
pub struct Hook {
    /// The program that calls it
    #[arg(value_name = "PROGRAM", required_unless_present = "join")]
    program: Option<OsString>,
    /// Save what was handed over, for the repository of this worktree
    #[arg(long, value_name = "PATH", conflicts_with = "program")]
    join: Option<PathBuf>,
}

/// Answers a call by a hook before the grammar is built: `git axiom hook PROGRAM` and nothing else.
pub fn at_once(arguments: &[OsString]) -> Option<Ended> {
    match arguments {
        [_, verb, program] if verb == "hook" && !program.as_encoded_bytes().starts_with(b"-") => Some(called(program)),
        _ => None,
    }
}

/// Runs the hook, or the joiner.
///
/// # Errors
/// Those of the joiner.
pub fn run(args: &Hook) -> Result<Ended> {
    match (&args.program, &args.join) {
        (Some(program), _) => Ok(called(program)),
        (None, Some(worktree)) => join::run(worktree).map(|()| Ended::Ours(Exit::Done)),
        (None, None) => Ok(Ended::Ours(Exit::Done)),
    }
}

fn called(program: &OsString) -> Ended {
    let nothing = Ended::Ours(Exit::Done);
    let program = program.to_str().and_then(|name| name.parse::<Program>().ok());
    // It is read in any case: a program that writes into a closed pipe may take that for a failure.
    let bytes = if program == Some(Program::Aider) { Vec::new() } else { payload() };
    // Below a keeper, its supervisor saves.
    if calling_agent().is_some() {
        return nothing;
    }
    let (Some(program), Ok(here)) = (program, env::current_dir()) else { return nothing };
    let Answer { stdout, stderr, blocks } = hook::run(program, &bytes, &here);
    let mut screen = Screen::new(false, None);
    // A program that does not listen any more needs no answer.
    let _ = screen.write(stdout.as_bytes());
    if !stderr.is_empty() {
        screen.complain(stderr.trim_end());
    }
    if blocks { Ended::Program(BLOCKS) } else { nothing }
}

/// What comes on standard input; nothing where it does not come soon.
fn payload() -> Vec<u8> {
    let (to, from) = mpsc::channel();
    let read = move || {
        let mut bytes = Vec::new();
        let stdin = std::io::stdin();
        if !stdin.is_terminal() && stdin.lock().take(MOST).read_to_end(&mut bytes).is_ok() {
            let _ = to.send(bytes);
        }
    };
    if std::thread::Builder::new().spawn(read).is_err() {
        return Vec::new();
    }
    from.recv_timeout(PATIENCE).unwrap_or_default()
}
