//! All keys, and which values each accepts. The defaults are in `schema`.

use super::value_kind::ConfigValueKind;

/// A key.
#[derive(Debug)]
pub struct ConfigKey {
    /// Its section.
    pub section: &'static str,
    /// Its name within the section.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: ConfigValueKind,
}

impl ConfigKey {
    /// The first part of its section: `agents` for those of an agent program's table.
    pub fn family(&self) -> &'static str {
        self.section.split('.').next().unwrap_or_default()
    }
}

const fn key(section: &'static str, name: &'static str, kind: ConfigValueKind) -> ConfigKey {
    ConfigKey { section, name, kind }
}

/// All keys, in the order of the documentation.
pub const KEYS: &[ConfigKey] = &[
    key("checkpoints", "periodic", ConfigValueKind::Number(0, 100_000)),
    key("checkpoints", "beforeAutopilot", ConfigValueKind::Switch),
    key("checkpoints", "beforeMerge", ConfigValueKind::Switch),
    key("checkpoints", "maxCount", ConfigValueKind::Number(3, 1_000_000)),
    key("checkpoints", "maxAgeDays", ConfigValueKind::Days),
    key("checkpoints", "protectNamed", ConfigValueKind::Switch),
    key("checkpoints", "maxFileSize", ConfigValueKind::Megabytes),
    key("checkpoints", "maxTotal", ConfigValueKind::Megabytes),
    key("checkpoints", "keepDeletedDays", ConfigValueKind::Days),
    key("checkpoints", "include", ConfigValueKind::Patterns),
    key("checkpoints", "exclude", ConfigValueKind::Patterns),
    key("checkpoints", "tags", ConfigValueKind::OneOf(&["all", "named", "none"])),
    key("state", "eventLogBackupInterval", ConfigValueKind::Seconds),
    key("state", "eventLogBackupCount", ConfigValueKind::Number(1, 100)),
    key("system", "diskWarningThreshold", ConfigValueKind::Megabytes),
    key("system", "diskCriticalThreshold", ConfigValueKind::Megabytes),
    key("system", "diskEmergencyThreshold", ConfigValueKind::Megabytes),
    key("system", "autoCleanupEnabled", ConfigValueKind::Switch),
    key("system", "logCompressDays", ConfigValueKind::Days),
    key("recovery", "auto", ConfigValueKind::Switch),
    key("recovery", "autoResetOrphaned", ConfigValueKind::Switch),
    key("recovery", "injectAuditLog", ConfigValueKind::Switch),
    key("recovery", "maxRetries", ConfigValueKind::Number(0, 1000)),
    key("recovery", "maxAgeHours", ConfigValueKind::Number(0, 100_000)),
    key("recovery", "resumeThreshold", ConfigValueKind::Number(0, 100)),
    key("recovery", "evaluator", ConfigValueKind::Text),
    key("recovery", "evaluatorTimeout", ConfigValueKind::Seconds),
    key("agents", "default", ConfigValueKind::Text),
    key("agents", "count", ConfigValueKind::Number(1, 100)),
    key("agents", "maxIterations", ConfigValueKind::Number(1, 100_000)),
    key("agents", "graceSeconds", ConfigValueKind::Seconds),
    key("agents", "captureInterval", ConfigValueKind::Seconds),
    key("agents", "timeLimit", ConfigValueKind::Seconds),
    key("agents", "silenceLimit", ConfigValueKind::Seconds),
    key("agents", "keepMerged", ConfigValueKind::Switch),
    key("agents", "logLimit", ConfigValueKind::Megabytes),
    key("agents", "workspaceRoot", ConfigValueKind::Folder),
    key("agents", "promptTemplate", ConfigValueKind::Template),
    key("agents", "permissions", ConfigValueKind::OneOf(&["ask", "workspace", "allow"])),
    key("agents", "permissionRules", ConfigValueKind::Permissions),
    key("agents", "permissionTimeout", ConfigValueKind::Seconds),
    key("attach", "keepPrompts", ConfigValueKind::Number(1, 100_000)),
    key("attach", "minInterval", ConfigValueKind::Seconds),
    key("attach", "deadline", ConfigValueKind::Number(1, 15)),
    key("attach", "onFailure", ConfigValueKind::OneOf(&["ask", "continue"])),
    key("attach", "promptText", ConfigValueKind::OneOf(&["local", "none"])),
    key("panel", "keys", ConfigValueKind::List),
    key("merge", "target", ConfigValueKind::Text),
    key("merge", "verify", ConfigValueKind::List),
    key("merge", "guarded", ConfigValueKind::Names),
    key("verify", "wrapper", ConfigValueKind::List),
    key("verify", "timeLimit", ConfigValueKind::Seconds),
    key("hooks", "timeout", ConfigValueKind::Seconds),
    key("hooks", "wrapper", ConfigValueKind::List),
    key("budget", "maxCost", ConfigValueKind::Dollars),
    key("budget", "maxTokens", ConfigValueKind::Tokens),
    key("budget", "maxTime", ConfigValueKind::Time),
    key("budget", "sessionMaxCost", ConfigValueKind::Dollars),
    key("budget", "sessionMaxTokens", ConfigValueKind::Tokens),
    key("budget", "sessionMaxTime", ConfigValueKind::Time),
];

/// Lists to which a project's configuration only adds: it takes nothing away from what the user protects.
pub const ADDED_TO: &[(&str, &str)] = &[("merge", "guarded")];

/// The section of the keys of an agent program's table.
pub const OF_AGENT: &str = "agents.<name>";
/// The section of the keys of a persona's table.
pub const OF_PERSONA: &str = "personas.<name>";

/// The keys of tables that have a name of the user's choice: agent programs and personas.
pub const NAMED_KEYS: &[ConfigKey] = &[
    key(OF_AGENT, "command", ConfigValueKind::List),
    key(OF_AGENT, "protocol", ConfigValueKind::OneOf(&["lines", "acp"])),
    key(OF_AGENT, "mode", ConfigValueKind::Text),
    key(OF_AGENT, "resume", ConfigValueKind::List),
    key(OF_AGENT, "exitCompletes", ConfigValueKind::Switch),
    key(OF_AGENT, "stopSignal", ConfigValueKind::Signal),
    key(OF_AGENT, "silenceLimit", ConfigValueKind::Seconds),
    key(OF_AGENT, "version", ConfigValueKind::List),
    key(OF_AGENT, "unconfined", ConfigValueKind::Text),
    key(OF_AGENT, "env", ConfigValueKind::Table),
    key(OF_AGENT, "tools", ConfigValueKind::Table),
    key(OF_AGENT, "price", ConfigValueKind::Table),
    key(OF_AGENT, "stream", ConfigValueKind::Table),
    key(OF_PERSONA, "agent", ConfigValueKind::Text),
    key(OF_PERSONA, "prompt", ConfigValueKind::Text),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn the_table_names_exactly_the_keys_of_the_schema() {
        let schema = serde_json::to_value(Config::default()).unwrap();
        let mut of_schema: Vec<String> = Vec::new();
        for (section, keys) in schema.as_object().unwrap() {
            of_schema.extend(keys.as_object().unwrap().keys().map(|key| format!("{section}.{key}")));
        }
        of_schema.retain(|key| key != "agents.adapters");
        of_schema.sort();
        let mut of_table: Vec<String> = KEYS.iter().map(|key| format!("{}.{}", key.section, key.name)).collect();
        of_table.sort();
        assert_eq!(of_schema, of_table);
    }

    #[test]
    fn every_default_is_acceptable() {
        let schema = serde_json::to_value(Config::default()).unwrap();
        for ConfigKey { section, name, kind } in KEYS {
            let value = schema[section][name].clone();
            if !value.is_null() {
                assert_eq!(kind.accept(name, value.clone()).unwrap(), value);
            }
        }
    }
}
