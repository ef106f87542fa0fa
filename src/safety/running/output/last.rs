//! The last lines that an agent printed, without reading its whole log.

use std::path::Path;

use jiff::Timestamp;

use super::logs;
use super::readable::{AgentLogReader, ReadablePiece};
use crate::config::Config;
use axiom_base::error::Result;
use axiom_process::keeper::output::{LogLine, LogLineSource};

/// How many bytes at the end of the log are looked at.
const WINDOW: u64 = 64 * 1024;
/// The most characters of a line.
const LONGEST: usize = 200;

/// What an agent printed last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastOutputLine {
    /// When it printed something.
    pub at: Timestamp,
    /// The last line with a letter or a digit (not a lone bracket of an error's many lines), at most 200 characters. `None` where the
    /// end of the log has none.
    pub line: Option<String>,
}

/// What was printed last into a log, its line only by the iteration of this number; `None` where the log is empty.
pub fn last_printed(path: &Path, config: &Config, iteration: u32) -> Result<Option<LastOutputLine>> {
    let part = end_of(path)?;
    let is_of = |line: &LogLine| line.iteration == u64::from(iteration);
    Ok(newest_in(&part).map(|at| LastOutputLine { at, line: lines_in(&part, config, 1, is_of).pop() }))
}

/// When something was printed last into a log; `None` where the log is empty.
pub fn printed_at(path: &Path) -> Result<Option<Timestamp>> {
    Ok(newest_in(&end_of(path)?))
}

fn newest_in(part: &logs::AgentLogPart) -> Option<Timestamp> {
    part.lines.iter().filter(|line| line.stream != LogLineSource::Report).map(|line| line.at).max()
}

fn end_of(path: &Path) -> Result<logs::AgentLogPart> {
    logs::read(path, logs::line_start(path, WINDOW)?)
}

/// The last `most` lines with a letter or a digit that were printed at `since` or later, oldest first.
pub fn last_lines(path: &Path, config: &Config, most: usize, since: Timestamp) -> Result<Vec<String>> {
    Ok(lines_in(&end_of(path)?, config, most, |line| line.at >= since))
}

fn lines_in(part: &logs::AgentLogPart, config: &Config, most: usize, counts: impl Fn(&LogLine) -> bool) -> Vec<String> {
    let mut reader = AgentLogReader::default();
    let new = part.lines.iter().filter(|line| line.stream != LogLineSource::Report && counts(line));
    let mut printed: Vec<ReadablePiece> = new.flat_map(|line| reader.take(line, config)).collect();
    printed.extend(reader.end());
    let mut lines: Vec<String> = printed.iter().rev().flat_map(lines_of).take(most).collect();
    lines.reverse();
    lines
}

/// The lines with a letter or a digit, newest first.
fn lines_of(printed: &ReadablePiece) -> Vec<String> {
    let text = match printed {
        ReadablePiece::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ReadablePiece::Begins { .. } => String::new(),
        ReadablePiece::Line(line) => line.text.clone(),
    };
    let lines = text.lines().rev().map(str::trim).filter(|line| line.contains(char::is_alphanumeric));
    lines.map(|line| line.chars().take(LONGEST).collect()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use axiom_process::keeper::output::LogLine;

    #[test]
    fn a_line_of_the_iteration_before_is_not_what_is_printed_now() {
        let dir = tempfile::tempdir().unwrap();
        let (log, at) = (dir.path().join("t.jsonl"), Timestamp::UNIX_EPOCH);
        let line = LogLine { iteration: 2, ..LogLine::of_bytes(b"said before\n", at, LogLineSource::Stdout) };
        std::fs::write(&log, format!("{}\n", serde_json::to_string(&line).unwrap())).unwrap();
        let printed = |iteration| last_printed(&log, &Config::default(), iteration).unwrap().unwrap();
        assert_eq!(printed(2), LastOutputLine { at, line: Some("said before".into()) });
        assert_eq!(printed(3), LastOutputLine { at, line: None });
    }
}
