//! The agent programs that are built in: one TOML file each, parsed only when it is asked for.

use serde_json::Value;

use super::adapter::{AgentAdapter, invalid};
use super::overlay::adapter_of;
use axiom_base::error::{Code, Error, Result};

/// Names and texts, in the order in which they are shown.
const PRESETS: &[(&str, &str)] = &[
    ("shell", include_str!("presets/shell.toml")),
    ("claude", include_str!("presets/claude.toml")),
    ("codex", include_str!("presets/codex.toml")),
    ("gemini", include_str!("presets/gemini.toml")),
    ("opencode", include_str!("presets/opencode.toml")),
    ("aider", include_str!("presets/aider.toml")),
    ("pi", include_str!("presets/pi.toml")),
    ("claude-acp", include_str!("presets/claude-acp.toml")),
    ("codex-acp", include_str!("presets/codex-acp.toml")),
    ("gemini-acp", include_str!("presets/gemini-acp.toml")),
    ("opencode-acp", include_str!("presets/opencode-acp.toml")),
];

/// The names of the presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The text of a preset's file, with its comments: an example for one's own program.
pub fn preset_text(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(preset, _)| *preset == name).map(|(_, text)| *text)
}

/// The preset of this name, as a table that a configuration can be laid over (`overlay::overlaid`).
pub fn preset_value(name: &str) -> Result<Value> {
    let Some(text) = preset_text(name) else {
        return Err(invalid(format!("there is no agent program '{name}'"))
            .hint(format!("presets are {}; or give a program after '--'", names().collect::<Vec<_>>().join(", "))));
    };
    toml::from_str(text).map_err(|error| Error::new(Code::Internal, format!("the preset '{name}' is wrong")).because(error))
}

/// The preset of this name.
pub fn preset(name: &str) -> Result<AgentAdapter> {
    adapter_of(preset_value(name)?)
}

#[cfg(test)]
mod tests {
    use super::super::adapter::AdapterPromptKind;
    use super::super::stream::rules::StreamFormat;
    use super::*;

    #[test]
    fn every_preset_can_be_read_and_has_its_own_name() {
        for name in names() {
            let preset = preset(name).unwrap();
            assert_eq!(preset.name, name);
            assert!(!preset.unconfined.is_empty(), "{name}");
            assert_eq!(preset.exit_completes, name == "shell", "{name}");
            assert_eq!(preset.prompt == AdapterPromptKind::Script, name == "shell", "{name}");
            assert_eq!(preset.silence_limit, (name != "shell").then_some(900), "{name}");
            assert_eq!(preset.can_resume(), !matches!(name, "shell" | "aider"), "{name}");
            assert_eq!(preset.stream.format == StreamFormat::Text, matches!(name, "shell" | "aider"), "{name}");
        }
        assert_eq!(names().count(), 11);
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_that_exist() {
        let error = preset("nope").unwrap_err();
        assert_eq!(error.code(), Code::ConfigInvalid);
        assert!(error.hints()[0].contains("codex, gemini"), "{:?}", error.hints());
    }
}
