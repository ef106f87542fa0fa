//! The lines of a keeper's log as a person reads them: what a program with rules printed as text, everything else as it is.

use jiff::Timestamp;

use crate::config::Config;
use crate::running::programs;
use axiom_model::agent::stream::lines::MAX_LINE;
use axiom_model::agent::stream::readable::{ReadableLine, ReadableLineKind, ReadableOutput};
use axiom_process::keeper::output::{LogLine, LogLineSource};

/// A piece of readable output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadablePiece {
    /// Output of a program without rules, with its line ends. A line may come in several pieces.
    Bytes(Vec<u8>),
    /// An iteration of a program with rules begins.
    Begins {
        /// The iteration, from 1.
        iteration: u64,
        /// The program's name.
        program: String,
        /// When its first line was read.
        at: Timestamp,
    },
    /// A line of such a program.
    Line(ReadableLine),
}

/// Reads one log, line by line.
#[derive(Debug, Default)]
pub struct AgentLogReader {
    run: Option<ReadableRun>,
}

#[derive(Debug)]
struct ReadableRun {
    iteration: u64,
    program: String,
    /// `None` where the program is not configured any more: its lines are then text.
    readable: Option<ReadableOutput>,
    /// The begun lines of standard output and of standard error.
    begun: [BegunOutputLine; 2],
}

#[derive(Debug, Default)]
struct BegunOutputLine {
    bytes: Vec<u8>,
    /// The line is too long to be held.
    left_out: bool,
}

impl AgentLogReader {
    /// What the next line of the log has to read.
    pub fn take(&mut self, line: &LogLine, config: &Config) -> Vec<ReadablePiece> {
        let Some(program) = &line.program else {
            let mut printed = self.end();
            printed.push(match line.stream {
                LogLineSource::Stdout | LogLineSource::Stderr | LogLineSource::Keeper => ReadablePiece::Bytes(line.bytes()),
                LogLineSource::Report => ReadablePiece::Line(reported(line)),
            });
            return printed;
        };
        let mut printed = Vec::new();
        let goes_on = |run: &ReadableRun| !line.first && run.iteration == line.iteration && run.program == *program;
        if !self.run.as_ref().is_some_and(goes_on) {
            printed = self.end();
            self.run = Some(ReadableRun::begin(line.iteration, program, config));
            printed.push(ReadablePiece::Begins { iteration: line.iteration, program: program.clone(), at: line.at });
        }
        let lines = self.run.as_mut().map(|run| run.take(line)).unwrap_or_default();
        printed.extend(lines.into_iter().map(ReadablePiece::Line));
        printed
    }

    /// Nobody waits for more, or what follows is another program's: what was still held.
    pub fn end(&mut self) -> Vec<ReadablePiece> {
        let lines = self.run.take().map(ReadableRun::end).unwrap_or_default();
        lines.into_iter().map(ReadablePiece::Line).collect()
    }
}

impl ReadableRun {
    fn begin(iteration: u64, program: &str, config: &Config) -> Self {
        let adapter = programs::program(config, program).ok();
        let readable = adapter.map(|adapter| ReadableOutput::new(&adapter.stream, &adapter.tools));
        Self { iteration, program: program.to_owned(), readable, begun: [BegunOutputLine::default(), BegunOutputLine::default()] }
    }

    fn take(&mut self, line: &LogLine) -> Vec<ReadableLine> {
        let bytes = line.bytes();
        let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let begun = match line.stream {
            LogLineSource::Report => return vec![reported(line)],
            LogLineSource::Keeper => return vec![ReadableLine::new(ReadableLineKind::Remark, String::from_utf8_lossy(text))],
            LogLineSource::Stdout => &mut self.begun[0],
            LogLineSource::Stderr => &mut self.begun[1],
        };
        begun.hold(text);
        if line.cont {
            return Vec::new();
        }
        let Some(whole) = begun.whole() else {
            let what = format!("a line of more than {} MiB is left out; 'git axiom output --raw' has it", MAX_LINE >> 20);
            return vec![ReadableLine::new(ReadableLineKind::Remark, what)];
        };
        match line.stream {
            LogLineSource::Stdout => self.said(&whole),
            LogLineSource::Stderr | LogLineSource::Keeper | LogLineSource::Report => self.warned(&whole),
        }
    }

    fn said(&mut self, line: &[u8]) -> Vec<ReadableLine> {
        match &mut self.readable {
            Some(readable) => readable.line(line),
            None => as_text(line),
        }
    }

    fn warned(&mut self, line: &[u8]) -> Vec<ReadableLine> {
        match &mut self.readable {
            Some(readable) => readable.error_line(line),
            None => as_text(line),
        }
    }

    fn end(mut self) -> Vec<ReadableLine> {
        let [stdout, stderr] = std::mem::take(&mut self.begun);
        // The keeper died within these lines.
        let mut lines = if stdout.bytes.is_empty() { Vec::new() } else { self.said(&stdout.bytes) };
        lines.extend(self.warned(&stderr.bytes));
        lines.extend(self.readable.as_mut().map(ReadableOutput::end).unwrap_or_default());
        lines
    }
}

impl BegunOutputLine {
    fn hold(&mut self, part: &[u8]) {
        self.left_out |= self.bytes.len().saturating_add(part.len()) > MAX_LINE;
        if self.left_out {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(part);
        }
    }

    /// The line that ends here; `None` where it was too long.
    fn whole(&mut self) -> Option<Vec<u8>> {
        let Self { bytes, left_out } = std::mem::take(self);
        (!left_out).then_some(bytes)
    }
}

fn reported(line: &LogLine) -> ReadableLine {
    ReadableLine::new(ReadableLineKind::Remark, format!("reports {}", line.text.as_deref().unwrap_or_default()))
}

fn as_text(line: &[u8]) -> Vec<ReadableLine> {
    String::from_utf8_lossy(line).lines().map(|line| ReadableLine::new(ReadableLineKind::Other, line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(program: Option<&str>, iteration: u64, stream: LogLineSource, text: &str) -> LogLine {
        let at = Timestamp::UNIX_EPOCH;
        let (program, text) = (program.map(str::to_owned), Some(text.to_owned()));
        LogLine { at, iteration, stream, program, text, hex: None, cont: false, no_eol: false, first: false }
    }

    fn read(lines: &[LogLine]) -> Vec<String> {
        let (mut reader, config) = (AgentLogReader::default(), Config::default());
        let mut printed: Vec<ReadablePiece> = lines.iter().flat_map(|line| reader.take(line, &config)).collect();
        printed.extend(reader.end());
        let shown = |one: ReadablePiece| match one {
            ReadablePiece::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            ReadablePiece::Begins { iteration, program, .. } => format!("{iteration} {program}"),
            ReadablePiece::Line(line) => format!("{:?}: {}", line.part, line.text),
        };
        printed.into_iter().map(shown).collect()
    }

    #[test]
    fn each_iteration_is_read_by_its_own_program() {
        let says = r#"{"type":"message","role":"assistant","content":"hel","delta":true}"#;
        let lines = [
            line(None, 1, LogLineSource::Stdout, says),
            line(Some("gemini"), 2, LogLineSource::Stdout, says),
            line(Some("gemini"), 2, LogLineSource::Stderr, "a warning"),
            line(Some("gemini"), 2, LogLineSource::Stdout, &says.replace("hel", "lo")),
            line(Some("gemini"), 3, LogLineSource::Stdout, "no JSON"),
            LogLine { first: true, ..line(Some("gemini"), 3, LogLineSource::Stdout, "again") },
            line(Some("gone"), 4, LogLineSource::Stdout, says),
            line(Some("gone"), 4, LogLineSource::Keeper, "remark"),
            line(Some("gone"), 4, LogLineSource::Report, "progress 40%"),
            line(None, 5, LogLineSource::Report, "complete"),
        ];
        let expected = [
            &format!("{says}\n"),
            "2 gemini",
            "Other: a warning",
            "Said: hello",
            "3 gemini",
            "Other: no JSON",
            "3 gemini",
            "Other: again",
            "4 gone",
            &format!("Other: {says}"),
            "Remark: remark",
            "Remark: reports progress 40%",
            "Remark: reports complete",
        ];
        assert_eq!(read(&lines), expected);
    }

    #[test]
    fn a_line_in_pieces_is_one_line_and_one_that_is_too_long_is_named() {
        let piece = |text: &str, cont| LogLine { cont, ..line(Some("claude"), 1, LogLineSource::Stdout, text) };
        let says = [
            piece(r#"{"type":"assistant","message":{"content":[{"type":"te"#, true),
            line(Some("claude"), 1, LogLineSource::Stderr, "between"),
            piece(r#"xt","text":"a\nb"}]}}"#, false),
        ];
        assert_eq!(read(&says), ["1 claude", "Other: between", "Said: a", "Said: b"]);
        let long = "x".repeat(MAX_LINE / 2 + 1);
        let all = read(&[piece(&long, true), piece(&long, false), piece("next", false), piece("torn", true)]);
        assert!(all[1].starts_with("Remark: a line of more than 8 MiB is left out"), "{}", &all[1][..60]);
        assert_eq!(all[2..], ["Other: next", "Other: torn"]);
    }
}
