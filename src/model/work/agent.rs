//! Agents: slots that run an agent program, the task they work on, and how an iteration ended.

use crate::work::iteration::{IterationOutcome, SilentProgramEnd};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::defaults::is_default;
use crate::base::ids::{AgentId, TaskId, Token};
use crate::base::names::{Oid, RefName};
use crate::work::signals::reports::TaskReports;

/// A linked worktree in which an agent works on one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workspace {
    /// The agent for which it was made.
    pub agent: AgentId,
    /// Its absolute path.
    pub path: String,
    /// The task's branch.
    pub branch: RefName,
    /// The commit of the target at which the branch was started.
    pub base: Oid,
}

/// A slot for an agent. It is kept after its work ended, because it has worked on the task before and knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Its current work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<AgentWork>,
}

impl Agent {
    /// The token of the current iteration.
    pub fn token(&self) -> Option<&Token> {
        self.work.as_ref().and_then(|work| work.stage.token())
    }

    /// Whether it has asked a human, and its next iteration waits for the answer. So it stays when a session ends: the question is
    /// still open, and the next session goes on with the answer.
    pub fn waits_for_an_answer(&self) -> bool {
        let stage = self.work.as_ref().map(|work| &work.stage);
        matches!(stage, Some(IterationStage::Between { last: Some(IterationOutcome::Waiting { .. }) }))
    }
}

/// One agent's work on one task, from claim to release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentWork {
    /// The task.
    pub task: TaskId,
    /// How many iterations of this attempt were intended so far: the numbers go on where an earlier claim was cut off.
    pub iteration: u32,
    /// The stage of its iteration.
    pub stage: IterationStage,
    /// When it was claimed.
    pub claimed_at: Timestamp,
    /// When there was a last sign of activity.
    pub last_activity: Timestamp,
    /// The branch's commit when the newest iteration was intended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Oid>,
    /// Whether exit status 0 alone completes the task in the newest iteration.
    #[serde(default)]
    pub exit_completes: bool,
    /// The agent program of the newest iteration, where it can go on with a session.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// The session of the program that the newest iteration goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<String>,
    /// The progress that the agent reports, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<u8>,
    /// What the agent reports that it is doing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// How the newest iteration ended, if its program sent no signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_end: Option<SilentProgramEnd>,
    /// How many iterations in a row ended like this.
    #[serde(default, skip_serializing_if = "is_default")]
    pub same_ends: u32,
    /// How many signals of the newest iteration are in the log: a supervisor that takes over continues after them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub signals: u64,
    /// How many tasks it added in the newest iteration.
    #[serde(default, skip_serializing_if = "is_default")]
    pub added: u32,
    /// What had been said when the newest iteration was intended, in case its agent is killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_before: Option<Box<EarlierReports>>,
}

/// What agents had said of a task before an iteration.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EarlierReports {
    /// The last event before it: learnings of later ones are of the iteration.
    pub seq: u64,
    /// The reports.
    #[serde(default)]
    pub reports: TaskReports,
}

impl AgentWork {
    /// A claim, before its first iteration. `last` is how the task's last iteration ended, if that still counts.
    pub fn claimed(task: TaskId, last: Option<IterationOutcome>, at: Timestamp) -> Self {
        Self {
            task,
            iteration: 0,
            stage: IterationStage::Between { last },
            claimed_at: at,
            last_activity: at,
            from: None,
            exit_completes: false,
            program: String::new(),
            resumes: None,
            progress: None,
            phase: None,
            silent_end: None,
            same_ends: 0,
            added: 0,
            signals: 0,
            said_before: None,
        }
    }
}

/// The stage of an agent's work within an iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IterationStage {
    /// Claimed, or between two iterations.
    Between {
        /// How the last iteration of this claim ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last: Option<IterationOutcome>,
    },
    /// A keeper is to be started. Its folder shows whether it was.
    Intended {
        /// The iteration's token, also the name of the keeper's folder.
        token: Token,
    },
    /// The keeper runs the program.
    Running {
        /// The iteration's token.
        token: Token,
        /// The keeper's process id.
        pid: u32,
    },
}

impl IterationStage {
    /// The token of the current iteration.
    pub fn token(&self) -> Option<&Token> {
        match self {
            Self::Between { .. } => None,
            Self::Intended { token } | Self::Running { token, .. } => Some(token),
        }
    }

    /// Whether a recovery has something to do where no supervisor attends to it; `lives` says whether its keeper does. What waits
    /// for an answer, for the next iteration or for a program that runs goes on with the next session, and needs none.
    pub fn wants_recovery(&self, lives: bool) -> bool {
        match self {
            Self::Intended { .. } | Self::Running { .. } => !lives,
            Self::Between {
                last:
                    None
                    | Some(IterationOutcome::Waiting { .. } | IterationOutcome::Unfinished { .. } | IterationOutcome::Limited { .. }),
            } => false,
            Self::Between {
                last:
                    Some(
                        IterationOutcome::Complete
                        | IterationOutcome::Blocked { .. }
                        | IterationOutcome::NeedsHuman { .. }
                        | IterationOutcome::Stopped
                        | IterationOutcome::Crashed,
                    ),
            } => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_alike_but_for_numbers() {
        let end = |exit, digit: &str, line: &str| SilentProgramEnd {
            exit,
            tree: Oid::new(digit.repeat(40)).unwrap(),
            lines: vec![line.to_owned()],
        };
        let first = end(1, "1", r#"{"session_id":"8f1c-22","error":"not logged in"} 12:00:01.5"#);
        for (other, alike) in [
            (end(1, "1", r#"{"session_id":"9e0d-7","error":"not logged in"} 12:00:09"#), true),
            (end(2, "1", r#"{"session_id":"8f1c-22","error":"not logged in"} 12:00:01.5"#), false),
            (end(1, "2", r#"{"session_id":"8f1c-22","error":"not logged in"} 12:00:01.5"#), false),
            (end(1, "1", r#"{"session_id":"8f1c-22","error":"no room"} 12:00:01.5"#), false),
        ] {
            assert_eq!(first.is_like(&other), alike, "{other:?}");
        }
    }
}
