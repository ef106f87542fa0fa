//! `git axiom plan start`.

use std::path::PathBuf;

use clap::Args;

use super::view::PlanAnswer;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::Global;
use crate::commands::{input, working_dir};
use crate::domain::base::ids::CaseId;
use crate::domain::base::text::MAX_TEXT;
use crate::error::{Exit, Result};
use crate::ops::plan::by_hand::{self, Goal};

/// Arguments of `plan start`.
#[derive(Debug, Args)]
#[command(after_help = "\
The goal becomes a case of kind directive, and all cases of the plan are parts of it. Then add
cases (git axiom plan add-case), or write down a proposal first (git axiom plan propose).")]
pub struct Start {
    /// What is to be reached, in one line of at most 500 characters
    #[arg(value_name = "GOAL")]
    goal: String,
    /// The id of the case that the goal becomes; without it, the next free one (directive-001, …)
    #[arg(long)]
    id: Option<String>,
    /// More about the goal
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,
    /// A file with more about the goal, at most 16 MiB of UTF-8; - for standard input
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,
}

/// Begins a plan.
///
/// # Errors
/// As [`by_hand::start`].
pub fn run(args: &Start, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let body = match (&args.body, &args.body_file) {
        (Some(text), _) => Some(text.clone()),
        (None, Some(path)) => Some(input::text_of(&at(path, global)?, MAX_TEXT as u64)?),
        (None, None) => None,
    };
    let id = args.id.as_deref().map(CaseId::new).transpose()?;
    let mut ctx = super::open_healed(global, screen)?;
    by_hand::start(&mut ctx, Goal { title: args.goal.clone(), body, id, planner: None })?;
    let answer = PlanAnswer::of(&ctx)?;
    screen.answer(&answer, || format!("A plan is open.\n{}", answer.next_line()))?;
    Ok(Exit::Done)
}

/// A path from the command line, relative to the folder of `-C`. `-` is not changed.
pub(super) fn at(path: &PathBuf, global: &Global) -> Result<PathBuf> {
    if path.as_os_str() == "-" { Ok(path.clone()) } else { Ok(working_dir(global)?.join(path)) }
}
