//! What is read of the configuration and what counts in the end: sources, layers, settings.

use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use super::schema::Config;
use axiom_base::error::{Error, Result};

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigSource {
    /// Built in.
    Default,
    /// A configuration file and the line.
    File(PathBuf, usize),
    /// `git config`, with the origin as git prints it.
    Git(String),
    /// The command line.
    CommandLine,
}

impl fmt::Display for ConfigSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Git(origin) => write!(f, "git config, {origin}"),
            Self::CommandLine => f.write_str("command line"),
        }
    }
}

/// One value from `git config`.
#[derive(Debug, Clone)]
pub struct GitConfigValue {
    /// The origin as git prints it: a file's path, `command line`, `blob:…`.
    pub origin: String,
    /// The key as git prints it: the first and the last part are in lower case.
    pub key: String,
    /// The value; `None` for a key without `=`.
    pub value: Option<String>,
}

/// The contents of the layers.
#[derive(Debug, Default)]
pub struct ConfigLayers {
    /// The user's file and its content, if there is one.
    pub user_file: Option<(PathBuf, String)>,
    /// The project's file and its content, if there is one and a human approved it.
    pub project_file: Option<(PathBuf, String)>,
    /// The project's file as a human approved it, where that counts no more: what it adds to a list stays added.
    pub project_file_before: Option<(PathBuf, String)>,
    /// All values of `git config` below `axiom.`, in git's order.
    pub git: Vec<GitConfigValue>,
    /// Keys (`section.name`) and values from the command line.
    pub command_line: Vec<(String, String)>,
}

/// A value and its source.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigSetting {
    /// The value; null where none is set.
    pub value: Value,
    /// The source.
    pub source: ConfigSource,
}

/// The effective configuration.
#[derive(Debug, Clone, Default)]
pub struct EffectiveConfig {
    /// The values.
    pub config: Config,
    /// Every key, `section.name`, in the order of the documentation, with its setting.
    pub settings: Vec<(String, ConfigSetting)>,
}

/// What of the layers can be used.
#[derive(Debug)]
pub struct UsableConfig {
    /// The configuration without what cannot be used.
    pub loaded: EffectiveConfig,
    /// What cannot be used, each with its place.
    pub problems: Vec<Error>,
}

impl UsableConfig {
    /// The configuration, where all of it can be used.
    pub fn whole(self) -> Result<EffectiveConfig> {
        self.problems.into_iter().next().map_or(Ok(self.loaded), Err)
    }
}
