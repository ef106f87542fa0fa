//! The sum of what was seen in one run.

use super::rules::{CostCounting, Counting, StreamRules};
use super::seen::{Denied, Ended, Failed, MAX_TOOL_TEXT, Seen, ToolCompleted, ToolStarted, Usage, Waits, cut};

/// The most refused calls, and calls that have begun and not ended, that are kept.
pub const MOST_KEPT: usize = 20;

/// The sum of what was seen in one run. What the program did not tell is `None`, never 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    counting: Counting,
    cost_counting: CostCounting,
    /// The session's id.
    pub session: Option<String>,
    /// Tokens and cost: of this run, or raw totals of the session where the adapter says `cumulative`. The caller then
    /// subtracts what the session had before.
    pub usage: Usage,
    /// The beginning of the last text.
    pub last_text: Option<String>,
    /// The last word.
    pub ended: Option<Ended>,
    /// The last failure; none where a success came after it.
    pub failed: Option<Failed>,
    /// The wait for the model that goes on now.
    pub waits: Option<Waits>,
    /// The last wait, over or not: how long a failed run was told to wait.
    pub last_wait: Option<Waits>,
    /// The first refused calls, at most [`MOST_KEPT`].
    pub denied: Vec<Denied>,
    /// The last calls that have begun and not ended, at most [`MOST_KEPT`].
    pub begun: Vec<ToolStarted>,
    /// The calls that failed since the model answered last, at most [`MOST_KEPT`]: a program that is stopped ends its calls so.
    pub broken: Vec<ToolStarted>,
    /// How many texts there were.
    pub texts: u64,
    /// How many tool calls began.
    pub tool_calls: u64,
    /// How many requests were sent to the model, as far as the lines show.
    pub requests: u64,
    /// How many answers of the model began.
    pub responses: u64,
}

impl Default for Summary {
    /// Of what is told as sums.
    fn default() -> Self {
        Self::new(&StreamRules { usage: Counting::Run, cost: CostCounting::Run, ..StreamRules::default() })
    }
}

impl Summary {
    /// Nothing was seen yet, of a program with these rules.
    pub fn new(rules: &StreamRules) -> Self {
        Self {
            counting: rules.usage,
            cost_counting: rules.cost,
            session: None,
            usage: Usage::default(),
            last_text: None,
            ended: None,
            failed: None,
            waits: None,
            last_wait: None,
            denied: Vec::new(),
            begun: Vec::new(),
            broken: Vec::new(),
            texts: 0,
            tool_calls: 0,
            requests: 0,
            responses: 0,
        }
    }

    /// Adds what was seen.
    pub fn add(&mut self, seen: &Seen) {
        match seen {
            Seen::Session { id } => self.session = Some(id.clone()),
            Seen::Text { text } => {
                self.texts = self.texts.saturating_add(1);
                self.last_text = Some(beginning(text));
            }
            Seen::RequestSent(_) => self.requests = self.requests.saturating_add(1),
            Seen::ResponseReceived(_) => {
                self.waits = None;
                self.broken.clear();
                self.responses = self.responses.saturating_add(1);
            }
            Seen::ToolStarted(call) => {
                self.waits = None;
                self.tool_calls = self.tool_calls.saturating_add(1);
                if self.begun.len() >= MOST_KEPT {
                    self.begun.remove(0);
                }
                self.begun.push(call.clone());
            }
            Seen::ToolCompleted(call) => self.complete(call),
            Seen::Denied(denied) => {
                if self.denied.len() < MOST_KEPT {
                    self.denied.push(denied.clone());
                }
            }
            Seen::Waits(waits) => (self.waits, self.last_wait) = (Some(waits.clone()), Some(waits.clone())),
            Seen::Usage(usage) => self.count(usage),
            Seen::Ended(ended) => {
                self.waits = None;
                self.failed = self.failed.take().filter(|_| !ended.success);
                self.ended = Some(ended.clone());
            }
            Seen::Failed(failed) => {
                self.waits = None;
                self.failed = Some(failed.clone());
            }
        }
    }

    fn complete(&mut self, call: &ToolCompleted) {
        let same = |begun: &ToolStarted| begun.id == call.id && (begun.id.is_some() || begun.name == call.name);
        if let Some(at) = self.begun.iter().position(same) {
            let call_begun = self.begun.remove(at);
            if call.failed && self.broken.len() < MOST_KEPT {
                self.broken.push(call_begun);
            }
        }
    }

    fn count(&mut self, new: &Usage) {
        let (sum, newest) = (self.usage.plus(new), self.usage.replaced_by(new));
        let tokens = match self.counting {
            Counting::Step => sum,
            Counting::Run | Counting::Cumulative => newest,
        };
        let cost_usd = match self.cost_counting {
            CostCounting::None => None,
            CostCounting::Step => sum.cost_usd,
            CostCounting::Run | CostCounting::Cumulative => newest.cost_usd,
        };
        self.usage = Usage { cost_usd, ..tokens };
    }
}

/// What is new in a sum. Where the program counts the whole session, `before` is what it had counted before; a program that
/// begins at 0 again has counted only what is new.
pub fn since(total: Usage, before: Usage, rules: &StreamRules) -> Usage {
    let pairs = [(total.input, before.input), (total.output, before.output), (total.cached, before.cached)];
    let goes_on = pairs.iter().all(|(now, then)| now.is_none_or(|now| now >= then.unwrap_or(0)));
    let tokens = |now: Option<u64>, then: Option<u64>| match rules.usage {
        Counting::Cumulative if goes_on => now.map(|now| now - then.unwrap_or(0)),
        Counting::Cumulative | Counting::Run | Counting::Step => now,
    };
    let cost = match (rules.cost, total.cost_usd, before.cost_usd) {
        (CostCounting::Cumulative, Some(now), Some(then)) if now >= then => Some(now - then),
        (CostCounting::Cumulative | CostCounting::Run | CostCounting::Step | CostCounting::None, now, _) => now,
    };
    Usage {
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
    use crate::domain::agent::stream::seen::Exchange;
    use crate::domain::agent::stream::trouble::Trouble;

    fn summary(usage: Counting, cost: CostCounting) -> Summary {
        Summary::new(&StreamRules { usage, cost, ..StreamRules::default() })
    }

    fn usage(input: u64, cost: f64) -> Seen {
        Seen::Usage(Usage { input: Some(input), output: None, cached: None, cost_usd: Some(cost) })
    }

    #[test]
    fn numbers_are_added_or_replaced_and_unknown_ones_stay_unknown() {
        for (counting, cost, expected) in [
            (Counting::Step, CostCounting::Step, (Some(u64::MAX), Some(3.0))),
            (Counting::Run, CostCounting::Cumulative, (Some(7), Some(2.0))),
            (Counting::Cumulative, CostCounting::Run, (Some(7), Some(2.0))),
            (Counting::Run, CostCounting::None, (Some(7), None)),
        ] {
            let mut sum = summary(counting, cost);
            assert_eq!(sum.usage, Usage::default());
            sum.add(&usage(u64::MAX, 1.0));
            sum.add(&usage(7, 2.0));
            sum.add(&Seen::Usage(Usage::default()));
            assert_eq!((sum.usage.input, sum.usage.cost_usd), expected);
            assert_eq!((sum.usage.output, sum.usage.cached), (None, None));
        }
    }

    #[test]
    fn what_a_session_had_counted_before_is_not_new() {
        let of = |input: u64, cost: f64| Usage { input: Some(input), output: None, cached: Some(1), cost_usd: Some(cost) };
        let before = Usage { output: Some(3), ..of(100, 0.5) };
        let rules = |usage, cost| StreamRules { usage, cost, ..StreamRules::default() };
        for (usage, cost, total, expected) in [
            (Counting::Cumulative, CostCounting::Cumulative, of(150, 0.75), (Some(50), Some(0), Some(0.25))),
            (Counting::Cumulative, CostCounting::Cumulative, of(90, 0.25), (Some(90), Some(1), Some(0.25))),
            (Counting::Run, CostCounting::Run, of(150, 0.75), (Some(150), Some(1), Some(0.75))),
            (Counting::Step, CostCounting::Cumulative, of(150, 0.75), (Some(150), Some(1), Some(0.25))),
        ] {
            let new = since(total, before, &rules(usage, cost));
            assert_eq!((new.input, new.cached, new.cost_usd), expected);
            assert_eq!(new.output, None);
        }
        let unknown = since(Usage::default(), before, &rules(Counting::Cumulative, CostCounting::Cumulative));
        assert_eq!(unknown, Usage::default());
    }

    #[test]
    fn a_success_after_a_failure_ends_it_and_a_failure_after_a_success_counts() {
        let failed = Seen::Failed(Failed { trouble: Trouble::Overload, status: Some(529), message: "x".into() });
        let ended = |success| Seen::Ended(Ended { success, text: None });
        let mut sum = summary(Counting::Run, CostCounting::None);
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
        let mut sum = summary(Counting::Run, CostCounting::None);
        let waits = Waits { trouble: Trouble::RateLimit, status: Some(429), why: String::new(), seconds: Some(3) };
        sum.add(&Seen::Waits(waits.clone()));
        assert_eq!(sum.waits, Some(waits));
        sum.add(&Seen::ResponseReceived(Exchange::default()));
        assert_eq!(sum.waits, None);
        sum.add(&Seen::Waits(Waits { trouble: Trouble::Overload, status: None, why: String::new(), seconds: None }));
        sum.add(&Seen::ToolStarted(ToolStarted {
            id: None,
            name: "t".into(),
            kind: crate::domain::agent::adapter::ToolKind::Other,
            input: serde_json::Value::Null,
            hash: String::new(),
        }));
        assert_eq!(sum.waits, None);
    }

    #[test]
    fn lists_and_texts_are_bounded() {
        let mut sum = summary(Counting::Run, CostCounting::None);
        for number in 0..100 {
            sum.add(&Seen::Denied(Denied { id: None, tool: number.to_string(), about: None, why: String::new() }));
            sum.add(&Seen::ToolStarted(ToolStarted {
                id: Some(number.to_string()),
                name: "t".into(),
                kind: crate::domain::agent::adapter::ToolKind::Other,
                input: serde_json::Value::Null,
                hash: String::new(),
            }));
        }
        sum.add(&Seen::Text { text: "é".repeat(MAX_TOOL_TEXT) });
        assert_eq!((sum.denied.len(), sum.begun.len(), sum.tool_calls), (MOST_KEPT, MOST_KEPT, 100));
        assert_eq!((sum.denied[0].tool.as_str(), sum.begun[0].id.as_deref()), ("0", Some("80")));
        assert_eq!(sum.last_text.unwrap().len(), MAX_TOOL_TEXT);
    }
}
