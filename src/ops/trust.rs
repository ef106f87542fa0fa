//! What a human sees before approving the project's files: what they set, and their contents.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::config::{self, Loaded, Setting, Source, Usable};
use crate::error::{Error, Result};
use crate::hook::project_files::ProjectFiles;
use crate::ops::context::Repository;
use crate::ops::context::configure::{self, OfProject};

/// A key of the project's configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// `section.name`.
    pub key: String,
    /// The value in the project's file.
    pub value: Value,
    /// The value without the project's file.
    pub without: Value,
    /// Whether the project's value counts; where it does not, a later layer wins for now.
    pub counts: bool,
    /// Whether the project's value is added to the list without it, and does not replace it.
    pub adds: bool,
}

/// What the configuration among these files sets, in its order; the error where it cannot be applied. What else is wrong with the
/// configuration is not asked.
///
/// # Errors
/// `GIT_FAILED`.
pub fn effects(repo: &Repository, files: &ProjectFiles) -> Result<std::result::Result<Vec<Effect>, Error>> {
    let Some(project) = files.config() else { return Ok(Ok(Vec::new())) };
    let Usable { loaded: without, problems: known } = configure::load_usable(repo, OfProject::Nothing, Vec::new())?;
    let Usable { loaded: with, problems } = configure::load_usable(repo, OfProject::All(project), Vec::new())?;
    let is_new = |error: &Error| !known.iter().any(|known| known.to_string() == error.to_string());
    if let Some(error) = problems.into_iter().find(is_new) {
        return Ok(Err(error));
    }
    Ok(Ok(of_keys(configure::project_entries(repo, project), &without, &with)))
}

fn of_keys(set: Vec<(String, Value)>, without: &Loaded, with: &Loaded) -> Vec<Effect> {
    let by_key = |loaded: &Loaded| loaded.settings.iter().cloned().collect::<BTreeMap<String, Setting>>();
    let (without, with) = (by_key(without), by_key(with));
    let effect = |(key, value): (String, Value)| Effect {
        without: without.get(&key).map_or(Value::Null, |setting| setting.value.clone()),
        adds: config::only_adds(&key),
        counts: with.get(&key).is_some_and(|setting| matches!(setting.source, Source::File(..))),
        key,
        value,
    };
    set.into_iter().map(effect).collect()
}
