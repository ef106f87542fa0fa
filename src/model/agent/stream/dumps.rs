//! Lines that a program prints beside what it says: warnings, and errors with all that belongs to them. Of an error a person needs its
//! text; the calls that led to it and the object that describes it are left out. The raw output has them.

use super::plain::plain;

/// The most lines that are held until an object ends. A longer one is shown as it is.
const MOST_HELD: usize = 200;
/// The most bytes of them.
const MOST_BYTES: usize = 64 * 1024;

/// Reads such lines, one after the other.
#[derive(Debug, Default)]
pub struct ErrorDumpReader {
    open: Option<OpenErrorDump>,
    /// Whether the last line was shown, so that calls may follow that led to it.
    shown: bool,
}

/// An object that has begun.
#[derive(Debug)]
struct OpenErrorDump {
    lines: Vec<String>,
    bytes: usize,
    depth: usize,
    of: ErrorDumpPart,
}

/// What an object is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ErrorDumpPart {
    /// Of the error's text.
    Text,
    /// Of the calls after it.
    Calls,
}

impl ErrorDumpReader {
    /// What there is to read after this line.
    pub fn line(&mut self, line: &str) -> Vec<String> {
        if let Some(open) = &mut self.open {
            open.bytes = open.bytes.saturating_add(line.len());
            open.depth = depth(line, open.depth);
            open.lines.push(line.to_owned());
            let is_too_long = open.lines.len() >= MOST_HELD || open.bytes >= MOST_BYTES;
            return if open.depth == 0 {
                self.end()
            } else if is_too_long {
                self.open.take().map(|open| open.lines).unwrap_or_default()
            } else {
                Vec::new()
            };
        }
        let is_call = self.shown && is_call(line);
        if line.trim_end().ends_with(['{', '[']) {
            let of = if is_call { ErrorDumpPart::Calls } else { ErrorDumpPart::Text };
            self.open = Some(OpenErrorDump { lines: vec![line.to_owned()], bytes: line.len(), depth: depth(line, 0).max(1), of });
            return Vec::new();
        }
        if is_call {
            return Vec::new();
        }
        self.shown = true;
        vec![plain(line)]
    }

    /// A line was shown otherwise: calls that led to it may follow.
    pub fn said(&mut self) {
        self.shown = true;
    }

    /// Nothing more belongs to what is held.
    pub fn end(&mut self) -> Vec<String> {
        let Some(open) = self.open.take() else { return Vec::new() };
        match (open.of, open.depth) {
            (ErrorDumpPart::Calls, _) => Vec::new(),
            (ErrorDumpPart::Text, 0) => {
                self.shown = true;
                vec![plain(&open.lines.join(" "))]
            }
            // It was cut off.
            (ErrorDumpPart::Text, _) => open.lines,
        }
    }
}

/// A call that led to an error, as programs in JavaScript name it.
fn is_call(line: &str) -> bool {
    line.starts_with([' ', '\t']) && line.trim_start().starts_with("at ")
}

/// How many objects and lists are open after a line.
fn depth(line: &str, before: usize) -> usize {
    line.bytes().fold(before, |depth, byte| match byte {
        b'{' | b'[' => depth.saturating_add(1),
        b'}' | b']' => depth.saturating_sub(1),
        _ => depth,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let mut dumps = ErrorDumpReader::default();
        let mut all: Vec<String> = text.lines().flat_map(|line| dumps.line(line)).collect();
        all.extend(dumps.end());
        all
    }

    #[test]
    fn an_error_is_one_line_with_its_text() {
        let recorded = include_str!("../../../../fixtures/streams/gemini-limited.stderr");
        assert_eq!(
            read(recorded),
            [
                "YOLO mode is enabled. All tool calls will be automatically approved.",
                "Attempt 1 failed with status 429. Retrying with backoff... _ApiError: scripted error",
            ]
        );
        let long = "Attempt 1 failed. GaxiosError: [{\n  \"error\": {\n    \"code\": 429,\n    \"message\": \"No more today.\"\n  }\n}\n]\n    at call (x.js:1:2)\nnext";
        assert_eq!(read(long), ["Attempt 1 failed. GaxiosError: No more today. (429)", "next"]);
    }

    #[test]
    fn what_is_no_error_stays_as_it_is() {
        for text in ["    at the beginning", "a warning\n  more of it", "in {braces}\n[1]", "", "x {\n  y: 1\n", "{\n{\nat x"] {
            assert_eq!(read(text), text.lines().collect::<Vec<_>>(), "{text:?}");
        }
        let endless = format!("x {{\n{}", "y\n".repeat(3 * MOST_HELD));
        assert_eq!(read(&endless).len(), 3 * MOST_HELD + 1);
    }
}
