//! `git axiom output`: the output of agents.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use clap::Args;

use super::look;
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::arguments::Global;
use crate::domain::base::ids::CaseId;
use crate::error::{Code, Error, Exit, Result};
use crate::ops::context::handle::Context;
use crate::ops::context::waiting::Waiting;
use crate::ops::supervise::output;

/// The least time between two looks of `--follow`: an agent may print much.
const LOOK: Duration = Duration::from_millis(100);

/// Arguments of `output`.
#[derive(Debug, Args)]
#[command(after_help = "\
Prints what the agent printed: standard output and standard error in the order in which they
were read. Control characters are shown escaped, such as \\e. --raw prints the original bytes
into a file or a pipe. With --json, each line that was read is a document on a line of its own.")]
pub struct Output {
    /// An agent (its newest task) or a task (all its iterations)
    #[arg(value_name = "AGENT|TASK")]
    of: String,
    /// Keep printing new output until the agent is done
    #[arg(long, short)]
    follow: bool,
    /// Print the original bytes, if standard output is not a terminal
    #[arg(long)]
    raw: bool,
}

/// Prints the log of a task.
///
/// # Errors
/// `UNKNOWN_TASK` where no task or agent with that name ever ran.
pub fn run(args: &Output, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = look(global, screen)?;
    let task = output::find(&ctx, &args.of)?;
    let mut shown = BTreeMap::new();
    if args.raw && screen.wants_json() {
        return Err(Error::new(Code::Usage, "--raw and --json are two forms of one answer").hint("leave one of them out"));
    }
    let raw = args.raw && !screen.shows_terminal();
    if args.raw && !raw {
        screen.note("note: standard output is a terminal, so control characters are shown escaped");
    }
    let mut waiting = Waiting::begin();
    loop {
        let looked = Instant::now();
        // Checked before reading, so that the last output of a run that has just ended is read too.
        let goes_on = args.follow && still_running(&mut ctx, &task)?;
        // Listed each time, because an agent that has just started has no log yet.
        for path in output::logs(&ctx, &task) {
            print_new(&path, shown.entry(path.clone()).or_default(), raw, screen)?;
        }
        if !goes_on || screen.reader_is_gone() {
            return Ok(Exit::Done);
        }
        waiting.for_the_log_or(&ctx, output::log_folders(&ctx, &task));
        std::thread::sleep(LOOK.saturating_sub(looked.elapsed()));
    }
}

/// How much of a log was printed.
#[derive(Default)]
struct Printed {
    offset: u64,
    /// The beginning of an incomplete character at the end.
    begun: Vec<u8>,
}

fn print_new(path: &std::path::Path, printed: &mut Printed, raw: bool, screen: &mut Screen) -> Result<()> {
    loop {
        let part = output::read(path, printed.offset)?;
        if part.next == printed.offset || screen.reader_is_gone() {
            return Ok(());
        }
        printed.offset = part.next;
        if raw {
            screen.write(&part.bytes)?;
        } else if screen.wants_json() {
            screen.lines(part.lines)?;
        } else {
            printed.begun.extend(part.bytes);
            let rest = printed.begun.split_off(printed.begun.len() - visible::unfinished(&printed.begun));
            let whole = std::mem::replace(&mut printed.begun, rest);
            screen.write(visible::bytes(&whole).as_bytes())?;
        }
    }
}

fn still_running(ctx: &mut Context, task: &CaseId) -> Result<bool> {
    ctx.store.refresh()?;
    Ok(ctx.state().agent_on(task).is_some())
}
