//! `git axiom stop` and `git axiom kill`.

use clap::Args;
use serde::Serialize;

use super::{configured_program, open_configured};
use crate::cli::arguments::Global;
use crate::cli::progress::Progress;
use crate::cli::screen::Screen;
use crate::domain::ids::AgentId;
use crate::error::{Code, Error, Exit, Result};
use crate::ops::interventions::{self, Ending};
use crate::ops::supervise::Options;

/// Arguments of `stop` and `kill`.
#[derive(Debug, Args)]
#[command(after_help = "What the agent left is committed on its branch; its workspace stays; its task is pending again.")]
pub struct Stop {
    /// The agents, as in 'git axiom status'
    #[arg(value_name = "AGENT", required_unless_present = "all")]
    agents: Vec<AgentId>,
    /// All agents
    #[arg(long, conflicts_with = "agents")]
    all: bool,
}

#[derive(Serialize)]
struct Answer {
    stopped: Vec<AgentId>,
}

/// Ends agents and waits until their tasks are pending again.
///
/// # Errors
/// `UNKNOWN_AGENT`, `AGENT_FAILED` where a named agent works on nothing; as [`interventions::end_agents`].
pub fn run(args: &Stop, how: Ending, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let mut context = open_configured(global, Vec::new(), screen)?;
    let options =
        Options { slots: 1, max_iterations: u32::MAX, until_idle: false, mode: None, program: configured_program(&context)? };
    let stopped = interventions::end_agents(&mut context, &args.agents, how, options, &mut Progress::new(false))?;
    if let Some(idle) = args.agents.iter().find(|agent| !stopped.contains(agent)) {
        return Err(
            Error::new(Code::InvalidTransition, format!("agent '{idle}' works on nothing")).hint("see 'git axiom status'")
        );
    }
    let answer = Answer { stopped };
    screen.answer(&answer, || match answer.stopped.as_slice() {
        [] => "No agent was running.\n".to_owned(),
        many => many.iter().map(|agent| format!("Stopped {agent}.\n")).collect(),
    })?;
    Ok(Exit::Done)
}
