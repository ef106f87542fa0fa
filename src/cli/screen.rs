//! Standard output and standard error: the answer goes to the one, everything else to the other. Nothing goes to people but by
//! [`visible`].

use std::io::{IsTerminal, Write};

use serde::Serialize;

use super::{document, prompt, visible};
use crate::error::{Code, Error, Result};

/// Where a verb prints.
#[derive(Debug)]
pub struct Screen {
    json: bool,
    /// The verb that was called, all its words; none where that cannot be told.
    verb: Option<String>,
    reader_is_gone: bool,
    answered: bool,
}

impl Screen {
    /// A screen for a verb; with `json`, people's words are left out.
    pub fn new(json: bool, verb: Option<String>) -> Self {
        Self { json, verb, reader_is_gone: false, answered: false }
    }

    /// A screen for people, beside that of a verb.
    pub fn for_people() -> Self {
        Self::new(false, None)
    }

    /// The verb that was called, all its words.
    pub fn verb(&self) -> Option<&str> {
        self.verb.as_deref()
    }

    /// Whether JSON was asked for.
    pub fn wants_json(&self) -> bool {
        self.json
    }

    /// Whether a human can be asked: both standard input and standard error are terminals, and JSON was not asked for.
    pub fn can_ask(&self) -> bool {
        !self.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Prints the answer: `content` as JSON (an object; `schema` and `verb` are added) or the text of `people`.
    ///
    /// # Errors
    /// `IO_FAILED` where standard output cannot be written to for another reason than a reader who has seen enough. What the
    /// verb was to do is done by then: a full disk behind standard output is not ours.
    pub fn answer<T: Serialize>(&mut self, content: &T, people: impl FnOnce() -> String) -> Result<()> {
        self.answer_styled(content, || visible::text(&people()).into_owned())
    }

    /// As [`Screen::answer`], for a text with styles of ours in it, in which everything of others was made visible before.
    ///
    /// # Errors
    /// As [`Screen::answer`].
    pub fn answer_styled<T: Serialize>(&mut self, content: &T, people: impl FnOnce() -> String) -> Result<()> {
        let text = if self.json { document::of(self.verb(), content)? } else { people() };
        self.answered = true;
        crate::env::fault_point("screen.answer");
        self.write(text.as_bytes())
    }

    /// Prints the answer together with the error that it ends with: one document, or the text of `people`. The error itself is
    /// still to be reported.
    ///
    /// # Errors
    /// As [`Screen::answer`].
    pub fn answer_with<T: Serialize>(&mut self, content: &T, error: &Error, people: impl FnOnce() -> String) -> Result<()> {
        self.answer_styled_with(content, error, || visible::text(&people()).into_owned())
    }

    /// As [`Screen::answer_with`], for a text as that of [`Screen::answer_styled`].
    ///
    /// # Errors
    /// As [`Screen::answer`].
    pub fn answer_styled_with<T: Serialize>(
        &mut self,
        content: &T,
        error: &Error,
        people: impl FnOnce() -> String,
    ) -> Result<()> {
        let verb = self.verb.clone();
        self.answer_styled(&document::Failed { content, error: document::Failure::of(verb.as_deref(), error) }, people)
    }

    /// Prints documents, a line each; what only people would see is printed otherwise.
    ///
    /// # Errors
    /// As [`Screen::answer`].
    pub fn lines<T: Serialize>(&mut self, contents: impl IntoIterator<Item = T>) -> Result<()> {
        let texts = contents.into_iter().map(|content| document::of(self.verb(), &content));
        let text = texts.collect::<Result<String>>()?;
        self.answered = true;
        self.write(text.as_bytes())
    }

    /// Whether an answer was printed: an error after it adds no second document.
    pub fn has_answered(&self) -> bool {
        self.answered
    }

    /// Prints bytes on standard output as they are.
    ///
    /// # Errors
    /// As [`Screen::answer`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let mut out = std::io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => {
                self.reader_is_gone = true;
                Ok(())
            }
            Err(e) => Err(Error::new(Code::IoFailed, "the command was done, but its answer could not be printed")
                .because(e)
                .hint("nothing has to be run again; look at where standard output goes")),
        }
    }

    /// Asks a human whether to go on; `yes` says that the command line has answered already.
    ///
    /// # Errors
    /// `NEEDS_CONFIRMATION` where nobody can be asked, `DECLINED` where the answer is no, `INTERRUPTED` at Ctrl+C.
    pub fn confirm(&mut self, question: &str, yes: bool) -> Result<()> {
        if yes {
            return Ok(());
        }
        if !self.can_ask() {
            return Err(Error::new(Code::NeedsConfirmation, "this needs a confirmation, and there is no terminal to ask at")
                .hint("look with --dry-run, then run the command with --yes"));
        }
        if prompt::confirm(question)? { Ok(()) } else { Err(Error::new(Code::Declined, "the answer was no")) }
    }

    /// Whether whoever read standard output has seen enough: verbs that go on printing end then.
    pub fn reader_is_gone(&self) -> bool {
        self.reader_is_gone
    }

    /// Whether people look at standard output on a terminal.
    pub fn shows_terminal(&self) -> bool {
        !self.json && std::io::stdout().is_terminal()
    }

    /// Wipes the terminal before something is shown anew; does nothing elsewhere.
    ///
    /// # Errors
    /// As [`Screen::answer`].
    pub fn clear(&mut self) -> Result<()> {
        if self.shows_terminal() { self.write(b"\x1b[H\x1b[2J") } else { Ok(()) }
    }

    /// Says a line beside the answer, on standard error; left out with `--json`.
    pub fn note(&mut self, line: &str) {
        if !self.json {
            self.complain(line);
        }
    }

    /// As [`Screen::note`], several lines.
    pub fn note_text(&mut self, text: &str) {
        if !self.json {
            self.complain_text(text);
        }
    }

    /// Says a line on standard error, always.
    pub fn complain(&mut self, line: &str) {
        Self::say(&visible::line(line));
    }

    /// Says several lines on standard error, always.
    pub fn complain_text(&mut self, text: &str) {
        Self::say(&visible::text(text));
    }

    /// Says an error and its hints on standard error, always. A no is no error: it is what was wanted.
    pub fn complain_of(&mut self, error: &Error) {
        if error.code() == Code::Declined {
            return self.complain("Nothing was changed.");
        }
        let red = console::Style::new().for_stderr().red().bold();
        let code = red.apply_to(format!("error[{}]", error.code()));
        Self::say(&format!("{code}: {}", visible::set_in(&error.to_string(), "  ")));
        for hint in error.hints() {
            self.complain(&format!("hint: {hint}"));
        }
    }

    fn say(prepared: &str) {
        let mut err = std::io::stderr().lock();
        let _ = writeln!(err, "{prepared}");
    }
}

/// Lines up rows in columns, two spaces apart; the last column is not padded. A cell stays on its line, whatever is in it.
pub fn table<C: AsRef<str>>(rows: &[Vec<C>]) -> String {
    let rows: Vec<Vec<_>> = rows.iter().map(|row| row.iter().map(|cell| visible::line(cell.as_ref())).collect()).collect();
    let mut widths: Vec<usize> = Vec::new();
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            let width = width(cell);
            match widths.get_mut(column) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    let mut text = String::with_capacity(rows.len() * widths.iter().map(|width| width + 2).sum::<usize>());
    for row in &rows {
        for (cell, widest) in row.iter().zip(&widths) {
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', widest.saturating_sub(width(cell)) + 2));
        }
        // A line feed is no white space of this row's: the row before is left as it is.
        text.truncate(text.trim_end_matches(|c: char| c.is_whitespace() && c != '\n').len());
        text.push('\n');
    }
    text
}

/// How many columns of a terminal a text takes.
fn width(text: &str) -> usize {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) { text.len() } else { console::measure_text_width(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_lined_up_by_what_a_terminal_shows() {
        let rows = [vec!["a", "bc", ""], vec!["\u{4e2d}\u{6587}", "\u{1b}red\n", "x"], vec!["", "", ""], vec!["long one"]];
        assert_eq!(table(&rows), "a         bc\n\u{4e2d}\u{6587}      \\ered\u{23ce}  x\n\nlong one\n");
        assert_eq!(table::<String>(&[]), "");
    }
}
