//! What an event does to the model.

use super::dialog::{Body, Chosen, Dialog, Item, Outcome, Then, Typed};
use super::{Fetched, MOST_OUTPUT, Model, Output, View, choices, commands, moving};
use crate::domain::work::project::SessionNow;
use crate::panel::event::{Event, Printed};
use crate::panel::input::{Input, Key, Way};
use crate::panel::keys::{Command, TABLE};
use crate::panel::request::{Answer, Closing, Deed, Failure, Question, Request, Ticket};

/// No text of a dialog is longer, once its lines are broken.
const MOST_SCROLLED: usize = 100_000;
/// The longest line that can be typed.
const MOST_TYPED: usize = 2_000;

/// Lets an event happen. Returns what the effects are to do.
pub fn update(model: &mut Model, event: Event) -> Vec<Request> {
    let mut requests = match event {
        Event::Input(input) => on_input(model, input),
        Event::Seen(seen) => {
            let is_new = seen.seq != model.seen.seq;
            model.seen = *seen;
            model.keep_selection();
            if is_new && model.view == View::Timeline { moving::read_timeline(model) } else { Vec::new() }
        }
        Event::Output(printed) => {
            take_output(model, printed);
            Vec::new()
        }
        Event::Answered(ticket, answer) => {
            answered(model, ticket, answer);
            Vec::new()
        }
        Event::Done(deed, outcome) => done(model, &deed, outcome),
        Event::Edited(outcome) => {
            tell_outcome(model, "EDITED", outcome);
            Vec::new()
        }
        Event::Resized { width, height } => {
            model.size = (width, height);
            Vec::new()
        }
        Event::Now(now) => {
            model.now = now;
            Vec::new()
        }
    };
    requests.extend(follow(model));
    // What is under way already is not begun a second time.
    requests.retain(|request| match request {
        Request::Do(deed) if model.doing.contains(deed) => false,
        Request::Do(deed) => {
            model.doing.push(deed.clone());
            true
        }
        Request::Ask(..)
        | Request::Follow(_)
        | Request::Edit(_)
        | Request::Run(_)
        | Request::Suspend
        | Request::Redraw
        | Request::Close(_) => true,
    });
    requests
}

/// The output that is shown is that of the selected agent.
fn follow(model: &mut Model) -> Option<Request> {
    if model.output.of == model.agent {
        return None;
    }
    model.output = Output { of: model.agent.clone(), ..Output::default() };
    Some(Request::Follow(model.agent.clone()))
}

fn take_output(model: &mut Model, printed: Printed) {
    let output = &mut model.output;
    if output.of.as_deref() != Some(printed.of.as_str()) {
        return;
    }
    if printed.anew {
        output.lines.clear();
        output.back = 0;
    }
    let came = printed.lines.len();
    output.lines.extend(printed.lines);
    // What is read stays where it is while more comes.
    if output.back > 0 {
        output.back = output.back.saturating_add(came).min(MOST_OUTPUT - 1);
    }
    let over = output.lines.len().saturating_sub(MOST_OUTPUT);
    output.lines.drain(..over);
}

fn on_input(model: &mut Model, input: Input) -> Vec<Request> {
    match input {
        Input::Key(Key::Ctrl('c')) => interrupt(model),
        Input::Key(Key::Ctrl('z')) => vec![Request::Suspend],
        Input::Key(Key::Ctrl('l')) => vec![Request::Redraw],
        Input::Key(key) if model.dialogs.is_empty() => match model.keys.command(key) {
            Some(command) => commands::begin(model, command),
            None => {
                let help = model.keys.shown(Command::Help);
                model.tell(format!("'{key}' does nothing; {help} shows all keys"));
                Vec::new()
            }
        },
        Input::Key(key) => in_dialog(model, key),
        Input::Paste(text) => {
            paste(model, &text);
            Vec::new()
        }
        Input::Wheel(way) => {
            if model.dialogs.is_empty() {
                if model.view == View::Output {
                    model.scroll(way, 3)
                } else {
                    model.go(way, 1)
                }
                return Vec::new();
            }
            in_dialog(model, if way == Way::Up { Key::Up } else { Key::Down })
        }
        Input::Click { column, row } => click(model, column, row),
    }
}

/// Ctrl+C ends the panel; agents and session go on. While something is done, only the second one does.
fn interrupt(model: &mut Model) -> Vec<Request> {
    match model.doing.first() {
        Some(deed) if !model.warned => {
            let what = deed.in_words();
            model.warned = true;
            model.complain(format!("{what}: it is finished first; Ctrl+C again leaves at once"));
            Vec::new()
        }
        Some(_) | None => vec![Request::Close(Closing::Interrupted)],
    }
}

/// Pasted text is never a command: it goes into a line that is typed, without its line ends.
fn paste(model: &mut Model, text: &str) {
    match model.dialogs.last_mut() {
        Some(Dialog::Typed(typed)) => {
            for letter in text.chars() {
                type_letter(typed, if letter.is_control() { ' ' } else { letter });
            }
        }
        Some(_) | None => model.tell("pasted text is no command"),
    }
}

fn type_letter(typed: &mut Typed, letter: char) {
    if typed.text.len() + letter.len_utf8() <= MOST_TYPED {
        typed.text.push(letter);
    }
}

fn type_key(typed: &mut Typed, key: Key) {
    if key == Key::Backspace {
        typed.text.pop();
    } else if key == Key::Ctrl('u') {
        typed.text.clear();
    } else if let Key::Char(letter) = key {
        type_letter(typed, letter);
    }
}

fn click(model: &mut Model, column: u16, row: u16) -> Vec<Request> {
    if !model.dialogs.is_empty() {
        return Vec::new();
    }
    if row == 1 {
        return match super::super::view::tab_at(model, column) {
            Some(view) => moving::show(model, view),
            None => Vec::new(),
        };
    }
    if let Some(name) = super::super::view::row_at(model, row) {
        let view = model.view;
        model.select_named(view, &name);
    }
    Vec::new()
}

/// A key in the dialog that is open.
fn in_dialog(model: &mut Model, key: Key) -> Vec<Request> {
    let Some(mut dialog) = model.dialogs.pop() else { return Vec::new() };
    if key == Key::Escape {
        model.warned = false;
        return Vec::new();
    }
    let page = usize::from(model.size.1.saturating_sub(8)).max(1);
    match &mut dialog {
        Dialog::Help { top } | Dialog::Text { top, .. } => {
            let closes = matches!(key, Key::Enter | Key::Char('q' | '?'));
            scrolled(top, key, page);
            if closes {
                return Vec::new();
            }
        }
        Dialog::Plan { body, deed, top, .. } => {
            if key == Key::Enter && matches!(body, Body::Ready(_)) {
                return deed.take().map(|deed| start(model, deed)).unwrap_or_default();
            }
            if key == Key::Enter && matches!(body, Body::Failed(_)) {
                return Vec::new();
            }
            scrolled(top, key, page);
        }
        Dialog::Menu { at } => {
            let rows = menu(model);
            if let Some(command) = model.keys.command(key).filter(|command| rows.contains(command)) {
                return commands::begin(model, command);
            }
            match (key, rows.get(*at)) {
                (Key::Enter, Some(command)) => return commands::begin(model, *command),
                (Key::Tab, _) => *at = next_group(&rows, *at),
                (_, _) => moved(at, key, rows.len(), page),
            }
        }
        Dialog::Typed(typed) => {
            if key == Key::Enter {
                match typed.then.with(&typed.text) {
                    Some(outcome) => return typed_in(model, outcome),
                    None => model.complain("it needs some words; Esc leaves"),
                }
            }
            type_key(typed, key);
        }
        Dialog::Choose { items, at, body, top, title, about: _ } => {
            let by_letter = items.iter().position(|item| item.letter.is_some_and(|letter| key == Key::Char(letter)));
            let chosen = by_letter.or((key == Key::Enter).then_some(*at));
            if let Some(item) = chosen.and_then(|place| items.get(place)).cloned() {
                let before = match body {
                    Body::Ready(lines) | Body::Failed(lines) => lines.clone(),
                    Body::Coming(_) => Vec::new(),
                };
                let title = title.clone();
                return choose(model, item, title, before);
            }
            if matches!(key, Key::PageUp | Key::PageDown) { scrolled(top, key, page) } else { moved(at, key, items.len(), page) }
        }
        Dialog::Pausing => {
            if let Some(requests) = pausing(model, key) {
                return requests;
            }
        }
        Dialog::Manager { .. } => return in_manager(model, dialog, key),
    }
    model.dialogs.push(dialog);
    Vec::new()
}

/// The commands of the menu, in its order.
pub fn menu(model: &Model) -> Vec<Command> {
    use crate::panel::keys::Of;
    let _ = model;
    let about_work = |of: Of| matches!(of, Of::Agent | Of::Task | Of::Everything);
    TABLE.iter().filter(|row| about_work(row.of)).map(|row| row.command).collect()
}

/// The place of the first row of the next group.
fn next_group(rows: &[Command], at: usize) -> usize {
    use crate::panel::keys::row_of;
    let of = |place: usize| rows.get(place).and_then(|command| row_of(*command)).map(|row| row.of);
    (at..rows.len()).find(|place| of(*place) != of(at)).unwrap_or(0)
}

/// How far a key moves in a list or a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Up(usize),
    Down(usize),
    None,
}

fn step(key: Key, page: usize) -> Step {
    const ALL: usize = usize::MAX;
    let steps = [
        (Key::Up, Step::Up(1)),
        (Key::Char('k'), Step::Up(1)),
        (Key::PageUp, Step::Up(page)),
        (Key::Home, Step::Up(ALL)),
        (Key::Char('g'), Step::Up(ALL)),
        (Key::Down, Step::Down(1)),
        (Key::Char('j'), Step::Down(1)),
        (Key::Tab, Step::Down(1)),
        (Key::PageDown, Step::Down(page)),
        (Key::End, Step::Down(ALL)),
        (Key::Char('G'), Step::Down(ALL)),
    ];
    steps.into_iter().find(|(known, _)| *known == key).map_or(Step::None, |(_, step)| step)
}

/// The first line that is shown; the view knows how many there are.
fn scrolled(top: &mut usize, key: Key, page: usize) {
    *top = match step(key, page) {
        Step::Up(by) => top.saturating_sub(by),
        Step::Down(by) => top.saturating_add(by).min(MOST_SCROLLED),
        Step::None => *top,
    };
}

fn moved(at: &mut usize, key: Key, many: usize, page: usize) {
    *at = match step(key, page) {
        Step::Up(by) => at.saturating_sub(by),
        Step::Down(by) => at.saturating_add(by).min(many.saturating_sub(1)),
        Step::None => *at,
    };
}

fn choose(model: &mut Model, item: Item, title: String, before: Vec<String>) -> Vec<Request> {
    match item.then {
        Chosen::Do(deed) => start(model, deed),
        Chosen::Close(how) => vec![Request::Close(how)],
        Chosen::Ask { title, question } => commands::find_out(model, title, question),
        Chosen::Nothing => Vec::new(),
        Chosen::Type { label, then } => {
            model.dialogs.push(Dialog::Typed(Typed { title, before, label, text: String::new(), then }));
            Vec::new()
        }
    }
}

/// A line was typed.
fn typed_in(model: &mut Model, outcome: Outcome) -> Vec<Request> {
    match outcome {
        Outcome::Do(deed) => start(model, deed),
        Outcome::Ask(title, question) => commands::find_out(model, title, question),
        Outcome::Run(line) => vec![Request::Run(line)],
        Outcome::Filter(view, text) => {
            match text {
                Some(text) => drop(model.filters.insert(view, text.to_lowercase())),
                None => drop(model.filters.remove(&view)),
            }
            model.output.back = 0;
            model.keep_selection();
            Vec::new()
        }
    }
}

/// Begins what was agreed to.
fn start(model: &mut Model, deed: Deed) -> Vec<Request> {
    model.notice = None;
    vec![Request::Do(deed)]
}

/// A key while the session pauses; `None` where it does nothing.
fn pausing(model: &mut Model, key: Key) -> Option<Vec<Request>> {
    let is_pause = model.keys.command(key) == Some(Command::Pause);
    match (is_pause, model.seen.session.now) {
        (true, SessionNow::Paused) => Some(vec![Request::Do(Deed::Resume)]),
        // The first press may not have arrived yet.
        (true, _) => {
            model.dialogs.push(Dialog::Pausing);
            Some(vec![Request::Do(Deed::PauseAtOnce)])
        }
        (false, _) => (key == Key::Enter).then(Vec::new),
    }
}

fn in_manager(model: &mut Model, mut dialog: Dialog, key: Key) -> Vec<Request> {
    let page = usize::from(model.size.1.saturating_sub(8)).max(1);
    let Dialog::Manager { managed, .. } = &mut dialog else { return Vec::new() };
    let selected = managed.rows.get(managed.at).map(|row| row.name.clone());
    let new = model.keys.command(key) == Some(Command::NewCheckpoint);
    let asks = match (key, selected) {
        (Key::Enter, Some(name)) => Some((format!("GO BACK TO {name}"), Question::Plan(Deed::RollBack(name)))),
        (Key::Char(' '), Some(name)) => {
            if !managed.marked.remove(&name) {
                managed.marked.insert(name);
            }
            None
        }
        (Key::Char('d') | Key::Delete, Some(name)) => {
            let marked: Vec<String> = managed.marked.iter().cloned().collect();
            let names = if marked.is_empty() { vec![name] } else { marked };
            Some(("DELETE CHECKPOINTS".to_owned(), Question::Plan(Deed::DeleteCheckpoints(names))))
        }
        (Key::Char('o'), _) => {
            let before = vec!["Protected ones stay: named, the session's beginning, what an undo needs.".to_owned()];
            let (title, label) = ("DELETE OLD CHECKPOINTS".to_owned(), "Older than how many days".to_owned());
            model.dialogs.push(dialog);
            model.dialogs.push(Dialog::Typed(Typed { title, before, label, text: String::new(), then: Then::Older }));
            return Vec::new();
        }
        (Key::Char('p'), _) => Some(("PACK CHECKPOINTS".to_owned(), Question::Plan(Deed::CompactCheckpoints))),
        (_, _) => {
            moved(&mut managed.at, key, managed.rows.len(), page);
            None
        }
    };
    model.dialogs.push(dialog);
    match asks {
        Some((title, question)) => commands::find_out(model, title, question),
        None if new => commands::new_checkpoint(model),
        None => Vec::new(),
    }
}

fn answered(model: &mut Model, ticket: Ticket, answer: Result<Answer, Failure>) {
    if let Ok(Answer::Timeline(moments)) = answer {
        model.timeline = Fetched::Known(moments);
        model.keep_selection();
        return;
    }
    if model.timeline == Fetched::Coming(ticket)
        && let Err(failure) = answer
    {
        model.timeline = Fetched::Failed(failure.lines);
        return;
    }
    let wants = |dialog: &Dialog| match dialog {
        Dialog::Plan { body, .. } | Dialog::Text { body, .. } | Dialog::Choose { body, .. } | Dialog::Manager { body, .. } => {
            body.waits_for(ticket)
        }
        Dialog::Help { .. } | Dialog::Menu { .. } | Dialog::Typed(_) | Dialog::Pausing => false,
    };
    // Who closed the dialog does not want it any more.
    let Some(place) = model.dialogs.iter().position(wants) else { return };
    let mut dialog = model.dialogs.remove(place);
    match answer {
        Ok(answer) => fill(model, &mut dialog, answer),
        Err(failure) => fail(&mut dialog, failure),
    }
    model.dialogs.insert(place, dialog);
}

fn fail(dialog: &mut Dialog, failure: Failure) {
    match dialog {
        Dialog::Plan { body, .. } | Dialog::Text { body, .. } | Dialog::Choose { body, .. } | Dialog::Manager { body, .. } => {
            *body = Body::Failed(failure.lines);
        }
        Dialog::Help { .. } | Dialog::Menu { .. } | Dialog::Typed(_) | Dialog::Pausing => {}
    }
}

fn fill(model: &Model, dialog: &mut Dialog, answer: Answer) {
    match (dialog, answer) {
        (Dialog::Plan { body, deed, .. }, Answer::Plan(plan)) => {
            *body = Body::Ready(plan.lines);
            *deed = plan.deed;
        }
        (Dialog::Text { body, .. }, Answer::Text(lines)) => *body = Body::Ready(lines),
        (Dialog::Choose { body, items, about, .. }, Answer::Text(lines)) => {
            *body = Body::Ready(lines);
            *items = choices::items(model, about, Vec::new());
        }
        (Dialog::Choose { body, items, about, .. }, Answer::Choices { before, items: open }) => {
            *body = Body::Ready(before);
            *items = choices::items(model, about, open);
        }
        (Dialog::Manager { body, managed }, Answer::Checkpoints { heading, rows, summary }) => {
            *body = Body::Ready(Vec::new());
            managed.marked.retain(|name| rows.iter().any(|row| row.name == *name));
            managed.at = managed.at.min(rows.len().saturating_sub(1));
            (managed.heading, managed.rows, managed.summary) = (heading, rows, summary);
        }
        (_, _) => {}
    }
}

fn done(model: &mut Model, deed: &Deed, outcome: Result<Vec<String>, Failure>) -> Vec<Request> {
    if let Some(place) = model.doing.iter().position(|other| other == deed) {
        model.doing.remove(place);
    }
    model.warned = false;
    let succeeded = outcome.is_ok();
    if succeeded && matches!(deed, Deed::Quit | Deed::CheckpointAndQuit) {
        return vec![Request::Close(Closing::Done)];
    }
    if !succeeded && matches!(deed, Deed::Pause | Deed::PauseAtOnce) {
        model.dialogs.retain(|dialog| *dialog != Dialog::Pausing);
    }
    tell_outcome(model, &deed.in_words().to_uppercase(), outcome);
    // What the manager shows has changed.
    let manages = model.dialogs.iter().any(|dialog| matches!(dialog, Dialog::Manager { .. }));
    if !manages {
        return Vec::new();
    }
    let ticket = model.fresh_ticket();
    for dialog in &mut model.dialogs {
        if let Dialog::Manager { body, .. } = dialog {
            *body = Body::Coming(ticket);
        }
    }
    vec![Request::Ask(ticket, Question::Checkpoints)]
}

/// One line is told below the views; more get a dialog, and so does what went wrong.
fn tell_outcome(model: &mut Model, title: &str, outcome: Result<Vec<String>, Failure>) {
    match outcome {
        Ok(lines) => match lines.as_slice() {
            [] => {}
            [one] => model.tell(one.clone()),
            _ => model.dialogs.push(Dialog::Text { title: title.to_owned(), body: Body::Ready(lines), top: 0 }),
        },
        Err(failure) => {
            model.dialogs.push(Dialog::Text { title: title.to_owned(), body: Body::Failed(failure.lines), top: 0 });
        }
    }
}
