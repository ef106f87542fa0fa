//! `git axiom output`: the output of agents.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;

use self::printer::{LogPrintForm, LogPrinter};
use super::look;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_agents::plan;
use axiom_agents::task_diff;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::TaskId;
use axiom_safety::context::event_waiter::LogEventWaiter;
use axiom_safety::context::handle::Context;
use axiom_safety::running::output::logs;
use axiom_safety::running::output::steps;
use axiom_safety::running::output::steps::StepLog;

mod paint;
mod pattern;
mod printer;

/// The least time between two looks of `--follow`: an agent may print much.
const LOOK: Duration = Duration::from_millis(100);
/// The most lines that `-n` can ask for: they are held until the first is printed.
const MOST_LINES: i64 = 100_000;

/// Arguments of `output`.
#[derive(Debug, Args)]
#[command(after_help = "\
Prints what the agent printed: standard output and standard error in the order in which they
were read. Where the program prints lines of JSON, this is what they say: the agent's words,
its tool calls (>) with the lines that they remove (-) and add (+), the beginning of their
results, what went wrong or was refused (!), waits and the end (=). What an agent reported with
'git axiom signal' stands between (=). --raw prints the original bytes.

Control characters are shown escaped, such as \\e; with --raw only on a terminal. PATTERN is a
regular expression, (?i) at its beginning ignores case; an iteration is named before its first
matching line. With --json, each line that was read is a document on a line of its own.")]
pub struct OutputArgs {
    /// An agent (its newest task) or a task (all its iterations)
    #[arg(value_name = "AGENT|TASK")]
    of: String,
    /// Keep printing new output until the agent is done
    #[arg(long, short)]
    follow: bool,
    /// Only the last lines
    #[arg(long, short = 'n', value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=MOST_LINES as u64))]
    lines: Option<u64>,
    /// Only this iteration of each attempt, from 1
    #[arg(long, value_name = "NUMBER")]
    iteration: Option<u64>,
    /// What this verify step printed last, by its name or number; merge/STEP is a step of the merge
    #[arg(long, value_name = "STEP", conflicts_with_all = ["follow", "iteration"])]
    step: Option<String>,
    /// Only lines that match
    #[arg(long, value_name = "PATTERN", conflicts_with = "raw")]
    grep: Option<String>,
    /// Print the original bytes
    #[arg(long)]
    raw: bool,
}

/// Prints the log of a task.
pub fn run(args: &OutputArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let grep = args.grep.as_deref().map(pattern::parse).transpose()?;
    // What paints the lines goes by what this finds out.
    screen.terminal().of_answer();
    let mut ctx = look(global, screen)?;
    let task = logs::find(&ctx, &args.of)?;
    if args.raw && screen.wants_json() {
        return Err(Error::new(Code::Usage, "--raw and --json are two forms of one answer").hint("leave one of them out"));
    }
    if args.raw && screen.terminal().is_shown() {
        screen.note("note: standard output is a terminal, so control characters are shown escaped");
    }
    let form = match (args.raw, screen.wants_json()) {
        (_, true) => LogPrintForm::Json,
        (true, false) if screen.terminal().is_shown() => LogPrintForm::Escaped,
        (true, false) => LogPrintForm::Raw,
        (false, false) => LogPrintForm::Readable,
    };
    let mut printer = LogPrinter::new(form, args.iteration, grep);
    match &args.step {
        Some(step) => print_step(args, &ctx, &steps::find(&ctx, &task, step)?, &mut printer, screen)?,
        None => follow(args, &mut ctx, &task, &mut printer, screen)?,
    }
    let asks_for_some = args.iteration.is_some() || args.grep.is_some() || args.step.is_some();
    if !printer.has_printed() && !screen.reader_is_gone() {
        match asks_for_some {
            true => screen.note(&format!("note: nothing of that was printed for '{task}'")),
            false => say_that_nothing_was_printed(&ctx, &task, screen),
        }
    }
    Ok(Exit::Done)
}

/// A program may work without a word: what it did is seen elsewhere.
fn say_that_nothing_was_printed(ctx: &Context, task: &TaskId, screen: &mut Screen) {
    let so_far = if ctx.state().agent_on(task).is_some() { " so far" } else { "" };
    screen.note(&format!("note: nothing was printed for '{task}'{so_far}; what was done:"));
    next_looks(ctx, task).iter().for_each(|look| screen.note(&format!("hint: {look}")));
}

/// What shows the work on a task, beside the output.
fn next_looks(ctx: &Context, task: &TaskId) -> Vec<String> {
    let has_work = task_diff::has_work(ctx, task);
    let looks = [
        format!("git axiom diff {task}    shows what it changed"),
        format!("git axiom task show {task}    shows what it was told, and how it ended"),
    ];
    looks.into_iter().skip(usize::from(!has_work)).collect()
}

/// Prints the log of a verify step.
fn print_step(args: &OutputArgs, ctx: &Context, log: &StepLog, printer: &mut LogPrinter, screen: &mut Screen) -> Result<()> {
    let last = args.lines.map(|lines| usize::try_from(lines).unwrap_or(usize::MAX));
    match (log, last) {
        (StepLog::Command(path), last) => printer.print_lines(steps::lines(path)?, last, &ctx.config, screen)?,
        (StepLog::Persona(path), Some(last)) => printer.skip_to_last(last, std::slice::from_ref(path), &ctx.config, screen)?,
        (StepLog::Persona(path), None) => printer.print_new(path, &ctx.config, screen)?,
    }
    printer.end(screen)
}

/// Prints what there is, and what comes as long as the agent works, where that is asked for.
fn follow(args: &OutputArgs, ctx: &mut Context, task: &TaskId, printer: &mut LogPrinter, screen: &mut Screen) -> Result<()> {
    let mut last = args.lines.map(|lines| usize::try_from(lines).unwrap_or(usize::MAX));
    let mut waiting = LogEventWaiter::begin();
    loop {
        let looked = Instant::now();
        // Checked before reading, so that the last output of a run that has just ended is read too.
        let goes_on = args.follow && still_running(ctx, task)?;
        // Listed each time, because an agent that has just started has no log yet.
        let paths: Vec<PathBuf> = logs::logs(ctx, task);
        printer.take_notice(&paths);
        if let Some(lines) = last.take() {
            printer.skip_to_last(lines, &paths, &ctx.config, screen)?;
        }
        for path in &paths {
            printer.print_new(path, &ctx.config, screen)?;
        }
        if !goes_on || screen.reader_is_gone() {
            return printer.end(screen);
        }
        waiting.for_the_log_or(ctx, logs::log_folders(ctx, task));
        std::thread::sleep(LOOK.saturating_sub(looked.elapsed()));
    }
}

fn still_running(ctx: &mut Context, task: &TaskId) -> Result<bool> {
    ctx.store.refresh()?;
    let plans = ctx.state().open_plan().filter(|plan| plan.goal.id == *task);
    Ok(ctx.state().agent_on(task).is_some() || plans.is_some() && plan::planner_runs(ctx)?)
}
