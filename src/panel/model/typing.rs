//! Lines that are typed.

use super::dialog::{Dialog, Outcome, Typed};
use super::in_dialog::start;
use super::{Model, commands};
use crate::panel::input::Key;
use crate::panel::request::Request;

/// The longest line that can be typed.
const MOST_TYPED: usize = 2_000;

/// Pasted text is never a command: it goes into a line that is typed, without its line ends.
pub(super) fn paste(model: &mut Model, text: &str) {
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

pub(super) fn type_key(typed: &mut Typed, key: Key) {
    if key == Key::Backspace {
        typed.text.pop();
    } else if key == Key::Ctrl('u') {
        typed.text.clear();
    } else if let Key::Char(letter) = key {
        type_letter(typed, letter);
    }
}

/// A line was typed.
pub(super) fn typed_in(model: &mut Model, outcome: Outcome) -> Vec<Request> {
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
