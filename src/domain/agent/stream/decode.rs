//! The decoder: bytes of an agent program's output in, what they say out.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use super::about::about;
use super::answers::Answers;
use super::json::object;
use super::lines::{Lines, MAX_LINE};
use super::read::{About, Said, read};
use super::rules::{CostCounting, Counting, Format, Output, StreamRules};
use super::seen::{Denied, Exchange, MAX_WORDS, Seen, ToolCompleted, ToolStarted, Usage, cut};
use crate::domain::agent::adapter::ToolKind;
use crate::domain::base::text_hash::text_hash;

/// The most tool calls that are remembered as begun, and as refused.
const MOST_CALLS: usize = 100;

/// Reads the output of one run of a program. It may come in any pieces; what is said does not depend on them. A line that is
/// broken or of no meaning is passed over, and so is one of more than [`MAX_LINE`] bytes, which is never held.
#[derive(Debug)]
pub struct Decoder {
    rules: StreamRules,
    tools: BTreeMap<String, ToolKind>,
    lines: Lines,
    heard: Heard,
}

impl Decoder {
    /// A decoder for the standard output of a run. `tools` says what tools do.
    pub fn new(rules: &StreamRules, tools: &BTreeMap<String, ToolKind>) -> Self {
        Self::of(Output::Standard, rules, tools)
    }

    /// A decoder for one of the outputs.
    pub fn of(output: Output, rules: &StreamRules, tools: &BTreeMap<String, ToolKind>) -> Self {
        Self { rules: rules.of(output), tools: tools.clone(), lines: Lines::default(), heard: Heard::default() }
    }

    /// What the lines say that end in `bytes`.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Seen> {
        let Self { rules, tools, lines, heard } = self;
        lines.feed(bytes, |line| {
            heard.line(line, rules, tools);
        });
        std::mem::take(&mut heard.told)
    }

    /// What a whole line says that is given by itself, without its line end. `None` where it is nothing that the rules are for:
    /// no object of JSON.
    pub fn line(&mut self, line: &[u8]) -> Option<Vec<Seen>> {
        let Self { rules, tools, heard, .. } = self;
        let is_read = heard.line(line, rules, tools);
        is_read.then(|| std::mem::take(&mut heard.told))
    }

    /// The output has ended: what the last line says where it has no line end, and a text whose pieces were still coming.
    pub fn end(&mut self) -> Vec<Seen> {
        let Self { rules, tools, lines, heard } = self;
        lines.end(|line| {
            heard.line(line, rules, tools);
        });
        heard.join();
        std::mem::take(&mut heard.told)
    }

    /// The bytes that are held until more come: at most about two lines.
    pub fn held(&self) -> usize {
        self.lines.held().saturating_add(self.heard.pieces.as_ref().map_or(0, String::len))
    }
}

/// Where the program stands with its model.
#[derive(Debug, Default, PartialEq, Eq)]
enum Turn {
    /// Nothing was said yet.
    #[default]
    NotBegun,
    /// The model has been asked.
    Asked,
    /// The model has answered.
    Answered,
}

/// A call that has begun.
#[derive(Debug)]
struct Begun {
    id: Option<String>,
    name: String,
    about: Option<String>,
}

#[derive(Debug, Default)]
struct Heard {
    told: Vec<Seen>,
    /// A text whose pieces are coming.
    pieces: Option<String>,
    session: Option<String>,
    turn: Turn,
    /// The id of the answer that begins.
    answer: Option<String>,
    /// What the answers so far used.
    answers: Answers,
    /// Hashes of the results that the next request will have.
    results: VecDeque<String>,
    /// The calls that have begun and not ended.
    begun: VecDeque<Begun>,
    /// The ids of refused calls.
    refused: VecDeque<String>,
}

impl Heard {
    /// Whether the rules are for such a line.
    fn line(&mut self, line: &[u8], rules: &StreamRules, tools: &BTreeMap<String, ToolKind>) -> bool {
        let about = About { tools, trouble: &rules.trouble };
        match rules.format {
            Format::Text => {
                let text = String::from_utf8_lossy(line).into_owned();
                if !rules.rules.is_empty() {
                    let line = Value::String(text.clone());
                    self.told.extend(rules.rules.iter().flat_map(|rule| read(rule, &line, about)).map(|said| said.seen));
                }
                self.told.push(Seen::Text { text });
            }
            Format::JsonLines => {
                let Some(line) = object(line) else { return false };
                let said: Vec<Said> = rules.rules.iter().flat_map(|rule| read(rule, &line, about)).collect();
                if !said.iter().any(|said| said.piece) {
                    self.join();
                }
                for Said { seen, piece, answer } in said {
                    match (seen, answer) {
                        (Seen::Usage(usage), Some(answer)) => self.used(answer, usage, rules),
                        (seen, _) => self.hear(seen, piece, rules.cost),
                    }
                }
            }
        }
        true
    }

    /// What one answer of the model used, with all before it: that is told as what the run has used so far, where that counts.
    fn used(&mut self, answer: String, usage: Usage, rules: &StreamRules) {
        if rules.usage == Counting::Run
            && let Some(sum) = self.answers.add(answer, usage)
        {
            self.hear(Seen::Usage(sum), false, rules.cost);
        }
    }

    fn hear(&mut self, seen: Seen, piece: bool, cost: CostCounting) {
        match seen {
            Seen::Session { id } => {
                if self.session.as_ref() != Some(&id) {
                    self.session = Some(id.clone());
                    self.told.push(Seen::Session { id });
                }
                self.ask_first();
            }
            Seen::Text { text } => {
                self.answered(|| text_hash(&[&text]));
                if piece { self.piece(text) } else { self.tell(Seen::Text { text }) }
            }
            Seen::ToolStarted(call) => {
                self.answered(|| call.hash.clone());
                self.begin(call);
            }
            Seen::ToolCompleted(call) => self.complete(call),
            Seen::Denied(denied) => self.refuse(denied),
            Seen::Usage(mut usage) => {
                usage.cost_usd = usage.cost_usd.filter(|_| cost != CostCounting::None);
                self.ask_first();
                self.tell(Seen::Usage(usage));
            }
            Seen::ResponseReceived(answer) => self.answer = answer.id,
            Seen::Waits(_) | Seen::Ended(_) | Seen::Failed(_) | Seen::RequestSent(_) => {
                self.ask_first();
                self.tell(seen);
            }
        }
    }

    fn tell(&mut self, seen: Seen) {
        self.join();
        self.told.push(seen);
    }

    /// Tells the text whose pieces have come.
    fn join(&mut self) {
        if let Some(text) = self.pieces.take() {
            self.told.push(Seen::Text { text });
        }
    }

    fn piece(&mut self, text: String) {
        if self.pieces.as_ref().is_some_and(|begun| begun.len().saturating_add(text.len()) > MAX_LINE) {
            self.join();
        }
        self.pieces.get_or_insert_default().push_str(&text);
    }

    /// The start is a request, of the prompt, which is not known here.
    fn ask_first(&mut self) {
        if self.turn == Turn::NotBegun {
            self.turn = Turn::Asked;
            self.told.push(Seen::RequestSent(Exchange::default()));
        }
    }

    fn answered(&mut self, hash: impl FnOnce() -> String) {
        self.ask_first();
        if self.turn == Turn::Asked {
            self.turn = Turn::Answered;
            self.told.push(Seen::ResponseReceived(Exchange { id: self.answer.take(), hash: Some(hash()) }));
        }
    }

    fn begin(&mut self, call: ToolStarted) {
        if self.begun.len() >= MOST_CALLS {
            self.begun.pop_front();
        }
        let about = about(&call.input).map(|text| cut(text, MAX_WORDS));
        self.begun.push_back(Begun { id: call.id.clone(), name: call.name.clone(), about });
        self.tell(Seen::ToolStarted(call));
    }

    /// The results go to the model when all calls have ended.
    fn complete(&mut self, mut call: ToolCompleted) {
        self.ask_first();
        let same = |begun: &Begun| begun.id == call.id && (begun.id.is_some() || begun.name == call.name);
        let begun = self.begun.iter().position(same).and_then(|at| self.begun.remove(at));
        if let Some(begun) = begun.filter(|_| call.name.is_empty()) {
            call.name = begun.name;
        }
        if self.results.len() >= MOST_CALLS {
            self.results.pop_front();
        }
        self.results.push_back(call.hash.clone());
        self.tell(Seen::ToolCompleted(call));
        if self.begun.is_empty() && self.turn == Turn::Answered {
            self.turn = Turn::Asked;
            let results: Vec<String> = self.results.drain(..).collect();
            let hash = text_hash(&results.iter().map(String::as_str).collect::<Vec<_>>());
            self.told.push(Seen::RequestSent(Exchange { id: None, hash: Some(hash) }));
        }
    }

    /// A call is refused once, however often the program says so.
    fn refuse(&mut self, mut denied: Denied) {
        self.ask_first();
        if let Some(id) = &denied.id {
            denied.about = self.begun.iter().find(|begun| begun.id.as_ref() == Some(id)).and_then(|begun| begun.about.clone());
            if self.refused.contains(id) {
                return;
            }
            if self.refused.len() >= MOST_CALLS {
                self.refused.pop_front();
            }
            self.refused.push_back(id.clone());
        }
        self.tell(Seen::Denied(denied));
    }
}
