//! Carries out what a human agreed to, by the same functions of `ops` as the verbs, and says what the verbs say.

use std::path::PathBuf;

use super::waiting;
use crate::domain::base::ids::{AgentId, CaseId, CheckpointName};
use crate::domain::checkpoint::document::Trigger;
use crate::domain::operation::undo::Asked;
use crate::domain::work::gate::{Afterwards, Decision, Place};
use crate::domain::work::outcome::Halt;
use crate::error::Result;
use crate::ops::attach::prompts;
use crate::ops::cases::edit;
use crate::ops::checkpoint::{self, CheckpointRequest};
use crate::ops::context::handle::Context;
use crate::ops::context::trust;
use crate::ops::hooks::report;
use crate::ops::interventions::pausing::{self, How};
use crate::ops::interventions::quitting::{self, Before};
use crate::ops::interventions::redirect::{self, Wanted};
use crate::ops::interventions::{self, Ending, blocking};
use crate::ops::revert_task::{self, Outcome, TaskRollbackRequest};
use crate::ops::rollback::{self, LocalRefs, Part, RolledBack, Wish};
use crate::ops::supervise::Options;
use crate::ops::supervise::notice::{Notice, Watcher};
use crate::ops::undo;
use crate::ops::watch::{Waiting, Watch};
use crate::panel::request::Deed;
use crate::told::checkpoints::{compacted, deleted};
use crate::told::undo::{UndoToldAnswer, explain, with_possible};
use crate::told::{interventions as told, parts, rollback as rollback_told, task_rollback, trust as told_trust};

/// The panel shows by itself what the log says.
pub struct Silent;

impl Watcher for Silent {
    fn notice(&mut self, _notice: Notice) {}
}

impl Watch for Silent {
    fn begun(&mut self, _what: Waiting<'_>) {}

    fn ended(&mut self) {}

    fn shall_end(&self) -> bool {
        false
    }
}

/// Carries out a deed, then tells hooks. Returns the lines of what the verb would print.
///
/// # Errors
/// Those of the verb.
pub fn carry_out(ctx: &mut Context, deed: &Deed) -> Result<Vec<String>> {
    let outcome = done(ctx, deed);
    let failed = report::report(ctx, &mut Silent).into_iter().filter(|run| run.failure.is_some());
    let failed: Vec<String> = failed.map(|run| run.summary()).collect();
    let text = outcome?;
    Ok(text.lines().map(str::to_owned).chain(failed).collect())
}

fn done(ctx: &mut Context, deed: &Deed) -> Result<String> {
    match deed {
        // The dialog shows who still runs.
        Deed::Pause => pausing::pause(ctx, How::AtBoundary, false, &mut Silent).map(|_| String::new()),
        Deed::PauseAtOnce => pausing::pause(ctx, How::AtOnce, false, &mut Silent).map(|_| String::new()),
        Deed::Resume => pausing::resume(ctx).map(|_| told::RESUMED.to_owned()),
        Deed::Stop(agent) => end(ctx, agent, Halt::Stop),
        Deed::Kill(agent) => end(ctx, agent, Halt::Kill),
        Deed::Redirect { agent, to } => send(ctx, agent, to),
        Deed::Block { task, reason } => {
            let blocked = blocking::block(ctx, &[CaseId::new(task.clone())?], reason, &mut Silent)?;
            let stopped = blocked.stopped.iter().map(|agent| format!(", and {agent} was stopped")).collect::<String>();
            Ok(format!("Blocked {task}{stopped}. To take it back: git axiom task unblock {task}"))
        }
        Deed::Unblock(task) => {
            edit::unblock(ctx, &[CaseId::new(task.clone())?])?;
            Ok(format!("{task} is pending again."))
        }
        Deed::Checkpoint(name) => {
            let name = name.clone().map(CheckpointName::new).transpose()?;
            let made = checkpoint::create(ctx, &CheckpointRequest { name, ..CheckpointRequest::by(Trigger::Manual) })?;
            Ok(format!("Made checkpoint {}", made.name))
        }
        Deed::DeleteCheckpoints(names) => {
            let names = named(ctx, names)?;
            Ok(deleted(&checkpoint::delete(ctx, &names)?))
        }
        Deed::CleanUpCheckpoints(names) => {
            let names = named(ctx, names)?;
            Ok(deleted(&checkpoint::clean_up(ctx, &names)?))
        }
        Deed::CompactCheckpoints => Ok(compacted(&checkpoint::compact(ctx)?)),
        Deed::Mode(mode) => {
            interventions::change_mode(ctx, *mode)?;
            Ok(format!("The mode is {}.", mode.as_str()))
        }
        Deed::Quit => Ok(told::quitting(quitting::quit(ctx, Before::Nothing)?.as_ref(), false)),
        Deed::CheckpointAndQuit => Ok(told::quitting(quitting::quit(ctx, Before::Checkpoint)?.as_ref(), false)),
        Deed::Approve(gate) => decide(ctx, gate, &Decision::Approved),
        Deed::Reject { gate, reason } => decide(ctx, gate, &Decision::Rejected { reason: reason.clone() }),
        Deed::Answer { gate, text } => decide(ctx, gate, &Decision::Answered { text: text.clone() }),
        Deed::RollBack(name) => {
            let back = prompts::back(ctx, name)?;
            let done = rollback::to_checkpoint(ctx, Wish { part: back.part(), ..whole(name) }, true)?;
            Ok(went_back(&done))
        }
        Deed::RestoreFile { checkpoint, path } => {
            let paths = [in_main_worktree(ctx, path)?];
            let done = rollback::to_checkpoint(ctx, Wish { part: Part::Paths(&paths), ..whole(checkpoint) }, true)?;
            Ok(went_back(&done))
        }
        Deed::RollBackTask(task) => take_back(ctx, task),
        Deed::Undo(id) => undo(ctx, id),
        Deed::Recover(wanted) => waiting::recover(ctx, wanted),
        Deed::Abandon(tasks) => waiting::abandon(ctx, tasks),
        Deed::Trust(digest) => Ok(told_trust::approved(&trust::approve_as_shown(&ctx.repo, digest)?)),
    }
}

/// The checkpoints with these names.
///
/// # Errors
/// `CHECKPOINT_NOT_FOUND`.
pub fn named(ctx: &Context, names: &[String]) -> Result<Vec<CheckpointName>> {
    Ok(checkpoint::chosen(ctx, names, true)?.into_iter().map(|record| record.name).collect())
}

/// A path that was typed: from the top of the main worktree.
///
/// # Errors
/// `BARE_REPOSITORY`.
pub fn in_main_worktree(ctx: &Context, path: &str) -> Result<PathBuf> {
    Ok(ctx.repo.worktrees().main_worktree()?.path().join(path))
}

/// A rollback to a checkpoint as the verb does it without options.
pub fn whole(name: &str) -> Wish<'_> {
    Wish { name, part: Part::Whole, refs: LocalRefs::ComeBack, afterwards: Afterwards::Waits, mode: None }
}

/// The rollback of a task as the verb does it without options.
///
/// # Errors
/// `INVALID_ID`.
pub fn of_task(task: &str) -> Result<TaskRollbackRequest> {
    let task = CaseId::new(task.to_owned())?;
    Ok(TaskRollbackRequest { task, cascade: false, target: None, resolve: false, afterwards: Afterwards::Waits })
}

fn end(ctx: &mut Context, agent: &str, halt: Halt) -> Result<String> {
    let how = Ending { halt, afterwards: Afterwards::Waits };
    let ended = interventions::end_agents(ctx, &[AgentId::new(agent.to_owned())?], how, Options::attending(), &mut Silent)?;
    if ended.is_empty() {
        return Ok(format!("{agent} is not working any more."));
    }
    Ok(ended.iter().map(told::ended).collect())
}

fn send(ctx: &mut Context, agent: &str, to: &str) -> Result<String> {
    let (agent, to) = (AgentId::new(agent.to_owned())?, CaseId::new(to.to_owned())?);
    let wanted = Wanted { agent, to, place: Place::with_same(false), afterwards: Afterwards::Waits };
    let done = redirect::redirect(ctx, &wanted, &mut Silent)?;
    let runs = ctx.supervisor_alive()?;
    Ok(told::redirected(&done, runs))
}

fn decide(ctx: &mut Context, gate: &str, decision: &Decision) -> Result<String> {
    let gates = interventions::decide(ctx, &[gate.to_owned()], decision)?;
    let text = told::decided(&gates);
    if ctx.supervisor_alive()? {
        return Ok(text.lines().next().unwrap_or_default().to_owned());
    }
    Ok(format!("{}; no supervisor runs: the next 'git axiom run' acts on it", text.lines().next().unwrap_or_default()))
}

fn went_back(done: &RolledBack) -> String {
    let aside: Vec<String> = done.moved_aside.iter().map(|moved| moved.now_at.display().to_string()).collect();
    let undo = format!("git axiom undo {}", done.txn);
    rollback_told::people(&done.preview, "Went") + &parts::ending(&aside, &done.gates, done.safety.as_str(), &undo)
}

fn take_back(ctx: &mut Context, task: &str) -> Result<String> {
    match revert_task::run(ctx, &of_task(task)?, Some(Options::attending()), &mut Silent)? {
        Outcome::Done(done) => {
            let aside: Vec<String> = done.moved_aside.iter().map(|moved| moved.now_at.display().to_string()).collect();
            let undo = format!("git axiom undo {}", done.txn);
            Ok(task_rollback::people(&done.preview, "Took") + &parts::ending(&aside, &done.gates, done.safety.as_str(), &undo))
        }
        Outcome::Conflict(preview) | Outcome::ToSettle(preview, _) => Err(task_rollback::in_conflict(&preview)),
    }
}

fn undo(ctx: &mut Context, id: &str) -> Result<String> {
    ctx.no_open_operation()?;
    let asked = Asked::Named(id.to_owned());
    let chosen = undo::choose(ctx, &asked)?;
    let done = undo::undo(ctx, &chosen);
    let done = done.map_err(|error| with_possible(ctx, &asked, explain(ctx, &chosen.transaction, error)))?;
    Ok(UndoToldAnswer::after(&chosen, &done).outcome(&chosen))
}
