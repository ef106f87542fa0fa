//! What each command begins.

use super::choices::choose_at;
use super::dialog::{About, Then};
use super::moving::{full_screen, go, logs, show, turn};
use super::possible::{at_work, impossible, needs_agent, selected_checkpoint};
use super::{Body, Dialog, Model, Typed, View};
use crate::domain::work::project::SessionNow;
use crate::domain::work::session::Mode;
use crate::panel::input::Way;
use crate::panel::keys::Command;
use crate::panel::request::{Closing, Deed, Editing, Question, Request};
use crate::panel::seen::{AgentRow, MomentKind, Waiting};
use crate::told::before;

/// Begins a command: where it is not possible, says why.
pub(super) fn begin(model: &mut Model, command: Command) -> Vec<Request> {
    if let Some(why) = impossible(model, command) {
        model.complain(format!("not now: {why}"));
        return Vec::new();
    }
    let page = usize::from(model.size.1.saturating_sub(8)).max(1);
    match command {
        Command::Stop => {
            on_agent(model, |row| (format!("STOP {}", row.id), before::stop(at_work(row)), Deed::Stop(row.id.clone())))
        }
        Command::Kill => {
            on_agent(model, |row| (format!("KILL {}", row.id), before::kill(at_work(row)), Deed::Kill(row.id.clone())))
        }
        Command::Redirect => {
            with_agent(model, |model, id| find_out(model, format!("REDIRECT {id}"), Question::Choices(id.to_owned())))
        }
        Command::Block => block(model),
        Command::Unblock => with_task(model, |_, id| vec![Request::Do(Deed::Unblock(id.to_owned()))]),
        Command::RollBackTask => with_task(model, |model, id| {
            find_out(model, format!("TAKE BACK {id}"), Question::Plan(Deed::RollBackTask(id.to_owned())))
        }),
        Command::Edit => with_task(model, |_, id| vec![Request::Edit(Editing::Body(id.to_owned()))]),
        Command::Debug => with_task(model, |_, id| vec![Request::Edit(Editing::Workspace(id.to_owned()))]),
        Command::Filter => type_filter(model),
        Command::Verb => type_verb(model),
        Command::Diff if selected_checkpoint(model).is_some() => {
            let name = selected_checkpoint(model).unwrap_or_default();
            find_out(model, format!("WHAT CHANGED SINCE {name}"), Question::Since(name))
        }
        Command::Diff => {
            with_task(model, |model, id| find_out(model, format!("WHAT {id} CHANGED"), Question::Diff(id.to_owned())))
        }
        Command::RollBackSession => find_out(model, "GO BACK TO THE BEGINNING OF THE SESSION".to_owned(), Question::PlanSession),
        Command::Undo => undo(model),
        Command::Pause => pause(model),
        Command::Mode => change_mode(model),
        Command::Checkpoint => vec![Request::Do(Deed::Checkpoint(None))],
        Command::NewCheckpoint => new_checkpoint(model),
        Command::Checkpoints => find_out(model, "CHECKPOINTS".to_owned(), Question::Checkpoints),
        Command::Learnings => find_out(model, "LEARNINGS".to_owned(), Question::Learnings),
        Command::Quit if model.seen.session.supervised && model.has_busy_agents() => {
            find_out(model, "QUIT?".to_owned(), Question::AtWork)
        }
        Command::Quit => close(model),
        Command::Logs => logs(model),
        Command::Fullscreen => full_screen(model),
        Command::Open => open_selected(model),
        Command::Menu => open(model, Dialog::Menu { at: 0 }),
        Command::Help => open(model, Dialog::Help { top: 0 }),
        Command::Close => {
            model.full = false;
            model.notice = None;
            model.filters.remove(&model.view);
            Vec::new()
        }
        Command::Next => turn(model, Way::Down),
        Command::Previous => turn(model, Way::Up),
        Command::Agents => show(model, View::Agents),
        Command::Tasks => show(model, View::Tasks),
        Command::Gates => show(model, View::Gates),
        Command::Output => show(model, View::Output),
        Command::Timeline => show(model, View::Timeline),
        Command::Down => go(model, Way::Down, 1),
        Command::Up => go(model, Way::Up, 1),
        Command::PageDown => go(model, Way::Down, page),
        Command::PageUp => go(model, Way::Up, page),
        Command::First => go(model, Way::Up, usize::MAX),
        Command::Last => go(model, Way::Down, usize::MAX),
    }
}

/// A dialog about the selected agent, whose plan is known already.
fn on_agent(model: &mut Model, plan: impl FnOnce(&AgentRow) -> (String, Vec<String>, Deed)) -> Vec<Request> {
    let Ok(row) = needs_agent(model) else { return Vec::new() };
    let (title, lines, deed) = plan(row);
    agree(model, title, lines, deed)
}

fn with_agent(model: &mut Model, begin: impl FnOnce(&mut Model, &str) -> Vec<Request>) -> Vec<Request> {
    let id = needs_agent(model).map(|row| row.id.clone());
    id.map(|id| begin(model, &id)).unwrap_or_default()
}

fn with_task(model: &mut Model, begin: impl FnOnce(&mut Model, &str) -> Vec<Request>) -> Vec<Request> {
    let id = model.task_row().map(|row| row.id.clone());
    id.map(|id| begin(model, &id)).unwrap_or_default()
}

pub(super) fn open(model: &mut Model, dialog: Dialog) -> Vec<Request> {
    model.notice = None;
    model.dialogs.push(dialog);
    Vec::new()
}

/// A dialog with a plan that is known already.
fn agree(model: &mut Model, title: String, lines: Vec<String>, deed: Deed) -> Vec<Request> {
    open(model, Dialog::Plan { title, body: Body::Ready(lines), deed: Some(deed), top: 0 })
}

/// A dialog whose plan is found out first.
pub(super) fn find_out(model: &mut Model, title: String, question: Question) -> Vec<Request> {
    let ticket = model.fresh_ticket();
    let body = Body::Coming(ticket);
    let dialog = match &question {
        Question::Plan(_) | Question::PlanUndo(_) | Question::PlanSession | Question::Older(_) | Question::Abandoned => {
            Dialog::Plan { title, body, deed: None, top: 0 }
        }
        Question::Choices(agent) => choice(title, About::Redirect(agent.clone()), body),
        Question::Gate(gate) => choice(title, About::Gate(gate.clone()), body),
        Question::Recovery => choice(title, About::Recovery, body),
        Question::Trust => choice(title, About::Trust, body),
        Question::AtWork => choice(title, About::Quit, body),
        Question::Checkpoints => Dialog::Manager { body, managed: super::Managed::default() },
        Question::Diff(_) | Question::Since(_) | Question::CutOff | Question::Timeline | Question::Learnings => {
            Dialog::Text { title, body, top: 0 }
        }
    };
    open(model, dialog);
    vec![Request::Ask(ticket, question)]
}

fn choice(title: String, about: About, body: Body) -> Dialog {
    Dialog::Choose { title, about, body, items: Vec::new(), at: 0, top: 0 }
}

fn block(model: &mut Model) -> Vec<Request> {
    let Some(task) = model.task_row().cloned() else { return Vec::new() };
    let before = before::block((&task.id, &task.title), needs_agent(model).ok().map(at_work));
    let (title, label) = (format!("BLOCK {}", task.id), "Reason".to_owned());
    open(model, Dialog::Typed(Typed { title, before, label, text: String::new(), then: Then::Block(task.id) }))
}

fn undo(model: &mut Model) -> Vec<Request> {
    let selected = model.moment_row().and_then(|row| match &row.what {
        MomentKind::Transaction { id, .. } => Some(id.clone()),
        MomentKind::Checkpoint(_) => None,
    });
    find_out(model, "UNDO".to_owned(), Question::PlanUndo(selected))
}

/// Pauses, and shows who still runs; where the session is paused, lets it go on.
fn pause(model: &mut Model) -> Vec<Request> {
    match model.seen.session.now {
        SessionNow::Paused => vec![Request::Do(Deed::Resume)],
        SessionNow::Pausing => open(model, Dialog::Pausing),
        SessionNow::Ending => Vec::new(),
        SessionNow::Running | SessionNow::Idle | SessionNow::Crashed => {
            open(model, Dialog::Pausing);
            vec![Request::Do(Deed::Pause)]
        }
    }
}

fn change_mode(model: &mut Model) -> Vec<Request> {
    let old = model.seen.session.mode;
    let new = match old {
        Mode::SemiAuto => Mode::Review,
        Mode::Review => Mode::Autopilot,
        Mode::Autopilot => Mode::SemiAuto,
    };
    let deed = Deed::Mode(new);
    if deed.needs_no_question() {
        return vec![Request::Do(deed)];
    }
    agree(model, "MODE".to_owned(), before::mode(old, new), deed)
}

fn type_filter(model: &mut Model) -> Vec<Request> {
    let view = model.view;
    let before =
        vec!["Only lines that contain it are shown; small and capital letters are the same. Esc shows all again.".to_owned()];
    let text = model.filters.get(&view).cloned().unwrap_or_default();
    let (title, label) = (format!("FILTER {}", view.title().to_uppercase()), "Text".to_owned());
    open(model, Dialog::Typed(Typed { title, before, label, text, then: Then::Filter(view) }))
}

fn type_verb(model: &mut Model) -> Vec<Request> {
    let before = vec!["It runs on the terminal below the panel, as from a shell; then the panel comes back.".to_owned()];
    let (title, label) = ("VERB".to_owned(), "git axiom".to_owned());
    open(model, Dialog::Typed(Typed { title, before, label, text: String::new(), then: Then::Verb }))
}

/// Asks for the name of a checkpoint.
pub(super) fn new_checkpoint(model: &mut Model) -> Vec<Request> {
    let before = vec!["Every worktree, committed or not, and all tasks.".to_owned()];
    let label = "Its name (empty: made up from the time)".to_owned();
    let title = "NEW CHECKPOINT".to_owned();
    open(model, Dialog::Typed(Typed { title, before, label, text: String::new(), then: Then::Checkpoint }))
}

/// Ends the panel, unless something is being done.
pub(super) fn close(model: &mut Model) -> Vec<Request> {
    match model.doing.first() {
        None => vec![Request::Close(Closing::Done)],
        Some(deed) => {
            let what = deed.in_words();
            model.complain(format!("{what}: wait until it is done"));
            Vec::new()
        }
    }
}

/// Opens what is selected.
fn open_selected(model: &mut Model) -> Vec<Request> {
    match model.view {
        View::Agents => match selected_checkpoint(model) {
            Some(name) => choose_at(model, name),
            None => show(model, View::Output),
        },
        View::Output => Vec::new(),
        View::Tasks => match model.task_row().map(|row| row.id.clone()) {
            Some(_) => open(model, Dialog::Menu { at: 0 }),
            None => Vec::new(),
        },
        View::Gates => match model.waiting_row().map(|row| (row.what, row.id.clone())) {
            Some((Waiting::Gate(_), id)) => find_out(model, format!("GATE {id}"), Question::Gate(id)),
            Some((Waiting::Recovery, _)) => find_out(model, "RECOVERY".to_owned(), Question::Recovery),
            Some((Waiting::Trust, _)) => find_out(model, "THE PROJECT'S FILES".to_owned(), Question::Trust),
            None => Vec::new(),
        },
        View::Timeline => match model.moment_row().map(|row| row.what.clone()) {
            Some(MomentKind::Checkpoint(name)) => choose_at(model, name),
            Some(MomentKind::Transaction { id, .. }) => find_out(model, "UNDO".to_owned(), Question::PlanUndo(Some(id))),
            None => Vec::new(),
        },
    }
}
