//! `git axiom learnings`.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde::Serialize;

use super::{look, open};
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::wording::learnings::in_words;
use axiom_agents::learnings;
use axiom_base::error::{Exit, Result};
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::work::signals::learning_scope::LearningScope;
use axiom_model::work::tasks::learnings::{Learning, LearningId, of_task};

/// Arguments of `learnings`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Agents report what is worth knowing beyond their iteration: git axiom signal learning TEXT. Its
scope says to which tasks it applies: this task, all tasks of this persona, or the project. The
newest that apply, at most 50 and 16 KiB, are in the prompts of later iterations. Up to 500 are
kept, no rollback takes them back, and they can be read in axiom/learnings.md and
axiom/agents/PERSONA/learnings.md in the git directory.")]
pub struct LearningsArgs {
    /// Only those that apply to this task
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    #[command(subcommand)]
    change: Option<LearningsVerb>,
}

#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // what each does is in the table of verbs
enum LearningsVerb {
    Edit(LearningsEditArgs),
    Forget(LearningsForgetArgs),
}

/// Arguments of `learnings edit`.
#[derive(Debug, Args)]
#[command(after_help = "Prompts have the new text from the next iteration on. The old text stays in the event log.")]
pub struct LearningsEditArgs {
    /// Its id
    id: LearningId,
    /// The new text
    text: String,
}

/// Arguments of `learnings forget`.
#[derive(Debug, Args)]
#[command(after_help = "The text stays in the event log. An agent may report the same again.")]
pub struct LearningsForgetArgs {
    /// Their ids
    #[arg(required = true, value_name = "ID")]
    ids: Vec<LearningId>,
}

/// What agents learnt.
#[derive(Serialize)]
struct LearningsJson<'a> {
    /// Oldest first.
    learnings: Vec<LearningJson<'a>>,
}

/// The learning that was changed.
#[derive(Serialize)]
struct LearningsEditJson<'a> {
    /// As it is now.
    learning: LearningJson<'a>,
}

/// The learnings that are gone.
#[derive(Serialize)]
struct LearningsForgetJson<'a> {
    /// Ids.
    forgotten: &'a [LearningId],
}

/// Something that an agent learnt.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LearningJson<'a> {
    id: LearningId,
    /// The tasks to which it applies: its own, those of its persona, or all.
    scope: LearningScope,
    text: &'a str,
    /// The task of the agent that reported it.
    task_id: &'a TaskId,
    /// The agent that reported it.
    agent_id: &'a AgentId,
    /// The persona of the agent that reported it.
    persona: &'a str,
    at: Timestamp,
    /// Whether a human changed its text.
    edited: bool,
}

impl<'a> LearningJson<'a> {
    fn of(learning: &'a Learning) -> Self {
        let Learning { id, scope, task, agent, text, at, edited } = learning;
        let persona = learning.persona();
        Self { id: *id, scope: *scope, text, task_id: task, agent_id: agent, persona, at: *at, edited: *edited }
    }
}

/// Lists learnings, oldest first, or changes one.
pub fn run(args: &LearningsArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    match &args.change {
        None => list(args.task.as_deref(), global, screen),
        Some(LearningsVerb::Edit(LearningsEditArgs { id, text })) => {
            let mut ctx = open(global, screen)?;
            let learning = learnings::edit(&mut ctx, *id, text)?;
            let answer = LearningsEditJson { learning: LearningJson::of(&learning) };
            screen.answer(&answer, || in_words(&learning))?;
            Ok(Exit::Done)
        }
        Some(LearningsVerb::Forget(LearningsForgetArgs { ids })) => {
            let mut ctx = open(global, screen)?;
            learnings::forget(&mut ctx, ids)?;
            let lines = || ids.iter().map(|id| format!("{id}: forgotten\n")).collect::<String>();
            screen.answer(&LearningsForgetJson { forgotten: ids }, lines)?;
            Ok(Exit::Done)
        }
    }
}

fn list(task: Option<&str>, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let task = task.map(TaskId::new).transpose()?;
    let ctx = look(global, screen)?;
    let state = ctx.state();
    let all = &state.record.learnings;
    let found: Vec<&Learning> = match &task {
        Some(task) => of_task(all, state.task(task)?),
        None => all.iter().collect(),
    };
    let answer = LearningsJson { learnings: found.iter().copied().map(LearningJson::of).collect() };
    screen.answer(&answer, || found.iter().map(|learning| in_words(learning)).collect::<String>())?;
    if found.is_empty() {
        screen.note("Nothing was learnt yet: agents report it with 'git axiom signal learning TEXT'.");
    }
    Ok(Exit::Done)
}
