//! `git axiom output`: what agents printed.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;

use super::look;
use crate::cli::arguments::Global;
use crate::cli::screen::Screen;
use crate::domain::ids::CaseId;
use crate::error::{Exit, Result};
use crate::ops::context::Context;
use crate::ops::output;

/// How often `--follow` looks.
const LOOK: Duration = Duration::from_millis(100);

/// Arguments of `output`.
#[derive(Debug, Args)]
#[command(after_help = "\
Prints the bytes as the agent printed them: standard output and standard error in the order in
which they were read. With --json, prints the lines of the log as they are stored, one JSON
object each.")]
pub struct Output {
    /// An agent (its newest task) or a task (all its iterations)
    #[arg(value_name = "AGENT|TASK")]
    of: String,
    /// Go on printing as it comes, until the agent is done
    #[arg(long, short)]
    follow: bool,
}

/// Prints what was logged.
///
/// # Errors
/// `UNKNOWN_TASK` where nothing of that name ever ran.
pub fn run(args: &Output, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let mut context = look(global, screen)?;
    let task = output::find(&context, &args.of)?;
    let mut offsets = BTreeMap::new();
    loop {
        // Asked before reading: what is printed after the last look of a run that has ended is none.
        let goes_on = args.follow && still_running(&mut context, &task)?;
        // Looked for each time: an agent that has just begun has no log yet.
        for path in output::logs(&context, &task) {
            print_new(&path, offsets.entry(path.clone()).or_default(), screen)?;
        }
        if !goes_on || screen.reader_is_gone() {
            return Ok(Exit::Done);
        }
        std::thread::sleep(LOOK);
    }
}

fn print_new(path: &std::path::Path, offset: &mut u64, screen: &mut Screen) -> Result<()> {
    loop {
        let part = output::read(path, *offset)?;
        if part.next == *offset || screen.reader_is_gone() {
            return Ok(());
        }
        *offset = part.next;
        let bytes = if screen.wants_json() { part.lines } else { part.bytes };
        screen.write(&bytes)?;
    }
}

fn still_running(context: &mut Context, task: &CaseId) -> Result<bool> {
    context.store.refresh()?;
    Ok(context.state().agent_on(task).is_some())
}
