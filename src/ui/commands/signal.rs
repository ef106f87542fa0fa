//! `git axiom signal`: the reports of agents.

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::cli::screen::Screen;
use axiom_agents::keeper;
use axiom_base::error::{Exit, Result};
use axiom_model::agent::tool_kind::ToolKind;
use axiom_model::work::signals::learning_scope::LearningScope;
use axiom_model::work::signals::signal::{AgentSignal, FileReport, ReportedFileRole, ToolReport};
use axiom_safety::config::value_kind::ConfigValueKind;

/// Reports of an agent; only to be called by agents.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Works only below 'git axiom run': the keeper of the agent sets AXIOM_SPOOL and AXIOM_TOKEN. A
report is on disk when the command returns. Of complete, blocked and waiting the last one
counts; it takes effect when the agent program ends. Without any, the program's exit status
decides if the agent is 'shell' or a program of yours. For presets of models, a successful end
with changes goes on to verify, and one without is followed by another iteration.")]
#[allow(missing_docs)] // what each does is in the table of verbs
pub enum SignalVerb {
    #[command(after_help = "\
The iteration continues until the program ends; then uncommitted changes are committed, and the
task is done once its verify steps pass. If one fails, another iteration begins, whose prompt
says why.")]
    Complete,
    #[command(after_help = "\
When the program ends, the task is blocked with the reason, and the agent is free for others. A
human sees it in 'git axiom task list' and makes it pending again with 'git axiom task unblock
TASK'.")]
    Blocked {
        /// Why
        reason: String,
    },
    #[command(after_help = "\
The question waits at a gate for 'git axiom gate answer'. End the program after asking: question
and answer are in the prompt of the next iteration.")]
    Waiting {
        /// What you ask
        question: String,
    },
    #[command(after_help = "\
Shown by 'git axiom status' and the lines of 'git axiom run'; after a crash it decides how the
task goes on.")]
    Progress {
        /// 0 to 100
        percent: u8,
    },
    #[command(after_help = "\
Scopes: task (only this task), persona (all tasks of this persona), project (all tasks; it is so
if nothing is said). The prompts of later iterations have it: see 'git axiom learnings'.")]
    Learning {
        /// What you learnt
        text: String,
        /// Where it applies: task, persona or project
        #[arg(long)]
        scope: Option<LearningScope>,
    },
    #[command(after_help = "For people: shown by 'git axiom status' and 'git axiom task show TASK'.")]
    Phase {
        /// Its name
        name: String,
        /// How sure you are of the work so far, 0 to 1
        #[arg(long, value_name = "C")]
        confidence: Option<f64>,
    },
    #[command(after_help = "\
Without an option, the part begins. 'git axiom status' shows how many parts are done, 'git axiom
task show TASK' lists them, also after a crash. At most 200 are kept.")]
    Subtask {
        /// Its name
        name: String,
        /// It comes later
        #[arg(long, conflicts_with = "done")]
        planned: bool,
        /// It is done
        #[arg(long)]
        done: bool,
    },
    #[command(after_help = "Shown by 'git axiom task show TASK' as the time at which the task is expected to be done.")]
    Estimate {
        /// From now on: 45s, 20min, 2h
        #[arg(value_name = "DURATION", value_parser = duration)]
        seconds: u64,
    },
    #[command(after_help = "\
Shown by 'git axiom task show TASK'; at most 100 are kept. The task waits for nothing because of
it: 'git axiom task edit TASK --after OTHER' makes it wait for another task.")]
    Depends {
        /// Their names
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    File(SignalFileArgs),
    #[command(after_help = "\
Tasks that were added with --after TASK:NAME begin, with the text in their prompts. They are
told the branch too, so commit what they need. A later report of the name replaces the text.")]
    Ready {
        /// Its name
        name: String,
        /// What those who wait for it have to know
        text: String,
    },
    ToolStarted {
        #[command(flatten)]
        call: SignalToolArgs,
        /// What it does: read, write, edit, shell or other (unless you say otherwise)
        #[arg(long)]
        kind: Option<ToolKind>,
    },
    ToolCompleted(SignalToolArgs),
}

/// Arguments of `signal file`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without an option, work on the file begins or goes on. 'git axiom task show TASK' lists the
files, also after a crash; a later report keeps what it does not mention. At most 500 are kept.")]
pub struct SignalFileArgs {
    /// The file, relative to the workspace
    path: String,
    /// It is done
    #[arg(long, conflicts_with_all = ["related", "test"])]
    done: bool,
    /// It only helps to understand the work
    #[arg(long, conflicts_with = "test")]
    related: bool,
    /// It tests the work
    #[arg(long)]
    test: bool,
    /// The section that was finished last
    #[arg(long, value_name = "S")]
    section: Option<String>,
    /// The section that comes next
    #[arg(long, value_name = "S")]
    next: Option<String>,
    /// The line that was reached
    #[arg(long, value_name = "N")]
    line: Option<u64>,
    /// How sure you are, 0 to 1
    #[arg(long, value_name = "C")]
    confidence: Option<f64>,
}

impl SignalFileArgs {
    fn report(self) -> FileReport {
        let role = match (self.related, self.test) {
            (true, _) => Some(ReportedFileRole::Related),
            (false, true) => Some(ReportedFileRole::Test),
            (false, false) => None,
        };
        let Self { path, done, section, next, line, confidence, .. } = self;
        FileReport { path, done, section, next, line, confidence, role }
    }
}

/// A time as in the configuration, in seconds.
fn duration(text: &str) -> Result<u64, String> {
    let seconds = ConfigValueKind::Seconds.accept_text("DURATION", &[text.to_owned()]).ok().and_then(|value| value.as_u64());
    seconds.ok_or_else(|| format!("it takes {}", ConfigValueKind::Seconds.expects()))
}

/// Arguments of `signal tool-started` and `signal tool-completed`.
#[derive(Debug, Args)]
#[command(after_help = "Recorded in the event log, to find out what an agent did when it crashed.")]
pub struct SignalToolArgs {
    /// The tool's name
    name: String,
    /// The call's id
    #[arg(long)]
    id: Option<String>,
    /// A hash of the call's input
    #[arg(long)]
    hash: Option<String>,
}

/// What an agent reported is kept.
#[derive(Serialize)]
struct SignalJson {
    recorded: bool,
}

/// Sends the report to the keeper and waits until it is on disk.
pub fn run(verb: SignalVerb, screen: &mut Screen) -> Result<Exit> {
    keeper::report(signal(verb))?;
    screen.answer(&SignalJson { recorded: true }, String::new)?;
    Ok(Exit::Done)
}

fn signal(verb: SignalVerb) -> AgentSignal {
    let tool = |args: SignalToolArgs| ToolReport { name: args.name, id: args.id, hash: args.hash, ..ToolReport::default() };
    match verb {
        SignalVerb::Complete => AgentSignal::Complete {},
        SignalVerb::Blocked { reason } => AgentSignal::Blocked { reason },
        SignalVerb::Waiting { question } => AgentSignal::Waiting { question },
        SignalVerb::Progress { percent } => AgentSignal::Progress { percent },
        SignalVerb::Learning { text, scope } => {
            AgentSignal::Learning { text, scope: scope.map(|scope| scope.as_str().to_owned()) }
        }
        SignalVerb::Phase { name, confidence } => AgentSignal::Phase { name, confidence },
        SignalVerb::Subtask { name, planned, done } => AgentSignal::Subtask { name, done, planned },
        SignalVerb::Estimate { seconds } => AgentSignal::Estimate { seconds },
        SignalVerb::Depends { names } => AgentSignal::Depends { names },
        SignalVerb::File(args) => AgentSignal::File(Box::new(args.report())),
        SignalVerb::Ready { name, text } => AgentSignal::Ready { name, text },
        SignalVerb::ToolStarted { call, kind } => {
            AgentSignal::ToolStarted(ToolReport { does: Some(kind.unwrap_or(ToolKind::Other)), ..tool(call) })
        }
        SignalVerb::ToolCompleted(args) => AgentSignal::ToolCompleted(tool(args)),
    }
}
