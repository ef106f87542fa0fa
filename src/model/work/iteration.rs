//! One iteration: how it ended, and what is reported of it.

use crate::agent::stream::stream_event::TokenUsage;
use crate::base::names::Oid;
use crate::work::iteration_marker::CutOffPoint;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

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
    /// Whether nobody recorded when it ended: its time is known to its last sign of life, and may have been more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub end_unseen: bool,
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
    /// Its exit status, as [`crate::work::endings::outcome::AgentProgramEnd::status`] says.
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

/// The subject of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReviewCause {
    /// The task, or the result of its merge, did not pass its verification.
    VerifyFailed,
    /// A hook of the project keeps the task from being started or merged.
    HookVeto,
    /// The agent program is not signed in.
    SignIn,
    /// The agent program refused its agent a tool.
    ToolDenied,
    /// A crash, or the end of a paused session, cut the work off, and how far it is is unclear.
    Recovery,
}

impl ReviewCause {
    /// What is the matter, in words.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::VerifyFailed => "it did not pass its verification",
            Self::HookVeto => "a hook keeps it",
            Self::SignIn => "its agent program is not signed in",
            Self::ToolDenied => "its agent program refused it a tool",
            Self::Recovery => "it was cut off",
        }
    }
}

/// The session of an agent program, as its last run left it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgramSession {
    /// Its id, as the program gave it.
    pub id: String,
    /// The name of the agent program.
    pub program: String,
    /// The workspace in which it ran.
    pub path: String,
    /// What the program has counted last of it.
    #[serde(default)]
    pub usage: TokenUsage,
    /// Whether the run was cut off, so that it is to be gone on with. One that ended by itself is not.
    #[serde(default)]
    pub open: bool,
}

/// How a run went that was to go on with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ResumedRunResult {
    /// The agent worked.
    WentOn,
    /// It was ended, or refused by the model's service, before its agent had done anything.
    NotYet,
    /// The program ended by itself before its agent had done anything: it does not know the session.
    InVain,
}

/// The session as a run leaves it. `before` is what it was to go on with.
pub fn left_by(report: &IterationReport, before: Option<&ProgramSession>) -> Option<ProgramSession> {
    match report.resumed {
        Some(ResumedRunResult::InVain) => None,
        // Nothing has happened in it.
        Some(ResumedRunResult::NotYet) => before.map(|before| {
            let usage = report.session.as_ref().map_or(before.usage, |session| session.usage);
            ProgramSession { usage, ..before.clone() }
        }),
        Some(ResumedRunResult::WentOn) | None => report.session.as_deref().cloned(),
    }
}
