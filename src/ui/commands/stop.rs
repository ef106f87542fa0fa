//! `git axiom stop` and `git axiom kill`.

use clap::Args;
use serde::Serialize;

use super::foreground::tell_hooks;
use super::open_with_usable_config;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::progress::ProgressPrinter;
use crate::wording::interventions::ended as ended_in_words;
use axiom_agents::interventions;
use axiom_agents::interventions::AgentEndRequest;
use axiom_agents::supervise::SupervisorOptions;
use axiom_base::env;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::{AgentId, GateId, TaskId};
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::gates::gate::{AfterHalt, GateKind};
use axiom_safety::context::placement::VerbPurpose;

/// Arguments of `stop` and `kill`.
#[derive(Debug, Args)]
#[command(after_help = "\
The agent's uncommitted work is committed on its branch; its workspace stays. Its task waits at
a claim gate, in autopilot too: 'git axiom gate approve claim-TASK' lets it continue, and so
does 'git axiom run --retry'. With --retry it begins a new attempt, whose iterations are counted
from 1: an agent may claim it at once, where the mode does not ask you first. 'git axiom status'
lists the agents.

If the agent has completed the task before it is stopped, the task is done, or continues with
its verification when it is claimed again. 'kill' discards the agent's reports; the workspace
is captured first, in refs/axiom/live/TASK.")]
pub struct EndAgentsArgs {
    /// The agents, as in 'git axiom status'
    #[arg(value_name = "AGENT")]
    agents: Vec<AgentId>,
    /// All agents
    #[arg(long, conflicts_with = "agents")]
    all: bool,
    /// Let an agent claim the task again at once
    #[arg(long)]
    retry: bool,
}

/// Arguments of `stop`.
#[derive(Debug, Args)]
pub struct StopArgs {
    #[command(flatten)]
    which: EndAgentsArgs,
    /// End them at once with SIGKILL, as 'kill' does
    #[arg(long)]
    now: bool,
}

/// Stops agents, or with `--now` ends them at once.
pub fn stop(args: &StopArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    run(&args.which, if args.now { TaskHalt::Kill } else { TaskHalt::Stop }, global, screen)
}

/// Which agents were stopped.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StopJson {
    /// Ids of agents.
    stopped: Vec<AgentId>,
    /// Ids of tasks that they had completed.
    completed: Vec<TaskId>,
    /// The gates at which their tasks wait.
    gate_ids: Vec<GateId>,
}

/// Ends agents and waits until their tasks are free.
pub fn run(args: &EndAgentsArgs, halt: TaskHalt, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    if args.agents.is_empty() && !args.all {
        let verb = match halt {
            TaskHalt::Stop => "stop",
            TaskHalt::Kill if screen.verb() == Some("stop") => "stop --now",
            TaskHalt::Kill => "kill",
        };
        return Err(Error::new(Code::Usage, "no agent was named")
            .hint(format!("git axiom {verb} AGENT    for one that 'git axiom status' lists"))
            .hint(format!("git axiom {verb} --all    for all of them")));
    }
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    let options = SupervisorOptions::attending();
    let how = AgentEndRequest { halt, afterwards: AfterHalt::with_retry(args.retry) };
    // All that are named or none: nobody is stopped beside one that does nothing.
    let idle = |agent: &&AgentId| ctx.state().restorable.agents.get(*agent).is_some_and(|agent| agent.work.is_none());
    if let Some(idle) = args.agents.iter().find(idle) {
        return Err(not_working(idle));
    }
    let since = env::now();
    let ended = interventions::end_agents(&mut ctx, &args.agents, how, options, &mut ProgressPrinter::new(false))?;
    if let Some(idle) = args.agents.iter().find(|agent| !ended.iter().any(|ended| ended.agent == **agent)) {
        return Err(not_working(idle));
    }
    let completed = ended.iter().filter_map(|ended| ended.completed.clone()).collect();
    let merges = interventions::merges_stopped_since(ctx.state(), since);
    let gate_ids = ended.iter().filter_map(|ended| ended.waits_at.claim.clone()).chain(merges.iter().cloned()).collect();
    let answer = StopJson { stopped: ended.iter().map(|ended| ended.agent.clone()).collect(), completed, gate_ids };
    // It goes on with other tasks, and with these once they are approved.
    let runs_on = if args.all && ctx.supervisor_alive()? { SESSION_RUNS_ON } else { "" };
    screen.answer(&answer, || match ended.as_slice() {
        [] if merges.is_empty() => format!("No agent was running.\n{runs_on}"),
        many => {
            let lines = many.iter().map(ended_in_words).chain(merges.iter().map(merge_in_words));
            lines.chain([runs_on.to_owned()]).collect()
        }
    })?;
    tell_hooks(&mut ctx, screen);
    Ok(Exit::Done)
}

fn not_working(agent: &AgentId) -> Error {
    Error::new(Code::InvalidTransition, format!("agent '{agent}' is not working")).hint("see 'git axiom status'")
}

const SESSION_RUNS_ON: &str = "The session runs on. To end it: git axiom quit\n";

/// A merge whose verification was stopped, in words.
fn merge_in_words(gate: &GateId) -> String {
    format!("Stopped the verification of a merge. To try it again: {}\n", GateKind::Merge.command(gate.as_str()))
}
