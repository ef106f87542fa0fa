//! What can be missing of an agent program, in words.

use super::ANSWER;

/// Something that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // the fields say what they are
pub enum AgentCheckFinding {
    ProgramNotFound { program: String },
    NotSignedIn { why: String },
    FolderNotTrusted { why: String },
    ToolDenied { why: String },
    ModelBusy { why: String },
    OtherGitAxiom { path: String },
    NoSignal { said: Option<String> },
    NothingWritten,
    TimeLimit,
    Asked { question: String },
    Failed { why: String },
}

impl AgentCheckFinding {
    /// Its stable name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::ProgramNotFound { .. } => "programNotFound",
            Self::NotSignedIn { .. } => "notSignedIn",
            Self::FolderNotTrusted { .. } => "folderNotTrusted",
            Self::ToolDenied { .. } => "toolDenied",
            Self::ModelBusy { .. } => "modelBusy",
            Self::OtherGitAxiom { .. } => "otherGitAxiom",
            Self::NoSignal { .. } => "noSignal",
            Self::NothingWritten => "nothingWritten",
            Self::TimeLimit => "timeLimit",
            Self::Asked { .. } => "asked",
            Self::Failed { .. } => "failed",
        }
    }

    /// What is the matter, in one line.
    pub fn in_words(&self) -> String {
        match self {
            Self::ProgramNotFound { program } => format!("the program '{program}' cannot be found"),
            Self::NotSignedIn { why } => format!("it is not signed in: {why}"),
            Self::FolderNotTrusted { why } => format!("it does not trust a new folder: {why}"),
            Self::ToolDenied { why } => format!("it refuses its agent a tool: {why}"),
            Self::ModelBusy { why } => format!("the model's service refuses for now: {why}"),
            Self::OtherGitAxiom { path } => format!("its commands find another git-axiom first: {path}"),
            Self::NoSignal { said: None } => "no report came, by 'git axiom signal' or by the tag in its text".into(),
            Self::NoSignal { said: Some(said) } => format!("no report came; 'git axiom signal' said: {said}"),
            Self::NothingWritten => format!("it did not write {ANSWER}"),
            Self::TimeLimit => "it was not done within the time limit".into(),
            Self::Asked { question } => format!("it asked a question that the task does not raise: {question}"),
            Self::Failed { why } => format!("it failed: {why}"),
        }
    }

    /// What to do next about the program `name`.
    pub fn next(&self, name: &str) -> String {
        match self {
            Self::ProgramNotFound { .. } => {
                format!("install it, put it on PATH, or name it: git config axiom.agents.{name}.command PATH")
            }
            Self::NotSignedIn { .. } => "start it once by hand and sign in, or give it its key in the environment".into(),
            Self::FolderNotTrusted { .. } => {
                format!("allow new folders in its own settings, or by an option in agents.{name}.command")
            }
            Self::ToolDenied { .. } => format!("allow the tool in its own settings, or by an option in agents.{name}.command"),
            Self::ModelBusy { .. } => "try again later; 'git axiom run' waits by itself".into(),
            Self::OtherGitAxiom { .. } => "remove that one, or update it: it may not understand this one's reports".into(),
            Self::NoSignal { .. } => {
                format!("see that it may run commands in its worktree, and finds git axiom there (agents.{name}.command)")
            }
            Self::NothingWritten => format!("see that it may edit files without asking (agents.{name}.command)"),
            Self::TimeLimit => "run its command by hand to see what it waits for".into(),
            Self::Asked { .. } | Self::Failed { .. } => "run its command by hand to see more".into(),
        }
    }
}
