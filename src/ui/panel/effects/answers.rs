//! Finds out what a dialog or a view asks for. Changes nothing.

use super::recovery_and_trust;
use super::rollback_requests::{in_main_worktree, named, of_task, whole};
use super::silent_watch::lines_of;
use crate::cli::table::table;
use crate::cli::visible;
use crate::cli::words::clock;
use crate::panel::request::{PanelAction, PanelAnswer, PanelPreview, PanelQuestion};
use crate::panel::snapshot::{CheckpointRow, TimelineRow, TimelineRowKind};
use crate::wording::checkpoints::{listed, rows, summary};
use crate::wording::intervention_preview;
use crate::wording::intervention_preview::BusyAgent;
use crate::wording::learnings::in_words;
use crate::wording::rollback::{KEPT, nothing_changes, people};
use crate::wording::undo::{UndoOutcomeJson, explain, with_possible};
use crate::wording::{diff, gates as gates_told, interventions as told, task_rollback, verify_steps};
use axiom_agents::interventions::{gates, pausing, redirect};
use axiom_agents::task_diff::PatchColor;
use axiom_agents::{revert_task, task_diff};
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{AgentId, CheckpointName, TaskId};
use axiom_model::operation::operation_record::OperationRecord;
use axiom_model::operation::undo::UndoSelector;
use axiom_model::queries::choices::choices;
use axiom_model::queries::groups::progress_of;
use axiom_model::work::gates::gate::GateKind;
use axiom_safety::attach::{at_work, prompts};
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::CheckpointListing;
use axiom_safety::context::handle::Context;
use axiom_safety::operation::planned_changes::here;
use axiom_safety::rollback::{RollbackRequest, RollbackScope};
use axiom_safety::{history, rollback, undo};

/// The most lines of a difference.
const MOST_LINES: usize = 5_000;
/// How many moments the timeline has at most, of each kind.
const MOST_MOMENTS: usize = 300;

/// Answers a question.
pub fn answer(ctx: &mut Context, question: &PanelQuestion) -> Result<PanelAnswer> {
    match question {
        PanelQuestion::Plan(deed) => plan(ctx, deed).map(PanelAnswer::Plan),
        PanelQuestion::PlanUndo(id) => plan_undo(ctx, id.as_deref()).map(PanelAnswer::Plan),
        PanelQuestion::PlanSession => {
            let session = ctx.state().record.session.as_ref();
            let Some(name) = session.and_then(|session| session.start_checkpoint.clone()) else {
                return Err(Error::new(Code::UnknownCheckpoint, "no session has made a checkpoint at its start"));
            };
            plan(ctx, &PanelAction::RollBack(name.to_string())).map(PanelAnswer::Plan)
        }
        PanelQuestion::Choices(agent) => places(ctx, agent),
        PanelQuestion::AtWork => {
            let running = pausing::agents(ctx)?.running;
            let lines = told::at_work(&running);
            Ok(PanelAnswer::Text(vec![lines, "Whatever you choose, nothing of their work is lost.".to_owned()]))
        }
        PanelQuestion::Gate(id) => gate(ctx, id).map(PanelAnswer::Text),
        PanelQuestion::Recovery => recovery_and_trust::recovery(ctx),
        PanelQuestion::CutOff => recovery_and_trust::cut_off(ctx).map(PanelAnswer::Text),
        PanelQuestion::Abandoned => recovery_and_trust::abandoned(ctx).map(PanelAnswer::Plan),
        PanelQuestion::Trust => recovery_and_trust::trust(ctx),
        PanelQuestion::Diff(task) => difference(ctx, task),
        PanelQuestion::Since(name) => since(ctx, name),
        PanelQuestion::Older(days) => older(ctx, days).map(PanelAnswer::Plan),
        PanelQuestion::Checkpoints => all_checkpoints(ctx),
        PanelQuestion::Timeline => timeline(ctx).map(PanelAnswer::Timeline),
        PanelQuestion::Learnings => Ok(learnt(ctx)),
    }
}

fn text(text: &str) -> PanelAnswer {
    PanelAnswer::Text(lines_of(text))
}

/// The real dry run, in the words of the verb.
fn plan(ctx: &mut Context, deed: &PanelAction) -> Result<PanelPreview> {
    match deed {
        PanelAction::RollBack(name) => {
            let back = prompts::back(ctx, name)?;
            let preview = rollback::preview(ctx, RollbackRequest { part: back.part(), ..whole(name) })?;
            if preview.changes_nothing {
                return Ok(PanelPreview { lines: lines_of(&nothing_changes(&preview, &here(ctx))), deed: None });
            }
            // What was looked at is what is done: the whole name, not the beginning of one.
            let deed = PanelAction::RollBack(preview.checkpoint.name.to_string());
            let notes = back.notes().into_iter().chain(at_work::before_rollback(ctx, back.part())?);
            let lines =
                notes.map(|note| format!("Note: {note}.")).chain(with_way_back(&people(&preview, "Would go", &here(ctx)), KEPT));
            Ok(PanelPreview { lines: lines.collect(), deed: Some(deed) })
        }
        PanelAction::RollBackTask(task) => {
            let preview = revert_task::preview(ctx, &of_task(task)?)?;
            if !preview.conflicts.is_empty() {
                return Err(task_rollback::in_conflict(&preview));
            }
            Ok(PanelPreview {
                lines: with_way_back(&task_rollback::people(&preview, "Would take", &here(ctx)), KEPT),
                deed: Some(deed.clone()),
            })
        }
        PanelAction::DeleteCheckpoints(names) => Ok(deletes(ctx, &named(ctx, names)?, PanelAction::DeleteCheckpoints)),
        PanelAction::CleanUpCheckpoints(names) => Ok(deletes(ctx, &named(ctx, names)?, PanelAction::CleanUpCheckpoints)),
        PanelAction::RestoreFile { checkpoint, path } => {
            let paths = [in_main_worktree(ctx, path)?];
            let preview = rollback::preview(ctx, RollbackRequest { part: RollbackScope::Paths(&paths), ..whole(checkpoint) })?;
            if preview.changes_nothing {
                return Ok(PanelPreview { lines: lines_of(&nothing_changes(&preview, &here(ctx))), deed: None });
            }
            Ok(PanelPreview { lines: with_way_back(&people(&preview, "Would go", &here(ctx)), KEPT), deed: Some(deed.clone()) })
        }
        PanelAction::CompactCheckpoints => {
            let lines = ["Packs loose objects and refs, those of checkpoints included.", "Nothing that is referenced goes away."];
            Ok(PanelPreview { lines: lines.map(str::to_owned).to_vec(), deed: Some(deed.clone()) })
        }
        PanelAction::Pause
        | PanelAction::PauseAtOnce
        | PanelAction::Resume
        | PanelAction::Quit
        | PanelAction::CheckpointAndQuit
        | PanelAction::Mode(_) => no_dry_run(deed),
        PanelAction::Stop { .. }
        | PanelAction::Kill { .. }
        | PanelAction::Redirect { .. }
        | PanelAction::Block { .. }
        | PanelAction::Unblock(_) => no_dry_run(deed),
        PanelAction::AddTask(_)
        | PanelAction::Approve { .. }
        | PanelAction::Reject { .. }
        | PanelAction::Answer { .. }
        | PanelAction::Checkpoint(_) => no_dry_run(deed),
        PanelAction::Recover(wanted) => recovery_and_trust::recovers(ctx, wanted),
        PanelAction::Undo(_) | PanelAction::Abandon(_) | PanelAction::Trust(_) => no_dry_run(deed),
    }
}

/// A plan that deletes these checkpoints, saying which one is protected.
fn deletes(ctx: &Context, names: &[CheckpointName], deed: fn(Vec<String>) -> PanelAction) -> PanelPreview {
    if names.is_empty() {
        return PanelPreview { lines: vec!["There is nothing to delete.".to_owned()], deed: None };
    }
    let plain: Vec<String> = names.iter().map(ToString::to_string).collect();
    let mut lines = vec![format!("Deletes {}", listed(names))];
    if let Err(error) = checkpoint::chosen(ctx, &plain, false) {
        lines.extend([String::new(), error.to_string()]);
    }
    lines.extend([String::new(), "To take it back: git axiom undo".to_owned()]);
    PanelPreview { lines, deed: Some(deed(plain)) }
}

fn older(ctx: &Context, days: &str) -> Result<PanelPreview> {
    let number = days.trim().trim_end_matches('d').parse::<u16>();
    let number = number.map_err(|_| Error::new(Code::InvalidInput, format!("'{days}' is not a number of days")))?;
    let age = jiff::SignedDuration::from_hours(24 * i64::from(number));
    Ok(deletes(ctx, &checkpoint::cleanup_plan(ctx, Some(age), None, false)?, PanelAction::CleanUpCheckpoints))
}

/// What these do is known without looking at the repository; the model asks about them itself.
fn no_dry_run(deed: &PanelAction) -> Result<PanelPreview> {
    Err(Error::new(Code::Internal, format!("there is no dry run of {}", deed.in_words())))
}

fn with_way_back(text: &str, way: &str) -> Vec<String> {
    lines_of(text).into_iter().chain([String::new(), way.to_owned()]).collect()
}

fn plan_undo(ctx: &Context, id: Option<&str>) -> Result<PanelPreview> {
    let asked = id.map_or(UndoSelector::Undo, |id| UndoSelector::Named(id.to_owned()));
    ctx.no_open_operation()?;
    let chosen = undo::choose(ctx, &asked).map_err(|error| with_possible(ctx, &asked, error))?;
    let preview = undo::check(ctx, &chosen);
    let preview = preview.map_err(|error| with_possible(ctx, &asked, explain(ctx, &chosen.transaction, error)))?;
    let text = UndoOutcomeJson::before(&chosen, &preview).plan(&chosen, &here(ctx));
    // What is done again is undone again: a plain redo would mean another one.
    let way = match &chosen.transaction.undo.of {
        Some(undone) if chosen.redo => format!("To take it back: git axiom undo {undone}"),
        Some(_) | None => "To take it back: git axiom redo".to_owned(),
    };
    Ok(PanelPreview { lines: with_way_back(&text, &way), deed: Some(PanelAction::Undo(chosen.transaction.id.to_string())) })
}

fn places(ctx: &Context, agent: &str) -> Result<PanelAnswer> {
    let state = ctx.state();
    let id = AgentId::new(agent.to_owned())?;
    let from = redirect::task_of(state, &id)?;
    let open = choices(state, &id);
    if open.is_empty() {
        return Err(Error::new(Code::InvalidTransition, redirect::ready_in_words(&open)));
    }
    let work = state.restorable.agents.get(&id).and_then(|agent| agent.work.as_ref());
    let workspace = state.restorable.workspaces.get(&from).map(|place| place.path.as_str());
    let most = state.record.session.as_ref().map(|session| session.max_iterations);
    let who = BusyAgent {
        agent,
        task: (from.as_str(), &state.task(&from)?.title),
        iteration: (work.map_or(0, |work| work.iteration), most),
        progress: work.and_then(|work| progress_of(state, work)),
        workspace,
    };
    let names = open.iter().map(|choice| choice.id.to_string());
    Ok(PanelAnswer::Choices { before: intervention_preview::redirect(who), items: names.zip(told::choices(&open)).collect() })
}

/// What helps to decide at a gate; at that of a merge, also what would be merged.
pub fn gate(ctx: &Context, id: &str) -> Result<Vec<String>> {
    let look = gates::look(ctx, id)?;
    let task = look.gate.task_id.as_ref().map(|task| ctx.state().task(task)).transpose()?;
    let verification = task.map(|task| verify_steps::of(ctx, task)).unwrap_or_default();
    let mut lines = lines_of(&gates_told::in_words(&look, task, &verification).plain());
    if let (GateKind::Merge, Some(diff), Some(task)) = (look.gate.kind, &look.diff, task) {
        lines.push(String::new());
        let text = visible::bytes(&ctx.repo.history().patch(&diff.base, &diff.new, PatchColor::Plain)?);
        lines.extend(patch(&text, &format!("git axiom diff {}", task.id)));
    }
    Ok(lines)
}

fn difference(ctx: &Context, task: &str) -> Result<PanelAnswer> {
    let diff = task_diff::of(ctx, &TaskId::new(task.to_owned())?)?;
    let mut lines = lines_of(&diff::stat(&diff).plain());
    lines.push(String::new());
    let text = visible::bytes(&ctx.repo.history().patch(&diff.base, &diff.new, PatchColor::Plain)?);
    lines.extend(patch(&text, &format!("git axiom diff {task}")));
    Ok(PanelAnswer::Text(lines))
}

/// What changed in the main worktree since a checkpoint, as `checkpoint diff` shows it.
fn since(ctx: &Context, name: &str) -> Result<PanelAnswer> {
    let difference = checkpoint::difference(ctx, name, None)?;
    if difference.files.is_empty() {
        return Ok(text("Nothing has changed since."));
    }
    let (old, new) = &difference.trees;
    let mut lines: Vec<String> = difference.files.iter().take(MOST_LINES).map(|file| format!("  {}", file.path)).collect();
    lines.push(String::new());
    lines.extend(patch(
        &visible::bytes(&ctx.repo.history().patch(old, new, PatchColor::Plain)?),
        &format!("git axiom checkpoint diff {name}"),
    ));
    Ok(PanelAnswer::Text(lines))
}

/// The lines of a patch, as many as can be read; `all` is the verb that shows all of them.
fn patch(text: &str, all: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().take(MOST_LINES).map(|line| line.replace('\t', "    ")).collect();
    if text.lines().nth(MOST_LINES).is_some() {
        lines.push(format!("… cut after {MOST_LINES} lines; {all}    has all of them"));
    }
    lines
}

fn all_checkpoints(ctx: &Context) -> Result<PanelAnswer> {
    let all = checkpoint::list(ctx, None)?;
    let summary = summary(&all, ctx.config.checkpoints.max_count, &checkpoint::space(ctx)?);
    let newest: Vec<CheckpointListing> = all.into_iter().rev().collect();
    let text = table(&rows(&newest));
    let mut lines = text.lines().map(str::to_owned);
    let heading = lines.next().unwrap_or_default();
    let rows = newest.iter().zip(lines).map(|(one, line)| CheckpointRow { name: one.name.to_string(), line });
    Ok(PanelAnswer::Checkpoints { heading, rows: rows.collect(), summary })
}

/// Checkpoints and transactions, newest first: by their places in the log, since an operation begins with the checkpoint that is made
/// before it.
fn timeline(ctx: &Context) -> Result<Vec<TimelineRow>> {
    let all = &ctx.state().record.checkpoints;
    let made = all.newest(MOST_MOMENTS)?.into_iter().map(|record| {
        (
            record.seq,
            TimelineRow {
                at: record.created_at,
                clock: clock(record.created_at),
                what: TimelineRowKind::Checkpoint(record.name.to_string()),
                words: format!("{} ({})", record.name, record.trigger.as_str()),
                by: "checkpoint".to_owned(),
            },
        )
    });
    let is_shown = |one: &&OperationRecord| one.moves() || one.obstacle().is_none();
    let known = history::newest_transactions(ctx, |known| known.iter().filter(is_shown).count() >= MOST_MOMENTS)?;
    // As the log says it.
    let standing = undo::UndoabilityCheck::new(ctx, &known)?;
    let done = known.iter().rev().filter(is_shown).take(MOST_MOMENTS).map(|one| {
        let undone = one.undo.by.as_ref().map_or_else(String::new, |by| format!(" (undone by {by})"));
        let row = TimelineRow {
            at: one.at,
            clock: clock(one.at),
            what: TimelineRowKind::Operation {
                id: one.id.to_string(),
                undoable: one.undo.by.is_none() && standing.obstacle(one).is_none(),
            },
            words: format!("{}{undone}", one.what),
            by: one.by.to_string(),
        };
        (one.events.last, row)
    });
    let mut moments: Vec<(u64, TimelineRow)> = made.chain(done).collect();
    moments.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    // Of both there may be older ones: between those that are shown, none is left out.
    moments.truncate(MOST_MOMENTS);
    Ok(moments.into_iter().map(|(_, row)| row).collect())
}

fn learnt(ctx: &Context) -> PanelAnswer {
    let all = &ctx.state().record.learnings;
    if all.is_empty() {
        return text("Nothing was learnt yet: agents report it with 'git axiom signal learning TEXT'.");
    }
    text(&all.iter().rev().map(in_words).collect::<String>())
}
