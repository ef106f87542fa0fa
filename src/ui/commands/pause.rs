//! `git axiom pause` and `resume`.

use clap::Args;
use serde::Serialize;

use super::open_with_usable_config;
use crate::cli::screen::Screen;
use crate::commands::foreground::tell_hooks;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::progress::ProgressPrinter;
use crate::wording::interventions::{RESUMED, pausing as pausing_in_words};
use axiom_agents::interventions::pausing;
use axiom_agents::interventions::pausing::{PauseTiming, WorkingAgent};
use axiom_base::error::{Exit, Result};
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::work::sessions::supervisor_activity::SupervisorActivity;
use axiom_safety::context::placement::VerbPurpose;

/// Arguments of `pause`.
#[derive(Debug, Args)]
#[command(after_help = "\
Running iterations and verifications end; then no agent starts, no task is claimed, and the
session stays. Approved merges are still done. 'git axiom resume' lets agents continue; 'git
axiom quit' ends the session.

With --force running agents are stopped: what they did is committed, no retry is counted, and
'git axiom resume' lets them go on, in their program's own session where that is possible.

Without a session nothing begins anyway; agents that a session left running are waited for
(--wait) or stopped (--force).")]
pub struct PauseArgs {
    /// Stop running agents instead of letting their iterations end
    #[arg(long)]
    force: bool,
    /// Return when no agent runs any more
    #[arg(long)]
    wait: bool,
}

/// Arguments of verbs that take none.
#[derive(Debug, Args)]
pub struct NoArgs {}

/// An agent when the session was paused.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PausedAgentJson<'a> {
    agent: &'a AgentId,
    task_id: &'a TaskId,
    iteration: u32,
    /// In percent, as it reports it.
    progress: Option<u8>,
}

impl<'a> PausedAgentJson<'a> {
    fn all(of: &'a [WorkingAgent]) -> Vec<Self> {
        let line = |working: &'a WorkingAgent| Self {
            agent: &working.agent,
            task_id: &working.task,
            iteration: working.iteration,
            progress: working.progress,
        };
        of.iter().map(line).collect()
    }
}

/// Which agents pause, and which run until then.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PauseJson<'a> {
    /// Those that run until their iterations end.
    running: Vec<PausedAgentJson<'a>>,
    paused: Vec<PausedAgentJson<'a>>,
    /// The verifications that run: what passes is still merged, where its merge is approved.
    verifying: &'a [SupervisorActivity],
}

/// Who goes on.
#[derive(Serialize)]
struct ResumeJson {
    /// How many agents go on with their tasks.
    resumed: usize,
}

/// Pauses the agents when their iterations end, or at once.
pub fn pause(args: &PauseArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    let how = if args.force { PauseTiming::AtOnce } else { PauseTiming::AtBoundary };
    let all = pausing::pause(&mut ctx, how, args.wait, &mut ProgressPrinter::new(false))?;
    let (running, paused) = (PausedAgentJson::all(&all.running), PausedAgentJson::all(&all.paused));
    let answer = PauseJson { running, paused, verifying: &all.verifying };
    screen.answer(&answer, || pausing_in_words(&all))?;
    tell_hooks(&mut ctx, screen);
    Ok(Exit::Done)
}

/// Lets the agents continue.
pub fn resume(global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    let resumed = pausing::resume(&mut ctx)?;
    let answer = ResumeJson { resumed };
    screen.answer(&answer, || format!("{RESUMED}\n"))?;
    Ok(Exit::Done)
}
