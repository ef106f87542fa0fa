//! Which commands are possible now, and what each begins.

use super::dialog::{About, Chosen, Item, Then};
use super::{Body, Dialog, Fetched, Model, Typed, View};
use crate::domain::work::case::{Kind, Status};
use crate::domain::work::project::SessionNow;
use crate::domain::work::session::Mode;
use crate::panel::input::Way;
use crate::panel::keys::Command;
use crate::panel::request::{Closing, Deed, Editing, Question, Request};
use crate::panel::seen::{AgentRow, MomentKind, Runner};
use crate::told::before::{self, AtWork};

/// Why a command is not possible now; `None` where it is.
pub fn impossible(model: &Model, command: Command) -> Option<String> {
    match command {
        Command::Stop | Command::Kill | Command::Redirect => needs_agent(model).err(),
        Command::Logs | Command::Fullscreen => model.agent_row().is_none().then(|| "no agent is selected".to_owned()),
        Command::Block => match task_status(model) {
            Ok(Status::Pending | Status::Active | Status::Failed) => None,
            Ok(status @ (Status::Done | Status::Blocked | Status::Archived)) => Some(format!("it is {status}")),
            Err(why) => Some(why),
        },
        Command::Unblock => match task_status(model) {
            Ok(Status::Blocked | Status::Failed) => None,
            Ok(Status::Pending | Status::Active | Status::Done | Status::Archived) => Some("it is not blocked".to_owned()),
            Err(why) => Some(why),
        },
        Command::RollBackTask | Command::Edit => task_status(model).err(),
        Command::Diff if selected_checkpoint(model).is_some() => None,
        Command::Diff => task_status(model).err(),
        Command::Debug => match model.task_row() {
            Some(row) if row.workspace.is_some() => None,
            Some(row) => Some(format!("{} has no workspace", row.id)),
            None => Some("no task is selected".to_owned()),
        },
        Command::Pause => match model.seen.session.now {
            SessionNow::Running | SessionNow::Pausing | SessionNow::Paused if model.seen.session.supervised => None,
            _ if model.seen.agents.iter().any(|row| row.state == "running" && row.runner == Runner::Agent) => None,
            SessionNow::Running | SessionNow::Pausing | SessionNow::Paused | SessionNow::Idle | SessionNow::Crashed => {
                Some("no session runs: git axiom run".to_owned())
            }
        },
        Command::RollBackSession | Command::Undo | Command::Mode | Command::Checkpoint | Command::NewCheckpoint => None,
        Command::Checkpoints
        | Command::Learnings
        | Command::Quit
        | Command::Menu
        | Command::Next
        | Command::Previous
        | Command::Open => None,
        Command::Down | Command::Up | Command::PageDown | Command::PageUp | Command::First | Command::Last => None,
        Command::Agents | Command::Tasks | Command::Gates | Command::Output | Command::Timeline => None,
        Command::Filter | Command::Verb | Command::Help | Command::Close => None,
    }
}

/// The checkpoint that is selected in the timeline.
fn selected_checkpoint(model: &Model) -> Option<String> {
    model.moment_row().filter(|_| model.view == View::Timeline).and_then(|row| match &row.what {
        MomentKind::Checkpoint(name) => Some(name.clone()),
        MomentKind::Transaction { .. } => None,
    })
}

fn needs_agent(model: &Model) -> Result<&AgentRow, String> {
    let row = model.agent_row().ok_or_else(|| "no agent is selected".to_owned())?;
    match (&row.runner, &row.task) {
        (Runner::Human { .. }, _) => Err(format!("{} is run by a human: end it where it runs", row.id)),
        (Runner::Agent, None) => Err(format!("{} works on nothing", row.id)),
        (Runner::Agent, Some(_)) => Ok(row),
    }
}

fn task_status(model: &Model) -> Result<Status, String> {
    let row = model.task_row().ok_or_else(|| "no task is selected".to_owned())?;
    if row.kind == Kind::Task { Ok(row.status) } else { Err(format!("{} is a group ({})", row.id, row.kind)) }
}

/// An agent as the texts before an intervention need it.
fn at_work(row: &AgentRow) -> AtWork<'_> {
    AtWork {
        agent: &row.id,
        task: (row.task.as_deref().unwrap_or("nothing"), &row.title),
        iteration: row.iteration,
        progress: row.progress,
        workspace: row.workspace.as_deref(),
    }
}

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
        Command::Quit if model.seen.session.supervised && model.working() > 0 => {
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

fn open(model: &mut Model, dialog: Dialog) -> Vec<Request> {
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
        Question::Plan(_) | Question::PlanUndo(_) | Question::PlanSession | Question::Older(_) => {
            Dialog::Plan { title, body, deed: None, top: 0 }
        }
        Question::Choices(agent) => choice(title, About::Redirect(agent.clone()), body),
        Question::Gate(gate) => choice(title, About::Gate(gate.clone()), body),
        Question::AtWork => choice(title, About::Quit, body),
        Question::Checkpoints => Dialog::Manager { body, managed: super::Managed::default() },
        Question::Diff(_) | Question::Since(_) | Question::Timeline | Question::Learnings => Dialog::Text { title, body, top: 0 },
    };
    open(model, dialog);
    vec![Request::Ask(ticket, question)]
}

fn choice(title: String, about: About, body: Body) -> Dialog {
    Dialog::Choose { title, about, body, items: Vec::new(), at: 0, top: 0 }
}

/// What can be chosen, once it is known what is to be read before.
pub(super) fn items(model: &Model, about: &About, open: Vec<(String, String)>) -> Vec<Item> {
    match about {
        About::Gate(gate) => decisions(model, gate),
        About::Redirect(agent) => places(agent, open),
        About::Quit => ways_out(),
        About::Checkpoint(_) => Vec::new(),
    }
}

fn block(model: &mut Model) -> Vec<Request> {
    let Some(task) = model.task_row().cloned() else { return Vec::new() };
    let before = before::block((&task.id, &task.title), needs_agent(model).ok().map(at_work));
    let (title, label) = (format!("BLOCK {}", task.id), "Reason".to_owned());
    open(model, Dialog::Typed(Typed { title, before, label, text: String::new(), then: Then::Block(task.id) }))
}

fn undo(model: &mut Model) -> Vec<Request> {
    let selected = model.moment_row().filter(|_| model.view == View::Timeline).and_then(|row| match &row.what {
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

/// What can be done with a checkpoint.
fn choose_at(model: &mut Model, name: String) -> Vec<Request> {
    let item = |letter, line: &str, then| Item { letter: Some(letter), line: line.to_owned(), then };
    let back = Question::Plan(Deed::RollBack(name.clone()));
    let items = vec![
        item(
            'b',
            "Go back to it: shows what would change, and asks",
            Chosen::Ask { title: format!("GO BACK TO {name}"), question: back },
        ),
        item(
            'w',
            "What changed since",
            Chosen::Ask { title: format!("WHAT CHANGED SINCE {name}"), question: Question::Since(name.clone()) },
        ),
        item(
            'o',
            "Restore one file or folder",
            Chosen::Type {
                label: "File or folder, from the top of the repository".to_owned(),
                then: Then::Restore(name.clone()),
            },
        ),
    ];
    let body = Body::Ready(vec!["Whatever you do with it can be undone.".to_owned()]);
    open(model, Dialog::Choose { title: name.clone(), about: About::Checkpoint(name), body, items, at: 0, top: 0 })
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

fn full_screen(model: &mut Model) -> Vec<Request> {
    model.full = !model.full;
    if model.full { show(model, View::Output) } else { Vec::new() }
}

fn logs(model: &mut Model) -> Vec<Request> {
    if let Some(agent) = model.agent_row().map(|row| row.id.clone()) {
        model.agent = Some(agent);
    }
    show(model, View::Output)
}

/// Opens what is selected.
fn open_selected(model: &mut Model) -> Vec<Request> {
    match model.view {
        View::Agents => show(model, View::Output),
        View::Output => Vec::new(),
        View::Tasks => match model.task_row().map(|row| row.id.clone()) {
            Some(_) => open(model, Dialog::Menu { at: 0 }),
            None => Vec::new(),
        },
        View::Gates => match model.gate_row().cloned() {
            Some(gate) => find_out(model, format!("GATE {}", gate.id), Question::Gate(gate.id)),
            None => Vec::new(),
        },
        View::Timeline => match model.moment_row().map(|row| row.what.clone()) {
            Some(MomentKind::Checkpoint(name)) => choose_at(model, name),
            Some(MomentKind::Transaction { id, .. }) => find_out(model, "UNDO".to_owned(), Question::PlanUndo(Some(id))),
            None => Vec::new(),
        },
    }
}

/// What can be decided at a gate.
fn decisions(model: &Model, gate: &str) -> Vec<Item> {
    let asks = model.seen.gates.iter().any(|row| row.id == gate && row.asks);
    let gate = gate.to_owned();
    let typed = |label: &str, then: Then| Chosen::Type { label: label.to_owned(), then };
    let yes = match asks {
        true => Item { letter: Some('a'), line: "Answer".to_owned(), then: typed("Answer", Then::Answer(gate.clone())) },
        false => {
            Item { letter: Some('a'), line: "Approve: let it continue".to_owned(), then: Chosen::Do(Deed::Approve(gate.clone())) }
        }
    };
    let no =
        Item { letter: Some('r'), line: "Reject: its task is blocked".to_owned(), then: typed("Reason", Then::Reject(gate)) };
    let later = Item { letter: None, line: "Leave it waiting".to_owned(), then: Chosen::Nothing };
    vec![later, yes, no]
}

/// Where an agent can be sent.
fn places(agent: &str, items: Vec<(String, String)>) -> Vec<Item> {
    let item = |(to, line): (String, String)| Item {
        letter: None,
        line,
        then: Chosen::Do(Deed::Redirect { agent: agent.to_owned(), to }),
    };
    items.into_iter().map(item).collect()
}

/// What becomes of a session whose agents run.
fn ways_out() -> Vec<Item> {
    use crate::ops::interventions::quitting::Before;
    use crate::told::interventions::QUITTING;
    let leave =
        Item { letter: Some('l'), line: "Leave it running, and close the panel".to_owned(), then: Chosen::Close(Closing::Done) };
    let way = |(before, words): &(Option<Before>, &str)| {
        let (letter, then) = match before {
            Some(Before::Nothing) => (Some('q'), Chosen::Do(Deed::Quit)),
            Some(Before::Checkpoint) => (Some('s'), Chosen::Do(Deed::CheckpointAndQuit)),
            None => (None, Chosen::Nothing),
        };
        Item { letter, line: (*words).to_owned(), then }
    };
    std::iter::once(leave).chain(QUITTING.iter().map(way)).collect()
}

fn turn(model: &mut Model, way: Way) -> Vec<Request> {
    let at = View::ALL.iter().position(|view| *view == model.view).unwrap_or(0);
    let next = match way {
        Way::Down => (at + 1) % View::ALL.len(),
        Way::Up => (at + View::ALL.len() - 1) % View::ALL.len(),
    };
    show(model, View::ALL.get(next).copied().unwrap_or(View::Agents))
}

pub(super) fn show(model: &mut Model, view: View) -> Vec<Request> {
    model.notice = None;
    model.full &= view == View::Output;
    model.view = view;
    if view == View::Timeline { read_timeline(model) } else { Vec::new() }
}

/// Reads the timeline, where that is not done already.
pub(super) fn read_timeline(model: &mut Model) -> Vec<Request> {
    if matches!(model.timeline, Fetched::Coming(_)) {
        return Vec::new();
    }
    let ticket = model.fresh_ticket();
    // What is known stays until the new one comes.
    if !matches!(model.timeline, Fetched::Known(_)) {
        model.timeline = Fetched::Coming(ticket);
    }
    vec![Request::Ask(ticket, Question::Timeline)]
}

fn go(model: &mut Model, way: Way, by: usize) -> Vec<Request> {
    if model.view == View::Output {
        model.scroll(way, by)
    } else {
        model.go(way, by)
    }
    Vec::new()
}
