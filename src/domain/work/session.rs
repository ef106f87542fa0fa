//! Sessions, the mode, and requests to the supervisor.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::gate::Afterwards;
use crate::domain::base::ids::{AgentId, CaseId, CheckpointName, SessionId};
use crate::domain::base::names::RefName;
use crate::error::{Code, Error, Result};

/// How much waits for a human.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Each claim and each merge waits at a gate.
    #[default]
    SemiAuto,
    /// Tasks are claimed and merged by themselves.
    Autopilot,
}

impl Mode {
    /// The word as in JSON and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SemiAuto => "semi-auto",
            Self::Autopilot => "autopilot",
        }
    }
}

impl std::str::FromStr for Mode {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "semi-auto" => Ok(Self::SemiAuto),
            "autopilot" => Ok(Self::Autopilot),
            _ => Err(Error::new(Code::InvalidInput, format!("'{text}' is no mode")).hint("modes are semi-auto and autopilot")),
        }
    }
}

/// From the start of `git axiom run` to its end.
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
    /// How many agents may work at once.
    pub slots: u32,
    /// Iterations that a task may take.
    pub max_iterations: u32,
    /// What it is doing.
    pub state: SessionState,
    /// The checkpoint that a session rollback goes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_checkpoint: Option<CheckpointName>,
}

/// What a session is doing. Whether one that runs has crashed, only the supervisor lock tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionState {
    /// Agents are started.
    Running,
    /// No agent is started; the running ones go on to their boundary.
    Pausing,
    /// No agent runs.
    Paused,
    /// It ended by itself or by request.
    Ended,
    /// It was interrupted by Ctrl+C or a signal.
    Interrupted,
    /// It was found dead.
    Crashed,
}

impl SessionState {
    /// Whether the session has not ended.
    pub fn is_open(self) -> bool {
        match self {
            Self::Running | Self::Pausing | Self::Paused => true,
            Self::Ended | Self::Interrupted | Self::Crashed => false,
        }
    }
}

/// What a verb asks of the supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Request {
    /// Stop agents: the adapter's signal, grace, SIGKILL; their tasks become pending.
    Stop {
        /// Which; all of them where empty.
        agents: Vec<AgentId>,
        /// What they worked on when this was asked: held even where the agent has let go of it by then.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tasks: Vec<CaseId>,
        /// What becomes of their tasks.
        #[serde(default, skip_serializing_if = "Afterwards::is_default")]
        afterwards: Afterwards,
    },
    /// End agents at once.
    Kill {
        /// Which; all of them where empty.
        agents: Vec<AgentId>,
        /// What they worked on when this was asked: held even where the agent has let go of it by then.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tasks: Vec<CaseId>,
        /// What becomes of their tasks.
        #[serde(default, skip_serializing_if = "Afterwards::is_default")]
        afterwards: Afterwards,
    },
    /// Start no iteration; hold at the boundary.
    Pause {
        /// Stop what runs instead of waiting for its boundary.
        force: bool,
    },
    /// Take up work again.
    Resume,
    /// Merge a task that waits at its gate.
    Merge {
        /// Which.
        task: CaseId,
    },
    /// End the session.
    Quit,
}
