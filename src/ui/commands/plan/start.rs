//! `git axiom plan start`.

use std::path::PathBuf;

use clap::Args;

use super::view::PlanJson;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::input;
use axiom_agents::plan::by_hand;
use axiom_agents::plan::by_hand::PlanStartRequest;
use axiom_agents::plan::planner;
use axiom_base::error::{Exit, Result};
use axiom_model::base::ids::TaskId;

/// Arguments of `plan start`.
#[derive(Debug, Args)]
#[command(after_help = "\
The goal becomes a task of kind goal, and all tasks of the plan are parts of it. Then add
tasks (git axiom plan add), or write down a proposal first (git axiom plan propose).

With --agent, that program plans, phase by phase, until a human is to decide: it asks, looks at
the repository, proposes; once that is approved it makes the tasks. It runs in a worktree of its
own, which is removed afterwards. A script gets AXIOM_PLAN_PHASE, AXIOM_PLAN_GOAL and the file
AXIOM_PLAN_STATE, and prints objects of JSON, each on a line: {\"question\": …}, {\"understood\":
true}, {\"analysis\": …}, {\"proposal\": …}, and tasks with the keys of 'git axiom task import':
  git axiom plan start 'Sign in' --agent claude
  git axiom plan start 'Sign in' --agent shell --script plan.sh")]
pub struct PlanStartArgs {
    /// What is to be reached, in one line of at most 500 characters
    #[arg(value_name = "GOAL")]
    goal: String,
    /// The id of the task that the goal becomes; without it, the next free one (goal-001, …)
    #[arg(long)]
    id: Option<String>,
    /// More about the goal
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,
    /// A file with more about the goal, at most 16 MiB of UTF-8; - for standard input
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,
    /// The agent program that plans; a human does without it
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The script that plans, for the program 'shell'
    #[arg(long, value_name = "FILE", requires = "agent")]
    script: Option<PathBuf>,
}

/// Begins a plan.
pub fn run(args: &PlanStartArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let body = input::text_or_file(args.body.as_ref(), args.body_file.as_ref(), global)?;
    let id = args.id.as_deref().map(TaskId::new).transpose()?;
    let script = input::text_or_file(None, args.script.as_ref(), global)?;
    let mut ctx = super::open_healed(global, screen)?;
    if let Some(agent) = &args.agent {
        super::load_config(&mut ctx, screen)?;
        planner::check(&ctx, agent, script.as_deref())?;
    }
    let planner = args.agent.clone().map(|agent| (agent, script));
    by_hand::start(&mut ctx, PlanStartRequest { title: args.goal.clone(), body, id, planner })?;
    super::go_on(&mut ctx, "A plan is open.", screen)?;
    let answer = PlanJson::of(&ctx)?;
    screen.answer(&answer, || format!("A plan is open.\n{}", answer.next_line()))?;
    Ok(Exit::Done)
}
