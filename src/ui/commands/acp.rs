//! `git axiom acp`: an agent of an editor, with us between the two; and what the editor's configuration says for that.

use std::ffi::OsString;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;

use super::{VerbExit, working_dir};
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::env;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::attach::act::BEHIND_ACP;
use axiom_model::program_hooks::acp_client::{AcpClientProgram, usual_agent};
use axiom_safety::acp::{self, AcpRun};
use axiom_safety::context::handle::calling_agent;
use axiom_safety::program_hooks::program_files::{AttachScope, caller};

/// Arguments of `acp`.
#[derive(Debug, Args)]
#[command(override_usage = "git axiom acp [--tell=no] -- <AGENT>...\n       git axiom acp --print <CLIENT> [-- <AGENT>...]")]
#[command(after_help = "\
Examples:
  git axiom acp -- claude-agent-acp
  git axiom acp --print zed -- gemini --acp

Your editor calls this in place of the agent. Both speak the Agent Client Protocol on standard
input and output, and every line is passed on as it is. Before a prompt, and before what the
agent asks to be allowed, a checkpoint is made: 'git axiom prompts' lists them, and 'git axiom
rollback --prompt N' goes back. After that the agent is told in its next prompt.

Nothing is saved in a folder without a repository; there the lines go on alone. An agent that
asks nobody is seen too late to wait for it: 'git axiom sessions' says so.

The exit status is that of AGENT (128+N after signal N), 127 if it is not found, 126 if it
cannot be executed.")]
pub struct AcpArgs {
    /// Whether the agent is told, in its next prompt, what you took back
    #[arg(long, value_name = "YES|NO", default_value = "yes", value_parser = PossibleValuesParser::new(["yes", "no"]))]
    tell: String,
    /// Print what the configuration of this client says, for AGENT or claude-agent-acp
    #[arg(long, value_name = "CLIENT", conflicts_with = "guard",
          value_parser = PossibleValuesParser::new(AcpClientProgram::ALL.map(|(name, _)| name)))]
    print: Option<String>,
    /// Own the agent, for the process with this number
    #[arg(long, value_name = "PID", hide = true, requires = "command")]
    guard: Option<i32>,
    /// The agent and its arguments
    #[arg(last = true, value_name = "AGENT", required_unless_present = "print")]
    command: Vec<OsString>,
}

/// What the configuration of a client says. `acp -- AGENT` prints no document: standard output is the agent's.
#[derive(Serialize)]
struct AcpConfigJson {
    /// Where it stands.
    place: &'static str,
    /// What it says.
    config: String,
}

/// Runs the agent, or prints the configuration of a client.
pub fn run(args: AcpArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<VerbExit> {
    if let Some(wanted_by) = args.guard {
        return acp::guard(wanted_by, &args.command).map(VerbExit::Program);
    }
    if let Some(client) = &args.print {
        return print(client, &args, screen).map(VerbExit::Ours);
    }
    let folder = working_dir(global)?;
    // Below a keeper its supervisor saves, and below one of us that one does.
    if calling_agent().is_some() || env::var(BEHIND_ACP).is_some() {
        return Err(acp::run_alone(args.command, folder));
    }
    acp::run(AcpRun { command: args.command, folder, tells: args.tell == "yes" }).map(VerbExit::Program)
}

fn print(client: &str, args: &AcpArgs, screen: &mut Screen) -> Result<Exit> {
    let Some(client) = AcpClientProgram::named(client) else {
        return Err(Error::new(Code::Usage, format!("'{client}' is not known")));
    };
    let named: Vec<String> = args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let agent = if named.is_empty() { usual_agent() } else { named };
    // Editors that are started from a desktop have a short PATH.
    let mut call = vec![caller(AttachScope::User)?.file().to_owned(), "acp".to_owned()];
    if args.tell == "no" {
        call.push("--tell=no".to_owned());
    }
    call.push("--".to_owned());
    call.extend(agent.iter().cloned());
    let config = client.config(&call, &agent).map_err(|why| Error::new(Code::InvalidInput, why))?;
    let place = client.place();
    let text = config.clone();
    screen.answer(&AcpConfigJson { place, config }, || text)?;
    screen.note(&format!("It goes into {place}"));
    Ok(Exit::Done)
}
