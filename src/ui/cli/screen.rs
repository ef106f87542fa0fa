//! Standard output and standard error: the answer goes to standard output, everything else to standard error. All text for
//! people passes through [`visible`].

use std::io::{IsTerminal, Write};

use serde::Serialize;

use super::{document, prompt, visible};
use axiom_base::error::{Code, Error, Result};

/// The output of a verb.
#[derive(Debug)]
pub struct Screen {
    json: bool,
    /// The verb with all its words; `None` where it could not be parsed.
    verb: Option<String>,
    /// Whether nobody is to be asked anything.
    silent: bool,
    reader_is_gone: bool,
    answered: bool,
}

impl Screen {
    /// The output of a verb; with `json`, text for people is left out.
    pub fn new(json: bool, verb: Option<String>) -> Self {
        Self { json, verb, silent: false, reader_is_gone: false, answered: false }
    }

    /// The same output where nobody is to be asked anything, if `silent`, as without a terminal.
    #[must_use]
    pub fn without_questions(self, silent: bool) -> Self {
        Self { silent, ..self }
    }

    /// From now on nobody is asked anything.
    pub fn ask_nothing(&mut self) {
        self.silent = true;
    }

    /// Output for people only, in addition to that of a verb.
    pub fn for_people() -> Self {
        Self::new(false, None)
    }

    /// The verb with all its words.
    pub fn verb(&self) -> Option<&str> {
        self.verb.as_deref()
    }

    /// Whether JSON was asked for.
    pub fn wants_json(&self) -> bool {
        self.json
    }

    /// Whether a human can be asked: both standard input and standard error are terminals, and neither JSON nor
    /// silence was asked for.
    pub fn can_ask(&self) -> bool {
        !self.json && !self.silent && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Prints the answer: `content` as JSON (an object; `schema` and `verb` are added) or the text of `people`.
    pub fn answer<T: Serialize>(&mut self, content: &T, people: impl FnOnce() -> String) -> Result<()> {
        self.answer_styled(content, || visible::text(&people()).into_owned())
    }

    /// As [`Screen::answer`], for a text that contains styles. The caller has already passed names and texts of others
    /// through [`visible`].
    pub fn answer_styled<T: Serialize>(&mut self, content: &T, people: impl FnOnce() -> String) -> Result<()> {
        let text = if self.json { document::of(self.verb(), content)? } else { people() };
        self.answered = true;
        axiom_base::env::fault_point("screen.answer");
        self.write(text.as_bytes())
    }

    /// Prints the answer together with the error that it ends with: one document, or the text of `people`. The error itself
    /// still has to be reported.
    pub fn answer_with<T: Serialize>(&mut self, content: &T, error: &Error, people: impl FnOnce() -> String) -> Result<()> {
        self.answer_styled_with(content, error, || visible::text(&people()).into_owned())
    }

    /// As [`Screen::answer_with`], for a text as in [`Screen::answer_styled`].
    pub fn answer_styled_with<T: Serialize>(
        &mut self,
        content: &T,
        error: &Error,
        people: impl FnOnce() -> String,
    ) -> Result<()> {
        let verb = self.verb.clone();
        self.answer_styled(
            &document::AnswerWithErrorJson { content, error: document::ErrorJson::of(verb.as_deref(), error) },
            people,
        )
    }

    /// Prints JSON documents, one per line.
    pub fn lines<T: Serialize>(&mut self, contents: impl IntoIterator<Item = T>) -> Result<()> {
        let texts = contents.into_iter().map(|content| document::of(self.verb(), &content));
        let text = texts.collect::<Result<String>>()?;
        self.answered = true;
        self.write(text.as_bytes())
    }

    /// Begins an answer that is one list, printed as it is made: of any length, and never in memory as a whole. With JSON, nothing
    /// may fail between here and the end of the list, or the document has none.
    pub fn begin_list(&mut self, name: &str) -> Result<StreamedAnswer<'_>> {
        let (before, after) = if self.json { document::around(self.verb(), name)? } else { (String::new(), "") };
        self.answered = self.json;
        Ok(StreamedAnswer { screen: self, buffer: before, after, is_first: true })
    }

    /// Whether an answer was printed: then an error adds no second document.
    pub fn has_answered(&self) -> bool {
        self.answered
    }

    /// Prints bytes on standard output unchanged.
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
                .hint("do not repeat the command; look at where standard output goes")),
        }
    }

    /// Asks the user for confirmation; `yes` is whether the command line has `--yes`.
    pub fn confirm(&mut self, question: &str, yes: bool) -> Result<()> {
        if yes {
            return Ok(());
        }
        if !self.can_ask() {
            return Err(Error::new(Code::NeedsConfirmation, "this needs a confirmation, and there is no terminal to ask at")
                .hint("try it with --dry-run, then run the command with --yes"));
        }
        if prompt::confirm(question)? { Ok(()) } else { Err(Error::new(Code::Declined, "the answer was no")) }
    }

    /// Whether the reader of standard output has closed it: then verbs that keep printing end.
    pub fn reader_is_gone(&self) -> bool {
        self.reader_is_gone
    }

    /// Whether the answer goes to a terminal, and not as JSON.
    pub fn shows_terminal(&self) -> bool {
        !self.json && std::io::stdout().is_terminal()
    }

    /// How many columns the terminal has to which the answer goes; `None` where it goes to none.
    pub fn columns(&self) -> Option<usize> {
        self.shows_terminal().then(|| usize::from(console::Term::stdout().size().1).max(20))
    }

    /// Clears the terminal; does nothing if standard output is not a terminal.
    pub fn clear(&mut self) -> Result<()> {
        if self.shows_terminal() { self.write(b"\x1b[H\x1b[2J") } else { Ok(()) }
    }

    /// Prints a line on standard error, in addition to the answer; left out with `--json`.
    pub fn note(&mut self, line: &str) {
        if !self.json {
            self.complain(line);
        }
    }

    /// As [`Screen::note`], for several lines.
    pub fn note_text(&mut self, text: &str) {
        if !self.json {
            self.complain_text(text);
        }
    }

    /// Prints a line on standard error, also with `--json`.
    pub fn complain(&mut self, line: &str) {
        Self::say(&visible::line(line));
    }

    /// Prints several lines on standard error, also with `--json`.
    pub fn complain_text(&mut self, text: &str) {
        Self::say(&visible::text(text));
    }

    /// Prints an error and its hints on standard error, also with `--json`. A declined confirmation is not shown as an
    /// error: the user wanted it.
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

    /// Prints a warning with its code and hints on standard error, also with `--json`.
    pub fn warn_of(&mut self, warning: &Error) {
        let yellow = console::Style::new().for_stderr().yellow().bold();
        let code = yellow.apply_to(format!("warning[{}]", warning.code()));
        Self::say(&format!("{code}: {}", visible::set_in(&warning.to_string(), "  ")));
        for hint in warning.hints() {
            self.complain(&format!("hint: {hint}"));
        }
    }

    fn say(prepared: &str) {
        let mut err = std::io::stderr().lock();
        let _ = writeln!(err, "{prepared}");
    }
}

/// An answer that is printed as it is made.
#[derive(Debug)]
pub struct StreamedAnswer<'a> {
    screen: &'a mut Screen,
    buffer: String,
    after: &'static str,
    is_first: bool,
}

impl StreamedAnswer<'_> {
    /// How many bytes are written at once.
    const AT_ONCE: usize = 64 * 1024;

    /// Prints one element: `content` as JSON, or the text of `people`.
    pub fn push<T: Serialize>(&mut self, content: impl FnOnce() -> Result<T>, people: impl FnOnce() -> String) -> Result<()> {
        if self.screen.json {
            self.buffer.push_str(if std::mem::take(&mut self.is_first) { "" } else { "," });
            self.buffer.push_str(&document::part(&content()?)?);
        } else {
            self.buffer.push_str(&visible::text(&people()));
        }
        if self.buffer.len() < Self::AT_ONCE { Ok(()) } else { self.flush() }
    }

    /// Whether the reader has closed standard output: then nothing more need be made.
    pub fn reader_is_gone(&self) -> bool {
        self.screen.reader_is_gone
    }

    /// Ends the list.
    pub fn end(mut self) -> Result<()> {
        self.buffer.push_str(self.after);
        self.screen.answered = true;
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        let written = self.screen.write(self.buffer.as_bytes());
        self.buffer.clear();
        written
    }
}

/// Aligns rows in columns, two spaces apart; the last column is not padded. A cell never breaks its line, whatever it
/// contains.
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
        // The line feed of the previous row must not be removed.
        text.truncate(text.trim_end_matches(|c: char| c.is_whitespace() && c != '\n').len());
        text.push('\n');
    }
    text
}

/// How many columns of a terminal a text takes.
pub(super) fn width(text: &str) -> usize {
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
