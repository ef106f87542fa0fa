//! Which agent program works on a task: what the configuration and the command line say, made of presets; and
//! where it is on this machine.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::config::Config;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::agent::adapter::AgentAdapter;
use axiom_model::agent::overlay::overlaid;
use axiom_model::agent::presets;
use axiom_model::work::tasks::task::Task;

/// The agent programs of a session.
#[derive(Debug, Clone)]
pub struct SessionPrograms {
    default: Arc<AgentAdapter>,
    /// Those of personas that have one of their own.
    personas: BTreeMap<String, Arc<AgentAdapter>>,
}

impl SessionPrograms {
    /// This program for every task.
    pub fn only(program: AgentAdapter) -> Self {
        Self { default: Arc::new(program), personas: BTreeMap::new() }
    }

    /// None, where no agent is started.
    pub fn none() -> Self {
        Self { default: Arc::new(AgentAdapter::default()), personas: BTreeMap::new() }
    }

    /// What is configured: `agents.default`, and what personas name.
    ///
    /// # Errors
    /// `CONFIG_INVALID` with the key.
    pub fn configured(config: &Config) -> Result<Self> {
        Self::with_default(config, &config.agents.default)
    }

    /// As [`SessionPrograms::configured`], with another program in the place of `agents.default`.
    pub fn with_default(config: &Config, name: &str) -> Result<Self> {
        let default = Arc::new(program(config, name)?);
        let mut personas = BTreeMap::new();
        for (persona, table) in &config.personas {
            let Some(agent) = &table.agent else { continue };
            let its = program(config, agent).map_err(|error| error.context(format!("personas.{persona}.agent")))?;
            personas.insert(persona.clone(), Arc::new(its));
        }
        Ok(Self { default, personas })
    }

    /// The program that works on a task.
    pub fn of(&self, task: &Task) -> &Arc<AgentAdapter> {
        self.of_persona(task.persona.as_deref())
    }

    /// The program that works on tasks of a persona.
    pub fn of_persona(&self, persona: Option<&str>) -> &Arc<AgentAdapter> {
        persona.and_then(|persona| self.personas.get(persona)).unwrap_or(&self.default)
    }

    /// All of them, that of tasks without a persona first.
    pub fn all(&self) -> impl Iterator<Item = &AgentAdapter> {
        std::iter::once(&self.default).chain(self.personas.values()).map(AsRef::as_ref)
    }
}

/// The agent program of this name: a preset, the table `agents.<name>`, or the one laid over the other.
///
/// # Errors
/// `CONFIG_INVALID` with the key, or with the names that there are.
pub fn program(config: &Config, name: &str) -> Result<AgentAdapter> {
    let table = config.agents.adapters.get(name);
    let base = match (presets::preset_text(name), table) {
        (Some(_), _) | (None, None) => Some(presets::preset_value(name)?),
        (None, Some(_)) => None,
    };
    let mut over: serde_json::Map<String, Value> =
        table.into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect();
    over.insert("name".to_owned(), Value::from(name));
    overlaid(base, Value::Object(over))
}

/// A program given on the command line: exit status 0 completes a task.
///
/// # Errors
/// `INVALID_INPUT` where no program is named.
pub fn bare(command: Vec<String>) -> Result<AgentAdapter> {
    let Some(name) = command.first().filter(|name| !name.trim().is_empty()).cloned() else {
        return Err(Error::new(Code::ProgramNotFound, "no agent program is named").hint("git axiom run -- PROGRAM ARG…"));
    };
    let table = serde_json::json!({ "name": name, "command": command, "exitCompletes": true });
    overlaid(None, table)
}

/// Where the program of this name is: a path, or a name on `PATH`.
pub fn find(program: &str) -> Option<PathBuf> {
    let executable = |path: &Path| path.is_file() && path.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0);
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| executable(path));
    }
    let path = env::var("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| executable(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ConfigLayers, load_usable};

    fn config(text: &str) -> Config {
        let layers = ConfigLayers { user_file: Some(("/c.toml".into(), text.into())), ..ConfigLayers::default() };
        load_usable(&layers).unwrap().whole().unwrap().config
    }

    #[test]
    fn a_table_changes_a_preset_piecewise_and_another_name_is_a_program_of_its_own() {
        let config = config(
            "[agents]\ndefault = 'mine'\n[agents.claude]\nenv.A = 'b'\nstopSignal = 'INT'\n\
             [agents.mine]\ncommand = ['my-agent']\n[personas.reviewer]\nagent = 'claude'\n[personas.plain]\nprompt = 'Be brief.'\n",
        );
        let programs = SessionPrograms::configured(&config).unwrap();
        let names: Vec<&str> = programs.all().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["mine", "claude"]);
        let claude = program(&config, "claude").unwrap();
        assert_eq!(
            (claude.stop_signal.as_str(), claude.env["A"].as_str(), claude.env["DISABLE_AUTOUPDATER"].as_str()),
            ("INT", "b", "1")
        );
        assert!(claude.command.contains(&"acceptEdits".to_owned()));
        let mine = program(&config, "mine").unwrap();
        assert!(!mine.exit_completes && mine.silence_limit.is_none());
        assert!(bare(vec!["./x".into()]).unwrap().exit_completes);
    }

    #[test]
    fn what_a_persona_names_has_to_exist() {
        let error = SessionPrograms::configured(&config("[personas.reviewer]\nagent = 'clod'\n")).unwrap_err();
        assert!(error.to_string().contains("personas.reviewer.agent") && error.code() == Code::ConfigInvalid, "{error}");
    }
}
