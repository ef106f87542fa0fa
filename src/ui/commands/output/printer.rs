//! Prints logs in one of their forms: what is new in them, or the last lines first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regex_automata::meta::Regex;

use super::paint;
use crate::cli::screen::Screen;
use crate::cli::visible;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::agent::stream::lines::StreamLineBuffer;
use axiom_safety::config::Config;
use axiom_safety::running::output::logs;
use axiom_safety::running::output::logs::{LogLine, LogLineSource};
use axiom_safety::running::output::readable::{AgentLogReader, ReadablePiece};

/// How many bytes at the end of a log are searched first for its last lines.
const WINDOW: u64 = 64 * 1024;

/// In which form a log is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogPrintForm {
    /// What lines say.
    Readable,
    /// The original bytes.
    Raw,
    /// The original bytes, with control characters escaped.
    Escaped,
    /// A document for each line of the log.
    Json,
}

/// Prints logs.
#[derive(Debug)]
pub(super) struct LogPrinter {
    form: LogPrintForm,
    iteration: Option<u64>,
    grep: Option<Regex>,
    /// By the names that the files had before they were compressed.
    logs: BTreeMap<PathBuf, LogPrintState>,
    has_printed: bool,
}

/// How much of a log was printed.
#[derive(Debug, Default)]
struct LogPrintState {
    offset: u64,
    reader: AgentLogReader,
    /// The beginning of an incomplete character at the end.
    begun: Vec<u8>,
    /// The begun line of a program without rules, where lines are searched.
    lines: StreamLineBuffer,
    /// The heading of an iteration of which no line has matched yet.
    heading: Option<String>,
}

/// A piece of what is printed.
#[derive(Debug)]
enum LogPrintUnit {
    Bytes(Vec<u8>),
    Document(LogLine),
}

impl LogPrintUnit {
    fn ends_a_line(&self) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.ends_with(b"\n"),
            Self::Document(_) => true,
        }
    }
}

impl LogPrinter {
    pub fn new(form: LogPrintForm, iteration: Option<u64>, grep: Option<Regex>) -> Self {
        Self { form, iteration, grep, logs: BTreeMap::new(), has_printed: false }
    }

    pub fn has_printed(&self) -> bool {
        self.has_printed
    }

    /// Takes notice of where logs are now. Of what was put aside since the last look, the first is the file that was written to then: what
    /// was printed of it still counts. What is written to now is another file, and new as a whole.
    pub fn take_notice(&mut self, paths: &[PathBuf]) {
        let aside = paths.iter().filter_map(|path| logs::put_aside(path).map(|place| (place, files::unpacked_name(path))));
        let mut fresh: Vec<_> = aside.filter(|(_, path)| !self.logs.contains_key(path)).collect();
        fresh.sort();
        for ((written_to, _), path) in fresh {
            if let Some(log) = self.logs.remove(&written_to) {
                self.logs.insert(path, log);
            }
        }
    }

    /// Prints what is new in a log.
    pub fn print_new(&mut self, path: &Path, config: &Config, screen: &mut Screen) -> Result<()> {
        let name = files::unpacked_name(path);
        let mut log = self.logs.remove(&name).unwrap_or_default();
        loop {
            let part = logs::read_soon(path, log.offset)?;
            if part.next == log.offset || screen.reader_is_gone() {
                self.logs.insert(name, log);
                return Ok(());
            }
            log.offset = part.next;
            let units = self.units(&mut log, part.lines, config);
            self.print(units, screen)?;
        }
    }

    /// Prints lines that are known already: all, or the last ones.
    pub fn print_lines(&mut self, lines: Vec<LogLine>, last: Option<usize>, config: &Config, screen: &mut Screen) -> Result<()> {
        let mut log = LogPrintState::default();
        let mut units = self.units(&mut log, lines, config);
        if let Some(most) = last {
            keep_last(&mut units, most);
        }
        self.logs.insert(PathBuf::new(), log);
        self.print(units, screen)
    }

    /// Prints the last lines of logs, of which the newest is the last; what comes later is new.
    pub fn skip_to_last(&mut self, most: usize, paths: &[PathBuf], config: &Config, screen: &mut Screen) -> Result<()> {
        let mut all: Vec<LogPrintUnit> = Vec::new();
        for path in paths.iter().rev() {
            let wanted = most.saturating_sub(all.iter().filter(|unit| unit.ends_a_line()).count());
            let (log, mut units) = match wanted {
                // Of older logs nothing is printed, also not later.
                0 => (LogPrintState { offset: logs::line_start(path, 1)?, ..LogPrintState::default() }, Vec::new()),
                _ => self.last_of(path, wanted, config)?,
            };
            units.append(&mut all);
            all = units;
            self.logs.insert(files::unpacked_name(path), log);
        }
        keep_last(&mut all, most);
        self.print(all, screen)
    }

    /// The last lines of one log, and how much of it was read. Reads backwards, further each time, until there are enough.
    fn last_of(&self, path: &Path, most: usize, config: &Config) -> Result<(LogPrintState, Vec<LogPrintUnit>)> {
        let mut window = WINDOW;
        loop {
            let start = logs::line_start(path, window)?;
            let (mut log, mut units) = (LogPrintState { offset: start, ..LogPrintState::default() }, Vec::new());
            loop {
                let part = logs::read(path, log.offset)?;
                if part.next == log.offset {
                    break;
                }
                log.offset = part.next;
                units.extend(self.units(&mut log, part.lines, config));
                keep_last(&mut units, most);
            }
            // One more: the first one may be the heading of an iteration that began before.
            if start == 0 || units.iter().filter(|unit| unit.ends_a_line()).count() >= most {
                return Ok((log, units));
            }
            window = window.saturating_mul(8);
        }
    }

    /// What was held back until more comes. Nothing follows.
    pub fn end(&mut self, screen: &mut Screen) -> Result<()> {
        for mut log in std::mem::take(&mut self.logs).into_values() {
            let held = log.reader.end();
            let mut units = Vec::new();
            self.readable(&mut log, held, &mut units);
            let begun = visible::bytes(&std::mem::take(&mut log.begun));
            units.push(LogPrintUnit::Bytes(begun.into_bytes()));
            if let Some(grep) = &self.grep {
                log.lines.end(|line| units.extend(matching(grep, line)));
            }
            self.print(units, screen)?;
        }
        Ok(())
    }

    fn units(&self, log: &mut LogPrintState, lines: Vec<LogLine>, config: &Config) -> Vec<LogPrintUnit> {
        let mut units = Vec::new();
        for line in lines.into_iter().filter(|line| self.iteration.is_none_or(|wanted| line.iteration == wanted)) {
            match self.form {
                // The program has not printed them.
                LogPrintForm::Raw | LogPrintForm::Escaped if line.stream == LogLineSource::Report => {}
                LogPrintForm::Raw => units.push(LogPrintUnit::Bytes(line.bytes())),
                LogPrintForm::Escaped => units.extend(log.escaped(line.bytes())),
                LogPrintForm::Json if self.grep.as_ref().is_none_or(|grep| grep.is_match(&line.bytes())) => {
                    units.push(LogPrintUnit::Document(line))
                }
                LogPrintForm::Json => {}
                LogPrintForm::Readable => {
                    let printed = log.reader.take(&line, config);
                    self.readable(log, printed, &mut units);
                }
            }
        }
        units
    }

    fn readable(&self, log: &mut LogPrintState, printed: Vec<ReadablePiece>, units: &mut Vec<LogPrintUnit>) {
        for one in printed {
            match (one, &self.grep) {
                (ReadablePiece::Bytes(bytes), None) => units.extend(log.escaped(bytes)),
                (ReadablePiece::Bytes(bytes), Some(grep)) => log.lines.feed(&bytes, |line| units.extend(matching(grep, line))),
                (ReadablePiece::Begins { iteration, program, at }, grep) => {
                    let heading = paint::heading(iteration, &program, at);
                    match grep {
                        None => units.push(LogPrintUnit::Bytes(heading.into_bytes())),
                        Some(_) => log.heading = Some(heading),
                    }
                }
                (ReadablePiece::Line(line), grep) => {
                    if grep.as_ref().is_none_or(|grep| grep.is_match(&line.text)) {
                        units.extend(log.heading.take().map(|heading| LogPrintUnit::Bytes(heading.into_bytes())));
                        units.push(LogPrintUnit::Bytes(paint::line(&line).into_bytes()));
                    }
                }
            }
        }
    }

    fn print(&mut self, units: Vec<LogPrintUnit>, screen: &mut Screen) -> Result<()> {
        let (mut bytes, mut documents) = (Vec::new(), Vec::new());
        for unit in units {
            match unit {
                LogPrintUnit::Bytes(part) => bytes.extend(part),
                LogPrintUnit::Document(line) => documents.push(line),
            }
        }
        self.has_printed |= !bytes.is_empty() || !documents.is_empty();
        if !documents.is_empty() {
            screen.lines(documents)?;
        }
        if bytes.is_empty() { Ok(()) } else { screen.write(&bytes) }
    }
}

impl LogPrintState {
    /// Bytes with control characters escaped. A character that is not complete waits for its rest.
    fn escaped(&mut self, bytes: Vec<u8>) -> Option<LogPrintUnit> {
        self.begun.extend(bytes);
        let rest = self.begun.split_off(self.begun.len() - visible::unfinished(&self.begun));
        let whole = std::mem::replace(&mut self.begun, rest);
        (!whole.is_empty()).then(|| LogPrintUnit::Bytes(visible::bytes(&whole).into_bytes()))
    }
}

fn matching(grep: &Regex, line: &[u8]) -> Option<LogPrintUnit> {
    grep.is_match(line).then(|| LogPrintUnit::Bytes((visible::bytes(line) + "\n").into_bytes()))
}

/// Drops all but the last lines.
fn keep_last(units: &mut Vec<LogPrintUnit>, most: usize) {
    let before_last = units.len().saturating_sub(1);
    let ends = units.iter().take(before_last).enumerate().rev().filter(|(_, unit)| unit.ends_a_line());
    if let Some(at) = ends.map(|(at, _)| at).nth(most.saturating_sub(1)) {
        units.drain(..=at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_with_their_pieces() {
        let kept = |pieces: &[&str], most| {
            let mut units: Vec<LogPrintUnit> =
                pieces.iter().map(|piece| LogPrintUnit::Bytes(piece.as_bytes().to_vec())).collect();
            keep_last(&mut units, most);
            let texts = units.iter().map(|unit| match unit {
                LogPrintUnit::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                LogPrintUnit::Document(_) => String::new(),
            });
            texts.collect::<String>()
        };
        assert_eq!(kept(&["a\n", "b\n", "c\n"], 2), "b\nc\n");
        assert_eq!(kept(&["a\n", "b", "b\n", "c"], 2), "bb\nc");
        assert_eq!(kept(&["a\n", "b\n"], 2), "a\nb\n");
        assert_eq!(kept(&["a\n", "b\n"], 9), "a\nb\n");
        assert_eq!(kept(&[], 1), "");
    }
}
