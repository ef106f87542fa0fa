//! One line of an agent's log.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use axiom_model::base::forms::hex::{from_hex, to_hex};

/// The source of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LogLineSource {
    /// The program's standard output.
    Stdout,
    /// The program's standard error.
    Stderr,
    /// A remark of the keeper.
    Keeper,
    /// What the agent reported, in words. Its program printed nothing of it.
    Report,
}

/// A line that the agent printed: each is a document. The output is all of them joined, with a line feed after each that has
/// neither `cont` nor `noEol`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogLine {
    /// When it was read.
    pub at: Timestamp,
    /// The iteration, from 1.
    pub iteration: u64,
    /// `keeper`: a remark of its keeper; `report`: what the agent reported, in words.
    pub stream: LogLineSource,
    /// The name of the agent program, where there are rules for its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The line without its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// In place of `text` where it is not UTF-8: the bytes in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
    /// The next line of this stream continues this one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cont: bool,
    /// The stream ended here without a line feed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_eol: bool,
    /// A run of the program begins here. An iteration that did not count has the number of the next one, and a task that is claimed
    /// again begins with 1 again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first: bool,
}

impl LogLine {
    /// A line of which only its bytes are known, with its line feed where it has one.
    pub fn of_bytes(line: &[u8], at: Timestamp, stream: LogLineSource) -> Self {
        let (line, no_eol) = line.strip_suffix(b"\n").map_or((line, true), |line| (line, false));
        let (text, hex) = match std::str::from_utf8(line) {
            Ok(text) => (Some(text.to_owned()), None),
            Err(_) => (None, Some(to_hex(line))),
        };
        Self { at, iteration: 1, stream, program: None, text, hex, cont: false, no_eol, first: false }
    }

    /// The bytes of the output, with the line feed.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = match (&self.text, &self.hex) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(hex)) => from_hex(hex).unwrap_or_default(),
            (None, None) => Vec::new(),
        };
        if !self.cont && !self.no_eol {
            bytes.push(b'\n');
        }
        bytes
    }
}
