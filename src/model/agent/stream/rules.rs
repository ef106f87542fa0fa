//! How the output of a program is read, as data. The keys are explained in `presets/claude.toml`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::trouble::ModelTrouble;

/// How the output of a program is read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StreamRules {
    /// What a line is.
    #[serde(default)]
    pub format: StreamFormat,
    /// What a line with tokens counts.
    #[serde(default)]
    pub usage: UsageCounting,
    /// What a line with a cost counts.
    #[serde(default)]
    pub cost: CostCounting,
    /// Parts of texts of errors, and what they mean; asked before the ones that are built in.
    #[serde(default)]
    pub trouble: BTreeMap<String, ModelTrouble>,
    /// What lines say. Each rule looks at each line.
    #[serde(default)]
    pub rules: Vec<StreamRule>,
}

impl StreamRules {
    /// The rules for one of the two outputs. Lines of standard error are texts, and no text there is the agent's.
    pub fn of(&self, output: AgentOutputStream) -> Self {
        let (format, stderr) = match output {
            AgentOutputStream::Standard => (self.format, false),
            AgentOutputStream::Error => (StreamFormat::Text, true),
        };
        let rules = self.rules.iter().filter(|rule| rule.stderr == stderr).cloned().collect();
        Self { format, rules, ..self.clone() }
    }
}

/// One of the two outputs of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentOutputStream {
    /// Standard output.
    Standard,
    /// Standard error.
    Error,
}

/// What a line of the output is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StreamFormat {
    /// Each line is text of the agent.
    #[default]
    Text,
    /// Each line is a JSON object.
    JsonLines,
}

/// What a number that the program tells counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UsageCounting {
    /// This run of the program so far: the last number counts.
    #[default]
    Run,
    /// One step: the numbers are added.
    Step,
    /// The whole session, with the runs before that were gone on with: the last number counts, less the one before the run.
    Cumulative,
}

/// The same for the cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CostCounting {
    /// As [`UsageCounting::Run`].
    Run,
    /// As [`UsageCounting::Step`].
    Step,
    /// As [`UsageCounting::Cumulative`].
    Cumulative,
    /// The program tells no cost.
    #[default]
    None,
}

/// Places, and the values that each has to hold.
pub type StreamRuleConditions = BTreeMap<String, OneOrMoreValues<Value>>;

/// One value, or a list of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMoreValues<T> {
    /// A list.
    More(Vec<T>),
    /// A single value.
    One(T),
}

impl<T> OneOrMoreValues<T> {
    /// All of them.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::More(values) => values,
        }
    }
}

/// The places of a field, as JSON pointers: of texts the first that is there counts, numbers are added.
pub type StreamFieldPointers = OneOrMoreValues<String>;

/// When a line says something, and where in it the fields are. Which fields belong to which kind is in `check`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StreamRule {
    /// What such a line says.
    pub is: StreamRuleKind,
    /// Values that the line has to have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub when: StreamRuleConditions,
    /// Parts of texts that the line has to have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contains: BTreeMap<String, String>,
    /// Parts of texts that it may not have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lacks: BTreeMap<String, String>,
    /// What has to be there and not null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub has: Vec<String>,
    /// Whether it looks at the lines of standard error, which are texts, and not at those of standard output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stderr: bool,
    /// The list whose elements say it; the fields are then read in each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// Values that such an element has to have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub of: StreamRuleConditions,
    /// When a text is only a piece of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece: Option<StreamRuleConditions>,
    /// When a tool call has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<StreamRuleConditions>,
    /// When the run has succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<StreamRuleConditions>,
    /// The id of a session or tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<StreamFieldPointers>,
    /// The name of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<StreamFieldPointers>,
    /// A text, a reason or a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<StreamFieldPointers>,
    /// What stands around the part of the text that tells something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[String; 2]>,
    /// The input of a tool call, or the tokens that were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<StreamFieldPointers>,
    /// The output of a tool call, or the tokens that came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<StreamFieldPointers>,
    /// The tokens that a cache had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<StreamFieldPointers>,
    /// The cost in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<StreamFieldPointers>,
    /// The exit status of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<StreamFieldPointers>,
    /// The status of an answer of HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<StreamFieldPointers>,
    /// For how long it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<StreamFieldPointers>,
    /// For how long it waits, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<StreamFieldPointers>,
}

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StreamRuleKind {
    /// The session's id.
    Session,
    /// The agent speaks.
    Text,
    /// The model answers, with what follows in this line or the next ones: the answer's id.
    Response,
    /// A tool call begins.
    ToolStarted,
    /// A tool call has ended.
    ToolCompleted,
    /// The program refused a tool call.
    Denied,
    /// It waits for the model.
    Waits,
    /// Tokens and cost.
    Usage,
    /// The run's last word.
    Final,
    /// The run has failed.
    Error,
}
