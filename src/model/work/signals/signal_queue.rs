//! What the output of a run says, as signals to be recorded, within limits. Pure; `signal_summary` is the way back.
//!
//! A program may say more than can be recorded. Then the newest signal of each kind is kept: until there is room again, or until the
//! end of a run that may record no more of it. What decides about the run, and the tags of its agent, are the newest of their kinds.

use std::mem::discriminant;

use crate::agent::stream::rules::StreamRules;
use crate::agent::stream::stream_event::{MAX_WORDS, ModelExchange, StreamEvent, ToolCallEnd, ToolCallStart, cut};
use crate::agent::stream::summary::StreamSummary;
use crate::agent::stream::tool_call::about;
use crate::base::ids::Token;
use crate::work::signals::markers::markers;
use crate::work::signals::signal::{AgentSignal, MAX_NAME, ToolReport};

/// How many signals may wait to be recorded.
const MOST_WAITING: usize = 1_000;
/// How many calls and requests of one run are recorded as they come.
const MOST_MARKERS: u64 = 20_000;
/// How many other things.
const MOST_OTHERS: u64 = 2_000;
/// The longest words about a tool call, in characters.
const ABOUT: usize = 200;

/// What one run has said, and what of it waits to be recorded.
#[derive(Debug)]
pub struct RunSignalQueue {
    token: Token,
    /// The hash of the prompt, until the first request was told.
    prompt: Option<String>,
    summary: StreamSummary,
    recorded: RecordedSignalCounts,
    waiting: Vec<AgentSignal>,
    /// What was said while there was no room.
    newest: NewestSignals,
    /// What was said when the run had recorded all that it may.
    last: NewestSignals,
}

/// The newest signal of each kind, in the order in which they came.
#[derive(Debug, Default)]
struct NewestSignals(Vec<AgentSignal>);

impl NewestSignals {
    fn put(&mut self, signal: AgentSignal) {
        self.0.retain(|other| !is_same_kind(other, &signal));
        self.0.push(signal);
    }
}

/// How much was given away to be recorded.
#[derive(Debug, Default)]
struct RecordedSignalCounts {
    markers: u64,
    others: u64,
}

impl RecordedSignalCounts {
    fn of(&mut self, signal: &AgentSignal) -> (&mut u64, u64) {
        if is_frequent(signal) { (&mut self.markers, MOST_MARKERS) } else { (&mut self.others, MOST_OTHERS) }
    }

    /// Whether one more like this may be recorded.
    fn has_room(&mut self, signal: &AgentSignal) -> bool {
        let (counter, most) = self.of(signal);
        *counter < most
    }

    fn count(&mut self, signal: &AgentSignal) {
        *self.of(signal).0 += 1;
    }
}

impl RunSignalQueue {
    /// Nothing yet, of a run of a program with these rules; its agent reports with `token`.
    pub fn new(rules: &StreamRules, token: &Token, prompt: Option<String>) -> Self {
        Self {
            token: token.clone(),
            prompt,
            summary: StreamSummary::new(rules),
            recorded: RecordedSignalCounts::default(),
            waiting: Vec::new(),
            newest: NewestSignals::default(),
            last: NewestSignals::default(),
        }
    }

    /// Adds what was seen.
    pub fn add(&mut self, seen: StreamEvent) {
        self.summary.add(&seen);
        match seen {
            StreamEvent::Text { text } => markers(&text, &self.token).into_iter().for_each(|said| self.put(said)),
            StreamEvent::RequestSent(mut sent) => {
                sent.hash = sent.hash.or(self.prompt.take());
                self.put(AgentSignal::RequestSent(named(sent)));
            }
            StreamEvent::ResponseReceived(answer) => self.put(AgentSignal::ResponseReceived(named(answer))),
            StreamEvent::ToolStarted(call) => self.put(AgentSignal::ToolStarted(begun(call))),
            StreamEvent::ToolCompleted(call) => self.put(AgentSignal::ToolCompleted(ended(call))),
            StreamEvent::Session { id } => self.put(AgentSignal::Session { id }),
            // The sum so far, so that whoever reads it needs to know no rule of the program's.
            StreamEvent::Usage(_) => self.put(AgentSignal::Seen(Box::new(StreamEvent::Usage(self.summary.usage)))),
            StreamEvent::Denied(_) | StreamEvent::Waits(_) | StreamEvent::Ended(_) | StreamEvent::Failed(_) => {
                self.put(AgentSignal::Seen(Box::new(seen)))
            }
        }
    }

    /// Adds what its protocol says beside that.
    pub fn report(&mut self, signal: AgentSignal) {
        self.put(signal);
    }

    fn put(&mut self, signal: AgentSignal) {
        let Ok(signal) = signal.validated() else { return };
        if !self.recorded.has_room(&signal) {
            self.last.put(signal);
        } else if self.newest.0.is_empty() && self.waiting.len() < MOST_WAITING {
            self.recorded.count(&signal);
            self.waiting.push(signal);
        } else {
            self.newest.put(signal);
        }
    }

    /// What can be recorded now.
    pub fn take(&mut self) -> Vec<AgentSignal> {
        let mut signals = std::mem::take(&mut self.waiting);
        for signal in std::mem::take(&mut self.newest).0 {
            if self.recorded.has_room(&signal) {
                self.recorded.count(&signal);
                signals.push(signal);
            } else {
                self.last.put(signal);
            }
        }
        signals
    }

    /// What is left at the end, with what the agent said last, so that whoever looks for the reason of an end need not read its log.
    pub fn end(&mut self) -> Vec<AgentSignal> {
        let mut signals = std::mem::take(&mut self.waiting);
        signals.append(&mut self.newest.0);
        signals.append(&mut self.last.0);
        let last = self.summary.last_text.take();
        signals.extend(last.map(|text| AgentSignal::Seen(Box::new(StreamEvent::Text { text: cut(text, MAX_WORDS) }))));
        signals
    }
}

/// Whether a run says such things all the time.
fn is_frequent(signal: &AgentSignal) -> bool {
    match signal {
        AgentSignal::RequestSent(_)
        | AgentSignal::ResponseReceived(_)
        | AgentSignal::ToolStarted(_)
        | AgentSignal::ToolCompleted(_) => true,
        AgentSignal::Seen(seen) => matches!(**seen, StreamEvent::Usage(_)),
        AgentSignal::Complete {}
        | AgentSignal::Blocked { .. }
        | AgentSignal::Waiting { .. }
        | AgentSignal::Progress { .. }
        | AgentSignal::Learning { .. }
        | AgentSignal::Phase { .. }
        | AgentSignal::Subtask { .. }
        | AgentSignal::File(_)
        | AgentSignal::Ready { .. }
        | AgentSignal::PermissionAsked(_)
        | AgentSignal::PermissionEnded { .. }
        | AgentSignal::Estimate { .. }
        | AgentSignal::Depends { .. }
        | AgentSignal::Session { .. } => false,
    }
}

fn is_same_kind(one: &AgentSignal, other: &AgentSignal) -> bool {
    match (one, other) {
        (AgentSignal::Seen(one), AgentSignal::Seen(other)) => discriminant(&**one) == discriminant(&**other),
        (one, other) => discriminant(one) == discriminant(other),
    }
}

fn named(told: ModelExchange) -> ModelExchange {
    ModelExchange { id: told.id.map(|id| one_line(&id, MAX_NAME / 4)).filter(|id| !id.is_empty()), hash: told.hash }
}

fn begun(call: ToolCallStart) -> ToolReport {
    let about = about(&call.input).map(|text| one_line(&text, ABOUT)).filter(|text| !text.is_empty());
    ToolReport {
        name: tool(&call.name),
        id: call.id.map(|id| one_line(&id, MAX_NAME / 4)),
        hash: Some(call.hash),
        does: Some(call.kind),
        about,
        failed: false,
    }
}

fn ended(call: ToolCallEnd) -> ToolReport {
    let id = call.id.map(|id| one_line(&id, MAX_NAME / 4));
    ToolReport { name: tool(&call.name), id, hash: Some(call.hash), does: None, about: None, failed: call.failed }
}

fn tool(name: &str) -> String {
    let name = one_line(name, MAX_NAME / 4);
    if name.is_empty() { "a tool".to_owned() } else { name }
}

/// The beginning of a text, in one line.
fn one_line(text: &str, most: usize) -> String {
    let words = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    words.take(most).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::stream::rules::UsageCounting;
    use crate::agent::stream::stream_event::{AgentRunResult, TokenUsage};
    use crate::agent::tool_kind::ToolKind;

    fn heard() -> RunSignalQueue {
        let rules = StreamRules { usage: UsageCounting::Step, ..StreamRules::default() };
        RunSignalQueue::new(&rules, &Token::new("t0").unwrap(), Some("of the prompt".into()))
    }

    fn says(text: &str) -> StreamEvent {
        StreamEvent::Text { text: text.into() }
    }

    fn call(id: usize) -> StreamEvent {
        let (id, name, kind) = (Some(id.to_string()), "Bash".to_owned(), ToolKind::Shell);
        StreamEvent::ToolStarted(ToolCallStart {
            id,
            name,
            kind,
            input: serde_json::json!({"command": "make\nall"}),
            hash: "h".into(),
        })
    }

    const USED: StreamEvent = StreamEvent::Usage(TokenUsage { input: Some(2), output: None, cached: None, cost_usd: None });

    /// However much is said around it.
    #[test]
    fn no_tag_and_no_end_is_lost() {
        let mut heard = heard();
        for number in 0..3 * MOST_WAITING {
            heard.add(says("words"));
            heard.add(call(number));
            heard.add(USED);
            if number == 2 * MOST_WAITING {
                heard.add(says("done\n<axiom t0>COMPLETE</axiom>"));
                heard.add(StreamEvent::Session { id: "s".into() });
                heard.add(StreamEvent::Ended(AgentRunResult { success: true, text: None }));
            }
        }
        let first = heard.take();
        let at = |what: &dyn Fn(&AgentSignal) -> bool| first.iter().filter(|signal| what(signal)).count();
        assert!(first.len() < MOST_WAITING + 10, "{}", first.len());
        assert_eq!(at(&|signal| *signal == AgentSignal::Complete {}), 1);
        assert_eq!(at(&|signal| matches!(signal, AgentSignal::Session { .. })), 1);
        assert_eq!(at(&|signal| matches!(signal, AgentSignal::Seen(seen) if matches!(**seen, StreamEvent::Ended(_)))), 1);
        let sum = TokenUsage { input: Some(6_000), ..TokenUsage::default() };
        assert!(first.contains(&AgentSignal::Seen(Box::new(StreamEvent::Usage(sum)))), "the newest sum");
        assert!(matches!(heard.end().as_slice(), [AgentSignal::Seen(last)] if **last == says("words")));
    }

    #[test]
    fn the_last_of_two_tags_stays_the_last() {
        let mut heard = heard();
        (0..MOST_WAITING).for_each(|number| heard.add(call(number)));
        heard.add(says("<axiom t0>COMPLETE</axiom>\n<axiom t0>BLOCKED: no</axiom>\n<axiom t0>COMPLETE</axiom>"));
        let last = heard.take().split_off(MOST_WAITING);
        assert_eq!(last, [AgentSignal::Blocked { reason: "no".into() }, AgentSignal::Complete {}]);
    }

    /// A run may say a million things, and its end is recorded all the same.
    #[test]
    fn beyond_what_a_run_may_record_the_newest_comes_with_its_end() {
        let mut heard = heard();
        let mut taken = 0;
        for round in 0..50 {
            for number in 0..900 {
                heard.add(call(number));
                heard.add(says(&format!("<axiom t0>PROGRESS: {round}</axiom>")));
            }
            taken += heard.take().len() as u64;
        }
        assert_eq!((heard.recorded.markers, heard.recorded.others), (MOST_MARKERS, MOST_OTHERS));
        assert_eq!(taken, heard.recorded.markers + heard.recorded.others);
        heard.add(says("<axiom t0>WAITING: which?</axiom>"));
        assert_eq!(heard.take(), []);
        let end = heard.end();
        assert!(end.contains(&AgentSignal::Waiting { question: "which?".into() }), "{end:?}");
        assert!(end.contains(&AgentSignal::Progress { percent: 49 }));
    }

    #[test]
    fn the_first_request_has_the_prompts_hash_and_an_id_is_one_line() {
        let mut heard = heard();
        heard.add(StreamEvent::RequestSent(ModelExchange::default()));
        heard.add(StreamEvent::ResponseReceived(ModelExchange { id: Some(" m\n1".into()), hash: Some("a".into()) }));
        heard.add(StreamEvent::RequestSent(ModelExchange { id: None, hash: Some("r".into()) }));
        heard.add(StreamEvent::RequestSent(ModelExchange::default()));
        let hash = |hash: &str| AgentSignal::RequestSent(ModelExchange { id: None, hash: Some(hash.into()) });
        let answer = AgentSignal::ResponseReceived(ModelExchange { id: Some("m 1".into()), hash: Some("a".into()) });
        let expected = [hash("of the prompt"), answer, hash("r"), AgentSignal::RequestSent(ModelExchange::default())];
        assert_eq!(heard.take(), expected);
        heard.add(call(1));
        let [AgentSignal::ToolStarted(report)] = &heard.take()[..] else { panic!() };
        assert_eq!((report.about.as_deref(), report.hash.as_deref()), (Some("make all"), Some("h")));
    }
}
