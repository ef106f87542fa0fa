//! `git axiom plan finish`.

use clap::Args;
use serde::Serialize;

use super::view;
use crate::cli::screen::Screen;
use crate::cli::words;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_agents::plan;
use axiom_agents::plan::finish;
use axiom_base::error::{Exit, Result};
use axiom_model::base::ids::{OperationId, TaskId};
use axiom_model::planning::document::PlannedTaskJson;

/// Arguments of `plan finish`.
#[derive(Debug, Args)]
#[command(after_help = "\
Shows the tree of the tasks and asks. They are made all or none, in one operation; one 'git
axiom undo' archives them again. The plan has to be approved (git axiom plan approve).")]
pub struct PlanFinishArgs {
    /// Show what would be made, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// The tasks that a plan becomes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanFinishJson<'a> {
    dry_run: bool,
    /// Those that are made.
    tasks: Vec<PlannedTaskJson<'a>>,
    /// Those that were made.
    task_ids: &'a [TaskId],
    operation: Option<&'a OperationId>,
    undo: Option<String>,
}

/// Makes the tasks of the plan.
pub fn run(args: &PlanFinishArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = super::open_healed(global, screen)?;
    let tasks = finish::look(&ctx)?;
    let seen = plan::open(ctx.state())?.last_checkpoint;
    let tree = view::tree(&tasks, &[].into());
    let lines = || tasks.iter().map(PlannedTaskJson::of).collect();
    if args.dry_run {
        let answer = PlanFinishJson { dry_run: true, tasks: lines(), task_ids: &[], operation: None, undo: None };
        screen.answer(&answer, || format!("{tree}\nNothing was changed.\n"))?;
        return Ok(Exit::Done);
    }
    if !args.yes && screen.can_ask() {
        screen.complain_text(&tree);
    }
    screen.confirm(&format!("Make these {}?", words::count(tasks.len(), "task")), args.yes)?;
    let ids = finish::finish(&mut ctx, Some(seen))?;
    let undo = Some(format!("git axiom undo {}", ctx.txn()));
    let answer = PlanFinishJson { dry_run: false, tasks: lines(), task_ids: &ids, operation: Some(ctx.txn()), undo };
    screen.answer(&answer, || {
        let made = words::count(ids.len(), "task");
        format!("{tree}\n{made} made. To undo: git axiom undo {}\nNext: git axiom run\n", ctx.txn())
    })?;
    Ok(Exit::Done)
}
