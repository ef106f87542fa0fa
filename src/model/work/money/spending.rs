//! What iterations used: tokens, cost, time. Pure. What is not known is never 0: it is counted how often that was, and what has to be
//! assumed.

use crate::work::usd::Usd;
use serde::{Deserialize, Serialize};

use crate::base::defaults::is_default;
use crate::work::iteration::{IterationOutcome, IterationReport};
use crate::work::verifying::verification::ProgramUsage;

/// Iterations, and looks of personas at the work, of which something is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UnknownUsage {
    /// How many there were.
    #[serde(skip_serializing_if = "is_default")]
    pub iterations: u64,
    /// What those used that were cut off, as far as it has to be assumed: each as much as the most that was known then.
    #[serde(skip_serializing_if = "is_default")]
    pub assumed: u64,
    /// The most that one iteration is known to have used.
    #[serde(skip_serializing_if = "is_default")]
    pub most: u64,
}

impl UnknownUsage {
    /// Whether nothing is in doubt, and nothing was known either.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts an iteration. `most` is the most that is known from elsewhere, where nothing is from here.
    fn hear(&mut self, used: Option<u64>, cut_off: bool, most: u64) {
        match used {
            Some(used) => {
                self.most = self.most.max(used);
                // What was told before it was cut off is a part of it.
                self.iterations = self.iterations.saturating_add(u64::from(cut_off));
            }
            None => {
                self.iterations = self.iterations.saturating_add(1);
                let guess = if self.most > 0 { self.most } else { most };
                self.assumed = self.assumed.saturating_add(if cut_off { guess } else { 0 });
            }
        }
    }
}

/// The sum of iterations, and what became of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UsageTally {
    /// How many iterations.
    pub iterations: u64,
    /// Tokens, as far as they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// Milliseconds in which programs ran.
    pub duration_ms: u64,
    /// Iterations, and looks of personas at the work, whose end nobody recorded: their time is known to their last sign of life, and may have been more.
    #[serde(skip_serializing_if = "is_default")]
    pub time_doubt: u64,
    /// Iterations whose tokens are not known.
    #[serde(skip_serializing_if = "UnknownUsage::is_empty")]
    pub tokens_doubt: UnknownUsage,
    /// Iterations whose cost is not known.
    #[serde(skip_serializing_if = "UnknownUsage::is_empty")]
    pub cost_doubt: UnknownUsage,
    /// What became of the work.
    #[serde(skip_serializing_if = "TaskResultCounts::is_empty")]
    pub results: TaskResultCounts,
}

/// What became of work: how many tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskResultCounts {
    /// Merged.
    pub merged: u64,
    /// Taken back after it was merged.
    pub taken_back: u64,
    /// Failed: no iterations or retries were left.
    pub failed: u64,
    /// Permissions that agents asked for and got.
    #[serde(skip_serializing_if = "is_default")]
    pub permitted: u64,
    /// Permissions that they did not get.
    #[serde(skip_serializing_if = "is_default")]
    pub refused: u64,
}

impl TaskResultCounts {
    /// Whether there is nothing yet.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts one more.
    pub fn count(&mut self, what: TaskResult) {
        let number = match what {
            TaskResult::Merged => &mut self.merged,
            TaskResult::TakenBack => &mut self.taken_back,
            TaskResult::BroughtBack => {
                self.taken_back = self.taken_back.saturating_sub(1);
                return;
            }
            TaskResult::Failed => &mut self.failed,
            TaskResult::Permitted => &mut self.permitted,
            TaskResult::Refused => &mut self.refused,
        };
        *number = number.saturating_add(1);
    }
}

/// What became of the work on a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskResult {
    /// It was merged.
    Merged,
    /// Its merge was taken back.
    TakenBack,
    /// That was undone: it is merged again, as it was counted before.
    BroughtBack,
    /// It failed.
    Failed,
    /// Its agent got a permission that it had asked for.
    Permitted,
    /// It did not get one.
    Refused,
}

/// The most that one iteration is known to have used elsewhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct HighestIterationUsage {
    /// Tokens.
    pub tokens: u64,
    /// Millionths of a dollar.
    pub cost: u64,
}

impl UsageTally {
    /// Whether nothing was counted yet.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds an iteration. `most` is what one of the same program used at most, for the case that this one tells nothing.
    pub fn add(&mut self, report: &IterationReport, most: HighestIterationUsage) {
        if report.not_started {
            return;
        }
        let cut_off = report.cut_off || matches!(report.outcome, IterationOutcome::Stopped | IterationOutcome::Crashed);
        self.iterations = self.iterations.saturating_add(u64::from(report.counts()));
        self.time_doubt = self.time_doubt.saturating_add(u64::from(report.end_unseen));
        self.used((report.tokens, report.cost_usd.and_then(Usd::of)), report.duration_ms, cut_off, most);
    }

    /// Adds a look at the work by the program of a persona: no iteration, and paid like one.
    pub fn looked(&mut self, used: &ProgramUsage, duration_ms: u64, most: HighestIterationUsage) {
        self.time_doubt = self.time_doubt.saturating_add(u64::from(used.end_unseen));
        self.used((used.tokens, used.cost_usd), duration_ms, used.cut_off, most);
    }

    /// Adds a run of a planner: it is one for the goal, as an iteration is for a task.
    pub fn planned(&mut self, used: &ProgramUsage, duration_ms: u64, most: HighestIterationUsage) {
        self.iterations = self.iterations.saturating_add(1);
        self.looked(used, duration_ms, most);
    }

    fn used(&mut self, (tokens, cost): (Option<u64>, Option<Usd>), duration_ms: u64, cut_off: bool, most: HighestIterationUsage) {
        self.duration_ms = self.duration_ms.saturating_add(duration_ms);
        self.tokens = sum(self.tokens, tokens);
        self.cost = sum(self.cost.map(|cost| cost.0), cost.map(|cost| cost.0)).map(Usd);
        self.tokens_doubt.hear(tokens, cut_off, most.tokens);
        self.cost_doubt.hear(cost.map(|cost| cost.0), cut_off, most.cost);
    }

    /// The most that one of these iterations used.
    pub fn most(&self) -> HighestIterationUsage {
        HighestIterationUsage { tokens: self.tokens_doubt.most, cost: self.cost_doubt.most }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        let join = |mine: UnknownUsage, its: UnknownUsage| UnknownUsage {
            iterations: mine.iterations.saturating_add(its.iterations),
            assumed: mine.assumed.saturating_add(its.assumed),
            most: mine.most.max(its.most),
        };
        let add = u64::saturating_add;
        *self = Self {
            iterations: add(self.iterations, other.iterations),
            tokens: sum(self.tokens, other.tokens),
            cost: sum(self.cost.map(|cost| cost.0), other.cost.map(|cost| cost.0)).map(Usd),
            duration_ms: add(self.duration_ms, other.duration_ms),
            time_doubt: add(self.time_doubt, other.time_doubt),
            tokens_doubt: join(self.tokens_doubt, other.tokens_doubt),
            cost_doubt: join(self.cost_doubt, other.cost_doubt),
            results: TaskResultCounts {
                merged: add(self.results.merged, other.results.merged),
                taken_back: add(self.results.taken_back, other.results.taken_back),
                failed: add(self.results.failed, other.results.failed),
                permitted: add(self.results.permitted, other.results.permitted),
                refused: add(self.results.refused, other.results.refused),
            },
        };
    }
}

/// Unknown is not 0: the sum is known as far as one of the two is.
fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The report of an iteration that used this much.
    pub(crate) fn used(tokens: Option<u64>, cost_usd: Option<f64>, outcome: IterationOutcome) -> IterationReport {
        let zeros = "0".repeat(40);
        let json = serde_json::json!({ "outcome": outcome, "from": zeros, "to": zeros, "durationMs": 1500, "tokens": tokens });
        IterationReport { cost_usd, ..serde_json::from_value(json).unwrap() }
    }

    fn unfinished() -> IterationOutcome {
        IterationOutcome::Unfinished { why: String::new() }
    }

    #[test]
    fn dollars_are_exact_and_a_number_in_json() {
        assert_eq!(Usd::of(0.1).unwrap().0 * 3, Usd::of(0.3).unwrap().0);
        for (dollars, text) in [(5.0, "$5.00"), (0.25, "$0.25"), (1.2345, "$1.2345"), (0.000_12, "$0.000120"), (0.0, "$0.00")] {
            let usd = Usd::of(dollars).unwrap();
            assert_eq!(usd.to_string(), text);
            let json = serde_json::to_string(&usd).unwrap();
            assert_eq!(serde_json::from_str::<Usd>(&json).unwrap(), usd, "{json}");
        }
        for none in [-1.0, f64::NAN, f64::INFINITY, 1e12] {
            assert_eq!(Usd::of(none), None);
        }
    }

    #[test]
    fn unknown_is_never_zero() {
        let mut tally = UsageTally::default();
        tally.add(&used(None, None, unfinished()), HighestIterationUsage::default());
        assert_eq!((tally.tokens, tally.cost, tally.iterations, tally.duration_ms), (None, None, 1, 1500));
        tally.add(&used(Some(10), None, IterationOutcome::Complete), HighestIterationUsage::default());
        assert_eq!((tally.tokens, tally.tokens_doubt.iterations, tally.cost_doubt.iterations), (Some(10), 1, 2));
        let limited = IterationOutcome::Limited { why: String::new(), seconds: None };
        tally.add(&used(Some(5), Some(0.5), limited), HighestIterationUsage::default());
        assert_eq!((tally.tokens, tally.cost, tally.iterations), (Some(15), Usd::of(0.5), 2), "it does not count, and was paid");
        let never = IterationReport { not_started: true, ..used(None, None, unfinished()) };
        let before = tally;
        tally.add(&never, HighestIterationUsage::default());
        assert_eq!(tally, before);
    }

    #[test]
    fn what_a_cut_off_iteration_used_is_assumed_to_be_the_most_that_is_known() {
        let of_the_program = HighestIterationUsage { tokens: 7, cost: 70 };
        let mut tally = UsageTally::default();
        tally.add(&used(None, None, unfinished()), of_the_program);
        assert_eq!((tally.tokens_doubt.assumed, tally.cost_doubt.assumed), (0, 0), "it ended by itself");
        tally.add(&used(None, None, IterationOutcome::Stopped), of_the_program);
        assert_eq!((tally.tokens_doubt.assumed, tally.cost_doubt.assumed), (7, 70));
        tally.add(&used(Some(100), Some(1.0), unfinished()), of_the_program);
        tally.add(&used(Some(30), Some(0.3), unfinished()), of_the_program);
        tally.add(&used(None, None, IterationOutcome::Crashed), of_the_program);
        assert_eq!((tally.tokens_doubt.assumed, tally.cost_doubt.assumed), (107, 1_000_070));
        let over_limit = IterationReport { cut_off: true, ..used(None, Some(0.1), unfinished()) };
        tally.add(&over_limit, of_the_program);
        assert_eq!((tally.tokens_doubt.assumed, tally.cost_doubt.assumed), (207, 1_000_070));
        assert_eq!((tally.tokens_doubt.iterations, tally.cost_doubt.iterations), (4, 4), "what was told is a part of it");
    }

    #[test]
    fn a_look_at_the_work_is_paid_and_no_iteration() {
        let mut tally = UsageTally::default();
        let used = ProgramUsage { program: "p".into(), tokens: Some(7), cost_usd: Usd::of(0.5), ..ProgramUsage::default() };
        tally.looked(&used, 1500, HighestIterationUsage::default());
        assert_eq!((tally.iterations, tally.tokens, tally.cost, tally.duration_ms), (0, Some(7), Usd::of(0.5), 1500));
        tally.looked(&ProgramUsage { cut_off: true, ..ProgramUsage::default() }, 0, HighestIterationUsage::default());
        assert_eq!((tally.tokens_doubt.assumed, tally.tokens_doubt.iterations), (7, 1));
    }

    #[test]
    fn a_merged_sum_is_the_sum_of_both() {
        let (mut a, mut b, mut both) = (UsageTally::default(), UsageTally::default(), UsageTally::default());
        for (which, report) in [(0, used(Some(3), Some(0.1), unfinished())), (1, used(None, None, IterationOutcome::Stopped))] {
            if which == 0 { &mut a } else { &mut b }.add(&report, HighestIterationUsage::default());
            both.add(&report, HighestIterationUsage::default());
        }
        b.results.count(TaskResult::Merged);
        both.results.count(TaskResult::Merged);
        both.tokens_doubt.assumed = 0;
        both.cost_doubt.assumed = 0;
        a.merge(&b);
        assert_eq!(a, both);
    }
}
