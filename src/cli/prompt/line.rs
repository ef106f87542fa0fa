//! A question whose answer is a line of text.

use dialoguer::theme::{SimpleTheme, Theme};

use super::{Key, Next, Question, ask, drawn};
use crate::cli::visible;
use crate::error::Result;

/// The longest answer, in characters.
const LONGEST: usize = 1000;

/// Asks; `None` where there is no answer.
///
/// # Errors
/// As [`super::confirm()`].
pub fn line(question: &str) -> Result<Option<String>> {
    ask(Line { question: question.to_owned(), typed: String::new() })
}

#[derive(Debug)]
struct Line {
    question: String,
    typed: String,
}

impl Line {
    /// Adds typed or pasted text: its first line.
    fn add(&mut self, text: &str) {
        let first = text.split(['\r', '\n']).next().unwrap_or_default();
        let room = LONGEST.saturating_sub(self.typed.chars().count());
        self.typed.extend(first.chars().filter(|c| !c.is_control()).take(room));
    }

    fn text(&self, typed: &str) -> String {
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = SimpleTheme.format_input_prompt(&mut line, &self.question, None);
        line + &visible::line(typed)
    }
}

impl Question for Line {
    type Answer = String;

    fn lines(&self, _rows: usize, columns: usize) -> Vec<String> {
        vec![drawn::cut(&self.text(&self.typed), columns)]
    }

    fn answered(&self, answer: Option<&String>) -> String {
        self.text(answer.map_or("", String::as_str))
    }

    fn take(&mut self, keys: &[Key]) -> Next<String> {
        for (place, key) in keys.iter().enumerate() {
            match key {
                Key::Char(c) => self.add(c.encode_utf8(&mut [0; 4])),
                Key::Pasted(text) => self.add(text),
                Key::Backspace => drop(self.typed.pop()),
                Key::ClearLine => self.typed.clear(),
                // Lines that arrived together were pasted. Only an Enter that is the last key is an answer.
                Key::Enter if place + 1 == keys.len() => return Next::Answered(Some(self.typed.clone())),
                Key::Enter => {
                    self.typed.clear();
                    return Next::Pasted;
                }
                Key::Escape | Key::EndOfInput => return Next::Answered(None),
                Key::Interrupt => return Next::Interrupted,
                Key::Suspend => return Next::Suspended,
                Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::Home | Key::End | Key::Other(_) => {}
            }
        }
        Next::Asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(chunks: &[&str]) -> Next<String> {
        super::super::after(Line { question: "Name".into(), typed: String::new() }, chunks)
    }

    #[test]
    fn a_line_is_typed_corrected_and_left() {
        let line = |text: &str| Next::Answered(Some(text.to_owned()));
        assert_eq!(after(&["m", "i", "x", "\x7f", "ne\r"]), line("mine"));
        assert_eq!(after(&["old\x15new", "\r"]), line("new"));
        assert_eq!(after(&["\x1b[200~pasted\rrm\r\x1b[201~", "!\r"]), line("pasted!"));
        assert_eq!(after(&["\x1b[200~a\r\x1b[201~"]), Next::Asked);
        assert_eq!(after(&["one\rtwo\r"]), Next::Pasted);
        assert_eq!((after(&["a", "\x1b"]), after(&["a", "\x03"])), (Next::Answered(None), Next::Interrupted));
    }
}
