//! An agent program as data: what a preset and a table of the configuration say about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::stream::rules::{CostCounting, StreamRules};
use super::stream::stream_event::TokenUsage;
use super::tool_kind::ToolKind;
use crate::base::defaults::is_default;
use axiom_base::error::{Code, Error, Result};

/// An agent program. The keys in TOML are explained in `presets/claude.toml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentAdapter {
    /// The name of the preset, or the one that the user gave it.
    pub name: String,
    /// The program and its arguments. `{prompt}` and `{promptFile}` are replaced; without them the prompt is written to
    /// stdin.
    pub command: Vec<String>,
    /// How it is talked to.
    #[serde(default, skip_serializing_if = "is_default")]
    pub protocol: AgentProtocol,
    /// The mode in which its sessions are, by the Agent Client Protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The whole command that goes on with a session; `{session}` is replaced by its id. Empty: the program cannot.
    #[serde(default)]
    pub resume: Vec<String>,
    /// What it gets as its prompt.
    #[serde(default)]
    pub prompt: AdapterPromptKind,
    /// Whether exit status 0 alone completes a task.
    #[serde(default)]
    pub exit_completes: bool,
    /// The signal that asks it to stop.
    #[serde(default)]
    pub stop_signal: AdapterStopSignal,
    /// After this many seconds without output it is taken to hang. `None`, in files also 0: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence_limit: Option<u64>,
    /// Environment variables that it gets besides the inherited ones.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The command that prints its version.
    #[serde(default)]
    pub version: Vec<String>,
    /// One sentence on what the program can do that nothing confines.
    #[serde(default)]
    pub unconfined: String,
    /// What its tools do, by their names. A tool that is not here is of the kind `other`.
    #[serde(default)]
    pub tools: BTreeMap<String, ToolKind>,
    /// What its tokens cost, for a program that does not say so itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<ModelPrice>,
    /// How its output is read.
    #[serde(default)]
    pub stream: StreamRules,
}

/// What the program gets as its prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AdapterPromptKind {
    /// The whole prompt, in Markdown.
    #[default]
    Prompt,
    /// Only the body of the task, which is a script.
    Script,
}

/// How a program is talked to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AgentProtocol {
    /// It gets its prompt, works, prints, and ends.
    #[default]
    Lines,
    /// It speaks the Agent Client Protocol over its standard input and output.
    Acp,
}

/// The signal that asks a program to stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum AdapterStopSignal {
    /// SIGTERM.
    #[default]
    Term,
    /// SIGINT, as Ctrl+C sends it.
    Int,
    /// SIGHUP.
    Hup,
    /// SIGQUIT.
    Quit,
}

impl AdapterStopSignal {
    /// The name without `SIG`, as in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Term => "TERM",
            Self::Int => "INT",
            Self::Hup => "HUP",
            Self::Quit => "QUIT",
        }
    }
}

/// Prices of a model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelPrice {
    /// US dollars per million input tokens.
    pub input: f64,
    /// US dollars per million of those that a cache had; without it, they cost as much as others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// US dollars per million output tokens.
    pub output: f64,
}

impl ModelPrice {
    /// What so many tokens cost, in US dollars. `cached` is how many of `input` a cache had.
    #[allow(clippy::cast_precision_loss)]
    pub fn of(self, input: u64, cached: u64, output: u64) -> f64 {
        let cached = cached.min(input);
        let cached_input = self.cached_input.unwrap_or(self.input);
        (self.input * (input - cached) as f64 + cached_input * cached as f64 + self.output * output as f64) / 1e6
    }
}

/// The most words of a command, environment variables or tools.
const MOST_ENTRIES: usize = 1000;

impl AgentAdapter {
    /// Checks what the types do not: sizes, the command, the prices and the rules of the stream.
    pub fn checked(mut self) -> Result<Self> {
        if self.name.trim().is_empty() {
            return Err(invalid("the agent program has no name"));
        }
        let of = |key: &str| format!("agents.{}.{key}", self.name);
        if self.command.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(invalid(format!("agents.{} has no command", self.name))
                .hint(format!("set {} to the program and its arguments", of("command"))));
        }
        let sizes = [
            ("command", self.command.len()),
            ("resume", self.resume.len()),
            ("version", self.version.len()),
            ("env", self.env.len()),
            ("tools", self.tools.len()),
        ];
        if let Some((key, entries)) = sizes.into_iter().find(|(_, entries)| *entries > MOST_ENTRIES) {
            return Err(invalid(format!("{} has {entries} entries, the limit is {MOST_ENTRIES}", of(key))));
        }
        if !self.resume.is_empty() && !self.resume.iter().any(|word| word.contains("{session}")) {
            return Err(invalid(format!("{} does not say where the session's id goes", of("resume")))
                .hint("put '{session}' where the program expects it, or leave the key out"));
        }
        if let Some(name) = self.env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
            return Err(invalid(format!("'{name}' in {} cannot be the name of a variable", of("env"))));
        }
        let bad_price = |price: &f64| !price.is_finite() || *price < 0.0;
        if self.price.is_some_and(|price| [price.input, price.cached_input.unwrap_or(0.0), price.output].iter().any(bad_price)) {
            return Err(invalid(format!("{} is no price", of("price"))).hint("give US dollars per million tokens"));
        }
        if self.protocol == AgentProtocol::Acp && (self.prompt != AdapterPromptKind::Prompt || !self.resume.is_empty()) {
            return Err(invalid(format!("{} speaks the Agent Client Protocol", self.name)).why(format!(
                "its prompt and its session go that way: {} and {} have no meaning",
                of("prompt"),
                of("resume")
            )));
        }
        self.stream.check().map_err(|error| error.context(of("stream")))?;
        self.silence_limit = self.silence_limit.filter(|seconds| *seconds > 0);
        Ok(self)
    }

    /// What a run used cost: as the program says, or by its price. Unknown is not 0.
    pub fn cost_of(&self, usage: &TokenUsage) -> Option<f64> {
        let by_price = || Some(self.price?.of(usage.input?, usage.cached.unwrap_or(0), usage.output?));
        usage.cost_usd.or_else(by_price).filter(|cost| cost.is_finite())
    }

    /// Whether anything says what its runs cost.
    pub fn tells_cost(&self) -> bool {
        let by_price = self.price.is_some() && self.stream.rules.iter().any(|rule| rule.input.is_some() && rule.output.is_some());
        self.stream.cost != CostCounting::None || by_price
    }

    /// Whether anything says how many tokens its runs use.
    pub fn tells_tokens(&self) -> bool {
        self.stream.rules.iter().any(|rule| rule.input.is_some() || rule.output.is_some())
    }

    /// Whether it can go on with a session of its own.
    pub fn can_resume(&self) -> bool {
        self.protocol == AgentProtocol::Acp || !self.resume.is_empty()
    }

    /// What the tool of this name does.
    pub fn tool_kind(&self, name: &str) -> ToolKind {
        self.tools.get(name).copied().unwrap_or(ToolKind::Other)
    }
}

pub(super) fn invalid(what: impl Into<String>) -> Error {
    Error::new(Code::ConfigInvalid, what)
}
