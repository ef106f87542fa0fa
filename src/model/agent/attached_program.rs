//! The agent programs that can be attached.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An agent program whose hooks call us; the last stands for any that speaks the Agent Client Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // they are names
pub enum AttachedProgram {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Cursor,
    Aider,
    Acp,
}

impl AttachedProgram {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 7] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode, Self::Cursor, Self::Aider, Self::Acp];

    /// The word of the command line and of documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Cursor => "cursor",
            Self::Aider => "aider",
            Self::Acp => "acp",
        }
    }

    /// How its makers call it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::Cursor => "Cursor",
            Self::Aider => "aider",
            Self::Acp => "an agent of an editor",
        }
    }

    /// Whether a hook of it can have the human asked before a tool is used.
    pub const fn can_ask(self) -> bool {
        match self {
            Self::Claude | Self::Cursor => true,
            // Codex reads "ask" and ignores it.
            Self::Codex | Self::Gemini | Self::Opencode | Self::Aider => false,
            // What it asks is its editor's, and may be answered by no human.
            Self::Acp => false,
        }
    }
}

impl fmt::Display for AttachedProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for AttachedProgram {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(Self::as_str).join(", ");
        Self::ALL.into_iter().find(|program| program.as_str() == text).ok_or_else(|| format!("one of {}", names()))
    }
}
