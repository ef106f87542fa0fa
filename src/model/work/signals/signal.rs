//! The reports of an agent: sent by `git axiom signal`, or printed as markers in its output.
//!
//! Both are only accepted with the token of the iteration. How a signal reaches the supervisor is not here.

use serde::{Deserialize, Serialize};

use crate::agent::stream::stream_event::{ModelExchange, StreamEvent};
use crate::agent::tool_kind::ToolKind;

use super::learning_scope::LearningScope;
use crate::work::permissions::permission_question::{PermissionEnd, PermissionQuestion};
use axiom_base::error::{Code, Error, Result};

/// The longest text of a signal, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;
/// The longest name (phase, subtask, tool, path …) in a signal, in bytes.
pub const MAX_NAME: usize = 4096;
/// The longest estimate, in seconds: a year.
pub const MAX_ESTIMATE: u64 = 366 * 24 * 3600;
/// How many names one signal has at most.
pub const MAX_NAMES: usize = 100;

/// One report of an agent. Reading it from JSON is in `signal_json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AgentSignal {
    /// The task is complete.
    Complete {},
    /// The agent cannot go on.
    Blocked {
        /// The reason.
        reason: String,
    },
    /// The agent waits for a human's answer.
    Waiting {
        /// The question.
        question: String,
    },
    /// The progress of the task.
    Progress {
        /// Percent, 0 to 100.
        percent: u8,
    },
    /// Something worth knowing beyond this task.
    Learning {
        /// The lesson.
        text: String,
        /// Where the lesson applies.
        #[serde(skip_serializing_if = "Option::is_none")]
        scope: Option<String>,
    },
    /// The agent has entered a phase of its work.
    Phase {
        /// The phase's name.
        name: String,
        /// How sure the agent is of the work so far, 0 to 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        confidence: Option<f64>,
    },
    /// A part of the task was planned, was begun, or is done.
    Subtask {
        /// The part's name.
        name: String,
        /// Whether it is done.
        done: bool,
        /// Whether it is only planned.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        planned: bool,
    },
    /// A file is being worked on, or is done, or is good to know.
    File(Box<FileReport>),
    /// Something others may wait for is ready.
    Ready {
        /// Its name.
        name: String,
        /// A description.
        text: String,
    },
    /// A tool call began.
    ToolStarted(ToolReport),
    /// A tool call has ended.
    ToolCompleted(ToolReport),
    /// A request was sent to the model.
    RequestSent(ModelExchange),
    /// The model answered.
    ResponseReceived(ModelExchange),
    /// How long the rest of the task will take.
    Estimate {
        /// Seconds from now on.
        seconds: u64,
    },
    /// Libraries that the work uses. No task waits for them.
    Depends {
        /// Their names.
        names: Vec<String>,
    },
    /// The program's own session began; it can be gone on with by this id.
    Session {
        /// The id.
        id: String,
    },
    /// The keeper asks whether its agent may make a tool call.
    PermissionAsked(Box<PermissionQuestion>),
    /// Such a question has come to its end.
    PermissionEnded {
        /// Its number.
        number: u64,
        /// How.
        end: PermissionEnd,
    },
    /// What the program's output says of its end, its cost, and what was refused. It is no event: the report of the iteration has what
    /// follows from it.
    Seen(Box<StreamEvent>),
}

/// What a file is for the task, where it is not one that the work changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReportedFileRole {
    /// It helps to understand the work.
    Related,
    /// It tests the work.
    Test,
}

/// The progress on one file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileReport {
    /// The file, relative to the workspace.
    pub path: String,
    /// Whether it is done.
    #[serde(default)]
    pub done: bool,
    /// The section that was finished last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The section that comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The line that was reached, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// How sure the agent is, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What else it is, where the work does not change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<ReportedFileRole>,
}

/// A tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolReport {
    /// The tool's name.
    pub name: String,
    /// The call's id, as the agent program gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A hash of the call's input, so that a repeated call can be recognised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// What the tool does, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub does: Option<ToolKind>,
    /// What it is about in a few words: a command, a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Whether the call has failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

impl AgentSignal {
    /// Whether only the output of a program can say this, or its keeper, and no report of an agent.
    pub fn is_of_output(&self) -> bool {
        matches!(self, Self::Session { .. } | Self::Seen(_) | Self::PermissionAsked(_) | Self::PermissionEnded { .. })
    }

    /// The kind, as in JSON, and on the command line of `git axiom signal` (there with `-` between words).
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Complete {} => "complete",
            Self::Blocked { .. } => "blocked",
            Self::Waiting { .. } => "waiting",
            Self::Progress { .. } => "progress",
            Self::Learning { .. } => "learning",
            Self::Phase { .. } => "phase",
            Self::Subtask { .. } => "subtask",
            Self::File(_) => "file",
            Self::Ready { .. } => "ready",
            Self::ToolStarted(_) => "toolStarted",
            Self::ToolCompleted(_) => "toolCompleted",
            Self::RequestSent(_) => "requestSent",
            Self::ResponseReceived(_) => "responseReceived",
            Self::Estimate { .. } => "estimate",
            Self::Depends { .. } => "depends",
            Self::Session { .. } => "session",
            Self::PermissionAsked(_) => "permissionAsked",
            Self::PermissionEnded { .. } => "permissionEnded",
            Self::Seen(_) => "seen",
        }
    }

    /// Checks sizes and ranges.
    pub fn validated(self) -> Result<Self> {
        match &self {
            // What output says is cut where it is read.
            Self::Complete {} | Self::Seen(_) | Self::PermissionAsked(_) | Self::PermissionEnded { .. } => {}
            Self::RequestSent(told) | Self::ResponseReceived(told) => {
                optional("the id", told.id.as_deref())?;
                optional("the hash", told.hash.as_deref())?;
            }
            Self::Session { id } => name("the session", id)?,
            Self::Blocked { reason } => text("the reason", reason)?,
            Self::Waiting { question } => text("the question", question)?,
            Self::Progress { percent } if *percent > 100 => {
                return Err(invalid(format!("{percent} is not a percentage")).hint("give a number from 0 to 100"));
            }
            Self::Progress { .. } => {}
            Self::Learning { text: learnt, scope } => {
                text("the learning", learnt)?;
                scope.as_deref().map_or(Ok(()), |word| word.parse::<LearningScope>().map(drop))?;
            }
            Self::Phase { name: phase, confidence } => {
                name("the phase", phase)?;
                sure(*confidence)?;
            }
            Self::Subtask { done: true, planned: true, .. } => return Err(invalid("a subtask is planned or done, not both")),
            Self::Subtask { name: part, .. } => name("the subtask", part)?,
            Self::File(report) => file(report)?,
            Self::Ready { name: what, text: about } => {
                name("the name", what)?;
                text("the text", about)?;
            }
            Self::ToolStarted(tool) | Self::ToolCompleted(tool) => {
                name("the tool", &tool.name)?;
                optional("the id", tool.id.as_deref())?;
                optional("the hash", tool.hash.as_deref())?;
            }
            Self::Estimate { seconds } if *seconds > MAX_ESTIMATE => {
                return Err(
                    invalid(format!("{seconds} seconds are more than a year")).hint("estimate what is left, such as 20min")
                );
            }
            Self::Estimate { .. } => {}
            Self::Depends { names } => libraries(names)?,
        }
        Ok(self)
    }
}

fn file(report: &FileReport) -> Result<()> {
    name("the path", &report.path)?;
    optional("the section", report.section.as_deref())?;
    optional("the next section", report.next.as_deref())?;
    if report.line == Some(0) {
        return Err(invalid("0 is not a line").hint("lines are counted from 1"));
    }
    if report.done && report.role.is_some() {
        return Err(invalid("a file is done, related or a test, not several of these"));
    }
    sure(report.confidence)
}

fn libraries(names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Err(invalid("no library is named"));
    }
    if names.len() > MAX_NAMES {
        return Err(Error::new(Code::TooLarge, format!("{} names, the limit is {MAX_NAMES}", names.len())));
    }
    names.iter().try_for_each(|library| name("the library", library))
}

fn sure(confidence: Option<f64>) -> Result<()> {
    match confidence {
        Some(sure) if !(0.0..=1.0).contains(&sure) => Err(invalid(format!("{sure} is not a confidence")).hint("give 0 to 1")),
        Some(_) | None => Ok(()),
    }
}

fn invalid(what: impl Into<String>) -> Error {
    Error::new(Code::InvalidInput, what)
}

fn sized(what: &str, value: &str, limit: usize) -> Result<()> {
    if value.trim().is_empty() {
        return Err(invalid(format!("{what} is empty")));
    }
    if value.len() > limit {
        return Err(Error::new(Code::TooLarge, format!("{what} has {} bytes, the limit is {limit}", value.len())));
    }
    Ok(())
}

pub(super) fn text(what: &str, value: &str) -> Result<()> {
    sized(what, value, MAX_TEXT)
}

fn name(what: &str, value: &str) -> Result<()> {
    sized(what, value, MAX_NAME)?;
    if value.contains(['\n', '\r', '\0']) { Err(invalid(format!("{what} has more than one line"))) } else { Ok(()) }
}

fn optional(what: &str, value: Option<&str>) -> Result<()> {
    value.map_or(Ok(()), |value| name(what, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold() {
        let long = "x".repeat(MAX_TEXT + 1);
        assert_eq!(AgentSignal::Blocked { reason: long }.validated().unwrap_err().code(), Code::TooLarge);
        assert!(AgentSignal::Blocked { reason: "x".repeat(MAX_TEXT) }.validated().is_ok());
        let many = AgentSignal::Depends { names: vec!["x".into(); MAX_NAMES + 1] };
        assert_eq!(many.validated().unwrap_err().code(), Code::TooLarge);
        for bad in [
            AgentSignal::Progress { percent: 101 },
            AgentSignal::Waiting { question: " ".into() },
            AgentSignal::Phase { name: "a\nb".into(), confidence: None },
            AgentSignal::Phase { name: "a".into(), confidence: Some(1.5) },
            AgentSignal::Subtask { name: "a".into(), done: true, planned: true },
            AgentSignal::File(Box::new(FileReport {
                path: "a".into(),
                done: true,
                role: Some(ReportedFileRole::Test),
                ..FileReport::default()
            })),
            AgentSignal::Learning { text: "a".into(), scope: Some("all".into()) },
            AgentSignal::Estimate { seconds: MAX_ESTIMATE + 1 },
            AgentSignal::Depends { names: vec![] },
            AgentSignal::Depends { names: vec!["a".into(), " ".into()] },
            AgentSignal::File(Box::new(FileReport { path: "a".into(), line: Some(0), ..FileReport::default() })),
            AgentSignal::File(Box::new(FileReport { path: "a".into(), confidence: Some(f64::NAN), ..FileReport::default() })),
        ] {
            assert_eq!(bad.clone().validated().unwrap_err().code(), Code::InvalidInput, "{bad:?}");
        }
    }

    #[test]
    fn json_round_trip() {
        let tool = ToolReport { name: "Bash".into(), id: Some("1".into()), ..ToolReport::default() };
        for signal in [
            AgentSignal::Complete {},
            AgentSignal::Progress { percent: 3 },
            AgentSignal::ToolStarted(tool),
            AgentSignal::RequestSent(ModelExchange::default()),
        ] {
            let json = serde_json::to_string(&signal).unwrap();
            assert_eq!(serde_json::from_str::<AgentSignal>(&json).unwrap(), signal, "{json}");
            assert!(json.contains(&format!("\"kind\":\"{}\"", signal.kind())), "{json}");
        }
    }
}
