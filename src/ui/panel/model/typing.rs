//! Lines that are typed.

use super::PanelModel;
use super::dialog::{DialogTextInput, PanelDialog};
use crate::panel::input::PanelKey;

/// The longest line that can be typed.
const MOST_TYPED: usize = 2_000;

/// Pasted text is never a command: it goes into a line that is typed, without its line ends.
pub(super) fn paste(model: &mut PanelModel, text: &str) {
    match model.dialogs.last_mut() {
        Some(PanelDialog::Typed(typed)) => {
            for letter in text.chars() {
                type_letter(typed, if letter.is_control() { ' ' } else { letter });
            }
        }
        Some(_) | None => model.tell("pasted text is no command"),
    }
}

fn type_letter(typed: &mut DialogTextInput, letter: char) {
    if typed.text.len() + letter.len_utf8() <= MOST_TYPED {
        typed.text.push(letter);
    }
}

pub(super) fn type_key(typed: &mut DialogTextInput, key: PanelKey) {
    if key == PanelKey::Backspace {
        typed.text.pop();
    } else if key == PanelKey::Ctrl('u') {
        typed.text.clear();
    } else if let PanelKey::Char(letter) = key {
        type_letter(typed, letter);
    }
}
