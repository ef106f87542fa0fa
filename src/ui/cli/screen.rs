//! Standard output and standard error: the answer goes to standard output, everything else to standard error. All text for
//! people passes through [`visible`], and is laid out for the terminal: see `terminal_look`.

use std::io::{IsTerminal, Write};

use serde::Serialize;

use super::screen_look::ScreenLook;
use super::styled::StyledText;
use super::terminal_look::{ScreenTaste, TerminalLook};
use super::{document, prompt, visible};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::screen_colors::ColoredPart;
use axiom_model::verbs;

/// The output of a verb.
#[derive(Debug)]
pub struct Screen {
    terminal: TerminalLook,
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
        Self { terminal: TerminalLook::of(json), json, verb, silent: false, reader_is_gone: false, answered: false }
    }

    /// The same output as git's settings want it.
    #[must_use]
    pub fn to_the_taste_of(self, taste: Box<dyn ScreenTaste>) -> Self {
        Self { terminal: self.terminal.to_the_taste_of(taste), ..self }
    }

    /// From now on there are no colours and no pager: an agent reads this.
    pub fn show_plainly(&mut self) {
        self.terminal.be_plain();
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
    pub fn answer<T: Serialize, P: Into<StyledText>>(&mut self, content: &T, people: impl FnOnce() -> P) -> Result<()> {
        let json = if self.json { Some(document::of(self.verb(), content)?) } else { None };
        self.answered = true;
        env::fault_point("screen.answer");
        match json {
            Some(text) => self.write(text.as_bytes()),
            None => self.show(&people().into()),
        }
    }

    /// Prints the answer together with the error that it ends with: one document, or the text of `people`. The error itself
    /// still has to be reported.
    pub fn answer_with<T: Serialize, P: Into<StyledText>>(
        &mut self,
        content: &T,
        error: &Error,
        people: impl FnOnce() -> P,
    ) -> Result<()> {
        let verb = self.verb.clone();
        let error = document::ErrorJson::of(verb.as_deref(), error);
        self.answer(&document::AnswerWithErrorJson { content, error }, people)
    }

    /// Prints a text for people; in the pager where the verb shows lists and it does not fit on the terminal.
    fn show(&mut self, text: &StyledText) -> Result<()> {
        let shown = text.laid_out(self.terminal.of_answer());
        let is_long = || shown.lines().count() >= usize::from(console::Term::stdout().size().0);
        if self.verb().is_some_and(verbs::is_paged) && self.terminal.is_shown() && is_long() {
            // A pager that shows no colours is told so by `color.pager`.
            let look = self.terminal.of_answer();
            let for_pager = ScreenLook { colors: look.colors.filter(|colors| colors.colored_pager), ..look };
            return self.page(&text.laid_out(for_pager));
        }
        self.write(shown.as_bytes())
    }

    /// Prints a text that is laid out already; on a terminal in the user's pager, if there is one.
    pub fn page(&mut self, laid_out: &str) -> Result<()> {
        if self.terminal.shows_in_pager(laid_out) { Ok(()) } else { self.write(laid_out.as_bytes()) }
    }

    /// Where the answer goes, and how it looks there.
    pub fn terminal(&self) -> &TerminalLook {
        &self.terminal
    }

    /// Prints JSON documents, one per line.
    pub fn lines<T: Serialize>(&mut self, contents: impl IntoIterator<Item = T>) -> Result<()> {
        let texts = contents.into_iter().map(|content| document::of(self.verb(), &content));
        let text = texts.collect::<Result<String>>()?;
        self.answered = true;
        self.write(text.as_bytes())
    }

    /// Begins an answer that is one list, `empty` here, printed as it is made: of any length, and never in memory as a whole. With
    /// JSON, nothing may fail between here and the end of the list, or the document has none.
    pub fn begin_list<T: Serialize>(&mut self, empty: &T) -> Result<StreamedAnswer<'_>> {
        let (before, after) = if self.json { document::around(self.verb(), empty)? } else { (String::new(), "") };
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

    /// Clears the terminal; does nothing if standard output is not a terminal.
    pub fn clear(&mut self) -> Result<()> {
        if self.terminal.is_shown() { self.write(b"\x1b[H\x1b[2J") } else { Ok(()) }
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

    /// As [`Screen::note_text`], for lines that are never folded.
    pub fn note_verbatim(&mut self, text: &str) {
        if !self.json {
            self.say(&StyledText::verbatim(text));
        }
    }

    /// Prints a line on standard error, also with `--json`.
    pub fn complain(&mut self, line: &str) {
        self.complain_text(&visible::line(line));
    }

    /// Prints several lines on standard error, also with `--json`.
    pub fn complain_text(&mut self, text: &str) {
        self.say(&StyledText::from(text));
    }

    /// Prints an error and its hints on standard error, also with `--json`. A declined confirmation is not shown as an
    /// error: the user wanted it.
    pub fn complain_of(&mut self, error: &Error) {
        if error.code() == Code::Declined {
            return self.complain("Nothing was changed.");
        }
        self.complain_with_code(ColoredPart::Error, &format!("error[{}]", error.code()), error);
    }

    /// Prints a warning with its code and hints on standard error, also with `--json`.
    pub fn warn_of(&mut self, warning: &Error) {
        self.complain_with_code(ColoredPart::Warning, &format!("warning[{}]", warning.code()), warning);
    }

    fn complain_with_code(&mut self, part: ColoredPart, code: &str, error: &Error) {
        let mut text = StyledText::new();
        text.push(part, code);
        text.push_str(&format!(": {}", visible::set_in(&error.to_string(), "  ")));
        self.say(&text);
        for hint in error.hints() {
            self.complain(&format!("hint: {hint}"));
        }
    }

    fn say(&self, text: &StyledText) {
        let mut err = std::io::stderr().lock();
        let _ = writeln!(err, "{}", text.laid_out(self.terminal.of_notes()));
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
            self.buffer.push_str(&StyledText::from(people()).laid_out(self.screen.terminal().of_answer()));
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
