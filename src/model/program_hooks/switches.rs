//! What keeps hooks that are present from being called: switches in a program's own files, and hooks that it does not trust. Pure.

use serde_json::Value;

use super::plugins::{EXTENSION, PACKAGE, PLUGIN_NAME};
use super::recipe::HookRecipe;

/// Why hooks of ours that are present are not called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisabledHooksReason {
    /// In a few words, for a table.
    pub word: &'static str,
    /// Which file says so, and how.
    pub why: String,
}

/// A file of a program's settings.
#[derive(Debug, Clone)]
pub struct ProgramSettingsFile {
    /// Its path, for messages.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Whether an administrator wrote it.
    pub managed: bool,
}

/// Why a program that reads these settings, the strongest first, does not call our hooks in the file `ours`; `None` where nothing keeps it
/// from that. A file that cannot be read says nothing.
pub fn off(recipe: &HookRecipe, settings: &[ProgramSettingsFile], ours: &str) -> Option<DisabledHooksReason> {
    match recipe.name {
        "claude" => claude(settings, ours),
        "gemini" => gemini(settings),
        "codex" => codex(settings, ours),
        _ => None,
    }
}

/// The file of these settings, the strongest first, that says that the program has our plugin; `None` where it has not, or has it switched
/// off.
pub fn plugin_in<'s>(recipe: &HookRecipe, settings: &'s [ProgramSettingsFile]) -> Option<&'s ProgramSettingsFile> {
    let is_ours = |name: &str| name.split('@').next() == Some(PLUGIN_NAME);
    let says = |one: &ProgramSettingsFile| match recipe.name {
        "claude" => {
            let plugins = json(one)?;
            let plugins = plugins.get("enabledPlugins")?.as_object()?;
            plugins.iter().find(|(name, _)| is_ours(name))?.1.as_bool()
        }
        "codex" => {
            let document = one.text.parse::<toml_edit::DocumentMut>().ok()?;
            let (_, plugin) = document.get("plugins")?.as_table_like()?.iter().find(|(name, _)| is_ours(name))?;
            Some(plugin.get("enabled").and_then(toml_edit::Item::as_bool) != Some(false))
        }
        "opencode" => {
            let plugins = json(one)?;
            let plugins = plugins.get("plugin")?.as_array()?;
            let is_ours = |name: &str| name.split('@').next() == Some(EXTENSION) || name.trim_end_matches('/').ends_with(PACKAGE);
            plugins.iter().filter_map(Value::as_str).any(is_ours).then_some(true)
        }
        _ => None,
    };
    settings.iter().find_map(|one| Some((one, says(one)?))).filter(|(_, has)| *has).map(|(one, _)| one)
}

fn switched_off(settings: &ProgramSettingsFile, what: &str) -> DisabledHooksReason {
    DisabledHooksReason { word: "switched off", why: format!("{} has {what}", settings.path) }
}

fn json(settings: &ProgramSettingsFile) -> Option<Value> {
    serde_json::from_str(settings.text.trim_start_matches('\u{feff}')).ok()
}

fn claude(all: &[ProgramSettingsFile], ours: &str) -> Option<DisabledHooksReason> {
    let is = |one: &ProgramSettingsFile, key: &str| json(one)?.get(key)?.as_bool();
    let only_managed = all.iter().find(|one| one.managed && is(one, "allowManagedHooksOnly") == Some(true));
    if let Some(one) = only_managed.filter(|one| one.path != ours) {
        return Some(switched_off(one, "\"allowManagedHooksOnly\": true"));
    }
    let (one, disabled) = all.iter().find_map(|one| Some((one, is(one, "disableAllHooks")?)))?;
    disabled.then(|| switched_off(one, "\"disableAllHooks\": true"))
}

fn gemini(all: &[ProgramSettingsFile]) -> Option<DisabledHooksReason> {
    let config = |one: &ProgramSettingsFile| json(one)?.get("hooksConfig").cloned();
    let enabled = all.iter().find_map(|one| Some((one, config(one)?.get("enabled")?.as_bool()?)));
    if let Some((one, false)) = enabled {
        return Some(switched_off(one, "\"hooksConfig\": {\"enabled\": false}"));
    }
    let disables = |one: &&ProgramSettingsFile| {
        let names = config(one).and_then(|config| config.get("disabled").and_then(Value::as_array).cloned()).unwrap_or_default();
        names.iter().any(|name| name == "git-axiom")
    };
    all.iter().find(disables).map(|one| switched_off(one, "\"git-axiom\" in \"hooksConfig.disabled\""))
}

/// Codex calls only hooks that a human has trusted; which those are stands in its `config.toml`, by file, event, and place.
fn codex(all: &[ProgramSettingsFile], ours: &str) -> Option<DisabledHooksReason> {
    let parsed = all.iter().filter_map(|one| Some((one, one.text.parse::<toml_edit::DocumentMut>().ok()?)));
    let parsed: Vec<_> = parsed.collect();
    let switch = |document: &toml_edit::DocumentMut| {
        let features = document.get("features")?;
        features.get("hooks").or_else(|| features.get("codex_hooks"))?.as_bool()
    };
    if let Some((one, _)) = parsed.iter().find(|(_, document)| switch(document) == Some(false)) {
        return Some(switched_off(one, "hooks = false in [features]"));
    }
    let begin = format!("{ours}:");
    let states = parsed.iter().filter_map(|(one, document)| Some((one, document.get("hooks")?.get("state")?.as_table_like()?)));
    let mut of_ours = states
        .flat_map(|(one, table)| table.iter().filter(|(key, _)| key.starts_with(&begin)).map(move |(_, state)| (one, state)));
    let (mut trusted, mut disabled) = (false, None);
    for (one, state) in of_ours.by_ref() {
        trusted |= state.get("trusted_hash").and_then(toml_edit::Item::as_str).is_some();
        if state.get("enabled").and_then(toml_edit::Item::as_bool) == Some(false) {
            disabled = Some(switched_off(one, "enabled = false in [hooks.state]"));
        }
    }
    let untrusted = DisabledHooksReason {
        word: "not trusted",
        why: "Codex calls no hook that nobody has trusted: start codex once and trust the hooks".to_owned(),
    };
    disabled.or_else(|| (!trusted).then_some(untrusted))
}

#[cfg(test)]
mod tests {
    use super::super::recipe::recipe;
    use super::*;

    fn said(program: &str, files: &[(&str, &str)]) -> Option<&'static str> {
        let settings = |(path, text): &(&str, &str)| ProgramSettingsFile {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
            managed: *path == "managed",
        };
        let all: Vec<ProgramSettingsFile> = files.iter().map(settings).collect();
        off(recipe(program).unwrap(), &all, "/r/ours").map(|off| off.word)
    }

    #[test]
    fn the_strongest_file_that_says_something_counts() {
        let off = Some("switched off");
        assert_eq!(said("claude", &[]), None);
        assert_eq!(said("claude", &[("local", "{}"), ("user", "{\"disableAllHooks\": true}")]), off);
        assert_eq!(said("claude", &[("local", "{\"disableAllHooks\": false}"), ("user", "{\"disableAllHooks\": true}")]), None);
        assert_eq!(said("claude", &[("managed", "{\"allowManagedHooksOnly\": true}")]), off);
        assert_eq!(said("claude", &[("user", "{\"allowManagedHooksOnly\": true}")]), None, "only an administrator's counts");
        assert_eq!(said("claude", &[("user", "{not json")]), None);
        assert_eq!(said("gemini", &[("project", "{}"), ("user", "{\"hooksConfig\": {\"enabled\": false}}")]), off);
        assert_eq!(said("gemini", &[("user", "{\"hooksConfig\": {\"disabled\": [\"x\", \"git-axiom\"]}}")]), off);
        assert_eq!(said("gemini", &[("user", "{\"hooksConfig\": {\"disabled\": [\"x\"]}}")]), None);
        assert_eq!(said("cursor", &[("user", "{}")]), None);
    }

    #[test]
    fn codex_calls_only_what_somebody_has_trusted() {
        let with = |text: &str| said("codex", &[("config.toml", text)]);
        assert_eq!(said("codex", &[]), Some("not trusted"));
        assert_eq!(with("[hooks.state.\"/else:stop:0:0\"]\ntrusted_hash = \"sha256:x\"\n"), Some("not trusted"));
        let trusted = "[hooks.state.\"/r/ours:stop:0:0\"]\nenabled = true\ntrusted_hash = \"sha256:x\"\n";
        assert_eq!(with(trusted), None);
        assert_eq!(with(&trusted.replace("enabled = true", "enabled = false")), Some("switched off"));
        assert_eq!(with(&format!("[features]\nhooks = false\n{trusted}")), Some("switched off"));
    }
}
