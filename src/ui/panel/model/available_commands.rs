//! Which commands are possible now, and on what.

use super::{PanelModel, PanelView};
use crate::panel::keys::{PanelCommand, PanelCommandScope};
use crate::panel::snapshot::{AgentRow, AgentRowRunner, TimelineRowKind};
use crate::wording::intervention_preview::BusyAgent;
use axiom_model::planning::plan::PLANNER_AGENT;
use axiom_model::queries::project::LiveSessionStatus;
use axiom_model::work::tasks::task::{TaskKind, TaskStatus};

/// Why a command is not possible now; `None` where it is.
pub fn impossible(model: &PanelModel, command: PanelCommand) -> Option<String> {
    match command {
        PanelCommand::Stop | PanelCommand::Kill => needs_agent(model).err(),
        PanelCommand::Redirect => match needs_agent(model) {
            Ok(row) if row.task.is_none() => Some(format!("{} works on no task", row.id)),
            other => other.err(),
        },
        PanelCommand::Logs | PanelCommand::Fullscreen => {
            model.agent_row().is_none().then(|| none(model, PanelCommandScope::Agent))
        }
        PanelCommand::Block => match status_of_row(model) {
            Ok(TaskStatus::Pending | TaskStatus::Active | TaskStatus::Failed) => None,
            Ok(status @ (TaskStatus::Done | TaskStatus::Blocked | TaskStatus::Archived)) => Some(format!("it is {status}")),
            Err(why) => Some(why),
        },
        PanelCommand::Unblock => match status_of_row(model) {
            Ok(TaskStatus::Blocked | TaskStatus::Failed) => None,
            Ok(TaskStatus::Pending | TaskStatus::Active | TaskStatus::Done | TaskStatus::Archived) => {
                Some("it is not blocked".to_owned())
            }
            Err(why) => Some(why),
        },
        PanelCommand::RollBackTask | PanelCommand::Edit => task_status(model).err(),
        PanelCommand::Diff if selected_checkpoint(model).is_some() => None,
        PanelCommand::Diff => task_status(model).err(),
        PanelCommand::Debug => match model.task_row() {
            Some(row) if row.workspace.is_some() => None,
            Some(row) => Some(format!("{} has no workspace", row.id)),
            None => Some(none(model, PanelCommandScope::Task)),
        },
        PanelCommand::Pause => match model.seen.session.now {
            LiveSessionStatus::Ending => Some("the session is ending".to_owned()),
            LiveSessionStatus::Running | LiveSessionStatus::Pausing | LiveSessionStatus::Paused
                if model.seen.session.supervised =>
            {
                None
            }
            _ if model.seen.agents.iter().any(|row| row.state == "running" && row.runner == AgentRowRunner::Agent) => None,
            LiveSessionStatus::Running
            | LiveSessionStatus::Pausing
            | LiveSessionStatus::Paused
            | LiveSessionStatus::Idle
            | LiveSessionStatus::Crashed => Some("no session runs: git axiom run".to_owned()),
        },
        PanelCommand::Decide if model.waiting_row().is_none() => Some("nothing that waits is selected".to_owned()),
        PanelCommand::Merged if model.selected.view != PanelView::Tasks => Some("it is for the view of the tasks".to_owned()),
        PanelCommand::BeginSession if model.seen.session.supervised => Some("a session runs already".to_owned()),
        PanelCommand::Decide | PanelCommand::Merged | PanelCommand::AddTask | PanelCommand::BeginSession => None,
        PanelCommand::RollBackSession
        | PanelCommand::Undo
        | PanelCommand::Mode
        | PanelCommand::Checkpoint
        | PanelCommand::NewCheckpoint => None,
        PanelCommand::Checkpoints
        | PanelCommand::Learnings
        | PanelCommand::Quit
        | PanelCommand::Menu
        | PanelCommand::Next
        | PanelCommand::Previous
        | PanelCommand::Open => None,
        PanelCommand::Down
        | PanelCommand::Up
        | PanelCommand::PageDown
        | PanelCommand::PageUp
        | PanelCommand::First
        | PanelCommand::Last => None,
        PanelCommand::Agents | PanelCommand::Tasks | PanelCommand::Gates | PanelCommand::Output | PanelCommand::Timeline => None,
        PanelCommand::Filter | PanelCommand::Verb | PanelCommand::Help | PanelCommand::Close => None,
    }
}

/// The checkpoint that is selected: in the timeline, or of a prompt among the agents.
pub(super) fn selected_checkpoint(model: &PanelModel) -> Option<String> {
    if model.selected.view == PanelView::Agents {
        return prompt_of(model.agent_row()?).map(str::to_owned);
    }
    model.moment_row().and_then(|row| match &row.what {
        TimelineRowKind::Checkpoint(name) => Some(name.clone()),
        TimelineRowKind::Operation { .. } => None,
    })
}

/// What a command does with what is selected, where that is something else than usually.
pub fn instead(model: &PanelModel, command: PanelCommand) -> Option<String> {
    let name = selected_checkpoint(model).filter(|_| command == PanelCommand::Diff)?;
    Some(format!("Show what changed since {name}"))
}

/// The checkpoint of a row that is a prompt.
pub(super) fn prompt_of(row: &AgentRow) -> Option<&str> {
    match &row.runner {
        AgentRowRunner::Prompt { checkpoint } => Some(checkpoint),
        AgentRowRunner::Agent | AgentRowRunner::Human { .. } => None,
    }
}

pub(super) fn needs_agent(model: &PanelModel) -> Result<&AgentRow, String> {
    let row = model.agent_row().ok_or_else(|| none(model, PanelCommandScope::Agent))?;
    match (&row.runner, &row.task) {
        (AgentRowRunner::Human { .. }, _) => Err(format!("{} is run by a human: end it where it runs", row.id)),
        (AgentRowRunner::Prompt { .. }, _) => Err(format!("{} is a prompt: Enter goes back to it", row.id)),
        // It works on no task, and is ended as any other.
        (AgentRowRunner::Agent, None) if row.works && row.id == PLANNER_AGENT => Ok(row),
        (AgentRowRunner::Agent, None) => Err(format!("{} works on nothing", row.id)),
        (AgentRowRunner::Agent, Some(_)) => Ok(row),
    }
}

/// Why there is nothing to act on.
fn none(model: &PanelModel, of: PanelCommandScope) -> String {
    let what = if of == PanelCommandScope::Agent { "agent" } else { "task" };
    match model.selected.view.names(of) {
        true => format!("no {what} is selected"),
        false => format!("the view '{}' names no {what}", model.selected.view.title()),
    }
}

/// The status of the selected task or group.
fn status_of_row(model: &PanelModel) -> Result<TaskStatus, String> {
    model.task_row().map(|row| row.status.stored).ok_or_else(|| none(model, PanelCommandScope::Task))
}

fn task_status(model: &PanelModel) -> Result<TaskStatus, String> {
    let row = model.task_row().ok_or_else(|| none(model, PanelCommandScope::Task))?;
    if row.kind == TaskKind::Task { Ok(row.status.stored) } else { Err(format!("{} is a group ({})", row.id, row.kind)) }
}

/// An agent as the texts before an intervention need it.
pub(super) fn at_work(row: &AgentRow) -> BusyAgent<'_> {
    BusyAgent {
        agent: &row.id,
        task: (row.task.as_deref().unwrap_or("nothing"), &row.title),
        iteration: row.iteration,
        progress: row.heard.progress,
        workspace: row.workspace.path.as_deref(),
    }
}
