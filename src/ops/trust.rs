//! What a human sees before approving the project's files: what they would change, and their contents.

use serde_json::Value;

use crate::config::{Loaded, Source};
use crate::error::{Error, Result};
use crate::hook::project_files::ProjectFiles;
use crate::ops::context::Repository;
use crate::ops::context::configure;

/// What a key of the project's configuration would change.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// `section.name`.
    pub key: String,
    /// The value with the project's file.
    pub value: Value,
    /// The value without it.
    pub without: Value,
}

/// What the configuration among these files changes, in the order of the keys; the error where it cannot be applied.
///
/// # Errors
/// `CONFIG_INVALID` where the configuration cannot be used even without the project's file; `IO_FAILED`, `GIT_FAILED`.
pub fn effects(repo: &Repository, files: &ProjectFiles) -> Result<std::result::Result<Vec<Effect>, Error>> {
    let Some(project) = files.config() else { return Ok(Ok(Vec::new())) };
    let without = configure::load(repo, None, Vec::new())?;
    Ok(configure::load(repo, Some(project), Vec::new()).map(|with| between(&without, with)))
}

fn between(without: &Loaded, with: Loaded) -> Vec<Effect> {
    let before = |key: &str| {
        let known = without.settings.iter().find(|(name, _)| name == key);
        known.map_or(Value::Null, |(_, setting)| setting.value.clone())
    };
    let of_file = |source: &Source| matches!(source, Source::File(..));
    let effect = |(key, value): (String, Value)| Effect { without: before(&key), value, key };
    let set = with.settings.into_iter().filter(|(_, setting)| of_file(&setting.source));
    set.map(|(key, setting)| (key, setting.value)).map(effect).filter(|one| one.value != one.without).collect()
}
