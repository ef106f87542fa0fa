//! `git axiom attach zed` and the like: an editor starts its agents through us.

use super::{AttachTargetArgs, each_named};
use crate::cli::screen::Screen;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::program_hooks::acp_client::AcpClientProgram;
use axiom_safety::program_hooks::acp_clients::{attach_client, detach_client};

/// The editors whose configuration is a file that is written.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    AcpClientProgram::ALL.into_iter().filter(|(_, client)| client.key().is_some()).map(|(name, _)| name)
}

/// The editors that are named; `None` where none is.
pub(super) fn chosen(which: &AttachTargetArgs, status: bool) -> Result<Option<Vec<AcpClientProgram>>> {
    let all: Vec<AcpClientProgram> = which.programs.iter().filter_map(|word| AcpClientProgram::named(word)).collect();
    if all.is_empty() {
        return Ok(None);
    }
    let refused = |what: &str, hint: &str| Err(Error::new(Code::Usage, what.to_owned()).hint(hint.to_owned()));
    if all.len() < which.programs.len() {
        return refused("editors and programs are attached by a call each", "git axiom attach zed");
    }
    if status {
        return refused("an editor has no hooks", "git axiom sessions    says which of its agents are protected");
    }
    if which.shared {
        return refused("the file of an editor is your own", "git axiom attach zed");
    }
    Ok(Some(all))
}

/// Puts agents into the files of these editors.
pub(super) fn attach(chosen: &[AcpClientProgram], which: &AttachTargetArgs, screen: &mut Screen) -> Result<Exit> {
    each_named(which, named(chosen), screen, |client, doing| attach_client(client, doing).map(|done| vec![done]))?;
    if !which.dry_run {
        screen.note("Choose an agent 'with git axiom' in the editor; in acpx it has the agent's own name");
        screen.note("To see that it works: git axiom sessions, after the next prompt");
    }
    Ok(Exit::Done)
}

/// Takes them out again.
pub(super) fn detach(chosen: &[AcpClientProgram], which: &AttachTargetArgs, screen: &mut Screen) -> Result<Exit> {
    each_named(which, named(chosen), screen, |client, doing| detach_client(client, doing).map(|done| vec![done]))?;
    Ok(Exit::Done)
}

fn named(chosen: &[AcpClientProgram]) -> impl Iterator<Item = (&'static str, AcpClientProgram)> {
    chosen.iter().map(|client| (client.as_str(), *client))
}
