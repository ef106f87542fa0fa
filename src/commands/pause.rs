//! `git axiom pause` and `resume`.

use clap::Args;
use serde::Serialize;

use super::open_with_usable_config;
use crate::cli::screen::Screen;
use crate::commands::foreground::tell_hooks;
use crate::commands::grammar::arguments::Global;
use crate::commands::progress::Progress;
use crate::domain::base::ids::{AgentId, CaseId};
use crate::domain::work::doing::Doing;
use crate::error::{Exit, Result};
use crate::ops::context::placement::Purpose;
use crate::ops::interventions::pausing::{self, How, Working};
use crate::told::interventions::{RESUMED, pausing as pausing_in_words};

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
pub struct Pause {
    /// Stop running agents instead of letting their iterations end
    #[arg(long)]
    force: bool,
    /// Return when no agent runs any more
    #[arg(long)]
    wait: bool,
}

/// Arguments of verbs that take none.
#[derive(Debug, Args)]
pub struct NoArguments {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    agent: &'a AgentId,
    task_id: &'a CaseId,
    iteration: u32,
    progress: Option<u8>,
}

impl<'a> Line<'a> {
    fn all(of: &'a [Working]) -> Vec<Self> {
        let line = |working: &'a Working| Self {
            agent: &working.agent,
            task_id: &working.task,
            iteration: working.iteration,
            progress: working.progress,
        };
        of.iter().map(line).collect()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PauseAnswer<'a> {
    running: Vec<Line<'a>>,
    paused: Vec<Line<'a>>,
    verifying: &'a [Doing],
}

#[derive(Serialize)]
struct ResumeAnswer {
    resumed: usize,
}

/// Pauses the agents when their iterations end, or at once.
///
/// # Errors
/// As [`pausing::pause`].
pub fn pause(args: &Pause, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(Purpose::Write, global, screen)?;
    let how = if args.force { How::AtOnce } else { How::AtBoundary };
    let all = pausing::pause(&mut ctx, how, args.wait, &mut Progress::new(false))?;
    let (running, paused) = (Line::all(&all.running), Line::all(&all.paused));
    let answer = PauseAnswer { running, paused, verifying: &all.verifying };
    screen.answer(&answer, || pausing_in_words(&all))?;
    tell_hooks(&mut ctx, screen);
    Ok(Exit::Done)
}

/// Lets the agents continue.
///
/// # Errors
/// As [`pausing::resume`].
pub fn resume(global: &Global, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(Purpose::Write, global, screen)?;
    let resumed = pausing::resume(&mut ctx)?;
    let answer = ResumeAnswer { resumed };
    screen.answer(&answer, || format!("{RESUMED}\n"))?;
    Ok(Exit::Done)
}
