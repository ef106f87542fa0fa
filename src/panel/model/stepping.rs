//! How far a key moves in a list or a text.

use crate::panel::input::Key;

/// No text of a dialog is longer, once its lines are broken.
const MOST_SCROLLED: usize = 100_000;

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
pub(super) fn scrolled(top: &mut usize, key: Key, page: usize) {
    *top = match step(key, page) {
        Step::Up(by) => top.saturating_sub(by),
        Step::Down(by) => top.saturating_add(by).min(MOST_SCROLLED),
        Step::None => *top,
    };
}

pub(super) fn moved(at: &mut usize, key: Key, many: usize, page: usize) {
    *at = match step(key, page) {
        Step::Up(by) => at.saturating_sub(by),
        Step::Down(by) => at.saturating_add(by).min(many.saturating_sub(1)),
        Step::None => *at,
    };
}
