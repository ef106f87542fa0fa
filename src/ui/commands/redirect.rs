//! `git axiom redirect`.

use clap::Args;
use serde::Serialize;

use super::foreground::tell_hooks;
use super::open_with_usable_config;
use crate::cli::prompt;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::progress::ProgressPrinter;
use crate::wording::interventions::{choices as choices_in_words, redirected};
use axiom_agents::interventions::redirect;
use axiom_agents::interventions::redirect::RedirectChoice;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::{AgentId, CheckpointName, GateId, TaskId};
use axiom_model::queries::choices::choices;
use axiom_model::work::gates::gate::{AfterHalt, RedirectWorkspace};
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;

/// Arguments of `redirect`.
#[derive(Debug, Args)]
#[command(after_help = "\
The agent is stopped and what it did is committed (WIP) on its branch; its workspace stays. Its
task waits at a claim gate, in autopilot too: 'git axiom gate approve claim-TASK' lets an agent
take it up again. With --retry an agent may claim it at once. A checkpoint is made first. Where
a session runs, hooks (pre-task-start) are asked first: if one fails, nobody is stopped.

The other task has to be ready, and for agents of this persona. Without TASK, the ready ones are
listed to choose from, the best first: the one that unblocks most. The agent begins at once if
a session runs, else with the next 'git axiom run'.

With --same-workspace the branch is switched in the folder in which the agent works: ignored
files, such as what was built, stay there. The task that it leaves gets a new workspace when it
is claimed again; its commits are on its branch.")]
pub struct RedirectArgs {
    /// The agent, as in 'git axiom status'
    agent: AgentId,
    /// The task that it goes on with; without one, asks
    task: Option<TaskId>,
    /// Go on in the agent's workspace, on the other task's branch
    #[arg(long)]
    same_workspace: bool,
    /// Let an agent claim the task that it leaves again at once
    #[arg(long)]
    retry: bool,
}

/// Which task an agent left for which.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RedirectJson<'a> {
    agent: &'a AgentId,
    /// The task that it left.
    from: &'a TaskId,
    /// The task that it goes on with.
    to: &'a TaskId,
    /// Whether it had completed the task that it left: that stands.
    completed: bool,
    /// The gate at which the task that it left waits.
    gate_id: Option<&'a GateId>,
    /// The checkpoint that was made before.
    checkpoint: &'a CheckpointName,
}

/// Sends an agent to another task.
pub fn run(args: &RedirectArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    let from = redirect::task_of(ctx.state(), &args.agent)?;
    let to = match &args.task {
        Some(task) => task.clone(),
        None => ask(&ctx, &args.agent, &from, screen)?,
    };
    let (place, afterwards) = (RedirectWorkspace::with_same(args.same_workspace), AfterHalt::with_retry(args.retry));
    let wanted = RedirectChoice { agent: args.agent.clone(), to, place, afterwards };
    let done = redirect::redirect(&mut ctx, &wanted, &mut ProgressPrinter::new(false))?;
    let answer = RedirectJson {
        agent: &done.agent,
        from: &done.from,
        to: &done.to,
        completed: done.completed,
        gate_id: done.waits_at.claim.as_ref(),
        checkpoint: &done.checkpoint,
    };
    screen.answer(&answer, || redirected(&done))?;
    tell_hooks(&mut ctx, screen);
    Ok(Exit::Done)
}

/// Lets the user choose a ready task.
fn ask(ctx: &Context, agent: &AgentId, from: &TaskId, screen: &Screen) -> Result<TaskId> {
    let open = choices(ctx.state(), agent);
    if open.is_empty() || !screen.can_ask() {
        let code = if open.is_empty() { Code::InvalidTransition } else { Code::Usage };
        return Err(Error::new(code, format!("no task was named for '{agent}' to go on with"))
            .hint(redirect::ready_in_words(&open))
            .hint(format!("git axiom redirect {agent} TASK")));
    }
    let title = ctx.state().task(from)?.title.clone();
    let question = format!("{agent} leaves {from} ({title}) and goes on with (Escape changes nothing)");
    match prompt::one_of(&question, None, &choices_in_words(&open), 0)? {
        Some(chosen) => {
            let chosen = open.get(chosen).map(|choice| choice.id.clone());
            chosen.ok_or_else(|| Error::new(Code::Internal, "no such item was offered"))
        }
        None => Err(Error::new(Code::Declined, "no task was chosen, so nothing was changed")),
    }
}
