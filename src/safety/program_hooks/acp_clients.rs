//! The files of editors that start agents through us: `git axiom attach zed` and the like.

use std::path::PathBuf;

use super::attach::ProgramFileOutcome;
use super::file_backup;
use super::file_edit::{ProgramFilePiece, ProgramFileTarget, WriteProgramFiles};
use super::program_files::{AttachScope, ProgramFilePlace, caller, on_path};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::EditThroughLink;
use axiom_model::program_hooks::acp_client::{AcpClientProgram, known_agents};
use axiom_model::program_hooks::agent_servers::AgentServers;
use axiom_model::program_hooks::edit::HookEditRefusal;

impl ProgramFilePiece for AgentServers {
    fn with(&self, text: Option<&str>) -> std::result::Result<String, HookEditRefusal> {
        AgentServers::with(self, text)
    }

    fn without(&self, text: &str) -> std::result::Result<Option<String>, HookEditRefusal> {
        AgentServers::without(self, text).map(Some)
    }

    fn is_changed(&self, _: &str) -> bool {
        false
    }
}

/// Has a client start the installed agents that are known through us.
pub fn attach_client(client: AcpClientProgram, doing: WriteProgramFiles) -> Result<ProgramFileOutcome> {
    let own = caller(AttachScope::User)?.file().to_owned();
    let agents = known_agents().into_iter().filter(|agent| agent.first().is_some_and(|name| !on_path(name).is_empty()));
    let call = |agent: &[String]| [&[own.clone(), "acp".to_owned(), "--".to_owned()][..], agent].concat();
    let entries: Vec<_> = agents.map(|agent| client.entry(&call(&agent), &agent)).collect();
    if entries.is_empty() {
        let hint = format!("git axiom acp --print {} -- AGENT    prints what its configuration says", client.as_str());
        return Err(Error::new(Code::InvalidInput, "no agent is in your PATH that is known to speak the protocol").hint(hint));
    }
    let target = target_of(client)?;
    let became = target.put(&servers(client, entries)?, doing, || Ok(()))?;
    Ok(ProgramFileOutcome { path: target.at.path, became, calls: Some(format!("{own} acp")) })
}

/// Takes these agents out of a client's file again.
pub fn detach_client(client: AcpClientProgram, doing: WriteProgramFiles) -> Result<ProgramFileOutcome> {
    let target = target_of(client)?;
    let became = target.take_out(&servers(client, Vec::new())?, doing)?;
    Ok(ProgramFileOutcome { path: target.at.path, became, calls: None })
}

fn servers(client: AcpClientProgram, entries: Vec<(String, serde_json::Value)>) -> Result<AgentServers> {
    let key = client.key().ok_or_else(|| {
        Error::new(
            Code::InvalidInput,
            format!("the configuration of {} is a program, which you change yourself", client.as_str()),
        )
    })?;
    Ok(AgentServers { key, entries })
}

fn target_of(client: AcpClientProgram) -> Result<ProgramFileTarget> {
    let home = || env::home_dir().ok_or_else(|| Error::new(Code::InvalidInput, "you have no home folder: HOME is not set"));
    let path: PathBuf = match client {
        AcpClientProgram::Zed => match env::user_config_dir() {
            Some(folder) => folder.join("zed/settings.json"),
            None => home()?.join(".config/zed/settings.json"),
        },
        AcpClientProgram::Jetbrains => home()?.join(".jetbrains/acp.json"),
        AcpClientProgram::Acpx | AcpClientProgram::Codecompanion | AcpClientProgram::AgentShell => {
            home()?.join(".acpx/config.json")
        }
    };
    let record = file_backup::of_user(&path)?;
    Ok(ProgramFileTarget { at: ProgramFilePlace { path, in_worktree: None, links: EditThroughLink::Followed }, record })
}
