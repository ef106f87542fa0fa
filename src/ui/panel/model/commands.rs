//! What each command begins.

use super::available_commands::{at_work, impossible, needs_agent, selected_checkpoint};
use super::choices::choose_at;
use super::dialog::{ChoiceDialogSubject, DialogQuestion, DialogTextPurpose, open};
use super::navigation::{full_screen, go, logs, show, turn};
use super::{DialogBody, DialogTextInput, PanelDialog, PanelModel, PanelView};
use crate::panel::input::PanelDirection;
use crate::panel::keys::PanelCommand;
use crate::panel::request::{PanelAction, PanelEditTarget, PanelExit, PanelQuestion, PanelRequest};
use crate::panel::snapshot::{TimelineRowKind, WaitingRowKind};
use crate::wording::intervention_preview;
use crate::wording::intervention_preview::BusyAgent;
use axiom_model::queries::project::LiveSessionStatus;
use axiom_model::work::sessions::session::SessionMode;

/// Begins a command: where it is not possible, says why.
pub(super) fn begin(model: &mut PanelModel, command: PanelCommand) -> Vec<PanelRequest> {
    if let Some(why) = impossible(model, command) {
        model.complain(format!("not now: {why}"));
        return Vec::new();
    }
    let page = usize::from(model.size.1.saturating_sub(8)).max(1);
    match command {
        PanelCommand::Stop => {
            end_agent(model, ("STOP", intervention_preview::stop), |agent, task| PanelAction::Stop { agent, task })
        }
        PanelCommand::Kill => {
            end_agent(model, ("KILL", intervention_preview::kill), |agent, task| PanelAction::Kill { agent, task })
        }
        PanelCommand::Redirect => {
            with_agent(model, |model, id| find_out(model, format!("REDIRECT {id}"), PanelQuestion::Choices(id.to_owned())))
        }
        PanelCommand::Block => block(model),
        PanelCommand::Unblock => with_task(model, |_, id| vec![PanelRequest::Do(PanelAction::Unblock(id.to_owned()))]),
        PanelCommand::RollBackTask => with_task(model, |model, id| {
            find_out(model, format!("TAKE BACK {id}"), PanelQuestion::Plan(PanelAction::RollBackTask(id.to_owned())))
        }),
        PanelCommand::Edit => with_task(model, |_, id| vec![PanelRequest::Edit(PanelEditTarget::Body(id.to_owned()))]),
        PanelCommand::Debug => with_task(model, |_, id| vec![PanelRequest::Edit(PanelEditTarget::Workspace(id.to_owned()))]),
        PanelCommand::Filter => type_filter(model),
        PanelCommand::Verb => type_verb(model),
        PanelCommand::Diff if selected_checkpoint(model).is_some() => {
            let name = selected_checkpoint(model).unwrap_or_default();
            find_out(model, format!("WHAT CHANGED SINCE {name}"), PanelQuestion::Since(name))
        }
        PanelCommand::Diff => {
            with_task(model, |model, id| find_out(model, format!("WHAT {id} CHANGED"), PanelQuestion::Diff(id.to_owned())))
        }
        PanelCommand::RollBackSession => {
            find_out(model, "GO BACK TO THE BEGINNING OF THE SESSION".to_owned(), PanelQuestion::PlanSession)
        }
        PanelCommand::Undo => undo(model),
        PanelCommand::Pause => pause(model),
        PanelCommand::Mode => change_mode(model),
        PanelCommand::Checkpoint => vec![PanelRequest::Do(PanelAction::Checkpoint(None))],
        PanelCommand::NewCheckpoint => new_checkpoint(model),
        PanelCommand::Checkpoints => find_out(model, "CHECKPOINTS".to_owned(), PanelQuestion::Checkpoints),
        PanelCommand::AddTask => add_task(model),
        PanelCommand::BeginSession => vec![PanelRequest::Run("run --detach".to_owned())],
        PanelCommand::Decide => decide(model),
        PanelCommand::Merged => show_merged(model),
        PanelCommand::Learnings => find_out(model, "LEARNINGS".to_owned(), PanelQuestion::Learnings),
        PanelCommand::Quit if model.seen.session.supervised && model.has_busy_agents() => {
            find_out(model, "QUIT?".to_owned(), PanelQuestion::AtWork)
        }
        PanelCommand::Quit => close(model),
        PanelCommand::Logs => logs(model),
        PanelCommand::Fullscreen => full_screen(model),
        PanelCommand::Open => open_selected(model),
        PanelCommand::Menu => open(model, PanelDialog::Menu { at: 0 }),
        PanelCommand::Help => open(model, PanelDialog::Help { top: 0 }),
        PanelCommand::Close => close_what_is_open(model),
        PanelCommand::Next => turn(model, PanelDirection::Down),
        PanelCommand::Previous => turn(model, PanelDirection::Up),
        PanelCommand::Agents => show(model, PanelView::Agents),
        PanelCommand::Tasks => show(model, PanelView::Tasks),
        PanelCommand::Gates => show(model, PanelView::Gates),
        PanelCommand::Output => show(model, PanelView::Output),
        PanelCommand::Timeline => show(model, PanelView::Timeline),
        PanelCommand::Down => go(model, PanelDirection::Down, 1),
        PanelCommand::Up => go(model, PanelDirection::Up, 1),
        PanelCommand::PageDown => go(model, PanelDirection::Down, page),
        PanelCommand::PageUp => go(model, PanelDirection::Up, page),
        PanelCommand::First => go(model, PanelDirection::Up, usize::MAX),
        PanelCommand::Last => go(model, PanelDirection::Down, usize::MAX),
    }
}

/// A dialog on how the selected agent is ended, and on the task that it works on.
fn end_agent(
    model: &mut PanelModel,
    (word, preview): (&str, fn(BusyAgent<'_>) -> Vec<String>),
    deed: fn(String, Option<String>) -> PanelAction,
) -> Vec<PanelRequest> {
    let Ok(row) = needs_agent(model) else { return Vec::new() };
    let (title, lines, deed) = (format!("{word} {}", row.id), preview(at_work(row)), deed(row.id.clone(), row.task.clone()));
    agree(model, title, lines, deed)
}

fn with_agent(model: &mut PanelModel, begin: impl FnOnce(&mut PanelModel, &str) -> Vec<PanelRequest>) -> Vec<PanelRequest> {
    let id = needs_agent(model).map(|row| row.id.clone());
    id.map(|id| begin(model, &id)).unwrap_or_default()
}

fn with_task(model: &mut PanelModel, begin: impl FnOnce(&mut PanelModel, &str) -> Vec<PanelRequest>) -> Vec<PanelRequest> {
    let id = model.task_row().map(|row| row.id.clone());
    id.map(|id| begin(model, &id)).unwrap_or_default()
}

/// A dialog with a plan that is known already.
fn agree(model: &mut PanelModel, title: String, lines: Vec<String>, deed: PanelAction) -> Vec<PanelRequest> {
    open(model, PanelDialog::Plan { title, body: DialogBody::Ready(lines), deed: Some(deed), asked: None, top: 0 })
}

/// A dialog whose plan is found out first.
pub(super) fn find_out(model: &mut PanelModel, title: String, question: PanelQuestion) -> Vec<PanelRequest> {
    let ticket = model.fresh_ticket();
    let body = DialogBody::Coming(ticket);
    let (seq, at) = (model.seen.seq, model.now);
    let asked = DialogQuestion { question: question.clone(), seq, at, again: None, has_changed: false };
    let dialog = match &question {
        PanelQuestion::Plan(_)
        | PanelQuestion::PlanUndo(_)
        | PanelQuestion::PlanSession
        | PanelQuestion::Older(_)
        | PanelQuestion::Abandoned => PanelDialog::Plan { title, body, deed: None, asked: Some(asked), top: 0 },
        PanelQuestion::Choices(agent) => choice(title, ChoiceDialogSubject::Redirect(agent.clone()), body, asked),
        PanelQuestion::Gate(gate) => choice(title, ChoiceDialogSubject::Gate(gate.clone()), body, asked),
        PanelQuestion::Recovery => choice(title, ChoiceDialogSubject::Recovery, body, asked),
        PanelQuestion::Trust => choice(title, ChoiceDialogSubject::Trust, body, asked),
        PanelQuestion::AtWork => choice(title, ChoiceDialogSubject::Quit, body, asked),
        PanelQuestion::Checkpoints => PanelDialog::Manager { body, managed: super::CheckpointManagerView::default() },
        PanelQuestion::Diff(_)
        | PanelQuestion::Since(_)
        | PanelQuestion::CutOff
        | PanelQuestion::Timeline
        | PanelQuestion::Learnings => PanelDialog::Text { title, body, top: 0 },
    };
    open(model, dialog);
    vec![PanelRequest::Ask(ticket, question)]
}

fn choice(title: String, about: ChoiceDialogSubject, body: DialogBody, asked: DialogQuestion) -> PanelDialog {
    PanelDialog::Choose { title, about, body, items: Vec::new(), at: 0, top: 0, asked: Some(asked) }
}

fn block(model: &mut PanelModel) -> Vec<PanelRequest> {
    let Some(task) = model.task_row().cloned() else { return Vec::new() };
    let before = intervention_preview::block((&task.id, &task.title), needs_agent(model).ok().map(at_work));
    let (title, label) = (format!("BLOCK {}", task.id), "Reason".to_owned());
    open(
        model,
        PanelDialog::Typed(DialogTextInput {
            title,
            before,
            label,
            text: String::new(),
            then: DialogTextPurpose::Block(task.id),
        }),
    )
}

fn undo(model: &mut PanelModel) -> Vec<PanelRequest> {
    let selected = model.moment_row().and_then(|row| match &row.what {
        TimelineRowKind::Operation { id, .. } => Some(id.clone()),
        TimelineRowKind::Checkpoint(_) => None,
    });
    find_out(model, "UNDO".to_owned(), PanelQuestion::PlanUndo(selected))
}

/// Pauses, and shows who still runs; where the session is paused, lets it go on.
fn pause(model: &mut PanelModel) -> Vec<PanelRequest> {
    match model.seen.session.now {
        LiveSessionStatus::Paused => vec![PanelRequest::Do(PanelAction::Resume)],
        LiveSessionStatus::Pausing => open(model, PanelDialog::Pausing),
        LiveSessionStatus::Ending => Vec::new(),
        LiveSessionStatus::Running | LiveSessionStatus::Idle | LiveSessionStatus::Crashed => {
            open(model, PanelDialog::Pausing);
            vec![PanelRequest::Do(PanelAction::Pause)]
        }
    }
}

fn change_mode(model: &mut PanelModel) -> Vec<PanelRequest> {
    let old = model.seen.session.mode;
    let new = match old {
        SessionMode::SemiAuto => SessionMode::Review,
        SessionMode::Review => SessionMode::Autopilot,
        SessionMode::Autopilot => SessionMode::SemiAuto,
    };
    let deed = PanelAction::Mode(new);
    if deed.needs_no_question() {
        return vec![PanelRequest::Do(deed)];
    }
    agree(model, "MODE".to_owned(), intervention_preview::mode(old, new), deed)
}

fn type_filter(model: &mut PanelModel) -> Vec<PanelRequest> {
    let view = model.selected.view;
    let before =
        vec!["Only lines that contain it are shown; small and capital letters are the same. Esc shows all again.".to_owned()];
    let text = model.filters.of(view).unwrap_or_default().to_owned();
    let (title, label) = (format!("FILTER {}", view.title().to_uppercase()), "Text".to_owned());
    open(model, PanelDialog::Typed(DialogTextInput { title, before, label, text, then: DialogTextPurpose::Filter(view) }))
}

fn type_verb(model: &mut PanelModel) -> Vec<PanelRequest> {
    let before = vec!["It runs on the terminal below the panel, as from a shell; then the panel comes back.".to_owned()];
    let (title, label) = ("VERB".to_owned(), "git axiom".to_owned());
    open(model, PanelDialog::Typed(DialogTextInput { title, before, label, text: String::new(), then: DialogTextPurpose::Verb }))
}

/// Asks for the title of a task.
fn add_task(model: &mut PanelModel) -> Vec<PanelRequest> {
    let before = vec!["Its instructions can be edited once it is there. To take it back: git axiom undo".to_owned()];
    let (title, label) = ("ADD A TASK".to_owned(), "Title".to_owned());
    open(
        model,
        PanelDialog::Typed(DialogTextInput { title, before, label, text: String::new(), then: DialogTextPurpose::AddTask }),
    )
}

/// Shows tasks that are merged too, or hides them.
fn show_merged(model: &mut PanelModel) -> Vec<PanelRequest> {
    model.filters.shows_merged = !model.filters.shows_merged;
    model.keep_selection();
    Vec::new()
}

/// Leaves full screen, and takes notice and filter away.
fn close_what_is_open(model: &mut PanelModel) -> Vec<PanelRequest> {
    model.output.full = false;
    model.notice = None;
    model.filters.set(model.selected.view, None);
    Vec::new()
}

/// Opens what waits; at a gate, the yes is selected.
fn decide(model: &mut PanelModel) -> Vec<PanelRequest> {
    let requests = open_selected(model);
    if let Some(PanelDialog::Choose { about: ChoiceDialogSubject::Gate(_), at, .. }) = model.dialogs.last_mut() {
        *at = super::choices::YES;
    }
    requests
}

/// Asks for the name of a checkpoint.
pub(super) fn new_checkpoint(model: &mut PanelModel) -> Vec<PanelRequest> {
    let before = vec!["Every worktree, committed or not, and all tasks.".to_owned()];
    let label = "Its name (empty: made up from the time)".to_owned();
    let title = "NEW CHECKPOINT".to_owned();
    open(
        model,
        PanelDialog::Typed(DialogTextInput { title, before, label, text: String::new(), then: DialogTextPurpose::Checkpoint }),
    )
}

/// Ends the panel, unless something is being done.
pub(super) fn close(model: &mut PanelModel) -> Vec<PanelRequest> {
    match model.doing.first() {
        None => vec![PanelRequest::Close(PanelExit::Done)],
        Some(deed) => {
            let what = deed.in_words();
            model.complain(format!("{what}: wait until it is done"));
            Vec::new()
        }
    }
}

/// Opens what is selected.
fn open_selected(model: &mut PanelModel) -> Vec<PanelRequest> {
    match model.selected.view {
        PanelView::Agents => match selected_checkpoint(model) {
            Some(name) => choose_at(model, name),
            None => show(model, PanelView::Output),
        },
        PanelView::Output => Vec::new(),
        PanelView::Tasks => match model.task_row().map(|row| row.id.clone()) {
            Some(_) => open(model, PanelDialog::Menu { at: 0 }),
            None => Vec::new(),
        },
        PanelView::Gates => match model.waiting_row().map(|row| (row.what, row.id.clone())) {
            Some((WaitingRowKind::Gate(_), id)) => find_out(model, format!("GATE {id}"), PanelQuestion::Gate(id)),
            Some((WaitingRowKind::Recovery, _)) => find_out(model, "RECOVERY".to_owned(), PanelQuestion::Recovery),
            Some((WaitingRowKind::Trust, _)) => find_out(model, "THE PROJECT'S FILES".to_owned(), PanelQuestion::Trust),
            None => Vec::new(),
        },
        PanelView::Timeline => match model.moment_row().map(|row| row.what.clone()) {
            Some(TimelineRowKind::Checkpoint(name)) => choose_at(model, name),
            Some(TimelineRowKind::Operation { id, .. }) => find_out(model, "UNDO".to_owned(), PanelQuestion::PlanUndo(Some(id))),
            None => Vec::new(),
        },
    }
}
