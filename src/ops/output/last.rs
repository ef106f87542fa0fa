//! The last line that an agent printed, without reading its whole log.

use std::path::Path;

use super::logs;
use super::readable::{LogReader, Printed};
use crate::config::Config;
use crate::error::Result;
use crate::process::keeper::output::Stream;

/// How many bytes at the end of the log are looked at.
const WINDOW: u64 = 64 * 1024;
/// The most characters of the line.
const LONGEST: usize = 200;

/// The last line in a log with a letter or a digit (not a lone bracket of an error's many lines), at most 200 characters. `None` where
/// the end of the log has none.
///
/// # Errors
/// `IO_FAILED` with the path.
pub fn last_line(path: &Path, config: &Config) -> Result<Option<String>> {
    let part = logs::read(path, logs::line_start(path, WINDOW)?)?;
    let mut reader = LogReader::default();
    let lines = part.lines.iter().filter(|line| line.stream != Stream::Report);
    let mut printed: Vec<Printed> = lines.flat_map(|line| reader.take(line, config)).collect();
    printed.extend(reader.end());
    Ok(printed.iter().rev().find_map(text_of).map(|text| text.chars().take(LONGEST).collect()))
}

fn text_of(printed: &Printed) -> Option<String> {
    let text = match printed {
        Printed::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Printed::Begins { .. } => String::new(),
        Printed::Line(line) => line.text.clone(),
    };
    let last = text.lines().map(str::trim).rfind(|line| line.contains(char::is_alphanumeric));
    last.map(str::to_owned)
}
