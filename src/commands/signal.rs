//! `git axiom signal`: the reports of agents.

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::cli::screen::Screen;
use crate::domain::work::signal::{FileReport, Signal, ToolReport};
use crate::error::{Exit, Result};
use crate::ops::keeper;

/// Reports of an agent; only to be called by agents.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Works only below 'git axiom run': the keeper of the agent sets AXIOM_SPOOL and AXIOM_TOKEN. A
report is on disk when the command returns. Of complete, blocked and waiting the last one
counts; it takes effect when the agent program ends. Without any, the program's exit status
decides if the agent is 'shell' or a program of yours; for presets of models, the iteration is
then unfinished.")]
pub enum SignalVerb {
    /// Report that the task is complete
    #[command(after_help = "\
The iteration continues until the program ends; then uncommitted changes are committed, and the
task is done once its verify steps pass. If one fails, another iteration begins, whose prompt
says why.")]
    Complete,
    /// Report that you cannot continue
    #[command(after_help = "\
When the program ends, the task is blocked with the reason, and the agent is free for others. A
human sees it in 'git axiom task list' and makes it pending again with 'git axiom task unblock
TASK'.")]
    Blocked {
        /// Why
        reason: String,
    },
    /// Ask a human, and end; the answer comes with the next iteration
    #[command(after_help = "\
The question waits at a gate for 'git axiom gate answer'. End the program after asking: question
and answer are in the prompt of the next iteration.")]
    Waiting {
        /// What you ask
        question: String,
    },
    /// Report how far the task is
    #[command(after_help = "For people only: shown by 'git axiom status' and the lines of 'git axiom run'.")]
    Progress {
        /// 0 to 100
        percent: u8,
    },
    /// Record something worth knowing beyond this task
    #[command(after_help = "Recorded in the event log and in the history of the task: 'git axiom task audit TASK'.")]
    Learning {
        /// What you learnt
        text: String,
        /// Where it applies
        #[arg(long)]
        scope: Option<String>,
    },
    /// Report which phase of the work begins
    #[command(after_help = "For people only: shown by 'git axiom status --json' as 'phase' of the agent.")]
    Phase {
        /// Its name
        name: String,
    },
    /// Report that a part of the task begins, or is done
    #[command(after_help = "Recorded in the history of the task; after a crash, it helps to see how far the work was.")]
    Subtask {
        /// Its name
        name: String,
        /// It is done
        #[arg(long)]
        done: bool,
    },
    /// Report how far a file is
    File(FileArgs),
    /// Report that something is ready that others may wait for
    #[command(after_help = "Recorded in the event log and in the history of the task; nothing waits for it yet.")]
    Ready {
        /// Its name
        name: String,
        /// What it is
        text: String,
    },
    /// Report that a tool call begins
    ToolStarted(ToolArgs),
    /// Report that a tool call has ended
    ToolCompleted(ToolArgs),
}

/// Arguments of `signal file`.
#[derive(Debug, Args)]
#[command(after_help = "\
Recorded in the history of the task; after a crash, it helps to see how far the work was. Only
the path is needed.")]
pub struct FileArgs {
    /// The file, relative to the workspace
    path: String,
    /// It is done
    #[arg(long)]
    done: bool,
    /// The section that was finished last
    #[arg(long)]
    section: Option<String>,
    /// The section that comes next
    #[arg(long)]
    next: Option<String>,
    /// The line that was reached
    #[arg(long)]
    line: Option<u64>,
    /// How sure you are, 0 to 1
    #[arg(long)]
    confidence: Option<f64>,
}

/// Arguments of `signal tool-started` and `signal tool-completed`.
#[derive(Debug, Args)]
#[command(after_help = "Recorded in the event log, to find out what an agent did when it crashed.")]
pub struct ToolArgs {
    /// The tool's name
    name: String,
    /// The call's id
    #[arg(long)]
    id: Option<String>,
    /// A hash of the call's input
    #[arg(long)]
    hash: Option<String>,
}

#[derive(Serialize)]
struct SignalAnswer {
    recorded: bool,
}

/// Sends the report to the keeper and waits until it is on disk.
///
/// # Errors
/// As [`keeper::report`].
pub fn run(verb: SignalVerb, screen: &mut Screen) -> Result<Exit> {
    keeper::report(signal(verb))?;
    screen.answer(&SignalAnswer { recorded: true }, String::new)?;
    Ok(Exit::Done)
}

fn signal(verb: SignalVerb) -> Signal {
    let tool = |args: ToolArgs| ToolReport { name: args.name, id: args.id, hash: args.hash };
    match verb {
        SignalVerb::Complete => Signal::Complete {},
        SignalVerb::Blocked { reason } => Signal::Blocked { reason },
        SignalVerb::Waiting { question } => Signal::Waiting { question },
        SignalVerb::Progress { percent } => Signal::Progress { percent },
        SignalVerb::Learning { text, scope } => Signal::Learning { text, scope },
        SignalVerb::Phase { name } => Signal::Phase { name },
        SignalVerb::Subtask { name, done } => Signal::Subtask { name, done },
        SignalVerb::File(FileArgs { path, done, section, next, line, confidence }) => {
            Signal::File(Box::new(FileReport { path, done, section, next, line, confidence }))
        }
        SignalVerb::Ready { name, text } => Signal::Ready { name, text },
        SignalVerb::ToolStarted(args) => Signal::ToolStarted(tool(args)),
        SignalVerb::ToolCompleted(args) => Signal::ToolCompleted(tool(args)),
    }
}
