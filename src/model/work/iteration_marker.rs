//! Where an agent program was, as far as its output tells: the last marker of an iteration, and what a crash there means. Pure.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::stream::tool_call::TextReplacement;
use crate::agent::tool_kind::ToolKind;

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
pub struct IterationMarker {
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
    /// Of a request to the model, or of its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The hash of what was sent to the model, of the answer's first part, of a call's input or result, or of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// What the call is about: a file, a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

impl IterationMarker {
    pub(in crate::work) fn new(kind: MarkerKind, at: Timestamp) -> Self {
        Self { kind, at, tool_name: None, tool_kind: None, tool_use_id: None, request_id: None, hash: None, about: None }
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
pub enum IterationRecordState {
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

impl IterationRecordState {
    // serde asks with a reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

/// Where an iteration was when it was cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CutOffPoint {
    /// The last marker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<IterationMarker>,
    /// Whether the program's output has markers.
    pub tells_markers: bool,
    /// What is found of the effect of a begun call.
    pub effect: ToolCallEffect,
    /// The last sign of life.
    pub saved_at: Timestamp,
    /// What its keeper had recorded.
    #[serde(default, skip_serializing_if = "IterationRecordState::is_whole")]
    pub recorded: IterationRecordState,
    /// When its agent said in it last how far it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress_at: Option<Timestamp>,
}

/// What was heard last of an iteration that was cut off.
#[derive(Debug, Clone)]
pub struct LastHeard {
    /// The last marker.
    pub marker: Option<IterationMarker>,
    /// The last sign of life.
    pub saved_at: Timestamp,
    /// When its agent said in it last how far it is.
    pub progress_at: Option<Timestamp>,
}

/// What is found of the effect that a begun call was to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolCallEffect {
    /// The file has the content that was to be written, or no longer the text that was to be replaced.
    There,
    /// It has not.
    Missing,
    /// That cannot be found out.
    Unknown,
}

/// What a file with this content says of a call that was to write or replace these texts; `None` where there is no such file.
pub fn effect(texts: &[TextReplacement<'_>], content: Option<&str>) -> ToolCallEffect {
    let Some(content) = content else { return if texts.is_empty() { ToolCallEffect::Unknown } else { ToolCallEffect::Missing } };
    let one = |text: &TextReplacement<'_>| match text {
        TextReplacement { old: "", new } if content == *new => ToolCallEffect::There,
        TextReplacement { old: "", .. } => ToolCallEffect::Missing,
        TextReplacement { old, .. } if content.contains(*old) => ToolCallEffect::Missing,
        TextReplacement { new, .. } if content.contains(*new) => ToolCallEffect::There,
        TextReplacement { .. } => ToolCallEffect::Unknown,
    };
    let mut found = texts.iter().map(one);
    let Some(first) = found.next() else { return ToolCallEffect::Unknown };
    if found.all(|other| other == first) { first } else { ToolCallEffect::Unknown }
}

/// What a crash at a marker means for the iteration: the matrix of recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CrashFollowUp {
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
pub fn follow(marker: Option<&IterationMarker>, effect: ToolCallEffect) -> CrashFollowUp {
    let Some(marker) = marker else { return CrashFollowUp::RestartIteration };
    match marker.kind {
        MarkerKind::RequestSent => CrashFollowUp::RetryCall,
        MarkerKind::ResponseReceived => CrashFollowUp::ProcessResponse,
        MarkerKind::ToolCompleted => CrashFollowUp::Continue,
        MarkerKind::WaitingForUser => CrashFollowUp::AskAgain,
        MarkerKind::ToolStarted => match (marker.tool_kind.unwrap_or(ToolKind::Other), effect) {
            (ToolKind::Read, _) => CrashFollowUp::RepeatTool,
            (ToolKind::Write | ToolKind::Edit, ToolCallEffect::There) => CrashFollowUp::SkipTool,
            (ToolKind::Write | ToolKind::Edit, ToolCallEffect::Missing) => CrashFollowUp::RepeatTool,
            // The whole content is written once more.
            (ToolKind::Write, ToolCallEffect::Unknown) => CrashFollowUp::RepeatTool,
            (ToolKind::Edit, ToolCallEffect::Unknown) | (ToolKind::Shell | ToolKind::Other, _) => CrashFollowUp::CheckTool,
        },
    }
}

impl CrashFollowUp {
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
