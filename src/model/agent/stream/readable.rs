//! The output of a program as a person reads it: its lines of JSON in, lines of text out. What nobody needs to read (ids, counts,
//! lines of kinds without a rule) is left out; what is no JSON is text.

use std::collections::{BTreeMap, VecDeque};

use super::decode::StreamDecoder;
use super::dumps::ErrorDumpReader;
use super::json::nothing;
use super::rules::{AgentOutputStream, StreamRules};
use super::stream_event::{AgentRunFailure, AgentRunResult, ModelWait, StreamEvent, ToolCallDenial, ToolCallEnd, ToolCallStart};
use super::summary::StreamSummary;
use super::tool_call::{about, differing, replaced};
use crate::agent::tool_kind::ToolKind;
use crate::base::forms::beginning::beginning;
use crate::base::forms::plural;

/// The most lines of a command's output that are shown.
const MOST_RESULT: usize = 10;
/// The most lines of what was only read.
const MOST_READ: usize = 3;
/// The most lines of a change that are shown, of the old text and of the new one.
const MOST_CHANGED: usize = 20;
/// The longest line of a tool call or its result, in characters. What the agent says is never cut.
const LONGEST: usize = 300;
/// The most calls whose end is matched with their beginning.
const MOST_OPEN: usize = 100;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadableLineKind {
    /// The agent speaks.
    Said,
    /// A tool call begins.
    Call,
    /// What a tool call returned.
    Result,
    /// A line that a call removes.
    Removed,
    /// A line that it adds.
    Added,
    /// Something went wrong, or was refused.
    Trouble,
    /// A wait, an end: what happens to the run.
    Remark,
    /// A line that is none of the program's own.
    Other,
}

/// A line to read. It holds no line feed; other control characters may be in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadableLine {
    /// What it is.
    pub part: ReadableLineKind,
    /// Its text.
    pub text: String,
}

impl ReadableLine {
    /// A line.
    pub fn new(part: ReadableLineKind, text: impl Into<String>) -> Self {
        Self { part, text: text.into() }
    }
}

/// Makes the output of one run readable.
#[derive(Debug)]
pub struct ReadableOutput {
    decoder: StreamDecoder,
    /// Knows some lines of standard error.
    errors: StreamDecoder,
    summary: StreamSummary,
    /// Calls that have begun: id, name, kind.
    open: VecDeque<(Option<String>, String, ToolKind)>,
    /// The call that the last line was about.
    latest: Option<(Option<String>, String)>,
    /// The last refusal that was said: the call's id, why.
    refused: Option<(String, String)>,
    /// What is no line of the program's format, of standard output and of standard error.
    beside: [ErrorDumpReader; 2],
}

impl ReadableOutput {
    /// For a run of a program with these rules and tools.
    pub fn new(rules: &StreamRules, tools: &BTreeMap<String, ToolKind>) -> Self {
        let (decoder, summary) = (StreamDecoder::new(rules, tools), StreamSummary::new(rules));
        let errors = StreamDecoder::of(AgentOutputStream::Error, rules, tools);
        Self {
            decoder,
            errors,
            summary,
            open: VecDeque::new(),
            latest: None,
            refused: None,
            beside: [ErrorDumpReader::default(), ErrorDumpReader::default()],
        }
    }

    /// What there is to read in a whole line of standard output.
    pub fn line(&mut self, line: &[u8]) -> Vec<ReadableLine> {
        match self.decoder.line(line) {
            Some(seen) => {
                let mut lines = others(self.beside[0].end());
                lines.extend(self.all(seen));
                lines
            }
            None => {
                self.latest = None;
                beside(&mut self.beside[0], line)
            }
        }
    }

    /// What there is to read in a whole line of standard error.
    pub fn error_line(&mut self, line: &[u8]) -> Vec<ReadableLine> {
        let told = self.errors.line(line).unwrap_or_default();
        let told: Vec<StreamEvent> = told.into_iter().filter(|seen| !matches!(seen, StreamEvent::Text { .. })).collect();
        if told.is_empty() {
            return beside(&mut self.beside[1], line);
        }
        let mut lines = others(self.beside[1].end());
        lines.extend(self.all(told));
        self.beside[1].said();
        lines
    }

    /// The run has ended, or nobody waits for more: a text whose pieces were still coming.
    pub fn end(&mut self) -> Vec<ReadableLine> {
        let seen = self.decoder.end();
        let mut lines = self.all(seen);
        lines.extend(self.beside.iter_mut().flat_map(|dumps| others(dumps.end())));
        lines
    }

    fn all(&mut self, seen: Vec<StreamEvent>) -> Vec<ReadableLine> {
        let mut lines = Vec::new();
        for seen in seen {
            self.summary.add(&seen);
            self.one(&seen, &mut lines);
        }
        lines
    }

    fn one(&mut self, seen: &StreamEvent, lines: &mut Vec<ReadableLine>) {
        match seen {
            StreamEvent::Session { .. }
            | StreamEvent::RequestSent(_)
            | StreamEvent::ResponseReceived(_)
            | StreamEvent::Usage(_) => return,
            StreamEvent::Text { text } => {
                lines.extend(text.trim_end().lines().map(|line| ReadableLine::new(ReadableLineKind::Said, line)))
            }
            StreamEvent::ToolStarted(call) => return self.begun(call, lines),
            StreamEvent::ToolCompleted(call) => return self.completed(call, lines),
            StreamEvent::Denied(denied) => {
                self.refused = denied.id.clone().map(|id| (id, denied.why.trim().to_owned()));
                lines.push(ReadableLine::new(ReadableLineKind::Trouble, refused(denied)));
                let is_latest = |(id, _): &(Option<String>, String)| id.is_some() && *id == denied.id;
                if self.latest.as_ref().is_some_and(is_latest) {
                    return;
                }
            }
            StreamEvent::Waits(waits) => lines.push(ReadableLine::new(ReadableLineKind::Remark, waiting(waits))),
            StreamEvent::Failed(failed) => lines.push(ReadableLine::new(ReadableLineKind::Trouble, failure(failed))),
            StreamEvent::Ended(ended) => lines.push(ReadableLine::new(ReadableLineKind::Remark, self.end_of(ended))),
        }
        self.latest = None;
    }

    fn begun(&mut self, call: &ToolCallStart, lines: &mut Vec<ReadableLine>) {
        let what = about(&call.input).unwrap_or_else(|| match &call.input {
            input if *input == nothing() => String::new(),
            input => input.to_string(),
        });
        lines.push(ReadableLine::new(ReadableLineKind::Call, short(format!("{} {what}", call.name).trim_end())));
        match call.kind {
            ToolKind::Edit | ToolKind::Write => changes(&call.input, lines),
            ToolKind::Read | ToolKind::Shell | ToolKind::Other => {}
        }
        if self.open.len() >= MOST_OPEN {
            self.open.pop_front();
        }
        self.open.push_back((call.id.clone(), call.name.clone(), call.kind));
        self.latest = Some((call.id.clone(), call.name.clone()));
    }

    fn completed(&mut self, call: &ToolCallEnd, lines: &mut Vec<ReadableLine>) {
        let same = |(id, name, _): &(Option<String>, String, ToolKind)| *id == call.id && (id.is_some() || *name == call.name);
        let begun = self.open.iter().position(same).and_then(|at| self.open.remove(at));
        let kind = begun.map_or(ToolKind::Other, |(_, _, kind)| kind);
        let is_latest = self.latest.as_ref().is_some_and(|(id, name)| *id == call.id && (id.is_some() || *name == call.name));
        // That it was refused, and why, was said already.
        let said =
            self.refused.as_ref().filter(|(id, _)| call.failed && call.id.as_ref() == Some(id)).map(|(_, why)| why.as_str());
        if said == Some(call.output.trim()) {
            self.latest = None;
            return;
        }
        let is_new = |line: &&str| !said.is_some_and(|why| why.lines().any(|said| said == *line));
        // Of calls that ran at the same time it is said which one has ended.
        if !is_latest {
            lines.push(ReadableLine::new(ReadableLineKind::Call, short(&format!("{} has ended", call.name))));
        }
        let most = match (call.failed, kind) {
            (false, ToolKind::Edit | ToolKind::Write) => 0,
            (false, ToolKind::Read) => MOST_READ,
            (_, _) => MOST_RESULT,
        };
        if most > 0 {
            first_lines(ReadableLineKind::Result, call.output.trim_end().lines().filter(is_new), most, lines);
        }
        match (call.failed, call.exit) {
            (true, Some(status)) => {
                lines.push(ReadableLine::new(ReadableLineKind::Trouble, format!("failed with exit status {status}")))
            }
            (true, None) => lines.push(ReadableLine::new(ReadableLineKind::Trouble, "failed")),
            (false, _) => {}
        }
        self.latest = None;
    }

    fn end_of(&self, ended: &AgentRunResult) -> String {
        let usage = self.summary.usage;
        let mut parts = vec![if ended.success { "ended with success".to_owned() } else { "ended without success".to_owned() }];
        parts.extend(usage.input.map(|tokens| format!("{tokens} tokens in")));
        parts.extend(usage.output.map(|tokens| format!("{tokens} out")));
        parts.extend(usage.cost_usd.map(|cost| format!("${cost:.4}")));
        parts.join(", ")
    }
}

fn beside(dumps: &mut ErrorDumpReader, line: &[u8]) -> Vec<ReadableLine> {
    String::from_utf8_lossy(line).lines().flat_map(|line| others(dumps.line(line))).collect()
}

fn others(lines: Vec<String>) -> Vec<ReadableLine> {
    lines.into_iter().map(|line| ReadableLine::new(ReadableLineKind::Other, line)).collect()
}

fn changes(input: &serde_json::Value, lines: &mut Vec<ReadableLine>) {
    for texts in replaced(input) {
        let (old, new) = differing(texts);
        first_lines(ReadableLineKind::Removed, old.into_iter(), MOST_CHANGED, lines);
        first_lines(ReadableLineKind::Added, new.into_iter(), MOST_CHANGED, lines);
    }
}

/// The first of the lines, and how many there are more.
fn first_lines<'a>(part: ReadableLineKind, all: impl Iterator<Item = &'a str>, most: usize, lines: &mut Vec<ReadableLine>) {
    let mut all = all.peekable();
    lines.extend(all.by_ref().take(most).map(|line| ReadableLine::new(part, short(line))));
    if all.peek().is_some() {
        lines.push(ReadableLine::new(ReadableLineKind::Result, format!("… {}", plural::count(all.count(), "more line"))));
    }
}

fn refused(denied: &ToolCallDenial) -> String {
    let call = format!("refused {}", denied.tool);
    let parts: Vec<&str> = [call.trim(), denied.why.trim()].into_iter().filter(|part| !part.is_empty()).collect();
    short(&one_line(&parts.join(": ")))
}

fn waiting(waits: &ModelWait) -> String {
    let seconds = waits.seconds.map_or_else(String::new, |seconds| format!(" for {seconds} s"));
    short(&one_line(&format!("waits for the model{seconds}: {}", waits.why)))
}

fn failure(failed: &AgentRunFailure) -> String {
    let message = failed.message.trim();
    if message.is_empty() { "failed".to_owned() } else { short(&one_line(&format!("failed: {message}"))) }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a text, in one line.
fn short(text: &str) -> String {
    let line: String = text.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).take(LONGEST + 1).collect();
    beginning(&line, LONGEST)
}
