//! Repairing what a crash left: the open operation, the checkpoint that was being made, half-made workspaces, git's lock
//! files whose owners are provably dead. Repeating it, also after a crash, changes nothing more.

pub mod crash_leftovers;
pub mod lost_files;
pub mod missing_workspaces;
pub mod work_places;

use std::time::Duration;

use crate::{merge, revert_task};
use axiom_base::error::Result;
use axiom_base::files;
use axiom_git::MendedTrees;
use axiom_model::base::forms::plural::{count, count_of};
use axiom_model::base::names::Oid;
use axiom_model::base::own_names::NOTES;
use axiom_model::work::hooks::hook_run::HookRun;
use axiom_safety::checkpoint::live;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::trash;
use axiom_safety::folders::workspaces;
use axiom_safety::folders::workspaces::WorkspaceCondition;
use axiom_safety::running::hooks::kept;
use axiom_safety::upkeep::mend::locks::{clear_locks, wait_for_new_locks};
use axiom_safety::upkeep::mend::report::RepairReport;
use axiom_safety::upkeep::mend::worktrees;
use axiom_safety::upkeep::tidy;
use axiom_safety::{checkpoint, operation};

/// How many hooks that were not told are named.
const MOST_HOOKS: usize = 5;

/// What to do with an interrupted operation that a human had requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnHumanOperation {
    /// Finish it, or reverse it where that fails: a human requested that now.
    Finish,
    /// Repair nothing until a human has decided how it ends.
    Refuse,
    /// Leave it open, and repair nothing that might affect it.
    Leave,
}

/// Makes all repairs that are safe.
///
/// # Errors
/// `BUSY` while an operation is under way; `OPERATION_OPEN` with [`OnHumanOperation::Refuse`]; those of an open operation
/// that can neither be finished nor reversed.
pub fn repair(ctx: &mut Context, humans: OnHumanOperation) -> Result<RepairReport> {
    let _span = tracing::info_span!("recovery").entered();
    let mut report = RepairReport::default();
    ctx.layout().ensure()?;
    let other_boot = !ctx.repo.power_losses().objects_are_proved();
    let age = crash_leftovers::temporaries_age(ctx);
    ctx.with_change_lock(|ctx| {
        let open = ctx.state().record.open.as_ref();
        let waits = open.is_some_and(|open| !open.operation.kind.is_finished_unasked());
        match humans {
            OnHumanOperation::Refuse if waits => ctx.no_open_operation()?,
            OnHumanOperation::Leave if waits => return clear_locks(&ctx.repo, &mut report),
            OnHumanOperation::Finish | OnHumanOperation::Refuse | OnHumanOperation::Leave => {}
        }
        report.done.extend(std::mem::take(&mut ctx.found.mended));
        report.done.extend(worktrees::registrations(ctx)?);
        wait_for_new_locks(&ctx.repo)?;
        clear_locks(&ctx.repo, &mut report)?;
        let damaged = !ctx.repo.registrations().damaged_worktrees()?.is_empty();
        let is_lost = !ctx.repo.power_losses().lost_objects()?.is_empty();
        let session_is_open = ctx.state().record.session.as_ref().is_some_and(|session| session.state.is_open());
        if damaged || other_boot || is_lost || session_is_open {
            let is_after_crash = damaged || other_boot || session_is_open;
            worktrees::contents(ctx, is_after_crash, &mut report)?;
        }
        if damaged {
            worktrees::linked_worktrees(ctx, &mut report)?;
        }
        worktrees::indexes(ctx, &mut report)?;
        finish_operation(ctx, &mut report)?;
        if let Some(name) = ctx.state().record.checkpoint_intent.clone() {
            report.done.push(match checkpoint::complete_intent(ctx)? {
                Some(_) => format!("checkpoint {name} was completed"),
                None => format!("checkpoint {name} was never made, and was dropped"),
            });
        }
        mend_workspaces(ctx, &mut report, humans)?;
        close_merged(ctx, &mut report);
        close_settled(ctx, &mut report);
        clear_scratch(ctx, &mut report);
        clear_temporaries(ctx, age, &mut report);
        heal_checkpoints(ctx, &mut report);
        empty_trash(ctx, &mut report);
        hooks_not_told(ctx, &mut report);
        objects(ctx, &mut report)
    })?;
    tracing::info!(done = report.done.len(), left = report.left.len(), "recovery ends");
    Ok(report)
}

/// Finishes an operation that no human decided about, where one was left open; returns what was done, in words.
///
/// # Errors
/// `BUSY` while it is under way in another process; those for which it stays open (`GIT_LOCKED`, `DISK_FULL`).
pub fn finish_unasked(ctx: &mut Context) -> Result<Vec<String>> {
    let is_open = |ctx: &Context| ctx.state().record.open.as_ref().is_some_and(|open| open.operation.kind.is_finished_unasked());
    if !is_open(ctx) {
        return Ok(Vec::new());
    }
    let mut report = RepairReport::default();
    ctx.with_change_lock(|ctx| if is_open(ctx) { finish_operation(ctx, &mut report) } else { Ok(()) })?;
    report.done.extend(report.left);
    Ok(report.done)
}

fn finish_operation(ctx: &mut Context, report: &mut RepairReport) -> Result<()> {
    let Some(open) = ctx.state().record.open.clone() else { return Ok(()) };
    let title = open.operation.title.clone();
    if open.reversing {
        let ended = operation::reverse_open(ctx, "recovery goes on reversing it")?;
        say_what_was_left(report, ended);
        report.done.push(format!("'{title}' was interrupted and is now reversed"));
        return Ok(());
    }
    let Some(ended) = operation::end_open(ctx)? else { return Ok(()) };
    report.done.push(match &ended.turned_back {
        None => format!("'{title}' was interrupted and is now finished"),
        Some(error) => format!("'{title}' was interrupted, could not be finished ({error}) and is now reversed"),
    });
    say_what_was_left(report, Some(ended));
    Ok(())
}

fn say_what_was_left(report: &mut RepairReport, ended: Option<operation::EndedOperation>) {
    let Some(operation::EndedOperation { left, not_put_back, .. }) = ended else { return };
    report.left.extend(left.iter().map(|what| format!("changed by another process meanwhile, and left alone: {what}")));
    report.left.extend(not_put_back.iter().map(|what| format!("could not be put back: {what}")));
}

/// After a crash between a merge and the removal of its workspace and branch, these are still there.
fn close_merged(ctx: &mut Context, report: &mut RepairReport) {
    for task in merge::cleanup::with_workspace(ctx) {
        match merge::cleanup::close_workspace(ctx, &task) {
            Ok(()) => report.done.push(format!("the workspace of {task}, which is merged, was moved to the trash")),
            Err(error) => report.left.push(error.to_string()),
        }
    }
    match merge::cleanup::delete_branches(ctx, &merge::cleanup::with_branch(ctx)) {
        Ok(gone) if gone.is_empty() => {}
        Ok(gone) => {
            let words = count_of(gone.len(), "branch of a merged task was", "branches of merged tasks were");
            report.done.push(format!("{words} deleted: the target has their commits"));
        }
        Err(error) => report.left.push(format!("branches of merged tasks could not be deleted: {error}")),
    }
}

/// After a crash between a rollback and the removal of the worktree in which its conflict was resolved, that worktree is
/// still there.
fn close_settled(ctx: &Context, report: &mut RepairReport) {
    match revert_task::put_finished_aside(ctx) {
        Ok(paths) => {
            let said = paths.iter().map(|path| format!("'{path}', whose conflict is resolved, was moved to the trash"));
            report.done.extend(said);
        }
        Err(error) => report.left.push(error.to_string()),
    }
}

/// After a crash during the verification of a merge, or of a planner's work, its worktree is still there.
fn clear_scratch(ctx: &Context, report: &mut RepairReport) {
    match axiom_safety::folders::scratch_worktrees::clear_left(ctx) {
        Ok(left) => {
            let said = left.iter().map(|left| format!("'{}', {}, was cleared", left.path.display(), left.of.went_on()));
            report.done.extend(said);
        }
        Err(error) => report.left.push(error.to_string()),
    }
}

/// After a crash while a file was written, half of it is still there.
fn clear_temporaries(ctx: &Context, age: Duration, report: &mut RepairReport) {
    for path in crash_leftovers::temporaries(ctx, age).unwrap_or_default() {
        match files::remove_file(&path) {
            Ok(()) => report.done.push(format!("removed '{}', half of a file that was being written", path.display())),
            Err(error) => report.left.push(error.to_string()),
        }
    }
}

/// Rebuilds missing tags and notes, and records checkpoints that the state does not know, as after a new log was started. A
/// failure is reported, and recovery goes on.
fn heal_checkpoints(ctx: &mut Context, report: &mut RepairReport) {
    let lost = ctx.repo.notes().load().is_ok_and(|notes| notes.are_lost());
    match checkpoint::refs_again(ctx) {
        Ok(again) => {
            report.done.extend(again.iter().map(|name| format!("the ref of checkpoint {name} was gone, and was made again")))
        }
        Err(error) => report.left.push(format!("refs of checkpoints could not be made again: {error}")),
    }
    match checkpoint::heal(ctx, checkpoint::HealDepth::Notes) {
        Ok(healed) => {
            report.done.extend(healed.iter().map(|name| format!("checkpoint {name} was completed, or added to the state")));
        }
        Err(error) => report.left.push(format!("checkpoints could not be checked: {error}")),
    }
    if lost && ctx.repo.notes().load().is_ok_and(|notes| !notes.are_lost()) {
        report.done.push(format!("the notes in {NOTES} were damaged, and were started again (the ref's log has the old ones)"));
    }
}

/// Records what hooks were not told, since the process that was to do so was killed, and says it.
fn hooks_not_told(ctx: &mut Context, report: &mut RepairReport) {
    match kept::settle(ctx) {
        Ok(runs) => {
            report.left.extend(runs.iter().take(MOST_HOOKS).map(HookRun::summary));
            if runs.len() > MOST_HOOKS {
                report.left.push(format!("and {} more: git axiom hooks log", count(runs.len() - MOST_HOOKS, "hook")));
            }
        }
        Err(error) => report.left.push(format!("which hooks were not told is not recorded: {error}")),
    }
}

/// Reports objects that were found damaged when the change lock was taken, and those of them that are lost; rebuilds tags
/// that can be rebuilt.
fn objects(ctx: &mut Context, report: &mut RepairReport) -> Result<()> {
    ctx.repo.durability().finish_landings()?;
    ctx.repo.concurrent_gc().clear_kept_packs()?;
    let proof = std::mem::take(&mut ctx.found.proof);
    if !proof.put_aside.is_empty() {
        let damaged: Vec<_> = ctx
            .state()
            .record
            .checkpoints
            .all()?
            .into_iter()
            .filter(|one| !ctx.repo.connectivity().holds(&one.tag))
            .cloned()
            .collect();
        for record in damaged {
            match checkpoint::complete_all(ctx, std::slice::from_ref(&record.name)) {
                Ok(()) => report.done.push(format!("the tag of checkpoint {} was rebuilt", record.name)),
                Err(error) => report.left.push(error.to_string()),
            }
        }
        let (bad, again) = (proof.put_aside.len(), proof.written_again.len());
        let words = count_of(bad, "object was corrupt", "objects were corrupt");
        report.done.push(format!("{words}: moved to axiom/quarantine; {again} of them written again"));
    }
    let made = trees(ctx, proof.trees, report);
    let losses = ctx.repo.power_losses();
    losses.retire_unneeded()?;
    losses.put_broken_apart(&[proof.broken, losses.broken_objects(&made)?].concat())?;
    report.left.extend(lost_objects(ctx)?);
    Ok(())
}

/// Writes lost trees again, and says what became of those that were found with the damaged objects; returns what was written now.
fn trees(ctx: &Context, before: MendedTrees, report: &mut RepairReport) -> Vec<Oid> {
    match ctx.repo.power_losses().mend_trees() {
        Ok(now) => {
            if !now.again.is_empty() {
                let words = count_of(now.again.len(), "lost tree was", "lost trees were");
                report.done.push(format!("{words} written again, from what lists the same files"));
            }
            for place in before.dropped.iter().chain(&now.dropped) {
                let place = place.display();
                report.done.push(format!("the index of '{place}' named a lost tree as a shortcut: git works it out again"));
            }
            now.again
        }
        Err(error) => {
            report.left.push(format!("lost trees could not be written again: {error}"));
            Vec::new()
        }
    }
}

/// One line for each damaged object that something needs and that could not be written again.
pub fn lost_objects(ctx: &Context) -> Result<Vec<String>> {
    let losses = ctx.repo.power_losses();
    let lost = losses.needed_of(losses.lost_objects()?)?;
    let words = lost.iter().map(|(oid, place)| {
        format!("object {oid} is lost; its damaged file is '{}'; 'git fsck' shows what refers to it", place.display())
    });
    Ok(words.collect())
}

/// Deletes expired captures and the expired trash. A failure is reported, and recovery goes on.
fn empty_trash(ctx: &Context, report: &mut RepairReport) {
    if ctx.found.nothing_expires {
        return;
    }
    match live::release(ctx) {
        Ok(0) => {}
        Ok(gone) => {
            let days = ctx.config.checkpoints.keep_deleted_days;
            let captures = count_of(gone, "capture of a deleted workspace was", "captures of deleted workspaces were");
            report.done.push(format!("{captures} older than {}, and deleted", count(days, "day")));
        }
        Err(error) => report.left.push(format!("captures of deleted workspaces could not be removed: {error}")),
    }
    match tidy::tidy(ctx) {
        Ok(tidied) => {
            if tidied.gone > 0 {
                let (gone, days) = (tidied.gone, ctx.config.checkpoints.keep_deleted_days);
                let things = count_of(gone, "item in the trash was", "items in the trash were");
                report.done.push(format!("{things} older than {}, and deleted", count(days, "day")));
            }
            report.done.extend(tidied.of_logs());
            report.left.extend(tidied.left.iter().map(|error| format!("something in the trash could not be deleted: {error}")));
        }
        Err(error) => report.left.push(format!("the trash was not emptied: {error}")),
    }
}

fn mend_workspaces(ctx: &mut Context, report: &mut RepairReport, humans: OnHumanOperation) -> Result<()> {
    use axiom_git::WorktreeRepair;
    let known: Vec<_> = ctx.state().restorable.workspaces.clone().into_iter().collect();
    for (task, workspace) in known {
        // The git of a session that has crashed may still be at it: whoever claims the task waits for its end.
        if workspaces::is_being_made(ctx, &task, &workspace)? {
            report.left.push(format!("workspace '{}' is still being made by git", workspace.path));
            continue;
        }
        // A session leaves this decision to the gate of the task.
        if humans != OnHumanOperation::Finish
            && let WorkspaceCondition::ForAHuman(why) = workspaces::condition(ctx, &workspace)?
        {
            report.left.push(why);
            continue;
        }
        let trash = trash::fresh(ctx, "half-made")?;
        let (repair, aside) = match workspaces::repaired(ctx, &workspace, &trash) {
            Ok(repaired) => repaired,
            // One agent's folder must not prevent the repair of the others.
            Err(error) if !error.is_everybodys() => {
                report.left.push(error.to_string());
                continue;
            }
            Err(error) => return Err(error),
        };
        report.left.extend(aside);
        let what = match repair {
            WorktreeRepair::Sound | WorktreeRepair::Nothing => continue,
            WorktreeRepair::Reconnected => "was connected to the repository again",
            WorktreeRepair::PutAside => "was incomplete and was moved to the trash",
            WorktreeRepair::Unregistered => "was partly removed, and its worktree entry was removed too",
        };
        report.done.push(format!("workspace '{}' {what}", workspace.path));
    }
    Ok(())
}
