//! Whether anybody works in the repository: locks decide, so the answer is certain.

use std::path::PathBuf;
use std::time::Duration;

use super::busy;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_process::run_folder::spec::KEEPER_LOCK;
use axiom_safety::attach::join::wait_until_saved;
use axiom_safety::context::handle::Context;
use axiom_safety::operation::stop_agents;
use axiom_store::beside::attach::AttachFiles;

/// How long it is waited for what an attached agent did a moment ago.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until what attached agents did is saved, where somebody saves it. The caller does not hold the change lock.
pub(crate) fn wait_for_joiner(ctx: &Context) -> Result<()> {
    wait_until_saved(&AttachFiles::of(ctx.layout()), PATIENCE).map(drop)
}

/// Refuses while agents, planners, verifications, watches or attached sessions' joiners run. Sessions are refused by their own lock.
pub(crate) fn check(ctx: &Context) -> Result<()> {
    for entry in files::list(&ctx.layout().locks().folder())? {
        let name = entry.file_name().to_string_lossy().into_owned();
        let what = match name.split_once('-') {
            Some(("workspace", task)) => format!("an agent works on '{task}'"),
            Some(("verify", task)) => format!("the merge of '{task}' is being verified"),
            _ if name == "planning" => "a planner runs".to_owned(),
            _ => continue,
        };
        if files::is_locked(&entry.path())? {
            return Err(busy(what).hint("git axiom stop --all    stops agents"));
        }
    }
    for lock in keeper_locks(ctx)? {
        if files::is_locked(&lock)? {
            return Err(busy(format!("a program still runs below a keeper: '{}'", lock.display())));
        }
    }
    if !stop_agents::orphaned(ctx)?.is_empty() {
        return Err(busy("a program of an agent still runs whose keeper has died").hint("git axiom recover --yes    ends it"));
    }
    let attached = AttachFiles::of(ctx.layout());
    if files::is_locked(&attached.joiner_lock())? {
        return Err(busy("what an attached agent changed is being saved"));
    }
    for lock in attached.watches().locks() {
        if files::is_locked(&lock)? {
            return Err(busy("a worktree is being watched")
                .hint("git axiom watch --stop    ends the watch of the worktree that you are in"));
        }
    }
    Ok(())
}

fn keeper_locks(ctx: &Context) -> Result<Vec<PathBuf>> {
    let mut locks = Vec::new();
    for agent in files::list(&ctx.layout().agents().folder())?.into_iter().filter(|agent| agent.path().is_dir()) {
        for run in files::list(&agent.path().join("runs"))? {
            locks.push(run.path().join(KEEPER_LOCK));
        }
    }
    Ok(locks)
}
