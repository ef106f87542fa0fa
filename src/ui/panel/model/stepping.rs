//! How far a key moves in a list or a text.

use crate::panel::input::PanelKey;

/// No text of a dialog is longer, once its lines are broken.
const MOST_SCROLLED: usize = 100_000;

/// How far a key moves in a list or a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScrollStep {
    Up(usize),
    Down(usize),
    None,
}

fn step(key: PanelKey, page: usize) -> ScrollStep {
    const ALL: usize = usize::MAX;
    let steps = [
        (PanelKey::Up, ScrollStep::Up(1)),
        (PanelKey::Char('k'), ScrollStep::Up(1)),
        (PanelKey::PageUp, ScrollStep::Up(page)),
        (PanelKey::Home, ScrollStep::Up(ALL)),
        (PanelKey::Char('g'), ScrollStep::Up(ALL)),
        (PanelKey::Down, ScrollStep::Down(1)),
        (PanelKey::Char('j'), ScrollStep::Down(1)),
        (PanelKey::Tab, ScrollStep::Down(1)),
        (PanelKey::PageDown, ScrollStep::Down(page)),
        (PanelKey::End, ScrollStep::Down(ALL)),
        (PanelKey::Char('G'), ScrollStep::Down(ALL)),
    ];
    steps.into_iter().find(|(known, _)| *known == key).map_or(ScrollStep::None, |(_, step)| step)
}

/// The first line that is shown; the view knows how many there are.
pub(super) fn scrolled(top: &mut usize, key: PanelKey, page: usize) {
    *top = match step(key, page) {
        ScrollStep::Up(by) => top.saturating_sub(by),
        ScrollStep::Down(by) => top.saturating_add(by).min(MOST_SCROLLED),
        ScrollStep::None => *top,
    };
}

pub(super) fn moved(at: &mut usize, key: PanelKey, many: usize, page: usize) {
    *at = match step(key, page) {
        ScrollStep::Up(by) => at.saturating_sub(by),
        ScrollStep::Down(by) => at.saturating_add(by).min(many.saturating_sub(1)),
        ScrollStep::None => *at,
    };
}
