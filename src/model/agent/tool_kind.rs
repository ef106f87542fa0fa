//! What a tool of an agent program does.

use serde::{Deserialize, Serialize};

use axiom_base::error::{Code, Error, Result};

/// What a tool does. A call of `shell` or `other` may have effects outside the worktree, so it is not simply repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolKind {
    /// Changes nothing.
    Read,
    /// Writes whole files.
    Write,
    /// Changes files in places.
    Edit,
    /// Runs commands.
    Shell,
    /// Anything else, or unknown.
    Other,
}

impl ToolKind {
    /// All, with their words.
    pub const ALL: [(&'static str, Self); 5] =
        [("read", Self::Read), ("write", Self::Write), ("edit", Self::Edit), ("shell", Self::Shell), ("other", Self::Other)];
}

impl std::str::FromStr for ToolKind {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|(word, _)| *word == text).map(|(_, kind)| kind);
        found.ok_or_else(|| {
            let words = Self::ALL.map(|(word, _)| word).join(", ");
            Error::new(Code::InvalidInput, format!("'{text}' is no kind of tool")).hint(format!("kinds are {words}"))
        })
    }
}
