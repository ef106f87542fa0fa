//! Carries out what a human agreed to, by the same functions as the verbs, and says what the verbs say.

use super::rollback_requests::{in_main_worktree, named, of_task, whole};
use super::silent_watch::SilentPanelWatch;
use super::{answers, recovery_and_trust};
use crate::panel::request::PanelAction;
use crate::wording::checkpoints::{compacted, deleted};
use crate::wording::undo::{UndoOutcomeJson, explain, with_possible};
use crate::wording::{counted_sections, interventions as told, rollback as rollback_told, task_rollback, trust as told_trust};
use axiom_agents::interventions;
use axiom_agents::interventions::pausing;
use axiom_agents::interventions::pausing::PauseTiming;
use axiom_agents::interventions::quitting;
use axiom_agents::interventions::quitting::SaveBeforeQuit;
use axiom_agents::interventions::redirect;
use axiom_agents::interventions::redirect::RedirectChoice;
use axiom_agents::interventions::{AgentEndRequest, blocking};
use axiom_agents::revert_task::TaskRollbackOutcome;
use axiom_agents::supervise::{SupervisorOptions, target};
use axiom_agents::tasks::edit;
use axiom_agents::tasks::edit::NewTaskRequest;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{AgentId, CheckpointName, TaskId};
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::operation::undo::UndoSelector;
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::gates::gate::{AfterHalt, GateDecision, RedirectWorkspace};
use axiom_safety::attach::prompts;
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::CheckpointRequest;
use axiom_safety::context::handle::Context;
use axiom_safety::context::trust;
use axiom_safety::operation::planned_changes::here;
use axiom_safety::rollback;
use axiom_safety::rollback::{RollbackReport, RollbackRequest, RollbackScope};
use axiom_safety::running::hooks::report;
use axiom_safety::undo;

/// Carries out a deed, then tells hooks. Returns the lines of what the verb would print.
pub fn carry_out(ctx: &mut Context, deed: &PanelAction) -> Result<Vec<String>> {
    let outcome = done(ctx, deed);
    let failed = report::report(ctx, &mut SilentPanelWatch).into_iter().filter(|run| run.failure.is_some());
    let failed: Vec<String> = failed.map(|run| run.summary()).collect();
    let text = outcome?;
    Ok(text.lines().map(str::to_owned).chain(failed).collect())
}

fn done(ctx: &mut Context, deed: &PanelAction) -> Result<String> {
    match deed {
        // The dialog shows who still runs.
        PanelAction::Pause => pausing::pause(ctx, PauseTiming::AtBoundary, false, &mut SilentPanelWatch).map(|_| String::new()),
        PanelAction::PauseAtOnce => pausing::pause(ctx, PauseTiming::AtOnce, false, &mut SilentPanelWatch).map(|_| String::new()),
        PanelAction::Resume => pausing::resume(ctx).map(|_| told::RESUMED.to_owned()),
        PanelAction::Stop { agent, task } => end(ctx, agent, task.as_deref(), TaskHalt::Stop),
        PanelAction::Kill { agent, task } => end(ctx, agent, task.as_deref(), TaskHalt::Kill),
        PanelAction::Redirect { agent, to } => send(ctx, agent, to),
        PanelAction::Block { task, reason } => {
            let blocked = blocking::block(ctx, &[TaskId::new(task.clone())?], reason, &mut SilentPanelWatch)?;
            let stopped = blocked.stopped.iter().map(|agent| format!(", and {agent} was stopped")).collect::<String>();
            Ok(format!("Blocked {task}{stopped}. To take it back: git axiom task unblock {task}"))
        }
        PanelAction::Unblock(task) => {
            edit::unblock(ctx, &[TaskId::new(task.clone())?])?;
            Ok(format!("{task} is pending again."))
        }
        PanelAction::Checkpoint(name) => {
            let name = name.clone().map(CheckpointName::new).transpose()?;
            let made = checkpoint::create(ctx, &CheckpointRequest { name, ..CheckpointRequest::by(CheckpointTrigger::Manual) })?;
            Ok(format!("Made checkpoint {}", made.name))
        }
        PanelAction::DeleteCheckpoints(names) => {
            let names = named(ctx, names)?;
            Ok(deleted(&checkpoint::delete(ctx, &names)?))
        }
        PanelAction::CleanUpCheckpoints(names) => {
            let names = named(ctx, names)?;
            Ok(deleted(&checkpoint::clean_up(ctx, &names)?))
        }
        PanelAction::CompactCheckpoints => Ok(compacted(&checkpoint::compact(ctx)?)),
        PanelAction::Mode(mode) => {
            interventions::change_mode(ctx, *mode)?;
            Ok(format!("The mode is {}.", mode.as_str()))
        }
        PanelAction::Quit => Ok(told::quitting(quitting::quit(ctx, SaveBeforeQuit::Nothing)?.as_ref(), false)),
        PanelAction::CheckpointAndQuit => Ok(told::quitting(quitting::quit(ctx, SaveBeforeQuit::Checkpoint)?.as_ref(), false)),
        PanelAction::AddTask(title) => add(ctx, title),
        PanelAction::Approve { gate, shown } => {
            if answers::gate(ctx, gate)? != *shown {
                return Err(Error::new(Code::ChangedMeanwhile, format!("{gate} is not what was shown any more")));
            }
            decide(ctx, gate, &GateDecision::Approved)
        }
        PanelAction::Reject { gate, reason } => decide(ctx, gate, &GateDecision::Rejected { reason: reason.clone() }),
        PanelAction::Answer { gate, text } => decide(ctx, gate, &GateDecision::Answered { text: text.clone() }),
        PanelAction::RollBack(name) => {
            let back = prompts::back(ctx, name)?;
            let done = rollback::to_checkpoint(ctx, RollbackRequest { part: back.part(), ..whole(name) }, true)?;
            Ok(went_back(ctx, &done))
        }
        PanelAction::RestoreFile { checkpoint, path } => {
            let paths = [in_main_worktree(ctx, path)?];
            let done =
                rollback::to_checkpoint(ctx, RollbackRequest { part: RollbackScope::Paths(&paths), ..whole(checkpoint) }, true)?;
            Ok(went_back(ctx, &done))
        }
        PanelAction::RollBackTask(task) => take_back(ctx, task),
        PanelAction::Undo(id) => undo(ctx, id),
        PanelAction::Recover(wanted) => recovery_and_trust::recover(ctx, wanted),
        PanelAction::Abandon(tasks) => recovery_and_trust::abandon(ctx, tasks),
        PanelAction::Trust(digest) => Ok(told_trust::approved(&trust::approve_as_shown(&ctx.repo, digest)?)),
    }
}

/// Ends an agent where it works on what was shown.
fn end(ctx: &mut Context, agent: &str, task: Option<&str>, halt: TaskHalt) -> Result<String> {
    let how = AgentEndRequest { halt, afterwards: AfterHalt::Waits };
    let id = AgentId::new(agent.to_owned())?;
    let now = ctx.state().restorable.agents.get(&id).and_then(|agent| agent.work.as_ref());
    if let Some(now) = now.filter(|now| Some(now.task.as_str()) != task) {
        let what = format!("{agent} works on {} by now, and was not ended", now.task);
        return Err(Error::new(Code::ChangedMeanwhile, what).hint("look at it again"));
    }
    let ended = interventions::end_agents(ctx, &[id], how, SupervisorOptions::attending(), &mut SilentPanelWatch)?;
    if ended.is_empty() {
        return Ok(format!("{agent} is not working any more."));
    }
    Ok(ended.iter().map(told::ended).collect())
}

fn send(ctx: &mut Context, agent: &str, to: &str) -> Result<String> {
    let (agent, to) = (AgentId::new(agent.to_owned())?, TaskId::new(to.to_owned())?);
    let wanted = RedirectChoice { agent, to, place: RedirectWorkspace::with_same(false), afterwards: AfterHalt::Waits };
    let done = redirect::redirect(ctx, &wanted, &mut SilentPanelWatch)?;
    Ok(told::redirected(&done))
}

fn decide(ctx: &mut Context, gate: &str, decision: &GateDecision) -> Result<String> {
    let gates = interventions::decide(ctx, &[gate.to_owned()], decision)?;
    let text = told::decided(&gates, decision);
    if ctx.supervisor_alive()? {
        return Ok(text.lines().next().unwrap_or_default().to_owned());
    }
    let run = target::command_for(ctx, gates.iter().filter(|_| *decision == GateDecision::Approved));
    Ok(format!("{}; no supervisor runs: the next '{run}' acts on it", text.lines().next().unwrap_or_default()))
}

fn add(ctx: &mut Context, title: &str) -> Result<String> {
    Ok(format!("Added {}.", edit::add(ctx, NewTaskRequest::titled(title))?.id))
}

fn went_back(ctx: &Context, done: &RollbackReport) -> String {
    let aside: Vec<String> = done.moved_aside.iter().map(|moved| moved.now_at.display().to_string()).collect();
    let undo = format!("git axiom undo {}", done.txn);
    rollback_told::people(&done.preview, "Went", &here(ctx))
        + &counted_sections::ending(&aside, &done.gates, done.safety.as_str(), &undo)
}

fn take_back(ctx: &mut Context, task: &str) -> Result<String> {
    match interventions::task_rollback::roll_back(
        ctx,
        &of_task(task)?,
        Some(SupervisorOptions::attending()),
        &mut SilentPanelWatch,
    )? {
        TaskRollbackOutcome::Done(done) => {
            let aside: Vec<String> = done.moved_aside.iter().map(|moved| moved.now_at.display().to_string()).collect();
            let undo = format!("git axiom undo {}", done.txn);
            Ok(task_rollback::people(&done.preview, "Took", &here(ctx))
                + &counted_sections::ending(&aside, &done.gates, done.safety.as_str(), &undo))
        }
        TaskRollbackOutcome::Conflict(preview) | TaskRollbackOutcome::ToSettle(preview, _) => {
            Err(task_rollback::in_conflict(&preview))
        }
    }
}

fn undo(ctx: &mut Context, id: &str) -> Result<String> {
    ctx.no_open_operation()?;
    let asked = UndoSelector::Named(id.to_owned());
    let chosen = undo::choose(ctx, &asked)?;
    let done = undo::undo(ctx, &chosen);
    let done = done.map_err(|error| with_possible(ctx, &asked, explain(ctx, &chosen.transaction, error)))?;
    Ok(UndoOutcomeJson::after(&chosen, &done).outcome(&chosen, &here(ctx)))
}
