//! Which commands are possible now, and on what.

use super::{Model, View};
use crate::domain::planning::plan::PLANNER_AGENT;
use crate::domain::work::case::{Kind, Status};
use crate::domain::work::project::SessionNow;
use crate::panel::keys::{Command, Of};
use crate::panel::seen::{AgentRow, MomentKind, Runner};
use crate::told::before::AtWork;

/// Why a command is not possible now; `None` where it is.
pub fn impossible(model: &Model, command: Command) -> Option<String> {
    match command {
        Command::Stop | Command::Kill => needs_agent(model).err(),
        Command::Redirect => match needs_agent(model) {
            Ok(row) if row.task.is_none() => Some(format!("{} works on no task", row.id)),
            other => other.err(),
        },
        Command::Logs | Command::Fullscreen => model.agent_row().is_none().then(|| none(model, Of::Agent)),
        Command::Block => match task_status(model) {
            Ok(Status::Pending | Status::Active | Status::Failed) => None,
            Ok(status @ (Status::Done | Status::Blocked | Status::Archived)) => Some(format!("it is {status}")),
            Err(why) => Some(why),
        },
        Command::Unblock => match task_status(model) {
            Ok(Status::Blocked | Status::Failed) => None,
            Ok(Status::Pending | Status::Active | Status::Done | Status::Archived) => Some("it is not blocked".to_owned()),
            Err(why) => Some(why),
        },
        Command::RollBackTask | Command::Edit => task_status(model).err(),
        Command::Diff if selected_checkpoint(model).is_some() => None,
        Command::Diff => task_status(model).err(),
        Command::Debug => match model.task_row() {
            Some(row) if row.workspace.is_some() => None,
            Some(row) => Some(format!("{} has no workspace", row.id)),
            None => Some(none(model, Of::Task)),
        },
        Command::Pause => match model.seen.session.now {
            SessionNow::Ending => Some("the session is ending".to_owned()),
            SessionNow::Running | SessionNow::Pausing | SessionNow::Paused if model.seen.session.supervised => None,
            _ if model.seen.agents.iter().any(|row| row.state == "running" && row.runner == Runner::Agent) => None,
            SessionNow::Running | SessionNow::Pausing | SessionNow::Paused | SessionNow::Idle | SessionNow::Crashed => {
                Some("no session runs: git axiom run".to_owned())
            }
        },
        Command::RollBackSession | Command::Undo | Command::Mode | Command::Checkpoint | Command::NewCheckpoint => None,
        Command::Checkpoints
        | Command::Learnings
        | Command::Quit
        | Command::Menu
        | Command::Next
        | Command::Previous
        | Command::Open => None,
        Command::Down | Command::Up | Command::PageDown | Command::PageUp | Command::First | Command::Last => None,
        Command::Agents | Command::Tasks | Command::Gates | Command::Output | Command::Timeline => None,
        Command::Filter | Command::Verb | Command::Help | Command::Close => None,
    }
}

/// The checkpoint that is selected: in the timeline, or of a prompt among the agents.
pub(super) fn selected_checkpoint(model: &Model) -> Option<String> {
    if model.view == View::Agents {
        return prompt_of(model.agent_row()?).map(str::to_owned);
    }
    model.moment_row().and_then(|row| match &row.what {
        MomentKind::Checkpoint(name) => Some(name.clone()),
        MomentKind::Transaction { .. } => None,
    })
}

/// What a command does with what is selected, where that is something else than usually.
pub fn instead(model: &Model, command: Command) -> Option<String> {
    let name = selected_checkpoint(model).filter(|_| command == Command::Diff)?;
    Some(format!("Show what changed since {name}"))
}

/// The checkpoint of a row that is a prompt.
pub(super) fn prompt_of(row: &AgentRow) -> Option<&str> {
    match &row.runner {
        Runner::Prompt { checkpoint } => Some(checkpoint),
        Runner::Agent | Runner::Human { .. } => None,
    }
}

pub(super) fn needs_agent(model: &Model) -> Result<&AgentRow, String> {
    let row = model.agent_row().ok_or_else(|| none(model, Of::Agent))?;
    match (&row.runner, &row.task) {
        (Runner::Human { .. }, _) => Err(format!("{} is run by a human: end it where it runs", row.id)),
        (Runner::Prompt { .. }, _) => Err(format!("{} is a prompt: Enter goes back to it", row.id)),
        // It works on no task, and is ended as any other.
        (Runner::Agent, None) if row.works && row.id == PLANNER_AGENT => Ok(row),
        (Runner::Agent, None) => Err(format!("{} works on nothing", row.id)),
        (Runner::Agent, Some(_)) => Ok(row),
    }
}

/// Why there is nothing to act on.
fn none(model: &Model, of: Of) -> String {
    let what = if of == Of::Agent { "agent" } else { "task" };
    match model.view.names(of) {
        true => format!("no {what} is selected"),
        false => format!("the view '{}' names no {what}", model.view.title()),
    }
}

fn task_status(model: &Model) -> Result<Status, String> {
    let row = model.task_row().ok_or_else(|| none(model, Of::Task))?;
    if row.kind == Kind::Task { Ok(row.status) } else { Err(format!("{} is a group ({})", row.id, row.kind)) }
}

/// An agent as the texts before an intervention need it.
pub(super) fn at_work(row: &AgentRow) -> AtWork<'_> {
    AtWork {
        agent: &row.id,
        task: (row.task.as_deref().unwrap_or("nothing"), &row.title),
        iteration: row.iteration,
        progress: row.progress,
        workspace: row.workspace.as_deref(),
    }
}
