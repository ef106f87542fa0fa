//! The layers of the configuration, where later ones win: defaults, the user's file, the project's file, `git config axiom.*`,
//! the command line.
//! Each value is returned with its source.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::effective::{ConfigLayers, ConfigSetting, ConfigSource, EffectiveConfig, GitConfigValue, UsableConfig};
use super::file::{self, ConfigFileValue};
use super::key_lookup::{NamedConfigKey, find, is_called, unknown};
use super::keys::{self, ADDED_TO, ConfigKey, KEYS};
use super::schema::Config;
use axiom_base::error::{Code, Error, Result};
use axiom_model::agent::presets;

/// The settings, while the layers are applied one after the other.
type LayeredSettings = BTreeMap<String, ConfigSetting>;

/// Whose configuration file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConfigFileOwner {
    Users,
    Projects,
    /// As it was approved before.
    ProjectsBefore,
}

/// Applies the layers one after the other. What cannot be used is left out and named: a value by its place, an unknown key with the
/// nearest one.
pub fn load_usable(layers: &ConfigLayers) -> Result<UsableConfig> {
    let mut problems = Vec::new();
    let defaults = as_json(&Config::default())?;
    let mut heap = LayeredSettings::default();
    for ConfigKey { section, name, .. } in KEYS {
        let value = defaults[section][name].clone();
        heap.insert(format!("{section}.{name}"), ConfigSetting { value, source: ConfigSource::Default });
    }
    let files = [
        (ConfigFileOwner::Users, &layers.user_file),
        (ConfigFileOwner::Projects, &layers.project_file),
        (ConfigFileOwner::ProjectsBefore, &layers.project_file_before),
    ];
    for (whose, path, text) in files.into_iter().filter_map(|(whose, file)| file.as_ref().map(|(path, text)| (whose, path, text)))
    {
        let entries = file::entries(path, text).unwrap_or_else(|error| {
            problems.push(error);
            Vec::new()
        });
        problems.extend(entries.into_iter().filter_map(|(name, place)| put_file(&mut heap, whose, path, &name, place).err()));
    }
    problems.extend(put_git(&mut heap, &layers.git));
    problems.extend(layers.command_line.iter().filter_map(|(name, value)| put_text(&mut heap, name, value).err()));
    let config = build(defaults, &heap)?;
    problems.extend(check(&config).err());
    let order = |path: &str| KEYS.iter().position(|key| is_called(key, path, str::eq)).unwrap_or(KEYS.len());
    let mut settings: Vec<(String, ConfigSetting)> = heap.into_iter().collect();
    // Cached, because `order` looks through all keys.
    settings.sort_by_cached_key(|(path, _)| order(path));
    Ok(UsableConfig { loaded: EffectiveConfig { config, settings }, problems })
}

fn put_text(heap: &mut LayeredSettings, name: &str, value: &String) -> Result<()> {
    let found = find(name, false).ok_or_else(|| unknown(name, "command line"))?;
    let value = found.key.kind.accept_text(&found.path, std::slice::from_ref(value))?;
    heap.insert(found.path, ConfigSetting { value, source: ConfigSource::CommandLine });
    Ok(())
}

fn as_json(config: &Config) -> Result<Value> {
    serde_json::to_value(config).map_err(|e| Error::new(Code::Internal, "the configuration has no JSON form").because(e))
}

fn put_file(heap: &mut LayeredSettings, whose: ConfigFileOwner, path: &Path, name: &str, place: ConfigFileValue) -> Result<()> {
    if whose == ConfigFileOwner::ProjectsBefore && !only_adds(name) {
        return Ok(());
    }
    let at = format!("{}:{}", path.display(), place.line);
    let found = find(name, false).ok_or_else(|| unknown(name, &at))?;
    let mut value = found.key.kind.accept(&found.path, place.value).map_err(|error| error.context(&at))?;
    if whose != ConfigFileOwner::Users && only_adds(name) {
        value = heap.get(&found.path).map_or(value.clone(), |before| joined(&before.value, value));
    }
    heap.insert(found.path, ConfigSetting { value, source: ConfigSource::File(path.to_owned(), place.line) });
    Ok(())
}

/// Whether the project's configuration only adds to this list.
pub fn only_adds(name: &str) -> bool {
    ADDED_TO.iter().any(|(section, key)| name.split_once('.') == Some((section, key)))
}

/// The items of a list and those of another that it does not have.
fn joined(list: &Value, more: Value) -> Value {
    let (Value::Array(list), Value::Array(more)) = (list, &more) else { return more };
    Value::from(list.iter().chain(more.iter().filter(|item| !list.contains(item))).cloned().collect::<Vec<_>>())
}

/// Applies the values of `git config`. Of several values of a key, the last one counts; a list takes all values of the last
/// origin. Returns what cannot be used.
fn put_git(heap: &mut LayeredSettings, entries: &[GitConfigValue]) -> Vec<Error> {
    let mut problems = Vec::new();
    let mut grouped: BTreeMap<String, (NamedConfigKey, String, Vec<String>)> = BTreeMap::new();
    for GitConfigValue { origin, key, value } in entries {
        let name = key.get("axiom.".len()..).unwrap_or_default();
        // It says whether hooks that are there for all repositories do anything in this one: they ask git for it.
        if name.eq_ignore_ascii_case("attach") {
            continue;
        }
        let Some(found) = find(name, true) else {
            problems.push(unknown(name, origin));
            continue;
        };
        let value = value.clone().unwrap_or_default();
        let group = grouped.entry(found.path.clone()).or_insert_with(|| (found, origin.clone(), Vec::new()));
        if group.1 != *origin {
            group.1.clone_from(origin);
            group.2.clear();
        }
        group.2.push(value);
    }
    for (path, (found, origin, values)) in grouped {
        match found.key.kind.accept_text(&path, &values) {
            Ok(value) => drop(heap.insert(path, ConfigSetting { value, source: ConfigSource::Git(origin) })),
            Err(error) => problems.push(error.context(format!("git config, {origin}"))),
        }
    }
    problems
}

fn build(mut config: Value, settings: &BTreeMap<String, ConfigSetting>) -> Result<Config> {
    for (path, setting) in settings {
        let Some(NamedConfigKey { key, table, .. }) = find(path, false) else { continue };
        let place = match (table.as_deref(), key.section) {
            (None, section) => &mut config[section],
            (Some(table), keys::OF_AGENT) => &mut config["agents"]["adapters"][table],
            (Some(table), _) => &mut config[key.family()][table],
        };
        place[key.name] = setting.value.clone();
    }
    serde_json::from_value(config)
        .map_err(|e| Error::new(Code::ConfigInvalid, "the configuration does not fit together").because(e))
}

/// Checks values that can only be checked when all of them are known.
pub fn check(config: &Config) -> Result<()> {
    for (key, seconds) in [("hooks.timeout", config.hooks.timeout), ("verify.timeLimit", config.verify.time_limit)] {
        if seconds == 0 {
            return Err(Error::new(Code::ConfigInvalid, format!("'{key}' is 0, so everything would take too long"))
                .hint("it takes at least a second, such as \"60s\""));
        }
    }
    if !config.system.thresholds().are_in_order() {
        return Err(Error::new(Code::ConfigInvalid, "the thresholds of 'system' are in the wrong order")
            .why("diskEmergencyThreshold may not be above diskCriticalThreshold, nor that above diskWarningThreshold")
            .hint("to lower all, begin with diskEmergencyThreshold; to raise all, with diskWarningThreshold"));
    }
    for (name, table) in &config.agents.adapters {
        if !table.contains_key("command") && !presets::names().any(|preset| preset == name) {
            return Err(Error::new(Code::ConfigInvalid, format!("agents.{name} has no command"))
                .hint(format!("set agents.{name}.command to the program and its arguments")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(layers: &ConfigLayers) -> Result<EffectiveConfig> {
        load_usable(layers)?.whole()
    }

    fn with_file(text: &str) -> Result<EffectiveConfig> {
        load(&ConfigLayers { user_file: Some(("/c.toml".into(), text.into())), ..ConfigLayers::default() })
    }

    fn from_git(entries: &[(&str, &str)]) -> Result<EffectiveConfig> {
        let entry = |(key, value): &(&str, &str)| GitConfigValue {
            origin: ".git/config".into(),
            key: (*key).into(),
            value: Some((*value).into()),
        };
        load(&ConfigLayers { git: entries.iter().map(entry).collect(), ..ConfigLayers::default() })
    }

    #[test]
    fn without_layers_the_defaults_apply() {
        assert_eq!(load(&ConfigLayers::default()).unwrap().config, Config::default());
    }

    #[test]
    fn keys_are_listed_in_their_order_and_found_by_their_whole_names() {
        let paths: Vec<String> = load(&ConfigLayers::default()).unwrap().settings.into_iter().map(|(path, _)| path).collect();
        let keys: Vec<String> = KEYS.iter().map(|key| format!("{}.{}", key.section, key.name)).collect();
        assert_eq!(paths, keys);
        assert!(keys.iter().all(|path| find(path, false).is_some_and(|found| found.path == *path)));
        assert_eq!(find("AGENTS.COUNT", true).map(|found| found.path).as_deref(), Some("agents.count"));
        for none in ["", "agents", "agents.", "agents.count.", "agents.counts", "agentscount", "agent.count", "AGENTS.count"] {
            assert!(find(none, false).is_none(), "{none}");
        }
        assert!(find("\u{e4}gents.count", true).is_none());
    }

    #[test]
    fn later_layers_win_and_are_named() {
        let layers = ConfigLayers {
            user_file: Some(("/c.toml".into(), "[agents]\ncount = 3\nmaxIterations = 7\n[checkpoints]\nperiodic = 3\n".into())),
            project_file_before: None,
            project_file: Some(("/p.toml".into(), "[agents]\ncount = 9\n[checkpoints]\nperiodic = 9\n".into())),
            git: vec![GitConfigValue { origin: ".git/config".into(), key: "axiom.agents.count".into(), value: Some("4".into()) }],
            command_line: vec![("agents.default".into(), "claude".into())],
        };
        let loaded = load(&layers).unwrap();
        assert_eq!((loaded.config.agents.count, loaded.config.agents.max_iterations), (4, 7));
        assert_eq!(loaded.config.agents.default, "claude");
        let source = |key: &str| loaded.settings.iter().find(|(name, _)| name == key).unwrap().1.source.to_string();
        assert_eq!(source("agents.count"), "git config, .git/config");
        assert_eq!(source("agents.maxIterations"), "/c.toml:3");
        assert_eq!((loaded.config.checkpoints.periodic, source("checkpoints.periodic")), (9, "/p.toml:4".into()));
        assert_eq!(source("agents.default"), "command line");
        assert_eq!(source("merge.target"), "default");
    }

    #[test]
    fn a_project_adds_to_what_is_guarded_and_takes_nothing_away() {
        let guarded = |layers: &ConfigLayers| load(layers).unwrap().config.merge.guarded;
        let file = |text: &str| Some(("/c.toml".into(), text.to_owned()));
        let default = Config::default().merge.guarded;
        let mut layers =
            ConfigLayers { project_file: file("[merge]\nguarded = ['deploy', '.claude']\n"), ..ConfigLayers::default() };
        assert_eq!(guarded(&layers), [&default[..], &["deploy".to_owned()]].concat());
        layers.project_file = file("[merge]\nguarded = []\n");
        assert_eq!(guarded(&layers), default);
        // The user's own layers say what they want.
        layers.user_file = file("[merge]\nguarded = ['mine']\n");
        assert_eq!(guarded(&layers), ["mine"]);
        // What was approved and counts no more still adds, and does nothing else.
        layers.project_file = None;
        layers.project_file_before = file("[merge]\nguarded = ['theirs']\nverify = ['x']\n[agents]\ncuont = 3\n");
        assert_eq!(guarded(&layers), ["mine", "theirs"]);
        assert!(load(&layers).unwrap().config.merge.verify.is_empty());
        let (origin, key) = (".git/config".to_owned(), "axiom.merge.guarded".to_owned());
        layers.git = vec![GitConfigValue { origin, key, value: Some("only/this".into()) }];
        assert_eq!(guarded(&layers), ["only/this"]);
    }

    #[test]
    fn git_writes_the_last_part_in_lower_case() {
        let config = from_git(&[
            ("axiom.checkpoints.maxfilesize", "2GB"),
            ("axiom.checkpoints.include", "a"),
            ("axiom.checkpoints.include", "b"),
        ]);
        let config = config.unwrap().config;
        assert_eq!(config.checkpoints.max_file_size, 2000);
        assert_eq!(config.checkpoints.include, ["a", "b"]);
    }

    #[test]
    fn adapters_have_a_table_of_their_own() {
        let config = with_file("[agents.mine]\ncommand = ['my-agent', '{prompt}']\nexitCompletes = false\n").unwrap().config;
        let adapter = &config.agents.adapters["mine"];
        assert_eq!((&adapter["command"][1], &adapter["exitCompletes"]), (&Value::from("{prompt}"), &Value::from(false)));
        let git = from_git(&[("axiom.agents.mine.command", "x"), ("axiom.personas.reviewer.agent", "mine")]).unwrap().config;
        assert_eq!(git.agents.adapters["mine"]["command"], serde_json::json!(["x"]));
        assert_eq!(git.personas["reviewer"].agent.as_deref(), Some("mine"));
    }

    #[test]
    fn a_preset_is_changed_piecewise_and_tables_stay_whole() {
        let text = "[agents.claude]\nenv.A = 'b'\nstream.rules = [{ is = 'text', text = '/x' }]\n[agents.claude.tools]\nBash = 'shell'\n";
        let config = with_file(text).unwrap().config;
        let table = serde_json::to_value(&config.agents.adapters["claude"]).unwrap();
        let rules = serde_json::json!({ "rules": [{ "is": "text", "text": "/x" }] });
        assert_eq!(table, serde_json::json!({ "env": { "A": "b" }, "tools": { "Bash": "shell" }, "stream": rules }));
        let error = with_file("[agents.claude]\nstopSignal = 'KILL'\n").unwrap_err();
        assert!(error.hints().join("").contains("TERM, INT, HUP, QUIT"), "{:?}", error.hints());
        assert!(from_git(&[("axiom.agents.claude.env", "x")]).unwrap_err().hints().join("").contains("in a configuration file"));
    }

    #[test]
    fn thresholds_of_the_disk_in_the_wrong_order_are_refused() {
        for text in ["diskWarningThreshold = 499", "diskCriticalThreshold = '2GB'", "diskEmergencyThreshold = 501"] {
            let error = with_file(&format!("[system]\n{text}\n")).unwrap_err();
            assert!(error.code() == Code::ConfigInvalid && error.to_string().contains("in the wrong order"), "{text}: {error}");
        }
        let off = "[system]\ndiskWarningThreshold = 0\ndiskCriticalThreshold = 0\ndiskEmergencyThreshold = 0\n";
        assert!(with_file(off).is_ok());
    }

    #[test]
    fn what_can_be_used_counts_beside_what_cannot() {
        let layers = ConfigLayers {
            user_file: Some(("/c.toml".into(), "[agents]\ncuont = 3\ncount = 4\n[agents.x]\nexitCompletes = true\n".into())),
            project_file: Some(("/p.toml".into(), "[agents\n".into())),
            project_file_before: None,
            git: vec![
                GitConfigValue { origin: "g".into(), key: "axiom.agents.maxiterations".into(), value: Some("many".into()) },
                GitConfigValue { origin: "g".into(), key: "axiom.foo".into(), value: None },
                GitConfigValue { origin: "g".into(), key: "axiom.checkpoints.maxcount".into(), value: Some("7".into()) },
            ],
            command_line: vec![("agents.graceSeconds".into(), "x".into())],
        };
        let UsableConfig { loaded, problems } = load_usable(&layers).unwrap();
        assert_eq!((loaded.config.agents.count, loaded.config.checkpoints.max_count), (4, 7));
        let places =
            ["/c.toml:2: ", "/p.toml:1: ", "g: there is no key 'foo'", "git config, g: ", "the value", "agents.x has no"];
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), places.len(), "{told:#?}");
        assert!(told.iter().zip(places).all(|(told, place)| told.starts_with(place)), "{told:#?}");
        assert_eq!(load(&layers).unwrap_err().to_string(), told[0]);
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_its_place() {
        for (text, at, hint) in [
            ("[agents]\ncuont = 3\n", "/c.toml:2: there is no key 'agents.cuont'", "did you mean 'agents.count'?"),
            ("[agents]\n\ncount = 0\n", "/c.toml:3: the value 0 of 'agents.count'", "from 1 to 100"),
            ("[checkpoints]\nperiodic = 'x'", "/c.toml:2: ", "a whole number"),
            ("[agents\n", "/c.toml:1: this is not valid TOML", ""),
            ("[agents.x]\nexitCompletes = true\n", "agents.x has no command", "agents.x.command"),
        ] {
            let error = with_file(text).unwrap_err();
            assert_eq!(error.code(), Code::ConfigInvalid);
            assert!(error.to_string().contains(at), "{error}");
            assert!(error.hints().join("\n").contains(hint), "{:?}", error.hints());
        }
        let error = from_git(&[("axiom.foo", "1")]).unwrap_err();
        assert!(error.to_string().starts_with(".git/config: there is no key 'foo'"), "{error}");
    }
}
