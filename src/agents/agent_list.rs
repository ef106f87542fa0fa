//! Which agent programs there are, and what would run.

pub mod check;
mod facts;

use std::path::PathBuf;
use std::time::Duration;

use axiom_base::error::Result;
use axiom_model::agent::adapter::AgentAdapter;
use axiom_model::agent::presets;
use axiom_process::client::ask;
use axiom_safety::config::Config;
use axiom_safety::running::programs::{find, program};

/// How long a program may take to tell its version. All are asked at the same time, and some take ten seconds where the machine
/// is busy.
const LIMIT: Duration = Duration::from_secs(20);

/// How long the program may take that is checked.
pub const CHECK_LIMIT: Duration = Duration::from_secs(180);

/// An agent program.
#[derive(Debug)]
pub struct AgentProgramListing {
    /// What is known of it.
    pub adapter: AgentAdapter,
    /// Where it comes from.
    pub origin: AgentProgramOrigin,
    /// Where it is, if it is on this machine.
    pub path: Option<PathBuf>,
    /// What it calls its version.
    pub version: Option<String>,
    /// Whether tasks without a persona of their own are given to it.
    pub is_default: bool,
    /// The personas whose tasks are given to it.
    pub personas: Vec<String>,
}

/// Where an agent program comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentProgramOrigin {
    /// It is built in.
    Preset,
    /// It is built in, and the configuration changes keys of it.
    Changed,
    /// The configuration describes it.
    Own,
}

/// All presets and all programs of the configuration, in this order; tasks without a persona go to the one called `default`, if any.
/// Those that are found are asked for their versions.
///
/// # Errors
/// `CONFIG_INVALID` with the key that cannot be used.
pub fn all(config: &Config, default: Option<&str>) -> Result<Vec<AgentProgramListing>> {
    let own = config.agents.adapters.keys().map(String::as_str).filter(|name| presets::preset_text(name).is_none());
    let names: Vec<&str> = presets::names().map(|name| name as &str).chain(own).collect();
    let mut all = names.into_iter().map(|name| known(config, name, default)).collect::<Result<Vec<_>>>()?;
    std::thread::scope(|scope| {
        for one in &mut all {
            if one.path.is_some() && !one.adapter.version.is_empty() {
                scope.spawn(|| one.version = ask::first_line(&one.adapter.version, LIMIT));
            }
        }
    });
    Ok(all)
}

fn known(config: &Config, name: &str, default: Option<&str>) -> Result<AgentProgramListing> {
    let adapter = program(config, name)?;
    let origin = match (presets::preset_text(name), config.agents.adapters.contains_key(name)) {
        (Some(_), false) => AgentProgramOrigin::Preset,
        (Some(_), true) => AgentProgramOrigin::Changed,
        (None, _) => AgentProgramOrigin::Own,
    };
    let path = adapter.command.first().and_then(|word| find(word));
    let its = config.personas.iter().filter(|(_, persona)| persona.agent.as_deref() == Some(name));
    let personas = its.map(|(persona, _)| persona.clone()).collect();
    Ok(AgentProgramListing { is_default: default == Some(name), adapter, origin, path, version: None, personas })
}
