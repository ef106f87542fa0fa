//! A question whose answer is a line of text.

use dialoguer::theme::{SimpleTheme, Theme};

use super::{KeyPress, PromptQuestion, QuestionState, ask, drawn};
use crate::cli::visible;
use axiom_base::error::Result;

/// The longest answer, in characters.
const LONGEST: usize = 1000;

/// Asks; `None` where there is no answer.
pub fn line(question: &str) -> Result<Option<String>> {
    ask(LineQuestion { question: question.to_owned(), typed: String::new() })
}

#[derive(Debug)]
struct LineQuestion {
    question: String,
    typed: String,
}

impl LineQuestion {
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

impl PromptQuestion for LineQuestion {
    type Answer = String;

    fn lines(&self, _rows: usize, columns: usize) -> Vec<String> {
        vec![drawn::cut(&self.text(&self.typed), columns)]
    }

    fn answered(&self, answer: Option<&String>) -> String {
        self.text(answer.map_or("", String::as_str))
    }

    fn take(&mut self, keys: &[KeyPress]) -> QuestionState<String> {
        for (place, key) in keys.iter().enumerate() {
            match key {
                KeyPress::Char(c) => self.add(c.encode_utf8(&mut [0; 4])),
                KeyPress::Pasted(text) => self.add(text),
                KeyPress::Backspace => drop(self.typed.pop()),
                KeyPress::ClearLine => self.typed.clear(),
                // Lines that arrived together were pasted. Only an Enter that is the last key is an answer.
                KeyPress::Enter if place + 1 == keys.len() => return QuestionState::Answered(Some(self.typed.clone())),
                KeyPress::Enter => {
                    self.typed.clear();
                    return QuestionState::Pasted;
                }
                KeyPress::Escape | KeyPress::EndOfInput => return QuestionState::Answered(None),
                KeyPress::Interrupt => return QuestionState::Interrupted,
                KeyPress::Suspend => return QuestionState::Suspended,
                KeyPress::Up
                | KeyPress::Down
                | KeyPress::PageUp
                | KeyPress::PageDown
                | KeyPress::Home
                | KeyPress::End
                | KeyPress::Other(_) => {}
            }
        }
        QuestionState::Asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(chunks: &[&str]) -> QuestionState<String> {
        super::super::after(LineQuestion { question: "Name".into(), typed: String::new() }, chunks)
    }

    #[test]
    fn a_line_is_typed_corrected_and_left() {
        let line = |text: &str| QuestionState::Answered(Some(text.to_owned()));
        assert_eq!(after(&["m", "i", "x", "\x7f", "ne\r"]), line("mine"));
        assert_eq!(after(&["old\x15new", "\r"]), line("new"));
        assert_eq!(after(&["\x1b[200~pasted\rrm\r\x1b[201~", "!\r"]), line("pasted!"));
        assert_eq!(after(&["\x1b[200~a\r\x1b[201~"]), QuestionState::Asked);
        assert_eq!(after(&["one\rtwo\r"]), QuestionState::Pasted);
        assert_eq!((after(&["a", "\x1b"]), after(&["a", "\x03"])), (QuestionState::Answered(None), QuestionState::Interrupted));
    }
}
