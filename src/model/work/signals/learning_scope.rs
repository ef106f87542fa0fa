//! For whom a learning is: the task, the persona, the whole project.

use serde::{Deserialize, Serialize};

use axiom_base::error::{Code, Error, Result};

/// Where a learning applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LearningScope {
    /// To its task only.
    Task,
    /// To all tasks of its agent's persona.
    Persona,
    /// To all tasks.
    Project,
}

impl LearningScope {
    /// The words of the command line.
    pub const WORDS: [&'static str; 3] = ["task", "persona", "project"];

    /// The scope that a signal names; without one, all tasks. A word that means nothing counts for its task only.
    pub fn of_signal(word: Option<&str>) -> Self {
        word.map_or(Self::Project, |word| word.parse().unwrap_or(Self::Task))
    }

    /// The word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Persona => "persona",
            Self::Project => "project",
        }
    }
}

impl std::str::FromStr for LearningScope {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "task" => Ok(Self::Task),
            "persona" => Ok(Self::Persona),
            "project" => Ok(Self::Project),
            _ => {
                Err(Error::new(Code::InvalidInput, format!("'{text}' is not a scope"))
                    .hint("scopes are task, persona and project"))
            }
        }
    }
}
