//! A question whose answer is one item of a list, or several. The list scrolls, so that the selected item is always visible.

use std::collections::BTreeSet;

use dialoguer::theme::{SimpleTheme, Theme};

use super::{KeyPress, PromptQuestion, QuestionState, ask, drawn};
use crate::cli::visible;
use axiom_base::error::Result;

/// Asks for one item. Returns its index, or `None` where none is chosen. `heading` stays above the list.
pub fn one_of<S: AsRef<str>>(question: &str, heading: Option<&str>, items: &[S], first: usize) -> Result<Option<usize>> {
    let Some(chosen) = ask(MenuQuestion::new(question, heading, items, first, MenuSelection::One))? else { return Ok(None) };
    Ok(chosen.first().copied())
}

/// Asks for several items. Returns their indices, or `None` where there is no answer.
pub fn some_of<S: AsRef<str>>(question: &str, heading: Option<&str>, items: &[S]) -> Result<Option<Vec<usize>>> {
    ask(MenuQuestion::new(question, heading, items, 0, MenuSelection::Some(BTreeSet::new())))
}

/// As [`some_of`], for what can be taken back: an only item is marked already, so that Enter takes it.
pub fn some_to_take<S: AsRef<str>>(question: &str, heading: Option<&str>, items: &[S]) -> Result<Option<Vec<usize>>> {
    let marked = if items.len() == 1 { BTreeSet::from([0]) } else { BTreeSet::new() };
    ask(MenuQuestion::new(question, heading, items, 0, MenuSelection::Some(marked)))
}

/// The key of an item that begins with one in brackets, as `[P] partial`.
fn key_of(item: &str) -> Option<char> {
    let (key, _) = item.strip_prefix('[')?.split_once("] ")?;
    let mut letters = key.chars();
    letters.next().filter(|_| letters.next().is_none())
}

/// What Enter chooses.
#[derive(Debug, PartialEq, Eq)]
enum MenuSelection {
    /// The item at the cursor.
    One,
    /// The items marked with Space.
    Some(BTreeSet<usize>),
}

#[derive(Debug)]
struct MenuQuestion {
    question: String,
    heading: Option<String>,
    items: Vec<String>,
    picks: MenuSelection,
    /// The index of the item at the cursor.
    at: usize,
}

impl MenuQuestion {
    fn new<S: AsRef<str>>(question: &str, heading: Option<&str>, items: &[S], first: usize, picks: MenuSelection) -> Self {
        let items: Vec<String> = items.iter().map(|item| visible::line(item.as_ref()).into_owned()).collect();
        let (question, heading) = (question.to_owned(), heading.map(|text| visible::line(text).into_owned()));
        Self { question, heading, at: first.min(items.len().saturating_sub(1)), items, picks }
    }

    /// The items that fit on the screen, with the item at the cursor, in the middle if possible.
    fn window(&self, rows: usize) -> std::ops::Range<usize> {
        let room = rows.max(1).min(self.items.len());
        let start = self.at.saturating_sub(room / 2).min(self.items.len() - room);
        start..start + room
    }

    fn item(&self, place: usize) -> String {
        let (text, active) = (self.items[place].as_str(), place == self.at);
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = match &self.picks {
            MenuSelection::One => SimpleTheme.format_select_prompt_item(&mut line, text, active),
            MenuSelection::Some(marked) => {
                SimpleTheme.format_multi_select_prompt_item(&mut line, text, marked.contains(&place), active)
            }
        };
        line
    }

    /// The column at which the text of the items begins.
    fn margin(&self) -> usize {
        match self.picks {
            MenuSelection::One => "> ".len(),
            MenuSelection::Some(_) => "> [x] ".len(),
        }
    }

    /// The next item that has this key, after the one at the cursor.
    fn with_key(&self, pressed: char) -> Option<usize> {
        let is_it = |item: &String| key_of(item).is_some_and(|key| key.eq_ignore_ascii_case(&pressed));
        let mut places = (0..self.items.len()).map(|step| (self.at + 1 + step) % self.items.len());
        places.find(|place| self.items.get(*place).is_some_and(is_it))
    }

    fn pressed(&mut self, key: &KeyPress) -> QuestionState<Vec<usize>> {
        let last = self.items.len().saturating_sub(1);
        // What an item shows as its key goes to that item, before what keys do otherwise; Enter still has to choose it.
        if let KeyPress::Char(pressed) = key
            && *pressed != 'q'
            && let Some(place) = self.with_key(*pressed)
        {
            self.at = place;
            return QuestionState::Asked;
        }
        match key {
            KeyPress::Up | KeyPress::Char('k') => self.at = if self.at == 0 { last } else { self.at - 1 },
            KeyPress::Down | KeyPress::Char('j') => self.at = if self.at == last { 0 } else { self.at + 1 },
            KeyPress::PageUp => self.at = self.at.saturating_sub(10),
            KeyPress::PageDown => self.at = (self.at + 10).min(last),
            KeyPress::Home => self.at = 0,
            KeyPress::End => self.at = last,
            KeyPress::Char(' ') => match &mut self.picks {
                MenuSelection::One => return QuestionState::Answered(Some(vec![self.at])),
                MenuSelection::Some(marked) => {
                    if !marked.remove(&self.at) {
                        marked.insert(self.at);
                    }
                }
            },
            KeyPress::Enter => {
                return QuestionState::Answered(Some(match &self.picks {
                    MenuSelection::One => vec![self.at],
                    MenuSelection::Some(marked) => marked.iter().copied().collect(),
                }));
            }
            KeyPress::Escape | KeyPress::EndOfInput | KeyPress::Char('q') => return QuestionState::Answered(None),
            KeyPress::Interrupt => return QuestionState::Interrupted,
            KeyPress::Suspend => return QuestionState::Suspended,
            KeyPress::Pasted(_) => return QuestionState::Pasted,
            KeyPress::Char(_) | KeyPress::Backspace | KeyPress::ClearLine | KeyPress::Other(_) => {}
        }
        QuestionState::Asked
    }
}

impl PromptQuestion for MenuQuestion {
    type Answer = Vec<usize>;

    fn lines(&self, rows: usize, columns: usize) -> Vec<String> {
        let mark = if self.question.ends_with(['?', ')']) { "" } else { ":" };
        let question = format!("{}{mark}", self.question);
        let heading = self.heading.as_ref().map(|heading| format!("{}{heading}", " ".repeat(self.margin())));
        let mut lines: Vec<String> = std::iter::once(question).chain(heading).collect();
        // If not all items fit, a line below the list shows how many there are.
        let room = rows.saturating_sub(lines.len());
        let (room, says_more) = if self.items.len() > room { (room.saturating_sub(1), true) } else { (room, false) };
        let window = self.window(room);
        lines.extend(window.clone().map(|place| self.item(place)));
        if says_more {
            lines.push(format!("  {} to {} of {}", window.start + 1, window.end, self.items.len()));
        }
        lines.iter().map(|line| drawn::cut(line, columns)).collect()
    }

    fn answered(&self, answer: Option<&Vec<usize>>) -> String {
        let chosen = match (answer.map(Vec::as_slice), &self.picks) {
            (Some([one]), _) => self.items[*one].trim().to_owned(),
            (Some(many), MenuSelection::Some(_)) => format!("{} selected", many.len()),
            (Some(_), MenuSelection::One) | (None, _) => "-".to_owned(),
        };
        let mut line = String::new();
        let _ = SimpleTheme.format_select_prompt_selection(&mut line, &self.question, &chosen);
        drawn::cut(&line, drawn::size().1)
    }

    fn take(&mut self, keys: &[KeyPress]) -> QuestionState<Vec<usize>> {
        // Several arrow keys arrive together when a key is held; text that arrives together was pasted.
        let is_text = |key: &&KeyPress| matches!(key, KeyPress::Char(_) | KeyPress::Enter);
        if keys.len() > 1 && keys.iter().filter(is_text).count() > 1 {
            return QuestionState::Pasted;
        }
        for key in keys {
            let next = self.pressed(key);
            if next != QuestionState::Asked {
                return next;
            }
        }
        QuestionState::Asked
    }

    fn shows_cursor(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn menu(items: usize, picks: MenuSelection) -> MenuQuestion {
        let items: Vec<String> = (0..items).map(|place| format!("item {place} {}", "x".repeat(100))).collect();
        MenuQuestion::new("Which?", Some("heading"), &items, 0, picks)
    }

    #[test]
    fn what_is_selected_is_on_the_screen_whatever_its_size() {
        for count in [1, 2, 5, 21, 22, 23, 24, 57] {
            for (rows, columns) in [(24, 80), (4, 20), (50, 200)] {
                let mut menu = menu(count, MenuSelection::One);
                for step in 0..count {
                    let lines = menu.lines(rows, columns);
                    assert!(lines.len() <= rows, "{count} in {rows}: {lines:?}");
                    assert!(lines.iter().all(|line| console::measure_text_width(line) < columns), "{lines:?}");
                    let selected: Vec<&String> = lines.iter().filter(|line| line.starts_with("> ")).collect();
                    assert!(matches!(selected[..], [one] if one.contains(&format!("item {step} "))), "{step}: {lines:?}");
                    assert!(lines[1].ends_with("heading"), "{lines:?}");
                    assert_eq!(menu.take(&[KeyPress::Down]), QuestionState::Asked);
                }
                assert_eq!(menu.at, 0, "after the last comes the first");
            }
        }
    }

    #[test]
    fn keys_move_mark_and_pick() {
        let mut one = menu(30, MenuSelection::One);
        assert_eq!(one.take(&[KeyPress::Down, KeyPress::Down, KeyPress::PageDown, KeyPress::Up]), QuestionState::Asked);
        assert_eq!(one.take(&[KeyPress::Enter]), QuestionState::Answered(Some(vec![11])));
        assert_eq!(
            (one.take(&[KeyPress::End]), one.at, one.take(&[KeyPress::Home]), one.at),
            (QuestionState::Asked, 29, QuestionState::Asked, 0)
        );
        assert_eq!((one.take(&[KeyPress::Up]), one.at), (QuestionState::Asked, 29));
        let mut some = menu(5, MenuSelection::Some(BTreeSet::new()));
        for keys in
            [KeyPress::Char(' '), KeyPress::Down, KeyPress::Char(' '), KeyPress::Down, KeyPress::Char(' '), KeyPress::Char(' ')]
        {
            assert_eq!(some.take(&[keys]), QuestionState::Asked);
        }
        assert_eq!(some.take(&[KeyPress::Enter]), QuestionState::Answered(Some(vec![0, 1])));
        for (leaves, next) in [
            (KeyPress::Escape, QuestionState::Answered(None)),
            (KeyPress::Interrupt, QuestionState::Interrupted),
            (KeyPress::Suspend, QuestionState::Suspended),
        ] {
            assert_eq!(some.take(&[leaves]), next);
        }
    }

    #[test]
    fn the_key_that_an_item_shows_selects_it() {
        let items = ["[P] partial", "[B] backup", "[B] backup.1", "[K] keep", "[Q] quit", "[no] key", "[x]none"];
        let mut menu = MenuQuestion::new("Which?", None, &items, 0, MenuSelection::One);
        let pressed = |menu: &mut MenuQuestion, key| (menu.take(&[KeyPress::Char(key)]), menu.at);
        for (key, place) in [('b', 1), ('B', 2), ('b', 1), ('k', 3), ('P', 0), ('x', 0), ('n', 0), ('k', 3), ('k', 3)] {
            assert_eq!(pressed(&mut menu, key), (QuestionState::Asked, place), "{key}");
        }
        assert_eq!(menu.take(&[KeyPress::Char('q')]), QuestionState::Answered(None));
        assert_eq!(menu.take(&[KeyPress::Enter]), QuestionState::Answered(Some(vec![3])));
    }

    #[test]
    fn pasted_text_picks_nothing() {
        for keys in
            [&[KeyPress::Char('y'), KeyPress::Enter][..], &[KeyPress::Pasted("\r".into())], &[KeyPress::Enter, KeyPress::Enter]]
        {
            assert_eq!(menu(3, MenuSelection::One).take(keys), QuestionState::Pasted, "{keys:?}");
        }
    }
}
