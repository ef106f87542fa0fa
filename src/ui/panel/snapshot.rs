//! What is on disk, as the panel shows it: plain data, read by `effects::look`.

use jiff::Timestamp;

use axiom_model::queries::displayed_status::DisplayedTaskStatus;
use axiom_model::queries::project::LiveSessionStatus;
use axiom_model::work::gates::gate::GateKind;
use axiom_model::work::sessions::session::SessionMode;
use axiom_model::work::tasks::task::{TaskKind, TaskStatus};

/// Everything that the panel shows without being asked for more.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelSnapshot {
    /// The number of the last event.
    pub seq: u64,
    /// The session.
    pub session: PanelSession,
    /// The agents, and what humans run themselves, in the order of their names.
    pub agents: Vec<AgentRow>,
    /// The tasks as a tree: each after the group that it is a part of.
    pub tasks: Vec<TaskRow>,
    /// What waits for a human.
    pub waiting: Vec<WaitingRow>,
    /// What has to be recovered, in words.
    pub recovery: Vec<String>,
    /// Tasks by what they are.
    pub counts: PanelTaskCounts,
}

/// The session, and the repository.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelSession {
    /// Its state.
    pub now: LiveSessionStatus,
    /// Whether a supervisor runs.
    pub supervised: bool,
    /// The mode.
    pub mode: SessionMode,
    /// The branch that work is merged into.
    pub target: Option<String>,
    /// What its iterations used.
    pub tokens: Option<u64>,
    /// The same in US dollars.
    pub cost: Option<f64>,
    /// The space that is left, in words.
    pub disk: Option<String>,
    /// The last action.
    pub last_action: Option<String>,
    /// What is being done now for no agent: it has no row.
    pub doing: Vec<String>,
}

/// Whose program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentRowRunner {
    /// An agent of the session.
    Agent,
    /// A human: an attached session.
    Human {
        /// Why it is not protected.
        unprotected: Option<String>,
    },
    /// A prompt of the attached session above: a moment to go back to.
    Prompt {
        /// Its checkpoint.
        checkpoint: String,
    },
}

/// One agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentRow {
    /// Its id; of an attached session its program and key.
    pub id: String,
    /// Who runs it.
    pub runner: AgentRowRunner,
    /// Its state: running, waiting and so on.
    pub state: String,
    /// Whether a program works on its task.
    pub works: bool,
    /// The task that it works on.
    pub task: Option<String>,
    /// The task's title, or the prompts of an attached session.
    pub title: String,
    /// Iterations of this attempt, and the most that the session allows.
    pub iteration: (u32, Option<u32>),
    /// When it began with the task.
    pub since: Option<Timestamp>,
    /// Until when, where nobody goes on with it.
    pub until: Option<Timestamp>,
    /// What the task used.
    pub used: ShownUsage,
    /// What was heard of it.
    pub heard: HeardOfAgent,
    /// Its workspace.
    pub workspace: ShownWorkspace,
}

/// What a task used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ShownUsage {
    /// Tokens.
    pub tokens: Option<u64>,
    /// Their cost.
    pub cost: Option<f64>,
    /// The agent's limits and what was used of them, in words.
    pub budget: Option<String>,
}

/// What was heard of an agent, by what it prints and reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeardOfAgent {
    /// When it was last heard of.
    pub at: Option<Timestamp>,
    /// What it does right now.
    pub doing: Option<String>,
    /// The phase that it reports.
    pub phase: Option<String>,
    /// Progress in percent.
    pub progress: Option<u8>,
}

/// The workspace of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownWorkspace {
    /// Where it is.
    pub path: Option<String>,
    /// Lines added and removed in it, when it was saved last.
    pub lines: Option<(u64, u64)>,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRow {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its kind.
    pub kind: TaskKind,
    /// How deep it is in the tree.
    pub depth: usize,
    /// Its status.
    pub status: TaskRowStatus,
    /// Progress in percent.
    pub progress: u8,
    /// The tasks that have to be merged before it.
    pub after: Vec<String>,
    /// How many open tasks wait for it.
    pub unblocks: usize,
    /// The agent that works on it.
    pub agent: Option<String>,
    /// Why it is blocked or failed.
    pub reason: Option<String>,
    /// Its workspace.
    pub workspace: Option<String>,
}

/// The status of a task, and what is said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskRowStatus {
    /// The stored status.
    pub stored: TaskStatus,
    /// The status as `task list` has it.
    pub shown: DisplayedTaskStatus,
    /// Whether the task is merged, and its target has that.
    pub merged: bool,
    /// Whether it was merged, and its target no longer has that.
    pub is_lost: bool,
}

impl TaskRowStatus {
    /// Whether a crash ended the agent that works on it, and nobody has recovered that yet: no event says so.
    pub fn is_cut_off(&self) -> bool {
        self.stored == TaskStatus::Active && self.shown == DisplayedTaskStatus::Interrupted
    }

    /// What it is, in words.
    pub fn in_words(&self) -> &'static str {
        match self {
            Self { merged: true, .. } => "merged",
            Self { is_lost: true, .. } => "was merged",
            Self { .. } => self.shown.in_words(),
        }
    }
}

/// What waits for a human.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitingRowKind {
    /// A gate.
    Gate(GateKind),
    /// What a crash left.
    Recovery,
    /// The project's files: nobody has approved them as they are.
    Trust,
}

impl WaitingRowKind {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gate(kind) => kind.as_str(),
            Self::Recovery => "recovery",
            Self::Trust => "trust",
        }
    }
}

/// Something that waits for a human.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingRow {
    /// Its name: the gate's id.
    pub id: String,
    /// What it is.
    pub what: WaitingRowKind,
    /// The task.
    pub task: Option<String>,
    /// One line on what waits.
    pub reason: String,
    /// More about it.
    pub details: Vec<String>,
    /// Since when, where that is known.
    pub since: Option<Timestamp>,
    /// What was decided and is not carried out yet.
    pub decided: Option<String>,
    /// Whether words are asked for.
    pub asks: bool,
    /// Whether it can be allowed for the rest of the task: at the gate of a permission.
    pub always: bool,
}

/// Tasks by what they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)] // as in `status`
pub struct PanelTaskCounts {
    pub total: u32,
    pub merged: u32,
    pub blocked: u32,
    pub failed: u32,
}

/// A moment of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineRow {
    /// When it was.
    pub at: Timestamp,
    /// The same in words, in the user's time zone.
    pub clock: String,
    /// What it is.
    pub what: TimelineRowKind,
    /// In words.
    pub words: String,
    /// Who did it; nobody for a checkpoint.
    pub by: String,
}

/// What can be done with a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimelineRowKind {
    /// A checkpoint of this name: one can go back to it.
    Checkpoint(String),
    /// An operation of this id.
    Operation {
        /// Its id.
        id: String,
        /// Whether it can be undone, as far as the log says.
        undoable: bool,
    },
}

impl TimelineRowKind {
    /// The name or id.
    pub fn id(&self) -> &str {
        match self {
            Self::Checkpoint(name) => name,
            Self::Operation { id, .. } => id,
        }
    }
}

/// A checkpoint, as a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointRow {
    /// Its name.
    pub name: String,
    /// Its line in the table.
    pub line: String,
}

/// A line of an agent's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputRow {
    /// What it is.
    pub kind: OutputRowKind,
    /// Its text.
    pub text: String,
}

/// What a line of output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // as `domain::agent::stream::readable::Part`
pub enum OutputRowKind {
    Heading,
    Said,
    Call,
    Result,
    Removed,
    Added,
    Trouble,
    Remark,
    Other,
}
