//! Where an agent program was, as far as its output tells: the last marker of an iteration, and what a crash there means. Pure.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::agent::adapter::ToolKind;
use crate::domain::agent::stream::about::Replaced;
use crate::domain::agent::stream::seen::Exchange;
use crate::domain::agent::stream::summary::Summary;
use crate::domain::base::text_hash::text_hash;
use crate::domain::work::signal::Signal;

/// What the program did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkerKind {
    /// It had sent a request to the model.
    RequestSent,
    /// The model had answered.
    ResponseReceived,
    /// A tool call had begun.
    ToolStarted,
    /// A tool call had ended.
    ToolCompleted,
    /// It waited for a human.
    WaitingForUser,
}

/// The last marker of an iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Marker {
    /// What the program did.
    pub kind: MarkerKind,
    /// When its keeper recorded it.
    pub at: Timestamp,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// What the tool does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_kind: Option<ToolKind>,
    /// The id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The id of the request or of its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The hash of what was sent to the model, of the answer's first part, of a call's input or result, or of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// What the call is about: a file, a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

impl Marker {
    fn new(kind: MarkerKind, at: Timestamp) -> Self {
        Self { kind, at, tool_name: None, tool_kind: None, tool_use_id: None, request_id: None, hash: None, about: None }
    }

    /// The marker after a signal; `told` includes it, `before` is the one until then. While one of several calls still runs, that is
    /// where the program is.
    pub fn after(before: Option<Self>, signal: &Signal, told: &Summary, at: Timestamp) -> Option<Self> {
        match signal {
            Signal::RequestSent(sent) => Some(Self::of_exchange(MarkerKind::RequestSent, sent, at)),
            Signal::ResponseReceived(answer) => Some(Self::of_exchange(MarkerKind::ResponseReceived, answer, at)),
            Signal::Waiting { question } => {
                Some(Self { hash: Some(text_hash(&[question])), ..Self::new(MarkerKind::WaitingForUser, at) })
            }
            Signal::ToolStarted(_) => Self::of_open_call(told, at).or(before),
            Signal::ToolCompleted(call) => Some(Self::of_open_call(told, at).unwrap_or_else(|| Self {
                tool_name: Some(call.name.clone()),
                tool_use_id: call.id.clone(),
                hash: call.hash.clone(),
                ..Self::new(MarkerKind::ToolCompleted, at)
            })),
            Signal::Complete {}
            | Signal::Blocked { .. }
            | Signal::Progress { .. }
            | Signal::Learning { .. }
            | Signal::Phase { .. }
            | Signal::Subtask { .. }
            | Signal::File(_)
            | Signal::Ready { .. }
            | Signal::Estimate { .. }
            | Signal::Depends { .. }
            | Signal::Session { .. }
            | Signal::Seen(_) => before,
        }
    }

    fn of_exchange(kind: MarkerKind, told: &Exchange, at: Timestamp) -> Self {
        Self { request_id: told.id.clone(), hash: told.hash.clone(), ..Self::new(kind, at) }
    }

    fn of_open_call(told: &Summary, at: Timestamp) -> Option<Self> {
        let call = told.begun.last()?;
        Some(Self {
            tool_name: Some(call.name.clone()),
            tool_kind: Some(call.kind),
            tool_use_id: call.id.clone(),
            hash: Some(call.hash.clone()).filter(|hash| !hash.is_empty()),
            about: call.input.as_str().map(str::to_owned),
            ..Self::new(MarkerKind::ToolStarted, at)
        })
    }

    /// In words, for people.
    pub fn in_words(&self) -> String {
        let tool = self.tool_name.as_deref().unwrap_or("a tool");
        match self.kind {
            MarkerKind::RequestSent => "it waited for the model".into(),
            MarkerKind::ResponseReceived => "the model had answered".into(),
            MarkerKind::ToolStarted => match &self.about {
                Some(about) => format!("{tool} had begun: {about}"),
                None => format!("{tool} had begun"),
            },
            MarkerKind::ToolCompleted => format!("{tool} had ended"),
            MarkerKind::WaitingForUser => "it waited for a human".into(),
        }
    }
}

/// What is recorded of an iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Recorded {
    /// It is whole.
    #[default]
    Whole,
    /// Its agent had reported that the task is complete.
    Complete,
    /// There is no record.
    Nothing,
    /// It cannot be read, or contradicts itself.
    Damaged,
}

impl Recorded {
    // serde asks with a reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

/// Where an iteration was when it was cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CutOff {
    /// The last marker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<Marker>,
    /// Whether the program's output has markers.
    pub tells_markers: bool,
    /// What is found of the effect of a begun call.
    pub effect: Effect,
    /// The last sign of life.
    pub saved_at: Timestamp,
    /// What its keeper had recorded.
    #[serde(default, skip_serializing_if = "Recorded::is_whole")]
    pub recorded: Recorded,
    /// When its agent said in it last how far it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress_at: Option<Timestamp>,
}

/// What was heard last of an iteration that was cut off.
#[derive(Debug, Clone)]
pub struct LastHeard {
    /// The last marker.
    pub marker: Option<Marker>,
    /// The last sign of life.
    pub saved_at: Timestamp,
    /// When its agent said in it last how far it is.
    pub progress_at: Option<Timestamp>,
}

/// What is found of the effect that a begun call was to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// The file has the content that was to be written, or no longer the text that was to be replaced.
    There,
    /// It has not.
    Missing,
    /// That cannot be found out.
    Unknown,
}

/// What a file with this content says of a call that was to write or replace these texts; `None` where there is no such file.
pub fn effect(texts: &[Replaced<'_>], content: Option<&str>) -> Effect {
    let Some(content) = content else { return if texts.is_empty() { Effect::Unknown } else { Effect::Missing } };
    let one = |text: &Replaced<'_>| match text {
        Replaced { old: "", new } if content == *new => Effect::There,
        Replaced { old: "", .. } => Effect::Missing,
        Replaced { old, .. } if content.contains(*old) => Effect::Missing,
        Replaced { new, .. } if content.contains(*new) => Effect::There,
        Replaced { .. } => Effect::Unknown,
    };
    let mut found = texts.iter().map(one);
    let Some(first) = found.next() else { return Effect::Unknown };
    if found.all(|other| other == first) { first } else { Effect::Unknown }
}

/// What a crash at a marker means for the iteration: the matrix of recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Follow {
    /// No request was sent: the iteration is made again.
    RestartIteration,
    /// The request is sent again.
    RetryCall,
    /// The answer is worked on.
    ProcessResponse,
    /// The tool call may simply be repeated.
    RepeatTool,
    /// The tool call has had its effect, and goes without being repeated.
    SkipTool,
    /// Nobody knows what the tool call did: whoever repeats it has to find out first.
    CheckTool,
    /// The next tool call or iteration.
    Continue,
    /// The question is put to the human again.
    AskAgain,
}

/// What follows from a crash at a marker; `None` is before the first one, while the prompt was put together.
pub fn follow(marker: Option<&Marker>, effect: Effect) -> Follow {
    let Some(marker) = marker else { return Follow::RestartIteration };
    match marker.kind {
        MarkerKind::RequestSent => Follow::RetryCall,
        MarkerKind::ResponseReceived => Follow::ProcessResponse,
        MarkerKind::ToolCompleted => Follow::Continue,
        MarkerKind::WaitingForUser => Follow::AskAgain,
        MarkerKind::ToolStarted => match (marker.tool_kind.unwrap_or(ToolKind::Other), effect) {
            (ToolKind::Read, _) => Follow::RepeatTool,
            (ToolKind::Write | ToolKind::Edit, Effect::There) => Follow::SkipTool,
            (ToolKind::Write | ToolKind::Edit, Effect::Missing) => Follow::RepeatTool,
            // The whole content is written once more.
            (ToolKind::Write, Effect::Unknown) => Follow::RepeatTool,
            (ToolKind::Edit, Effect::Unknown) | (ToolKind::Shell | ToolKind::Other, _) => Follow::CheckTool,
        },
    }
}

impl Follow {
    /// In words, as an end of a sentence on the crash.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::RestartIteration => "the iteration is made again",
            Self::RetryCall => "the request is sent again",
            Self::ProcessResponse => "its answer is worked on",
            Self::RepeatTool => "it may be repeated",
            Self::SkipTool => "it has had its effect and is not repeated",
            Self::CheckTool => "whether it had its effect has to be found out before it is repeated",
            Self::Continue => "the work goes on after it",
            Self::AskAgain => "the question is put again",
        }
    }
}
