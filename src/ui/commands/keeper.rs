//! `git axiom keeper`: the hidden verb that runs a keeper.

use std::path::PathBuf;

use clap::Args;

use axiom_agents::keeper;
use axiom_base::error::{Exit, Result};

/// Arguments of `keeper`.
#[derive(Debug, Args)]
pub struct KeeperArgs {
    /// The specification of the run
    #[arg(long, value_name = "PATH", required_unless_present = "step")]
    spec: Option<PathBuf>,
    /// Stay a child of the process that waits for the end of the run
    #[arg(long, requires = "spec")]
    here: bool,
    /// Own one step, which comes on stdin, for the repository with this git directory
    #[arg(long, value_name = "PATH", conflicts_with = "spec")]
    step: Option<PathBuf>,
}

/// Runs a keeper to the end of its program or step.
pub fn run(args: &KeeperArgs) -> Result<Exit> {
    let Some(spec) = &args.spec else { return keeper::own_step().map(|()| Exit::Done) };
    let code = if args.here { keeper::own_agent_here(spec)? } else { keeper::own_agent(spec)? };
    Ok(if code == 0 { Exit::Done } else { Exit::Failed })
}
