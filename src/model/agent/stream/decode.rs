//! The decoder: bytes of an agent program's output in, what they say out.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use super::answers::ModelAnswerUsage;
use super::json::object;
use super::lines::{MAX_LINE, StreamLineBuffer};
use super::read::{StreamRuleContext, StreamRuleMatch, read};
use super::rules::{AgentOutputStream, CostCounting, StreamFormat, StreamRules, UsageCounting};
use super::stream_event::{MAX_WORDS, ModelExchange, StreamEvent, TokenUsage, ToolCallDenial, ToolCallEnd, ToolCallStart, cut};
use super::tool_call::about;
use crate::agent::tool_kind::ToolKind;
use crate::base::text_hash::text_hash;

/// The most tool calls that are remembered as begun, and as refused.
const MOST_CALLS: usize = 100;

/// Reads the output of one run of a program. It may come in any pieces; what is said does not depend on them. A line that is
/// broken or of no meaning is passed over, and so is one of more than [`MAX_LINE`] bytes, which is never held.
#[derive(Debug)]
pub struct StreamDecoder {
    rules: StreamRules,
    tools: BTreeMap<String, ToolKind>,
    lines: StreamLineBuffer,
    heard: DecodedStream,
}

impl StreamDecoder {
    /// A decoder for the standard output of a run. `tools` says what tools do.
    pub fn new(rules: &StreamRules, tools: &BTreeMap<String, ToolKind>) -> Self {
        Self::of(AgentOutputStream::Standard, rules, tools)
    }

    /// A decoder for one of the outputs.
    pub fn of(output: AgentOutputStream, rules: &StreamRules, tools: &BTreeMap<String, ToolKind>) -> Self {
        Self {
            rules: rules.of(output),
            tools: tools.clone(),
            lines: StreamLineBuffer::default(),
            heard: DecodedStream::default(),
        }
    }

    /// What the lines say that end in `bytes`.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<StreamEvent> {
        let Self { rules, tools, lines, heard } = self;
        lines.feed(bytes, |line| {
            heard.line(line, rules, tools);
        });
        std::mem::take(&mut heard.told)
    }

    /// What a whole line says that is given by itself, without its line end. `None` where it is nothing that the rules are for:
    /// no object of JSON.
    pub fn line(&mut self, line: &[u8]) -> Option<Vec<StreamEvent>> {
        let Self { rules, tools, heard, .. } = self;
        let is_read = heard.line(line, rules, tools);
        is_read.then(|| std::mem::take(&mut heard.told))
    }

    /// The output has ended: what the last line says where it has no line end, and a text whose pieces were still coming.
    pub fn end(&mut self) -> Vec<StreamEvent> {
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
enum ModelTurn {
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
struct BegunToolCall {
    id: Option<String>,
    name: String,
    about: Option<String>,
}

#[derive(Debug, Default)]
struct DecodedStream {
    told: Vec<StreamEvent>,
    /// A text whose pieces are coming.
    pieces: Option<String>,
    session: Option<String>,
    turn: ModelTurn,
    /// The id of the answer that begins.
    answer: Option<String>,
    /// What the answers so far used.
    answers: ModelAnswerUsage,
    /// Hashes of the results that the next request will have.
    results: VecDeque<String>,
    /// The calls that have begun and not ended.
    begun: VecDeque<BegunToolCall>,
    /// The ids of refused calls.
    refused: VecDeque<String>,
}

impl DecodedStream {
    /// Whether the rules are for such a line.
    fn line(&mut self, line: &[u8], rules: &StreamRules, tools: &BTreeMap<String, ToolKind>) -> bool {
        let about = StreamRuleContext { tools, trouble: &rules.trouble };
        match rules.format {
            StreamFormat::Text => {
                let text = String::from_utf8_lossy(line).into_owned();
                if !rules.rules.is_empty() {
                    let line = Value::String(text.clone());
                    self.told.extend(rules.rules.iter().flat_map(|rule| read(rule, &line, about)).map(|said| said.seen));
                }
                self.told.push(StreamEvent::Text { text });
            }
            StreamFormat::JsonLines => {
                let Some(line) = object(line) else { return false };
                let said: Vec<StreamRuleMatch> = rules.rules.iter().flat_map(|rule| read(rule, &line, about)).collect();
                if !said.iter().any(|said| said.piece) {
                    self.join();
                }
                for StreamRuleMatch { seen, piece, answer } in said {
                    match (seen, answer) {
                        (StreamEvent::Usage(usage), Some(answer)) => self.used(answer, usage, rules),
                        (seen, _) => self.hear(seen, piece, rules.cost),
                    }
                }
            }
        }
        true
    }

    /// What one answer of the model used, with all before it: that is told as what the run has used so far, where that counts.
    fn used(&mut self, answer: String, usage: TokenUsage, rules: &StreamRules) {
        if rules.usage == UsageCounting::Run
            && let Some(sum) = self.answers.add(answer, usage)
        {
            self.hear(StreamEvent::Usage(sum), false, rules.cost);
        }
    }

    fn hear(&mut self, seen: StreamEvent, piece: bool, cost: CostCounting) {
        match seen {
            StreamEvent::Session { id } => {
                if self.session.as_ref() != Some(&id) {
                    self.session = Some(id.clone());
                    self.told.push(StreamEvent::Session { id });
                }
                self.ask_first();
            }
            StreamEvent::Text { text } => {
                self.answered(|| text_hash(&[&text]));
                if piece { self.piece(text) } else { self.tell(StreamEvent::Text { text }) }
            }
            // Some programs tell the beginning of a call several times, each time with more of it.
            StreamEvent::ToolStarted(call) if call.id.is_some() && self.begun.iter().any(|begun| begun.id == call.id) => {}
            StreamEvent::ToolStarted(call) => {
                self.answered(|| call.hash.clone());
                self.begin(call);
            }
            StreamEvent::ToolCompleted(call) => self.complete(call),
            StreamEvent::Denied(denied) => self.refuse(denied),
            StreamEvent::Usage(mut usage) => {
                usage.cost_usd = usage.cost_usd.filter(|_| cost != CostCounting::None);
                self.ask_first();
                self.tell(StreamEvent::Usage(usage));
            }
            StreamEvent::ResponseReceived(answer) => self.answer = answer.id,
            StreamEvent::Waits(_) | StreamEvent::Ended(_) | StreamEvent::Failed(_) | StreamEvent::RequestSent(_) => {
                self.ask_first();
                self.tell(seen);
            }
        }
    }

    fn tell(&mut self, seen: StreamEvent) {
        self.join();
        self.told.push(seen);
    }

    /// Tells the text whose pieces have come.
    fn join(&mut self) {
        if let Some(text) = self.pieces.take() {
            self.told.push(StreamEvent::Text { text });
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
        if self.turn == ModelTurn::NotBegun {
            self.turn = ModelTurn::Asked;
            self.told.push(StreamEvent::RequestSent(ModelExchange::default()));
        }
    }

    fn answered(&mut self, hash: impl FnOnce() -> String) {
        self.ask_first();
        if self.turn == ModelTurn::Asked {
            self.turn = ModelTurn::Answered;
            self.told.push(StreamEvent::ResponseReceived(ModelExchange { id: self.answer.take(), hash: Some(hash()) }));
        }
    }

    fn begin(&mut self, call: ToolCallStart) {
        if self.begun.len() >= MOST_CALLS {
            self.begun.pop_front();
        }
        let about = about(&call.input).map(|text| cut(text, MAX_WORDS));
        self.begun.push_back(BegunToolCall { id: call.id.clone(), name: call.name.clone(), about });
        self.tell(StreamEvent::ToolStarted(call));
    }

    /// The results go to the model when all calls have ended.
    fn complete(&mut self, mut call: ToolCallEnd) {
        self.ask_first();
        let same = |begun: &BegunToolCall| begun.id == call.id && (begun.id.is_some() || begun.name == call.name);
        let begun = self.begun.iter().position(same).and_then(|at| self.begun.remove(at));
        if let Some(begun) = begun.filter(|_| call.name.is_empty()) {
            call.name = begun.name;
        }
        if self.results.len() >= MOST_CALLS {
            self.results.pop_front();
        }
        self.results.push_back(call.hash.clone());
        self.tell(StreamEvent::ToolCompleted(call));
        if self.begun.is_empty() && self.turn == ModelTurn::Answered {
            self.turn = ModelTurn::Asked;
            let results: Vec<String> = self.results.drain(..).collect();
            let hash = text_hash(&results.iter().map(String::as_str).collect::<Vec<_>>());
            self.told.push(StreamEvent::RequestSent(ModelExchange { id: None, hash: Some(hash) }));
        }
    }

    /// A call is refused once, however often the program says so.
    fn refuse(&mut self, mut denied: ToolCallDenial) {
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
        self.tell(StreamEvent::Denied(denied));
    }
}
