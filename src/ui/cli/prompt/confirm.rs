//! A question with the answers yes and no. The answer is no unless the user types `y` and Enter.

use dialoguer::theme::{SimpleTheme, Theme};

use super::{KeyPress, PromptQuestion, QuestionState, ask};
use crate::cli::visible;
use axiom_base::error::Result;

/// Asks; `false` where the answer is no, or there is none.
pub fn confirm(question: &str) -> Result<bool> {
    let question = ConfirmQuestion { text: visible::line(question).into_owned(), typed: None };
    Ok(ask(question)?.unwrap_or(false))
}

#[derive(Debug)]
struct ConfirmQuestion {
    text: String,
    typed: Option<bool>,
}

impl ConfirmQuestion {
    fn pressed(&mut self, key: &KeyPress) -> QuestionState<bool> {
        match key {
            KeyPress::Char('y' | 'Y') => self.typed = Some(true),
            KeyPress::Char('n' | 'N') => self.typed = Some(false),
            KeyPress::Backspace | KeyPress::ClearLine => self.typed = None,
            KeyPress::Enter => return QuestionState::Answered(Some(self.typed.unwrap_or(false))),
            KeyPress::Escape | KeyPress::EndOfInput => return QuestionState::Answered(None),
            KeyPress::Interrupt => return QuestionState::Interrupted,
            KeyPress::Suspend => return QuestionState::Suspended,
            KeyPress::Pasted(_) => {
                self.typed = None;
                return QuestionState::Pasted;
            }
            KeyPress::Char(_)
            | KeyPress::Up
            | KeyPress::Down
            | KeyPress::PageUp
            | KeyPress::PageDown
            | KeyPress::Home
            | KeyPress::End
            | KeyPress::Other(_) => {}
        }
        QuestionState::Asked
    }
}

/// Whether keys that arrived together may have been typed (on a slow connection) and not pasted: one answer, with or without
/// Enter.
fn could_be_typed(keys: &[KeyPress]) -> bool {
    let answer = keys.strip_suffix(&[KeyPress::Enter]).unwrap_or(keys);
    let word: Option<String> = answer.iter().map(|key| if let KeyPress::Char(c) = key { Some(*c) } else { None }).collect();
    keys.len() == 1 || word.is_some_and(|word| ["", "y", "n", "yes", "no"].contains(&word.to_lowercase().as_str()))
}

impl PromptQuestion for ConfirmQuestion {
    type Answer = bool;

    fn lines(&self, _rows: usize, _columns: usize) -> Vec<String> {
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = SimpleTheme.format_confirm_prompt(&mut line, &self.text, Some(false));
        line.push_str(self.typed.map_or("", |yes| if yes { "y" } else { "n" }));
        vec![line]
    }

    fn answered(&self, answer: Option<&bool>) -> String {
        let mut line = String::new();
        let _ = SimpleTheme.format_confirm_prompt_selection(&mut line, &self.text, Some(answer.copied().unwrap_or(false)));
        line
    }

    fn take(&mut self, keys: &[KeyPress]) -> QuestionState<bool> {
        let leaves = keys.iter().find(|key| matches!(key, KeyPress::Interrupt | KeyPress::Suspend));
        if let Some(key) = leaves {
            return self.pressed(key);
        }
        if !could_be_typed(keys) {
            self.typed = None;
            return QuestionState::Pasted;
        }
        let mut next = QuestionState::Asked;
        for key in keys {
            next = self.pressed(key);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(chunks: &[&str]) -> QuestionState<bool> {
        super::super::after(ConfirmQuestion { text: "Go?".into(), typed: None }, chunks)
    }

    #[test]
    fn only_a_typed_yes_is_a_yes() {
        for chunks in [&["y", "\r"][..], &["Y", "\r"], &["n", "y", "\r"], &["y", "e", "s", "\r"], &["y\r"], &["yes\n"]] {
            assert_eq!(after(chunks), QuestionState::Answered(Some(true)), "{chunks:?}");
        }
        for chunks in [&["\r"][..], &["n", "\r"], &["y", "n", "\r"], &["y", "\x7f", "\r"], &["x", "\r"], &["no\r"]] {
            assert_eq!(after(chunks), QuestionState::Answered(Some(false)), "{chunks:?}");
        }
        assert_eq!(after(&["y"]), QuestionState::Asked);
        for leaves in ["\x1b", "\x04"] {
            assert_eq!(after(&["y", leaves]), QuestionState::Answered(None));
        }
        assert_eq!((after(&["y", "\x03"]), after(&["y", "\x1a"])), (QuestionState::Interrupted, QuestionState::Suspended));
    }

    #[test]
    fn what_is_pasted_is_no_answer() {
        for pasted in
            ["\x1b[200~y\r\x1b[201~", "y\ry\r", "y\rls\r", "git axiom undo\ny\n", "yy\r", "\r\r", "y\x1b[200~\x1b[201~\r"]
        {
            assert_eq!(after(&[pasted]), QuestionState::Pasted, "{pasted:?}");
            assert_eq!(after(&["y", pasted, "\r"]), QuestionState::Answered(Some(false)), "{pasted:?}");
        }
    }
}
