//! Questions to a human at a terminal: yes or no, one of a list, some of a list, a line of text.
//!
//! Terminal modes, keys and drawing are here. Whether the user can be asked is decided in
//! [`super::screen::Screen::can_ask`]. The rules for all questions: Escape leaves at once and changes nothing. Text typed
//! before the question, and pasted text, is no answer. Ctrl+C and Ctrl+Z work as usual, and restore the terminal first.
//! Nothing is drawn outside the screen. Begin reading with `confirm`.

mod confirm;
mod drawn;
mod line;
mod menu;
mod terminal;
pub mod watch;

use crate::cli::keys::KeyPress;
use axiom_base::error::{Code, Error, Result};

pub use confirm::confirm;
pub use line::line;
pub use menu::{one_of, some_of, some_to_take};

use drawn::DrawnLines;
use terminal::{PromptTerminal, PromptTerminalEvent};

/// The state of a question after some keys.
#[derive(Debug, PartialEq, Eq)]
enum QuestionState<T> {
    /// It is answered; `None` where the user chose to give no answer.
    Answered(Option<T>),
    /// It is not answered yet.
    Asked,
    /// The input was pasted, and is no answer.
    Pasted,
    /// Ctrl+C.
    Interrupted,
    /// Ctrl+Z.
    Suspended,
}

/// A question: what is drawn, and how keys change it.
trait PromptQuestion {
    type Answer;

    /// The lines to draw, for a screen of this size.
    fn lines(&self, rows: usize, columns: usize) -> Vec<String>;

    /// The line that stays on the screen after the answer.
    fn answered(&self, answer: Option<&Self::Answer>) -> String;

    /// Handles keys that arrived together.
    fn take(&mut self, keys: &[KeyPress]) -> QuestionState<Self::Answer>;

    /// Whether the cursor is shown.
    fn shows_cursor(&self) -> bool {
        true
    }
}

/// Asks until there is an answer.
fn ask<Q: PromptQuestion>(mut question: Q) -> Result<Option<Q::Answer>> {
    let gone = |e: std::io::Error| Error::new(Code::Declined, "there was no answer").because(e);
    let mut terminal = PromptTerminal::begin().map_err(gone)?;
    let mut drawn = DrawnLines::new(question.shows_cursor());
    let mut note = "";
    loop {
        let (rows, columns) = drawn::size();
        let mut lines = question.lines(rows - usize::from(!note.is_empty()), columns);
        if !note.is_empty() {
            lines.insert(0, note.to_owned());
        }
        drawn.draw(&lines);
        let next = match terminal.wait(None).map_err(gone)? {
            PromptTerminalEvent::Keys(keys) => question.take(&keys),
            PromptTerminalEvent::Redraw => {
                drawn.forget();
                QuestionState::Asked
            }
            PromptTerminalEvent::Nothing => QuestionState::Asked,
        };
        match next {
            QuestionState::Asked => note = "",
            QuestionState::Pasted => {
                terminal.forget_the_rest().map_err(gone)?;
                note = "(pasted text is not an answer: type it)";
            }
            QuestionState::Suspended => {
                terminal.suspend().map_err(gone)?;
                drawn.forget();
            }
            QuestionState::Interrupted => {
                drawn.draw(&[question.answered(None)]);
                drawn.end();
                drop(terminal);
                return Err(Error::new(Code::Interrupted, "interrupted at a question, so nothing more was changed"));
            }
            QuestionState::Answered(answer) => {
                drawn.draw(&[question.answered(answer.as_ref())]);
                drawn.end();
                return Ok(answer);
            }
        }
    }
}

/// The state of a question after chunks of input, for tests: the keys of a chunk arrive together.
#[cfg(test)]
fn after<Q: PromptQuestion>(mut question: Q, chunks: &[&str]) -> QuestionState<Q::Answer> {
    let mut keys = crate::cli::keys::KeyPressParser::default();
    let mut next = QuestionState::Asked;
    for chunk in chunks {
        let mut came = keys.take(chunk.as_bytes());
        came.extend(keys.give_up_waiting());
        next = question.take(&came);
    }
    next
}
