//! Agents: slots that run an agent program, the task they work on, and how an iteration ended.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::base::defaults::is_default;
use crate::domain::base::ids::{AgentId, TaskId, Token};
use crate::domain::base::names::{Oid, RefName};
use crate::domain::work::gate::ReviewCause;
use crate::domain::work::iteration_marker::CutOffPoint;
use crate::domain::work::reports::TaskReports;
use crate::domain::work::resuming::{ProgramSession, ResumedRunResult};

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

/// How an iteration ended, as the supervisor understood it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IterationOutcome {
    /// The task is complete, by exit status 0 or by signal.
    Complete,
    /// The agent reports that it cannot go on.
    Blocked {
        /// The agent's words.
        reason: String,
    },
    /// The agent asks a human.
    Waiting {
        /// The agent's words.
        question: String,
    },
    /// The program ended without completing the task; the next iteration may complete it.
    Unfinished {
        /// What is known about the end.
        why: String,
    },
    /// The model's service refuses for now. The iteration does not count, and is tried again.
    Limited {
        /// What the program said.
        why: String,
        /// For how many seconds, where the program was told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<u64>,
    },
    /// Only a human can help: to sign in, to allow what was refused.
    NeedsHuman {
        /// What is missing.
        cause: ReviewCause,
        /// What the program said.
        why: String,
    },
    /// The program was stopped on request.
    Stopped,
    /// Its keeper or the machine crashed.
    Crashed,
}

/// The record of one iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IterationReport {
    /// How it ended.
    pub outcome: IterationOutcome,
    /// The exit code, where the program exited by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The branch's commit before the iteration.
    pub from: Oid,
    /// The branch's commit after it, leftovers committed.
    pub to: Oid,
    /// Names of changed files, at most a hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Files that were left uncommitted, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// How long its program ran, in milliseconds, without the time in which the machine was asleep.
    pub duration_ms: u64,
    /// When its program ended, as far as that is known: it may be seen much later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Tokens used, if the program reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost in US dollars, if the program reports it. Unknown is not zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Whether it never began: then it is not counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_started: bool,
    /// How the program ended, if it sent no signal and exit status 0 alone does not complete the task. If that repeats, the
    /// task fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_end: Option<SilentProgramEnd>,
    /// The tool calls that the program refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// Its tool calls that had begun and not ended, and may not simply be repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<String>,
    /// Where its program was, where a crash cut it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Box<CutOffPoint>>,
    /// The program's own session, where it told one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Box<ProgramSession>>,
    /// How it went, where it was to go on with a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<ResumedRunResult>,
    /// The name of the agent program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ran: String,
    /// Whether it was cut off, so that it may have used more than it told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_off: bool,
    /// The round of its conflict that follows, where it claimed to be complete and left the conflict open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict_round: Option<u32>,
    /// Whether what its agent said in it does not count: it was killed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discarded: bool,
}

impl IterationReport {
    /// Whether it counts as one of those that a task may have: not where the model's service refused, or the program did not know
    /// the session with which it was to go on.
    pub fn counts(&self) -> bool {
        !matches!(self.outcome, IterationOutcome::Limited { .. }) && self.resumed != Some(ResumedRunResult::InVain)
    }
}

/// The end of a program that sent no signal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SilentProgramEnd {
    /// Its exit status, as [`super::outcome::AgentProgramEnd::status`] says.
    pub exit: i32,
    /// The tree of its files.
    pub tree: Oid,
    /// The last lines of its output, cut to a limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

impl SilentProgramEnd {
    /// Whether another end is the same. Words that contain a digit (times, ids, counts) may differ.
    pub fn is_like(&self, other: &Self) -> bool {
        let told = |end: &Self| end.lines.iter().map(|line| without_numbers(line)).collect::<Vec<_>>();
        self.exit == other.exit && self.tree == other.tree && told(self) == told(other)
    }
}

fn without_numbers(line: &str) -> String {
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let mut out = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| in_word(c) != in_word(first)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        out.push_str(if part.contains(|c: char| c.is_ascii_digit()) { "#" } else { part });
        rest = after;
    }
    out
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
