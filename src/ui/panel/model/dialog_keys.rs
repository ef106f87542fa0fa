//! What a key does in the dialog that is open.

use super::current_dialogs::is_first_look;
use super::dialog::{
    DialogBody, DialogChoice, DialogChoiceAction, DialogTextInput, DialogTextPurpose, DialogTextResult, PanelDialog,
};
use super::stepping::{moved, scrolled};
use super::typing::type_key;
use super::{PanelModel, commands};
use crate::panel::input::PanelKey;
use crate::panel::keys::{PanelCommand, TABLE};
use crate::panel::request::{PanelAction, PanelQuestion, PanelRequest};
use axiom_model::queries::project::LiveSessionStatus;

/// A key in the dialog that is open.
pub(super) fn in_dialog(model: &mut PanelModel, key: PanelKey) -> Vec<PanelRequest> {
    let Some(mut dialog) = model.dialogs.pop() else { return Vec::new() };
    if key == PanelKey::Escape {
        model.doing.forget_warning();
        return Vec::new();
    }
    if is_first_look(&mut dialog) {
        model.dialogs.push(dialog);
        return Vec::new();
    }
    in_current(model, dialog, key)
}

fn in_current(model: &mut PanelModel, mut dialog: PanelDialog, key: PanelKey) -> Vec<PanelRequest> {
    let page = usize::from(model.size.1.saturating_sub(8)).max(1);
    match &mut dialog {
        PanelDialog::Help { top } | PanelDialog::Text { top, .. } => {
            let closes = matches!(key, PanelKey::Enter | PanelKey::Char('q' | '?'));
            scrolled(top, key, page);
            if closes {
                return Vec::new();
            }
        }
        PanelDialog::Plan { body, deed, top, .. } => {
            if key == PanelKey::Enter && matches!(body, DialogBody::Ready(_)) {
                return deed.take().map(|deed| start(model, deed)).unwrap_or_default();
            }
            if key == PanelKey::Enter && matches!(body, DialogBody::Failed(_)) {
                return Vec::new();
            }
            scrolled(top, key, page);
        }
        PanelDialog::Menu { at } => {
            let rows = menu();
            if let Some(command) = model.keys.command(key).filter(|command| rows.contains(command)) {
                return commands::begin(model, command);
            }
            match (key, rows.get(*at)) {
                (PanelKey::Enter, Some(command)) => return commands::begin(model, *command),
                (PanelKey::Tab, _) => *at = next_group(&rows, *at),
                (_, _) => moved(at, key, rows.len(), page),
            }
        }
        PanelDialog::Typed(typed) => {
            if key == PanelKey::Enter {
                match typed.then.with(&typed.text) {
                    Some(outcome) => return typed_in(model, outcome),
                    None => model.complain("it needs some words; Esc leaves"),
                }
            }
            type_key(typed, key);
        }
        PanelDialog::Choose { items, at, body, top, title, about: _, asked: _ } => {
            let by_letter = items.iter().position(|item| item.letter.is_some_and(|letter| key == PanelKey::Char(letter)));
            let chosen = by_letter.or((key == PanelKey::Enter).then_some(*at));
            if let Some(item) = chosen.and_then(|place| items.get(place)).cloned() {
                let before = match body {
                    DialogBody::Ready(lines) | DialogBody::Failed(lines) => lines.clone(),
                    DialogBody::Coming(_) => Vec::new(),
                };
                let title = title.clone();
                return choose(model, item, title, before);
            }
            if matches!(key, PanelKey::PageUp | PanelKey::PageDown) {
                scrolled(top, key, page)
            } else {
                moved(at, key, items.len(), page)
            }
        }
        PanelDialog::Pausing => {
            if let Some(requests) = pausing(model, key) {
                return requests;
            }
        }
        PanelDialog::Manager { .. } => return in_manager(model, dialog, key),
    }
    model.dialogs.push(dialog);
    Vec::new()
}

/// The commands of the menu, in its order.
pub fn menu() -> Vec<PanelCommand> {
    use crate::panel::keys::PanelCommandScope;
    let about_work =
        |of: PanelCommandScope| matches!(of, PanelCommandScope::Agent | PanelCommandScope::Task | PanelCommandScope::Everything);
    TABLE.iter().filter(|row| about_work(row.of)).map(|row| row.command).collect()
}

/// The place of the first row of the next group.
fn next_group(rows: &[PanelCommand], at: usize) -> usize {
    use crate::panel::keys::row_of;
    let of = |place: usize| rows.get(place).and_then(|command| row_of(*command)).map(|row| row.of);
    (at..rows.len()).find(|place| of(*place) != of(at)).unwrap_or(0)
}

fn choose(model: &mut PanelModel, item: DialogChoice, title: String, before: Vec<String>) -> Vec<PanelRequest> {
    match item.then {
        DialogChoiceAction::Do(deed) => start(model, deed),
        DialogChoiceAction::Close(how) => vec![PanelRequest::Close(how)],
        DialogChoiceAction::Ask { title, question } => commands::find_out(model, title, question),
        DialogChoiceAction::Nothing => Vec::new(),
        DialogChoiceAction::Type { label, then } => {
            model.dialogs.push(PanelDialog::Typed(DialogTextInput { title, before, label, text: String::new(), then }));
            Vec::new()
        }
    }
}

/// Begins what was agreed to.
pub(super) fn start(model: &mut PanelModel, deed: PanelAction) -> Vec<PanelRequest> {
    model.notice = None;
    vec![PanelRequest::Do(deed)]
}

/// A line was typed.
fn typed_in(model: &mut PanelModel, outcome: DialogTextResult) -> Vec<PanelRequest> {
    match outcome {
        DialogTextResult::Do(deed) => start(model, deed),
        DialogTextResult::Ask(title, question) => commands::find_out(model, title, question),
        DialogTextResult::Run(line) => vec![PanelRequest::Run(line)],
        DialogTextResult::Filter(view, text) => {
            model.filters.set(view, text.as_deref());
            model.output.back = 0;
            model.keep_selection();
            Vec::new()
        }
    }
}

/// A key while the session pauses; `None` where it does nothing.
fn pausing(model: &mut PanelModel, key: PanelKey) -> Option<Vec<PanelRequest>> {
    let is_pause = model.keys.command(key) == Some(PanelCommand::Pause);
    match (is_pause, model.seen.session.now) {
        (true, LiveSessionStatus::Paused) => Some(vec![PanelRequest::Do(PanelAction::Resume)]),
        (true, LiveSessionStatus::Ending) => None,
        // The first press may not have arrived yet.
        (true, _) => {
            model.dialogs.push(PanelDialog::Pausing);
            Some(vec![PanelRequest::Do(PanelAction::PauseAtOnce)])
        }
        (false, _) => (key == PanelKey::Enter).then(Vec::new),
    }
}

fn in_manager(model: &mut PanelModel, mut dialog: PanelDialog, key: PanelKey) -> Vec<PanelRequest> {
    let page = usize::from(model.size.1.saturating_sub(8)).max(1);
    let PanelDialog::Manager { managed, .. } = &mut dialog else { return Vec::new() };
    let selected = managed.rows.get(managed.at).map(|row| row.name.clone());
    let new = model.keys.command(key) == Some(PanelCommand::NewCheckpoint);
    let asks = match (key, selected) {
        (PanelKey::Enter, Some(name)) => Some((format!("GO BACK TO {name}"), PanelQuestion::Plan(PanelAction::RollBack(name)))),
        (PanelKey::Char(' '), Some(name)) => {
            if !managed.marked.remove(&name) {
                managed.marked.insert(name);
            }
            None
        }
        (PanelKey::Char('d') | PanelKey::Delete, Some(name)) => {
            let marked: Vec<String> = managed.marked.iter().cloned().collect();
            let names = if marked.is_empty() { vec![name] } else { marked };
            Some(("DELETE CHECKPOINTS".to_owned(), PanelQuestion::Plan(PanelAction::DeleteCheckpoints(names))))
        }
        (PanelKey::Char('o'), _) => {
            let before = vec!["Protected ones stay: named, the session's beginning, what an undo needs.".to_owned()];
            let (title, label) = ("DELETE OLD CHECKPOINTS".to_owned(), "Older than how many days".to_owned());
            model.dialogs.push(dialog);
            model.dialogs.push(PanelDialog::Typed(DialogTextInput {
                title,
                before,
                label,
                text: String::new(),
                then: DialogTextPurpose::Older,
            }));
            return Vec::new();
        }
        (PanelKey::Char('p'), _) => Some(("PACK CHECKPOINTS".to_owned(), PanelQuestion::Plan(PanelAction::CompactCheckpoints))),
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
