//! What a human sees before approving the project's files: what they set, and their contents.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::config;
use crate::config::{ConfigSetting, ConfigSource, EffectiveConfig, UsableConfig};
use crate::context::configure;
use crate::context::configure::EffectiveProjectConfig;
use crate::context::handle::Context;
use crate::context::{Repository, trust};
use crate::project_hooks::project_files::ProjectFiles;
use axiom_base::error::{Error, Result};
use axiom_model::work::gates::gate::once_trusted;

/// A key of the project's configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectSettingEffect {
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
pub fn effects(repo: &Repository, files: &ProjectFiles) -> Result<std::result::Result<Vec<ProjectSettingEffect>, Error>> {
    let Some(project) = files.config() else { return Ok(Ok(Vec::new())) };
    let UsableConfig { loaded: without, problems: known } =
        configure::load_usable(repo, EffectiveProjectConfig::Nothing, Vec::new())?;
    let UsableConfig { loaded: with, problems } = configure::load_usable(repo, EffectiveProjectConfig::All(project), Vec::new())?;
    let is_new = |error: &Error| !known.iter().any(|known| known.to_string() == error.to_string());
    if let Some(error) = problems.into_iter().find(is_new) {
        return Ok(Err(error));
    }
    Ok(Ok(of_keys(configure::project_entries(repo, project), &without, &with)))
}

/// The reasons of gates that wait, or waited, for the approval of the project's files say so where it was given meanwhile; each with
/// whether a human has decided at it. The files are looked at only where there is such a gate.
pub fn say_what_is_approved<'a>(ctx: &Context, reasons: impl Iterator<Item = (&'a mut String, bool)>) {
    let waiting: Vec<_> = reasons.filter_map(|(reason, is_decided)| Some((once_trusted(reason, is_decided)?, reason))).collect();
    if waiting.is_empty() || !is_approved_by_now(ctx) {
        return;
    }
    waiting.into_iter().for_each(|(now, reason)| *reason = now);
}

/// Whether the project's files are approved as they are now. Reads them.
pub fn is_approved_by_now(ctx: &Context) -> bool {
    configure::why_not_applied(&ctx.repo, &trust::trust(&ctx.repo)).is_none()
}

fn of_keys(set: Vec<(String, Value)>, without: &EffectiveConfig, with: &EffectiveConfig) -> Vec<ProjectSettingEffect> {
    let by_key = |loaded: &EffectiveConfig| loaded.settings.iter().cloned().collect::<BTreeMap<String, ConfigSetting>>();
    let (without, with) = (by_key(without), by_key(with));
    let effect = |(key, value): (String, Value)| ProjectSettingEffect {
        without: without.get(&key).map_or(Value::Null, |setting| setting.value.clone()),
        adds: config::only_adds(&key),
        counts: with.get(&key).is_some_and(|setting| matches!(setting.source, ConfigSource::File(..))),
        key,
        value,
    };
    set.into_iter().map(effect).collect()
}
