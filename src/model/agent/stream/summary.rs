//! The sum of what was seen in one run.

use super::rules::{CostCounting, StreamRules, UsageCounting};
use super::stream_event::{
    AgentRunFailure, AgentRunResult, MAX_TOOL_TEXT, ModelWait, StreamEvent, TokenUsage, ToolCallDenial, ToolCallEnd,
    ToolCallStart, cut,
};

/// The most refused calls, and calls that have begun and not ended, that are kept.
pub const MOST_KEPT: usize = 20;

/// The sum of what was seen in one run. What the program did not tell is `None`, never 0.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamSummary {
    counting: UsageCounting,
    cost_counting: CostCounting,
    /// The session's id.
    pub session: Option<String>,
    /// Tokens and cost: of this run, or raw totals of the session where the adapter says `cumulative`. The caller then
    /// subtracts what the session had before.
    pub usage: TokenUsage,
    /// The beginning of the last text.
    pub last_text: Option<String>,
    /// The last word.
    pub ended: Option<AgentRunResult>,
    /// The last failure; none where a success came after it.
    pub failed: Option<AgentRunFailure>,
    /// The waits for the model.
    pub waits: ModelWaits,
    /// The calls of tools.
    pub calls: SeenToolCalls,
    /// How many texts there were.
    pub texts: u64,
    /// How many requests were sent to the model, as far as the lines show.
    pub requests: u64,
    /// How many answers of the model began.
    pub responses: u64,
}

/// The waits for the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelWaits {
    /// The one that goes on now.
    pub now: Option<ModelWait>,
    /// The last one, over or not: how long a failed run was told to wait.
    pub last: Option<ModelWait>,
}

/// The calls of tools. What is kept of them is bounded; how many there were is not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeenToolCalls {
    /// The first refused ones, at most [`MOST_KEPT`].
    pub denied: Vec<ToolCallDenial>,
    /// The last ones that have begun and not ended, at most [`MOST_KEPT`].
    pub begun: Vec<ToolCallStart>,
    /// Those that failed since the model answered last, at most [`MOST_KEPT`]: a program that is stopped ends its calls so.
    pub broken: Vec<ToolCallStart>,
    /// How many began.
    pub count: u64,
}

impl SeenToolCalls {
    fn begin(&mut self, call: &ToolCallStart) {
        self.count = self.count.saturating_add(1);
        if self.begun.len() >= MOST_KEPT {
            self.begun.remove(0);
        }
        self.begun.push(call.clone());
    }

    fn complete(&mut self, call: &ToolCallEnd) {
        let same = |begun: &ToolCallStart| begun.id == call.id && (begun.id.is_some() || begun.name == call.name);
        if let Some(at) = self.begun.iter().position(same) {
            let call_begun = self.begun.remove(at);
            if call.failed && self.broken.len() < MOST_KEPT {
                self.broken.push(call_begun);
            }
        }
    }

    fn deny(&mut self, denied: &ToolCallDenial) {
        if self.denied.len() < MOST_KEPT {
            self.denied.push(denied.clone());
        }
    }
}

impl Default for StreamSummary {
    /// Of what is told as sums.
    fn default() -> Self {
        Self::new(&StreamRules { usage: UsageCounting::Run, cost: CostCounting::Run, ..StreamRules::default() })
    }
}

impl StreamSummary {
    /// Nothing was seen yet, of a program with these rules.
    pub fn new(rules: &StreamRules) -> Self {
        Self {
            counting: rules.usage,
            cost_counting: rules.cost,
            session: None,
            usage: TokenUsage::default(),
            last_text: None,
            ended: None,
            failed: None,
            waits: ModelWaits::default(),
            calls: SeenToolCalls::default(),
            texts: 0,
            requests: 0,
            responses: 0,
        }
    }

    /// Adds what was seen.
    pub fn add(&mut self, seen: &StreamEvent) {
        match seen {
            StreamEvent::Session { id } => self.session = Some(id.clone()),
            StreamEvent::Text { text } => {
                self.texts = self.texts.saturating_add(1);
                self.last_text = Some(beginning(text));
            }
            StreamEvent::RequestSent(_) => self.requests = self.requests.saturating_add(1),
            StreamEvent::ResponseReceived(_) => {
                self.waits.now = None;
                self.calls.broken.clear();
                self.responses = self.responses.saturating_add(1);
            }
            StreamEvent::ToolStarted(call) => {
                self.waits.now = None;
                self.calls.begin(call);
            }
            StreamEvent::ToolCompleted(call) => self.calls.complete(call),
            StreamEvent::Denied(denied) => self.calls.deny(denied),
            StreamEvent::Waits(wait) => self.waits = ModelWaits { now: Some(wait.clone()), last: Some(wait.clone()) },
            StreamEvent::Usage(usage) => self.count(usage),
            StreamEvent::Ended(ended) => {
                self.waits.now = None;
                self.failed = self.failed.take().filter(|_| !ended.success);
                self.ended = Some(ended.clone());
            }
            StreamEvent::Failed(failed) => {
                self.waits.now = None;
                self.failed = Some(failed.clone());
            }
        }
    }

    fn count(&mut self, new: &TokenUsage) {
        let (sum, newest) = (self.usage.plus(new), self.usage.replaced_by(new));
        let tokens = match self.counting {
            UsageCounting::Step => sum,
            UsageCounting::Run | UsageCounting::Cumulative => newest,
        };
        let cost_usd = match self.cost_counting {
            CostCounting::None => None,
            CostCounting::Step => sum.cost_usd,
            CostCounting::Run | CostCounting::Cumulative => newest.cost_usd,
        };
        self.usage = TokenUsage { cost_usd, ..tokens };
    }
}

/// What is new in a sum. Where the program counts the whole session, `before` is what it had counted before; a program that
/// begins at 0 again has counted only what is new.
pub fn since(total: TokenUsage, before: TokenUsage, rules: &StreamRules) -> TokenUsage {
    let pairs = [(total.input, before.input), (total.output, before.output), (total.cached, before.cached)];
    let goes_on = pairs.iter().all(|(now, then)| now.is_none_or(|now| now >= then.unwrap_or(0)));
    let tokens = |now: Option<u64>, then: Option<u64>| match rules.usage {
        UsageCounting::Cumulative if goes_on => now.map(|now| now - then.unwrap_or(0)),
        UsageCounting::Cumulative | UsageCounting::Run | UsageCounting::Step => now,
    };
    let cost = match (rules.cost, total.cost_usd, before.cost_usd) {
        (CostCounting::Cumulative, Some(now), Some(then)) if now >= then => Some(now - then),
        (CostCounting::Cumulative | CostCounting::Run | CostCounting::Step | CostCounting::None, now, _) => now,
    };
    TokenUsage {
        input: tokens(total.input, before.input),
        output: tokens(total.output, before.output),
        cached: tokens(total.cached, before.cached),
        cost_usd: cost,
    }
}

fn beginning(text: &str) -> String {
    // No copy of a text of megabytes, only to cut it.
    cut(text.chars().take(MAX_TOOL_TEXT).collect(), MAX_TOOL_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::stream::stream_event::ModelExchange;
    use crate::agent::stream::trouble::ModelTrouble;

    fn summary(usage: UsageCounting, cost: CostCounting) -> StreamSummary {
        StreamSummary::new(&StreamRules { usage, cost, ..StreamRules::default() })
    }

    fn usage(input: u64, cost: f64) -> StreamEvent {
        StreamEvent::Usage(TokenUsage { input: Some(input), output: None, cached: None, cost_usd: Some(cost) })
    }

    #[test]
    fn numbers_are_added_or_replaced_and_unknown_ones_stay_unknown() {
        for (counting, cost, expected) in [
            (UsageCounting::Step, CostCounting::Step, (Some(u64::MAX), Some(3.0))),
            (UsageCounting::Run, CostCounting::Cumulative, (Some(7), Some(2.0))),
            (UsageCounting::Cumulative, CostCounting::Run, (Some(7), Some(2.0))),
            (UsageCounting::Run, CostCounting::None, (Some(7), None)),
        ] {
            let mut sum = summary(counting, cost);
            assert_eq!(sum.usage, TokenUsage::default());
            sum.add(&usage(u64::MAX, 1.0));
            sum.add(&usage(7, 2.0));
            sum.add(&StreamEvent::Usage(TokenUsage::default()));
            assert_eq!((sum.usage.input, sum.usage.cost_usd), expected);
            assert_eq!((sum.usage.output, sum.usage.cached), (None, None));
        }
    }

    #[test]
    fn what_a_session_had_counted_before_is_not_new() {
        let of = |input: u64, cost: f64| TokenUsage { input: Some(input), output: None, cached: Some(1), cost_usd: Some(cost) };
        let before = TokenUsage { output: Some(3), ..of(100, 0.5) };
        let rules = |usage, cost| StreamRules { usage, cost, ..StreamRules::default() };
        for (usage, cost, total, expected) in [
            (UsageCounting::Cumulative, CostCounting::Cumulative, of(150, 0.75), (Some(50), Some(0), Some(0.25))),
            (UsageCounting::Cumulative, CostCounting::Cumulative, of(90, 0.25), (Some(90), Some(1), Some(0.25))),
            (UsageCounting::Run, CostCounting::Run, of(150, 0.75), (Some(150), Some(1), Some(0.75))),
            (UsageCounting::Step, CostCounting::Cumulative, of(150, 0.75), (Some(150), Some(1), Some(0.25))),
        ] {
            let new = since(total, before, &rules(usage, cost));
            assert_eq!((new.input, new.cached, new.cost_usd), expected);
            assert_eq!(new.output, None);
        }
        let unknown = since(TokenUsage::default(), before, &rules(UsageCounting::Cumulative, CostCounting::Cumulative));
        assert_eq!(unknown, TokenUsage::default());
    }

    #[test]
    fn a_success_after_a_failure_ends_it_and_a_failure_after_a_success_counts() {
        let failed = StreamEvent::Failed(AgentRunFailure {
            trouble: ModelTrouble::Overload,
            status: Some(529),
            message: "x".into(),
            broke_off: false,
        });
        let ended = |success| StreamEvent::Ended(AgentRunResult { success, text: None });
        let mut sum = summary(UsageCounting::Run, CostCounting::None);
        sum.add(&failed);
        sum.add(&ended(false));
        assert!(sum.failed.is_some());
        sum.add(&ended(true));
        assert!(sum.failed.is_none());
        sum.add(&failed);
        assert!(sum.failed.is_some());
    }

    #[test]
    fn a_wait_ends_with_the_answer() {
        let mut sum = summary(UsageCounting::Run, CostCounting::None);
        let waits = ModelWait { trouble: ModelTrouble::RateLimit, status: Some(429), why: String::new(), seconds: Some(3) };
        sum.add(&StreamEvent::Waits(waits.clone()));
        assert_eq!(sum.waits.now, Some(waits));
        sum.add(&StreamEvent::ResponseReceived(ModelExchange::default()));
        assert_eq!(sum.waits.now, None);
        sum.add(&StreamEvent::Waits(ModelWait {
            trouble: ModelTrouble::Overload,
            status: None,
            why: String::new(),
            seconds: None,
        }));
        sum.add(&StreamEvent::ToolStarted(ToolCallStart {
            id: None,
            name: "t".into(),
            kind: crate::agent::tool_kind::ToolKind::Other,
            input: serde_json::Value::Null,
            hash: String::new(),
        }));
        assert_eq!(sum.waits.now, None);
    }

    #[test]
    fn lists_and_texts_are_bounded() {
        let mut sum = summary(UsageCounting::Run, CostCounting::None);
        for number in 0..100 {
            sum.add(&StreamEvent::Denied(ToolCallDenial { id: None, tool: number.to_string(), about: None, why: String::new() }));
            sum.add(&StreamEvent::ToolStarted(ToolCallStart {
                id: Some(number.to_string()),
                name: "t".into(),
                kind: crate::agent::tool_kind::ToolKind::Other,
                input: serde_json::Value::Null,
                hash: String::new(),
            }));
        }
        sum.add(&StreamEvent::Text { text: "é".repeat(MAX_TOOL_TEXT) });
        assert_eq!((sum.calls.denied.len(), sum.calls.begun.len(), sum.calls.count), (MOST_KEPT, MOST_KEPT, 100));
        assert_eq!((sum.calls.denied[0].tool.as_str(), sum.calls.begun[0].id.as_deref()), ("0", Some("80")));
        assert_eq!(sum.last_text.unwrap().len(), MAX_TOOL_TEXT);
    }
}
