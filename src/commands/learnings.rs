//! `git axiom learnings`.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde::Serialize;

use super::{look, open};
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::Global;
use crate::domain::base::ids::{AgentId, CaseId};
use crate::domain::work::learnings::{Learning, LearningId, Scope, of_task};
use crate::error::{Exit, Result};
use crate::ops::learnings;
use crate::told::learnings::in_words;

/// Arguments of `learnings`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Agents report what is worth knowing beyond their iteration: git axiom signal learning TEXT. Its
scope says to which tasks it applies: this task, all tasks of this persona, or the project. The
newest that apply, at most 50 and 16 KiB, are in the prompts of later iterations. Up to 500 are
kept, no rollback takes them back, and they can be read in axiom/learnings.md and
axiom/agents/PERSONA/learnings.md in the git directory.")]
pub struct Learnings {
    /// Only those that apply to this task
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    #[command(subcommand)]
    change: Option<Change>,
}

#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // what each does is in the table of verbs
enum Change {
    Edit(Edit),
    Forget(Forget),
}

/// Arguments of `learnings edit`.
#[derive(Debug, Args)]
#[command(after_help = "Prompts have the new text from the next iteration on. The old text stays in the event log.")]
pub struct Edit {
    /// Its id
    id: LearningId,
    /// The new text
    text: String,
}

/// Arguments of `learnings forget`.
#[derive(Debug, Args)]
#[command(after_help = "The text stays in the event log. An agent may report the same again.")]
pub struct Forget {
    /// Their ids
    #[arg(required = true, value_name = "ID")]
    ids: Vec<LearningId>,
}

#[derive(Serialize)]
struct LearningsAnswer<'a> {
    learnings: Vec<View<'a>>,
}

#[derive(Serialize)]
struct LearningsEditAnswer<'a> {
    learning: View<'a>,
}

#[derive(Serialize)]
struct LearningsForgetAnswer<'a> {
    forgotten: &'a [LearningId],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct View<'a> {
    id: LearningId,
    scope: Scope,
    text: &'a str,
    task_id: &'a CaseId,
    agent_id: &'a AgentId,
    persona: &'a str,
    at: Timestamp,
    edited: bool,
}

impl<'a> View<'a> {
    fn of(learning: &'a Learning) -> Self {
        let Learning { id, scope, task, agent, text, at, edited } = learning;
        let persona = learning.persona();
        Self { id: *id, scope: *scope, text, task_id: task, agent_id: agent, persona, at: *at, edited: *edited }
    }
}

/// Lists learnings, oldest first, or changes one.
///
/// # Errors
/// `UNKNOWN_LEARNING`, `UNKNOWN_TASK`; the errors of opening the repository.
pub fn run(args: &Learnings, global: &Global, screen: &mut Screen) -> Result<Exit> {
    match &args.change {
        None => list(args.task.as_deref(), global, screen),
        Some(Change::Edit(Edit { id, text })) => {
            let mut ctx = open(global, screen)?;
            let learning = learnings::edit(&mut ctx, *id, text)?;
            let answer = LearningsEditAnswer { learning: View::of(&learning) };
            screen.answer(&answer, || in_words(&learning))?;
            Ok(Exit::Done)
        }
        Some(Change::Forget(Forget { ids })) => {
            let mut ctx = open(global, screen)?;
            learnings::forget(&mut ctx, ids)?;
            let lines = || ids.iter().map(|id| format!("{id}: forgotten\n")).collect();
            screen.answer(&LearningsForgetAnswer { forgotten: ids }, lines)?;
            Ok(Exit::Done)
        }
    }
}

fn list(task: Option<&str>, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let task = task.map(CaseId::new).transpose()?;
    let ctx = look(global, screen)?;
    let state = ctx.state();
    let all = &state.record.learnings;
    let found: Vec<&Learning> = match &task {
        Some(task) => of_task(all, state.case(task)?),
        None => all.iter().collect(),
    };
    let answer = LearningsAnswer { learnings: found.iter().copied().map(View::of).collect() };
    screen.answer(&answer, || found.iter().map(|learning| in_words(learning)).collect())?;
    if found.is_empty() {
        screen.note("Nothing was learnt yet: agents report it with 'git axiom signal learning TEXT'.");
    }
    Ok(Exit::Done)
}
