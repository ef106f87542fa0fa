//! What a line of an agent program's output says.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::trouble::ModelTrouble;
use crate::agent::tool_kind::ToolKind;

/// The longest input or output of a tool call that is kept, in bytes of text.
pub const MAX_TOOL_TEXT: usize = 64 * 1024;
/// The longest name, id, reason or message that is kept, in bytes.
pub const MAX_WORDS: usize = 4096;

/// What a line says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "seen", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum StreamEvent {
    /// The session's id. Told once, and again when it changes.
    Session {
        /// The id.
        id: String,
    },
    /// The agent speaks. Pieces are joined.
    Text {
        /// What it says.
        text: String,
    },
    /// A request was sent to the model: at the start, and when all tool calls have ended.
    RequestSent(ModelExchange),
    /// The model answers: the first text or tool call after a request.
    ResponseReceived(ModelExchange),
    /// A tool call begins.
    ToolStarted(ToolCallStart),
    /// A tool call has ended.
    ToolCompleted(ToolCallEnd),
    /// The program refused a tool call.
    Denied(ToolCallDenial),
    /// It waits for the model.
    Waits(ModelWait),
    /// Tokens and cost.
    Usage(TokenUsage),
    /// The run's last word.
    Ended(AgentRunResult),
    /// The run has failed.
    Failed(AgentRunFailure),
}

/// A request to the model, or its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelExchange {
    /// The id that the program tells of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A hash of what was sent (the prompt, or the results of the calls), or of the first text or call that came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

impl ModelExchange {
    /// Whether anything is known of it.
    pub fn is_told(&self) -> bool {
        self.id.is_some() || self.hash.is_some()
    }
}

/// The beginning of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallStart {
    /// The call's id.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// What it does.
    pub kind: ToolKind,
    /// Its input; where that is longer than [`MAX_TOOL_TEXT`], the beginning of its text.
    pub input: Value,
    /// A hash of name and whole input: the same for the same call.
    pub hash: String,
}

/// The end of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallEnd {
    /// The call's id.
    pub id: Option<String>,
    /// The tool's name; empty where neither this line nor the beginning of the call told it.
    pub name: String,
    /// Whether it failed, as far as the program says.
    pub failed: bool,
    /// The exit status of a command.
    pub exit: Option<i64>,
    /// Its output, at most [`MAX_TOOL_TEXT`] of it.
    pub output: String,
    /// A hash of the whole output.
    pub hash: String,
}

/// A tool call that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallDenial {
    /// The call's id.
    pub id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// What the call was about: a command, a path. `None` where its beginning did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The reason, as the program gives it.
    pub why: String,
}

/// How many characters of a refused call are put in words: the reason follows.
const LONGEST_CALL: usize = 100;

impl ToolCallDenial {
    /// The call and the reason, in one line.
    pub fn in_words(&self) -> String {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut call = words(&format!("{} {}", self.tool, self.about.as_deref().unwrap_or_default()));
        if let Some((end, _)) = call.char_indices().nth(LONGEST_CALL) {
            call.truncate(end);
            call.push('…');
        }
        [call, words(&self.why)].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
    }
}

/// A wait for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelWait {
    /// What kind of trouble it has.
    pub trouble: ModelTrouble,
    /// The status of HTTP.
    pub status: Option<u16>,
    /// The reason, as the program gives it.
    pub why: String,
    /// For how long, rounded up.
    pub seconds: Option<u64>,
}

/// Tokens and cost. What is not told is `None`, never 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// All tokens that were sent.
    pub input: Option<u64>,
    /// The tokens that came back.
    pub output: Option<u64>,
    /// Those of `input` that a cache had.
    pub cached: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

impl TokenUsage {
    /// All tokens, where the program tells some.
    pub fn tokens(&self) -> Option<u64> {
        match (self.input, self.output) {
            (None, None) => None,
            (input, output) => Some(input.unwrap_or(0).saturating_add(output.unwrap_or(0))),
        }
    }

    /// The sum. What only one of them tells is that; a cost that is no number any more stays as it was.
    pub fn plus(&self, more: &Self) -> Self {
        let add = |one: Option<u64>, more: Option<u64>| match (one, more) {
            (Some(one), Some(more)) => Some(one.saturating_add(more)),
            (one, more) => more.or(one),
        };
        let cost = match (self.cost_usd, more.cost_usd) {
            (Some(one), Some(more)) => Some(one + more).filter(|sum| sum.is_finite()).or(Some(one)),
            (one, more) => more.or(one),
        };
        Self {
            input: add(self.input, more.input),
            output: add(self.output, more.output),
            cached: add(self.cached, more.cached),
            cost_usd: cost,
        }
    }

    /// What is told now; what is not told any more stays as it was.
    pub fn replaced_by(&self, new: &Self) -> Self {
        Self {
            input: new.input.or(self.input),
            output: new.output.or(self.output),
            cached: new.cached.or(self.cached),
            cost_usd: new.cost_usd.or(self.cost_usd),
        }
    }
}

/// The run's last word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentRunResult {
    /// Whether the program calls it a success.
    pub success: bool,
    /// Its last text, where the line has it.
    pub text: Option<String>,
}

/// A failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentRunFailure {
    /// What kind of trouble it was.
    pub trouble: ModelTrouble,
    /// The status of HTTP.
    pub status: Option<u16>,
    /// The message, as the program gives it.
    pub message: String,
    /// Whether it broke off what was going on, so that the session can be gone on with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broke_off: bool,
}

/// The beginning of `text`, at most `limit` bytes of it.
pub fn cut(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let end = (0..=limit).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.shrink_to_fit();
    }
    text
}
