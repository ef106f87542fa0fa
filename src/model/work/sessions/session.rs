//! Sessions, the mode, and requests to the supervisor.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::ids::{AgentId, CheckpointName, SessionId, TaskId};
use crate::base::names::RefName;
use crate::work::gates::gate::{AfterHalt, RedirectWorkspace};
use crate::work::money::budget::BudgetLimits;
use axiom_base::error::{Code, Error, Result};

/// Which steps wait for a human.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionMode {
    /// Each claim and each merge waits at a gate.
    #[default]
    SemiAuto,
    /// Tasks are claimed automatically; each merge waits at a gate.
    Review,
    /// Tasks are claimed and merged automatically.
    Autopilot,
}

impl SessionMode {
    /// The word used in JSON and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SemiAuto => "semi-auto",
            Self::Review => "review",
            Self::Autopilot => "autopilot",
        }
    }

    /// The one of the two that asks more.
    #[must_use]
    pub const fn or_stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::SemiAuto, _) | (_, Self::SemiAuto) => Self::SemiAuto,
            (Self::Review, _) | (_, Self::Review) => Self::Review,
            (Self::Autopilot, Self::Autopilot) => Self::Autopilot,
        }
    }

    /// Whether ready tasks are claimed without asking.
    pub const fn claims(self) -> bool {
        match self {
            Self::SemiAuto => false,
            Self::Review | Self::Autopilot => true,
        }
    }

    /// Whether work that is done is merged without asking.
    pub const fn merges(self) -> bool {
        match self {
            Self::SemiAuto | Self::Review => false,
            Self::Autopilot => true,
        }
    }
}

impl std::str::FromStr for SessionMode {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "semi-auto" => Ok(Self::SemiAuto),
            "review" => Ok(Self::Review),
            "autopilot" => Ok(Self::Autopilot),
            _ => Err(Error::new(Code::InvalidInput, format!("'{text}' is not a mode"))
                .hint("modes are semi-auto, review and autopilot")),
        }
    }
}

/// A session lasts from the start of `git axiom run` to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// When it started.
    pub started_at: Timestamp,
    /// The supervisor's process id.
    pub pid: u32,
    /// The branch that work is merged into.
    pub target: RefName,
    /// How many agents may work at the same time.
    pub slots: u32,
    /// How many iterations a task may take.
    pub max_iterations: u32,
    /// What it may use.
    #[serde(default, skip_serializing_if = "BudgetLimits::is_empty")]
    pub limits: BudgetLimits,
    /// What each task may use that has no limits of its own.
    #[serde(default, skip_serializing_if = "BudgetLimits::is_empty")]
    pub task_limits: BudgetLimits,
    /// The state of the session.
    pub state: SessionState,
    /// When a human paused it, where it was not let continue since; it stays so when the session ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<Timestamp>,
    /// The checkpoint to which a rollback of the session goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_checkpoint: Option<CheckpointName>,
    /// Whether it was begun in a linked worktree of the user's, for the branch that is checked out there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_linked_worktree: bool,
}

/// The state of a session. Only the supervisor lock shows whether a running session has crashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionState {
    /// Agents are started.
    Running,
    /// No iteration is started; running ones go on to their end.
    Pausing,
    /// No agent runs.
    Paused,
    /// Somebody asked for its end: no iteration is started, and running ones get a few seconds.
    Ending,
    /// It ended normally or on request.
    Ended,
    /// It was interrupted by Ctrl+C or a signal.
    Interrupted,
    /// Its supervisor was found dead.
    Crashed,
}

impl SessionState {
    /// The word, as in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Pausing => "pausing",
            Self::Paused => "paused",
            Self::Ending => "ending",
            Self::Ended => "ended",
            Self::Interrupted => "interrupted",
            Self::Crashed => "crashed",
        }
    }

    /// Whether the session has not ended.
    pub fn is_open(self) -> bool {
        match self {
            Self::Running | Self::Pausing | Self::Paused | Self::Ending => true,
            Self::Ended | Self::Interrupted | Self::Crashed => false,
        }
    }

    /// Whether the next session goes on with one that is in this state and has no supervisor, with its target, its limits and what was used
    /// of these: it has crashed.
    pub fn is_gone_on_with(self) -> bool {
        self == Self::Crashed || self.is_crash_without_supervisor()
    }

    /// Whether a session in this state has crashed, where its supervisor is gone. One that a human left at once, by a second
    /// Ctrl+C, has not.
    pub fn is_crash_without_supervisor(self) -> bool {
        match self {
            Self::Running | Self::Pausing | Self::Paused => true,
            Self::Ending | Self::Ended | Self::Interrupted | Self::Crashed => false,
        }
    }
}

/// A request of a verb to the supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SupervisorRequest {
    /// Stop agents: the program's stop signal, a grace period, then SIGKILL. Their tasks become pending.
    Stop {
        /// The agents; empty for all of them.
        agents: Vec<AgentId>,
        /// The tasks they worked on at the time of the request: these are held even if the agent has released them by then.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tasks: Vec<TaskId>,
        /// What happens to the tasks.
        #[serde(default, skip_serializing_if = "AfterHalt::is_default")]
        afterwards: AfterHalt,
    },
    /// Kill agents at once.
    Kill {
        /// The agents; empty for all of them.
        agents: Vec<AgentId>,
        /// The tasks they worked on at the time of the request: these are held even if the agent has released them by then.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tasks: Vec<TaskId>,
        /// What happens to the tasks.
        #[serde(default, skip_serializing_if = "AfterHalt::is_default")]
        afterwards: AfterHalt,
    },
    /// Start no further iteration; pause when the running ones have ended.
    Pause {
        /// Stop the running iterations instead of waiting for their end.
        force: bool,
    },
    /// Continue the session.
    Resume,
    /// Merge a task that waits at its merge gate.
    Merge {
        /// The task.
        task: TaskId,
    },
    /// Send an agent to another task.
    Redirect {
        /// The agent.
        agent: AgentId,
        /// The task that it works on.
        from: TaskId,
        /// The task that it is to work on.
        to: TaskId,
        /// In which workspace.
        #[serde(default)]
        place: RedirectWorkspace,
        /// What happens to the task that it leaves.
        #[serde(default, skip_serializing_if = "AfterHalt::is_default")]
        afterwards: AfterHalt,
    },
    /// Block tasks that agents work on; the agents are stopped.
    Block {
        /// The tasks.
        tasks: Vec<TaskId>,
        /// Why.
        reason: String,
    },
    /// End the session.
    Quit,
}
