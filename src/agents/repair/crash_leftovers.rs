//! What a crash left for recovery to tidy up: half-removed workspaces, what merged tasks leave, worktrees in which a merge was verified,
//! a planner worked or a conflict was settled, temporary files, processes of dead keepers. Looking changes nothing; `repair` and the supervisor
//! tidy up.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{merge, revert_task};
use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::forms::plural::count_of;
use axiom_model::base::ids::TaskId;
use axiom_model::work::agent::Agent;
use axiom_process::client::leftovers;
use axiom_process::keeper_state;
use axiom_process::run_folder::records::KeeperState;
use axiom_safety::context::handle::Context;
use axiom_safety::context::kept_hooks;
use axiom_safety::settings::shared;
use axiom_safety::upkeep::mend::locks::LOCK_AGE;

/// What is left, a line for each thing. What agents of the tasks in `stay` left running is not touched.
pub fn find(ctx: &Context, stay: &BTreeSet<&TaskId>) -> Result<Vec<String>> {
    let mut found = half_removed(ctx)?;
    let workspaces = &ctx.state().restorable.workspaces;
    let merged = merge::cleanup::with_workspace(ctx);
    let merged = merged.iter().filter_map(|task| Some((task, &workspaces.get(task)?.path)));
    found.extend(merged.map(|(task, path)| format!("the workspace '{path}' of {task}, which is merged: it goes to the trash")));
    let branches = merge::cleanup::to_delete(ctx)?;
    if branches > 0 {
        let words = count_of(branches, "branch of a merged task", "branches of merged tasks");
        let they_are = if branches == 1 { "it is" } else { "they are" };
        found.push(format!("{words}: {they_are} deleted, since the target has the commits"));
    }
    let settled = revert_task::finished(ctx)?.into_iter();
    found.extend(settled.map(|path| format!("'{path}', whose conflict is settled: it goes to the trash")));
    let scratch = axiom_safety::folders::scratch_worktrees::left(ctx)?.into_iter();
    found.extend(scratch.map(|left| format!("'{}', {}: it is removed", left.path.display(), left.of.went_on())));
    let files = temporaries(ctx, temporaries_age(ctx))?.into_iter();
    found.extend(files.map(|path| format!("'{}', half of a file that was being written: it is removed", path.display())));
    let processes = processes(ctx, stay)?;
    if processes > 0 {
        let (words, they_are) = (count_of(processes, "process", "processes"), if processes == 1 { "it is" } else { "they are" });
        found.push(format!("{words} of a dead keeper: {they_are} ended"));
    }
    found.extend(kept_hooks::left(ctx.layout()).iter().map(|run| format!("{}: that is recorded", run.summary())));
    Ok(found)
}

/// Workspaces of which git has the entry and nobody the folder.
fn half_removed(ctx: &Context) -> Result<Vec<String>> {
    let listed: HashSet<PathBuf> = ctx.repo.worktree_owners().linked()?.into_iter().map(|(_, folder)| folder).collect();
    let workspaces = ctx.state().restorable.workspaces.values().map(|one| Path::new(&one.path));
    let half = workspaces.filter(|path| listed.contains(*path) && path.symlink_metadata().is_err());
    Ok(half.map(|path| format!("the workspace '{}' is half removed: the rest of it goes too", path.display())).collect())
}

/// How old a temporary file is that nobody writes any more. After another start of the machine, of which only the proof of the objects
/// knows: so this is to be asked before it, any age.
pub fn temporaries_age(ctx: &Context) -> Duration {
    if ctx.repo.power_losses().objects_are_proved() { LOCK_AGE } else { Duration::ZERO }
}

/// Temporary files of ours beside the state and among the project's own, which a crash left, of at least this age.
pub fn temporaries(ctx: &Context, age: Duration) -> Result<Vec<PathBuf>> {
    let ours = [ctx.layout().root().to_owned(), ctx.layout().state_dir()];
    // A bare repository has none of the project's.
    let shared = shared::folders(&ctx.repo).unwrap_or_default();
    let mut found = Vec::new();
    for folder in ours.into_iter().chain(shared) {
        found.extend(files::temporaries_in(&folder, age)?);
    }
    Ok(found)
}

/// How many processes are left of keepers that died, but for those of the tasks that stay as they are.
fn processes(ctx: &Context, stay: &BTreeSet<&TaskId>) -> Result<usize> {
    let mut dead = Vec::new();
    let goes = |agent: &&Agent| agent.work.as_ref().is_some_and(|work| !stay.contains(&work.task));
    let going = ctx.state().busy_agents().filter(goes);
    for (agent, token) in going.filter_map(|agent: &Agent| Some((agent, agent.token()?))) {
        if let Ok(KeeperState::Dead(record)) = keeper_state(&ctx.layout().agents().run(&agent.id, token)) {
            dead.push(record);
        }
    }
    leftovers::count_left(&dead)
}
