//! `git axiom keeper`: the hidden verb by which the supervisor starts a keeper.

use std::path::PathBuf;

use clap::Args;

use crate::error::{Exit, Result};
use crate::process::keeper::spec::KeeperSpec;
use crate::process::keeper::{owner, step_keeper};
use crate::store::handle::Store;
use crate::store::layout::Layout;

/// Arguments of `keeper`.
#[derive(Debug, Args)]
pub struct Keeper {
    /// The specification of the run
    #[arg(long, value_name = "PATH", required_unless_present = "step")]
    spec: Option<PathBuf>,
    /// Own one step, which comes on stdin, for the repository with this git directory
    #[arg(long, value_name = "PATH", conflicts_with = "spec")]
    step: Option<PathBuf>,
}

/// Owns one agent program to its end.
///
/// # Errors
/// As [`owner::run`] and [`step_keeper::run`].
pub fn run(args: &Keeper) -> Result<Exit> {
    let Some(spec) = &args.spec else { return step_keeper::run().map(|()| Exit::Done) };
    let code = owner::run(spec, &still_wanted)?;
    Ok(if code == 0 { Exit::Done } else { Exit::Failed })
}

/// Whether the log still says that this very iteration is to run.
fn still_wanted(spec: &KeeperSpec) -> Result<bool> {
    let store = Store::load(Layout::new(&spec.state_check.common_dir))?;
    let work = store.state().restorable.agents.get(&spec.agent).and_then(|agent| agent.work.as_ref());
    Ok(work.and_then(|work| work.stage.token()) == Some(&spec.token))
}
