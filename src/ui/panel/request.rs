//! What the model asks of the effects, and what comes back. Data only.

use super::snapshot::{CheckpointRow, TimelineRow};
use axiom_model::base::forms::plural::count;
use axiom_model::base::ids::TaskId;
use axiom_model::recovery::human_choice::RecoverySelection;
use axiom_model::work::sessions::session::SessionMode;

/// The number of a question; an answer names it, so that one that is no longer wanted is dropped.
pub type PanelTicket = u64;

/// What the model asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelRequest {
    /// Change something.
    Do(PanelAction),
    /// Find something out, beside the loop. Changes nothing.
    Ask(PanelTicket, PanelQuestion),
    /// Show the output of this agent or task from now on.
    Follow(Option<String>),
    /// Give the terminal to an editor.
    Edit(PanelEditTarget),
    /// Give the terminal to a verb, typed as on a command line.
    Run(String),
    /// Stop this process, as Ctrl+Z does.
    Suspend,
    /// Draw everything again.
    Redraw,
    /// The panel ends.
    Close(PanelExit),
}

/// How the panel ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanelExit {
    /// As wanted.
    Done,
    /// By Ctrl+C.
    Interrupted,
}

/// What is opened in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelEditTarget {
    /// The workspace of a task, whose agent is held meanwhile.
    Workspace(String),
    /// The instructions of a task.
    Body(String),
}

/// A change, carried out by the same function as the verb. Each has a dialog that was agreed to, except those of
/// [`PanelAction::needs_no_question`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // they are named as the verbs
pub enum PanelAction {
    Pause,
    PauseAtOnce,
    Resume,
    /// Of an agent that works on this task; nothing: the planner.
    Stop {
        agent: String,
        task: Option<String>,
    },
    /// As [`PanelAction::Stop`].
    Kill {
        agent: String,
        task: Option<String>,
    },
    Redirect {
        agent: String,
        to: String,
    },
    Block {
        task: String,
        reason: String,
    },
    Unblock(String),
    Checkpoint(Option<String>),
    DeleteCheckpoints(Vec<String>),
    /// Those over an age: after a checkpoint of the state before.
    CleanUpCheckpoints(Vec<String>),
    CompactCheckpoints,
    Mode(SessionMode),
    Quit,
    CheckpointAndQuit,
    AddTask(String),
    Approve {
        gate: String,
        /// What the dialog showed of it: where it has changed since, it is shown anew.
        shown: Vec<String>,
    },
    Reject {
        gate: String,
        reason: String,
    },
    Answer {
        gate: String,
        text: String,
    },
    RollBack(String),
    RollBackTask(String),
    RestoreFile {
        checkpoint: String,
        path: String,
    },
    Undo(String),
    /// As the rules say, and what a human wants else.
    Recover(RecoverySelection),
    /// These tasks go out of the plan.
    Abandon(Vec<TaskId>),
    /// Exactly the project's files that were shown: those with this digest.
    Trust(String),
}

impl PanelAction {
    /// Whether it may be done by a key alone: it takes nothing away, or nothing at all.
    pub fn needs_no_question(&self) -> bool {
        match self {
            Self::Pause | Self::Resume | Self::Unblock(_) | Self::Checkpoint(_) => true,
            Self::Mode(mode) => *mode != SessionMode::Autopilot,
            Self::PauseAtOnce | Self::Stop { .. } | Self::Kill { .. } | Self::Redirect { .. } | Self::Block { .. } => false,
            Self::DeleteCheckpoints(_) | Self::CleanUpCheckpoints(_) | Self::CompactCheckpoints => false,
            Self::Quit | Self::CheckpointAndQuit => false,
            Self::AddTask(_) | Self::Approve { .. } | Self::Reject { .. } | Self::Answer { .. } => false,
            Self::RollBack(_) | Self::RollBackTask(_) | Self::RestoreFile { .. } | Self::Undo(_) => false,
            Self::Recover(_) | Self::Abandon(_) | Self::Trust(_) => false,
        }
    }

    /// What is under way, in words.
    pub fn in_words(&self) -> String {
        match self {
            Self::Pause | Self::PauseAtOnce => "pausing".to_owned(),
            Self::Resume => "resuming".to_owned(),
            Self::Stop { agent, task: _ } => format!("stopping {agent}"),
            Self::Kill { agent, task: _ } => format!("killing {agent}"),
            Self::Redirect { agent, to } => format!("sending {agent} to {to}"),
            Self::Block { task, .. } => format!("blocking {task}"),
            Self::Unblock(task) => format!("unblocking {task}"),
            Self::Checkpoint(_) => "making a checkpoint".to_owned(),
            Self::DeleteCheckpoints(_) | Self::CleanUpCheckpoints(_) => "deleting checkpoints".to_owned(),
            Self::CompactCheckpoints => "packing checkpoints".to_owned(),
            Self::Mode(mode) => format!("changing to {}", mode.as_str()),
            Self::Quit | Self::CheckpointAndQuit => "ending the session".to_owned(),
            Self::AddTask(_) => "adding a task".to_owned(),
            Self::Approve { gate, .. } | Self::Reject { gate, .. } | Self::Answer { gate, .. } => format!("deciding at {gate}"),
            Self::RollBack(name) => format!("going back to {name}"),
            Self::RollBackTask(task) => format!("taking {task} back"),
            Self::RestoreFile { path, .. } => format!("restoring {path}"),
            Self::Undo(id) => format!("undoing {id}"),
            Self::Recover(_) => "recovering".to_owned(),
            Self::Abandon(tasks) => format!("abandoning {}", count(tasks.len(), "task")),
            Self::Trust(_) => "approving the project's files".to_owned(),
        }
    }
}

/// What is to be found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelQuestion {
    /// What a deed would do: the real dry run, in the words that the verb prints before it asks.
    Plan(PanelAction),
    /// What undoing this transaction would do; the newest where none is named.
    PlanUndo(Option<String>),
    /// What going back to the beginning of the session would do.
    PlanSession,
    /// Where an agent could be sent.
    Choices(String),
    /// Who runs, before the session ends.
    AtWork,
    /// What helps to decide at a gate.
    Gate(String),
    /// What a crash left, and what becomes of it.
    Recovery,
    /// All that is known of the tasks that a crash cut off.
    CutOff,
    /// Which tasks would go out of the plan.
    Abandoned,
    /// The project's files.
    Trust,
    /// What a task changed.
    Diff(String),
    /// What changed since a checkpoint.
    Since(String),
    /// Which checkpoints deleting those older than so many days would delete.
    Older(String),
    /// The checkpoints.
    Checkpoints,
    /// The timeline.
    Timeline,
    /// What agents learnt.
    Learnings,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelAnswer {
    /// What would be done.
    Plan(PanelPreview),
    /// Things to choose from, each with the word that names it.
    Choices {
        /// Lines before them.
        before: Vec<String>,
        /// The name of each, and its line.
        items: Vec<(String, String)>,
    },
    /// What a crash left.
    Recovery {
        /// What would be done.
        lines: Vec<String>,
        /// What can be chosen.
        choices: PanelRemedies,
    },
    /// The project's files.
    Trust {
        /// What they set and hold.
        lines: Vec<String>,
        /// What is approved; `None` where they cannot be approved as they are.
        digest: Option<String>,
    },
    /// Lines to read.
    Text(Vec<String>),
    /// The timeline, newest first.
    Timeline(Vec<TimelineRow>),
    /// The checkpoints, newest first, with a heading and a line on all of them.
    Checkpoints {
        /// The heading of their lines.
        heading: String,
        /// Each of them.
        rows: Vec<CheckpointRow>,
        /// How many of how many, and the space.
        summary: String,
    },
}

/// What can be chosen after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanelRemedies {
    /// Nothing: there is nothing to repair, or only a human can.
    None,
    /// To do what is shown.
    Repair,
    /// What becomes of the tasks that were cut off.
    OfTasks,
}

/// What would be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelPreview {
    /// In words.
    pub lines: Vec<String>,
    /// What to do where the human agrees; `None` where nothing would change.
    pub deed: Option<PanelAction>,
}

/// Why something was not done or found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelFailure {
    /// The error's code.
    pub code: &'static str,
    /// The message and the hints.
    pub lines: Vec<String>,
}
