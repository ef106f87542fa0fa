//! How a program is talked to that speaks the Agent Client Protocol.

use crate::config::Config;
use axiom_model::agent::adapter::{AgentAdapter, AgentProtocol};
use axiom_model::work::permissions::permission_rule::{PermissionPolicy, PermissionRule};
use axiom_process::run_folder::spec::AcpRunSettings;

/// The settings of a run with a human who can be asked; `None` where the program speaks no such protocol. `rules` are those of the task.
pub fn acp_settings(
    config: &Config,
    program: &AgentAdapter,
    resumes: Option<&str>,
    rules: &[PermissionRule],
) -> Option<AcpRunSettings> {
    let agents = &config.agents;
    let rules = rules.iter().chain(&agents.permission_rules).cloned().collect();
    let policy = PermissionPolicy { mode: agents.permissions, rules, guarded: config.merge.guarded.clone() };
    let settings = AcpRunSettings {
        resumes: resumes.map(str::to_owned),
        mode: program.mode.clone(),
        policy,
        timeout_seconds: agents.permission_timeout,
    };
    (program.protocol == AgentProtocol::Acp).then_some(settings)
}

/// The same for a run that nobody looks after: what would be asked is refused.
pub fn unattended(config: &Config, program: &AgentAdapter) -> Option<AcpRunSettings> {
    Some(AcpRunSettings { timeout_seconds: 0, ..acp_settings(config, program, None, &[])? })
}
