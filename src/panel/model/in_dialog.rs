//! What a key does in the dialog that is open.

use super::dialog::{Body, Chosen, Dialog, Item, Then, Typed};
use super::stepping::{moved, scrolled};
use super::typing::{type_key, typed_in};
use super::{Model, commands};
use crate::domain::work::project::SessionNow;
use crate::panel::input::Key;
use crate::panel::keys::{Command, TABLE};
use crate::panel::request::{Deed, Question, Request};

/// A key in the dialog that is open.
pub(super) fn in_dialog(model: &mut Model, key: Key) -> Vec<Request> {
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
            let rows = menu();
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
pub fn menu() -> Vec<Command> {
    use crate::panel::keys::Of;
    let about_work = |of: Of| matches!(of, Of::Agent | Of::Task | Of::Everything);
    TABLE.iter().filter(|row| about_work(row.of)).map(|row| row.command).collect()
}

/// The place of the first row of the next group.
fn next_group(rows: &[Command], at: usize) -> usize {
    use crate::panel::keys::row_of;
    let of = |place: usize| rows.get(place).and_then(|command| row_of(*command)).map(|row| row.of);
    (at..rows.len()).find(|place| of(*place) != of(at)).unwrap_or(0)
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

/// Begins what was agreed to.
pub(super) fn start(model: &mut Model, deed: Deed) -> Vec<Request> {
    model.notice = None;
    vec![Request::Do(deed)]
}

/// A key while the session pauses; `None` where it does nothing.
fn pausing(model: &mut Model, key: Key) -> Option<Vec<Request>> {
    let is_pause = model.keys.command(key) == Some(Command::Pause);
    match (is_pause, model.seen.session.now) {
        (true, SessionNow::Paused) => Some(vec![Request::Do(Deed::Resume)]),
        (true, SessionNow::Ending) => None,
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
