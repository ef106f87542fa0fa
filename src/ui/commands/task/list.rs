//! `git axiom task list`.

use clap::Args;
use serde::Serialize;

use super::view::{TaskJson, joined, status_words};
use crate::cli::grid::{StyledCell, StyledGrid};
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::look;
use axiom_agents::merge::lost_merges::{groups_of, lost_merges};
use axiom_agents::supervise::keeper_now::cut_off;
use axiom_agents::tasks::seen_state;
use axiom_base::env;
use axiom_base::error::{Exit, Result};
use axiom_model::base::forms::natural;
use axiom_model::base::ids::TaskId;
use axiom_model::queries::displayed_status::DisplayedTaskStatus;
use axiom_model::queries::groups::TaskGroupTree;
use axiom_model::work::tasks::task::{Task, TaskKind, TaskStatus};

/// Arguments of `task list`.
#[derive(Debug, Args)]
#[command(after_help = "\
'waiting' is pending, but what it comes after is not merged yet; 'interrupted' was cut off by a
crash, and is pending once that is recovered. Archived tasks are listed with --all or
--status archived; --json lists everything unless --status is given.")]
pub struct TaskListArgs {
    /// Only tasks of this status: pending, waiting, interrupted, active, done, blocked, failed or archived
    #[arg(long, value_name = "STATUS")]
    status: Vec<String>,
    /// Archived tasks too
    #[arg(long)]
    all: bool,
}

/// The tasks, groups and goals too.
#[derive(Serialize)]
struct TaskListJson<'a> {
    /// Archived ones too, unless `--status` is given.
    tasks: Vec<TaskJson<'a>>,
}

/// The value of `--status`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TaskStatusFilter {
    Stored(TaskStatus),
    Derived(DisplayedTaskStatus),
}

fn wanted(word: &str) -> Result<TaskStatusFilter> {
    match [DisplayedTaskStatus::Waiting, DisplayedTaskStatus::Interrupted].into_iter().find(|shown| shown.as_str() == word) {
        Some(shown) => Ok(TaskStatusFilter::Derived(shown)),
        None => word.parse().map(TaskStatusFilter::Stored),
    }
}

/// Lists tasks.
pub fn run(args: &TaskListArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let words = args.status.iter().flat_map(|word| word.split(','));
    let wanted = words.map(wanted).collect::<Result<Vec<_>>>()?;
    let ctx = look(global, screen)?;
    let seen = seen_state::with_what_runs(&ctx, env::now())?;
    let state = &*seen;
    let every = args.all || screen.wants_json();
    let groups = TaskGroupTree::with_cut_off(state, cut_off(&ctx)?);
    let fits = |task: &&Task| {
        let asked = |wanted: &TaskStatusFilter| match wanted {
            TaskStatusFilter::Stored(status) => DisplayedTaskStatus::of(&groups, task).stored(task) == *status,
            TaskStatusFilter::Derived(shown) => DisplayedTaskStatus::of(&groups, task) == *shown,
        };
        if wanted.is_empty() { every || task.status != TaskStatus::Archived } else { wanted.iter().any(asked) }
    };
    let tasks: Vec<&Task> = natural::sorted(state.restorable.tasks.values().filter(fits), |task| task.id.as_str());
    let hidden = state.restorable.tasks.len() - tasks.len();
    let json = screen.wants_json();
    let answer =
        TaskListJson { tasks: if json { tasks.iter().map(|task| TaskJson::of(&groups, task)).collect() } else { Vec::new() } };
    screen.answer(&answer, || if tasks.is_empty() { StyledText::new() } else { rows(&groups, &tasks, &lost_merges(&ctx)) })?;
    if tasks.is_empty() && hidden == 0 {
        screen.note("There is no task yet: add one with 'git axiom task add TITLE'.");
    } else if wanted.is_empty() && hidden > 0 {
        screen.note(&format!("{hidden} archived, shown with --all"));
    }
    Ok(Exit::Done)
}

fn rows<'a>(groups: &TaskGroupTree<'a>, tasks: &[&'a Task], lost: &[TaskId]) -> StyledText {
    let mut rows = vec![["ID", "STATUS", "PROGRESS", "AFTER", "TITLE"].map(StyledCell::from).to_vec()];
    let open_groups = groups_of(groups.state(), lost);
    for task in tasks {
        let is_lost = lost.contains(&task.id) || open_groups.contains(&task.id);
        let kind = if task.kind == TaskKind::Task { String::new() } else { format!(" [{}]", task.kind) };
        rows.push(vec![
            task.id.to_string().into(),
            StyledCell::status(status_words(groups, task, is_lost)),
            format!("{:>3}%", groups.progress(task)).into(),
            joined(&task.after, "-").into(),
            format!("{}{kind}", task.title).into(),
        ]);
    }
    StyledGrid::of(rows).headed().cut(&[3, 4, 0]).may_go(&[3]).into()
}
