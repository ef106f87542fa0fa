//! A question with the answers yes and no. The answer is no unless the user types `y` and Enter.

use dialoguer::theme::{SimpleTheme, Theme};

use super::{Key, Next, Question, ask};
use crate::cli::visible;
use crate::error::Result;

/// Asks; `false` where the answer is no, or there is none.
///
/// # Errors
/// `INTERRUPTED` at Ctrl+C; `DECLINED` where the terminal was closed.
pub fn confirm(question: &str) -> Result<bool> {
    let question = Confirm { text: visible::line(question).into_owned(), typed: None };
    Ok(ask(question)?.unwrap_or(false))
}

#[derive(Debug)]
struct Confirm {
    text: String,
    typed: Option<bool>,
}

impl Confirm {
    fn pressed(&mut self, key: &Key) -> Next<bool> {
        match key {
            Key::Char('y' | 'Y') => self.typed = Some(true),
            Key::Char('n' | 'N') => self.typed = Some(false),
            Key::Backspace | Key::ClearLine => self.typed = None,
            Key::Enter => return Next::Answered(Some(self.typed.unwrap_or(false))),
            Key::Escape | Key::EndOfInput => return Next::Answered(None),
            Key::Interrupt => return Next::Interrupted,
            Key::Suspend => return Next::Suspended,
            Key::Pasted(_) => {
                self.typed = None;
                return Next::Pasted;
            }
            Key::Char(_) | Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::Home | Key::End | Key::Other(_) => {}
        }
        Next::Asked
    }
}

/// Whether keys that arrived together may have been typed (on a slow connection) and not pasted: one answer, with or without
/// Enter.
fn could_be_typed(keys: &[Key]) -> bool {
    let answer = keys.strip_suffix(&[Key::Enter]).unwrap_or(keys);
    let word: Option<String> = answer.iter().map(|key| if let Key::Char(c) = key { Some(*c) } else { None }).collect();
    keys.len() == 1 || word.is_some_and(|word| ["", "y", "n", "yes", "no"].contains(&word.to_lowercase().as_str()))
}

impl Question for Confirm {
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

    fn take(&mut self, keys: &[Key]) -> Next<bool> {
        let leaves = keys.iter().find(|key| matches!(key, Key::Interrupt | Key::Suspend));
        if let Some(key) = leaves {
            return self.pressed(key);
        }
        if !could_be_typed(keys) {
            self.typed = None;
            return Next::Pasted;
        }
        let mut next = Next::Asked;
        for key in keys {
            next = self.pressed(key);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(chunks: &[&str]) -> Next<bool> {
        super::super::after(Confirm { text: "Go?".into(), typed: None }, chunks)
    }

    #[test]
    fn only_a_typed_yes_is_a_yes() {
        for chunks in [&["y", "\r"][..], &["Y", "\r"], &["n", "y", "\r"], &["y", "e", "s", "\r"], &["y\r"], &["yes\n"]] {
            assert_eq!(after(chunks), Next::Answered(Some(true)), "{chunks:?}");
        }
        for chunks in [&["\r"][..], &["n", "\r"], &["y", "n", "\r"], &["y", "\x7f", "\r"], &["x", "\r"], &["no\r"]] {
            assert_eq!(after(chunks), Next::Answered(Some(false)), "{chunks:?}");
        }
        assert_eq!(after(&["y"]), Next::Asked);
        for leaves in ["\x1b", "\x04"] {
            assert_eq!(after(&["y", leaves]), Next::Answered(None));
        }
        assert_eq!((after(&["y", "\x03"]), after(&["y", "\x1a"])), (Next::Interrupted, Next::Suspended));
    }

    #[test]
    fn what_is_pasted_is_no_answer() {
        for pasted in
            ["\x1b[200~y\r\x1b[201~", "y\ry\r", "y\rls\r", "git axiom undo\ny\n", "yy\r", "\r\r", "y\x1b[200~\x1b[201~\r"]
        {
            assert_eq!(after(&[pasted]), Next::Pasted, "{pasted:?}");
            assert_eq!(after(&["y", pasted, "\r"]), Next::Answered(Some(false)), "{pasted:?}");
        }
    }
}
