//! What runs at the side of an agent program: its keeper, and the reports that the agent hands to it. Both are processes of
//! their own, started by the hidden verb `keeper` and by `git axiom signal`. How a supervisor starts keepers is in
//! `supervise`; how a keeper works is in `process::keeper`.

use std::path::{Path, PathBuf};

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::Token;
use axiom_model::work::signals::signal::AgentSignal;
use axiom_process::keeper::{owner, spool, step_keeper};
use axiom_process::run_folder::spec::KeeperSpec;
use axiom_store::layout::StoreLayout;
use axiom_store::states::handle::Store;

/// Owns the agent program that the specification in the file `spec` names, to its end. Returns the exit status of the keeper.
pub fn own_agent(spec: &Path) -> Result<i32> {
    owner::run(spec, &is_to_run)
}

/// The same for a program whose end the process waits for that started this one.
pub fn own_agent_here(spec: &Path) -> Result<i32> {
    owner::run_here(spec)
}

/// Owns one step, whose order comes on standard input, to its end.
pub fn own_step() -> Result<()> {
    step_keeper::run()
}

/// Whether the log still says that this very iteration is to run.
fn is_to_run(spec: &KeeperSpec) -> Result<bool> {
    let store = Store::load(StoreLayout::new(&spec.state_check.common_dir))?;
    let work = store.state().restorable.agents.get(&spec.agent).and_then(|agent| agent.work.as_ref());
    Ok(work.and_then(|work| work.stage.token()) == Some(&spec.token))
}

/// Hands a report of the agent that called us to its keeper, and waits until it is on disk.
///
/// # Errors
/// `INVALID_INPUT` where this does not run below a keeper; as [`spool::submit`].
pub fn report(signal: AgentSignal) -> Result<()> {
    let not_an_agent = || {
        Error::new(Code::InvalidInput, "this is not running below 'git axiom run'")
            .hint("'git axiom signal' is for agents: their keeper sets AXIOM_SPOOL and AXIOM_TOKEN")
    };
    let folder = env::var("AXIOM_SPOOL").map(PathBuf::from).ok_or_else(not_an_agent)?;
    let token = env::var("AXIOM_TOKEN").and_then(|text| text.into_string().ok()).ok_or_else(not_an_agent)?;
    spool::submit(&folder, &Token::new(token)?, signal, spool::PATIENCE)
}
