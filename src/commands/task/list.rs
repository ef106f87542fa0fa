//! `git axiom task list`.

use clap::Args;
use serde::Serialize;

use super::view::{TaskJson, joined, status_words};
use crate::cli::screen::{Screen, table};
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::look;
use crate::domain::base::natural;
use crate::domain::queries::groups::TaskGroupTree;
use crate::domain::queries::view::DisplayedTaskStatus;
use crate::domain::work::task::{Task, TaskKind, TaskStatus};
use crate::error::{Exit, Result};
use crate::ops::supervise::keeper_now::cut_off;

/// Arguments of `task list`.
#[derive(Debug, Args)]
#[command(after_help = "\
'waiting' is pending, but what it comes after is not merged yet; 'interrupted' was ended by a
crash. Archived cases are listed with --all or --status archived; --json lists everything
unless --status is given.")]
pub struct TaskListArgs {
    /// Only cases of this status: pending, waiting, interrupted, active, done, blocked, failed or archived
    #[arg(long, value_name = "STATUS")]
    status: Vec<String>,
    /// Archived cases too
    #[arg(long)]
    all: bool,
}

#[derive(Serialize)]
struct TaskListJson<'a> {
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

/// Lists cases.
///
/// # Errors
/// `INVALID_INPUT` for an unknown status; the errors of opening the repository.
pub fn run(args: &TaskListArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let words = args.status.iter().flat_map(|word| word.split(','));
    let wanted = words.map(wanted).collect::<Result<Vec<_>>>()?;
    let ctx = look(global, screen)?;
    let state = ctx.state();
    let every = args.all || screen.wants_json();
    let groups = TaskGroupTree::with_cut_off(state, cut_off(&ctx)?);
    let fits = |case: &&Task| {
        let asked = |wanted: &TaskStatusFilter| match wanted {
            TaskStatusFilter::Stored(status) => case.status == *status,
            TaskStatusFilter::Derived(shown) => DisplayedTaskStatus::of(&groups, case) == *shown,
        };
        if wanted.is_empty() { every || case.status != TaskStatus::Archived } else { wanted.iter().any(asked) }
    };
    let cases: Vec<&Task> = natural::sorted(state.restorable.cases.values().filter(fits), |case| case.id.as_str());
    let hidden = state.restorable.cases.len() - cases.len();
    let json = screen.wants_json();
    let answer =
        TaskListJson { tasks: if json { cases.iter().map(|case| TaskJson::of(&groups, case)).collect() } else { Vec::new() } };
    screen.answer(&answer, || if cases.is_empty() { String::new() } else { rows(&groups, &cases) })?;
    if cases.is_empty() && hidden == 0 {
        screen.note("There is no case yet: add one with 'git axiom task add TITLE'.");
    } else if wanted.is_empty() && hidden > 0 {
        screen.note(&format!("{hidden} archived, shown with --all"));
    }
    Ok(Exit::Done)
}

fn rows<'a>(groups: &TaskGroupTree<'a>, cases: &[&'a Task]) -> String {
    let mut rows = vec![["ID", "STATUS", "PROGRESS", "AFTER", "TITLE"].map(String::from).to_vec()];
    for case in cases {
        let kind = if case.kind == TaskKind::Task { String::new() } else { format!(" [{}]", case.kind) };
        rows.push(vec![
            case.id.to_string(),
            status_words(groups, case),
            format!("{:>3}%", groups.progress(case)),
            joined(&case.after, "-"),
            format!("{}{kind}", case.title),
        ]);
    }
    table(&rows)
}
