//! Limits on what a task or a session may use: which one is reached, and by how much it is exceeded. Pure.

use serde::{Deserialize, Serialize};

use crate::base::forms::times;
use crate::work::money::amounts::{cost, seconds, thousands, tokens};
use crate::work::money::spending::UsageTally;
use crate::work::usd::Usd;
use axiom_base::error::{Code, Error, Result};

/// What may be used. What has no limit is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BudgetLimits {
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<Usd>,
    /// Tokens, read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Seconds in which programs run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_time: Option<u64>,
}

impl BudgetLimits {
    /// Whether there is none.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These, and where there is none, that of `others`.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            max_cost: self.max_cost.or(others.max_cost),
            max_tokens: self.max_tokens.or(others.max_tokens),
            max_time: self.max_time.or(others.max_time),
        }
    }
}

impl BudgetLimits {
    /// In words: `$5.00, 200,000 tokens, 2h`.
    pub fn in_words(&self) -> String {
        let of = |of: BudgetResource, limit: Option<u64>| limit.map(|limit| of.words(limit));
        let all = [
            of(BudgetResource::Cost, self.max_cost.map(|cost| cost.0)),
            of(BudgetResource::Tokens, self.max_tokens),
            of(BudgetResource::Time, self.max_time.map(|seconds| seconds.saturating_mul(1000))),
        ];
        let all: Vec<String> = all.into_iter().flatten().collect();
        if all.is_empty() { "none".to_owned() } else { all.join(", ") }
    }

    /// The options that set these limits.
    pub fn options(&self) -> String {
        let cost = self.max_cost.map(|cost| format!("--max-cost {}", cost.dollars()));
        let tokens = self.max_tokens.map(|tokens| format!("--max-tokens {tokens}"));
        let time = self.max_time.map(|seconds| format!("--max-time {seconds}s"));
        [cost, tokens, time].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// The new limits that options and answers give: `none` takes one away, what is not named stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NewBudgetLimits {
    /// US dollars.
    pub max_cost: Option<Option<Usd>>,
    /// Tokens.
    pub max_tokens: Option<Option<u64>>,
    /// Seconds.
    pub max_time: Option<Option<u64>>,
}

impl NewBudgetLimits {
    /// Reads what was given for each.
    pub fn read(max_cost: Option<&str>, max_tokens: Option<&str>, max_time: Option<&str>) -> Result<Self> {
        fn one<T>(text: Option<&str>, read: impl Fn(&str) -> Result<T>) -> Result<Option<Option<T>>> {
            let is_none = |text: &str| text.is_empty() || text.eq_ignore_ascii_case("none");
            text.map(|text| if is_none(text) { Ok(None) } else { read(text).map(Some) }).transpose()
        }
        Ok(Self { max_cost: one(max_cost, cost)?, max_tokens: one(max_tokens, tokens)?, max_time: one(max_time, seconds)? })
    }

    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The limits afterwards.
    pub fn on(&self, old: BudgetLimits) -> BudgetLimits {
        BudgetLimits {
            max_cost: self.max_cost.unwrap_or(old.max_cost),
            max_tokens: self.max_tokens.unwrap_or(old.max_tokens),
            max_time: self.max_time.unwrap_or(old.max_time),
        }
    }
}

/// What a limit limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BudgetResource {
    /// US dollars.
    Cost,
    /// Tokens.
    Tokens,
    /// Time in which programs run.
    Time,
}

impl BudgetResource {
    /// The option that sets the limit.
    pub const fn option(self) -> &'static str {
        match self {
            Self::Cost => "--max-cost",
            Self::Tokens => "--max-tokens",
            Self::Time => "--max-time",
        }
    }

    /// An amount in words: millionths of a dollar, tokens, milliseconds.
    pub fn words(self, amount: u64) -> String {
        match self {
            Self::Cost => Usd(amount).to_string(),
            Self::Tokens => format!("{} tokens", thousands(amount)),
            Self::Time => times::span(amount / 1000),
        }
    }
}

/// How a limit stands. Amounts are millionths of a dollar, tokens, milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetUsage {
    /// What is limited.
    pub of: BudgetResource,
    /// The limit.
    pub limit: u64,
    /// What was used of it.
    pub used: u64,
    /// Whether that is all: otherwise there were iterations that told nothing.
    pub known: bool,
    /// Whether it is counted since a human allowed as much again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub since_allowed: bool,
}

impl BudgetUsage {
    /// Whether nothing is left.
    pub fn is_reached(&self) -> bool {
        self.used >= self.limit
    }

    /// By how much the limit is exceeded; parts of a second do not count.
    pub fn over(&self) -> Option<u64> {
        let least = if self.of == BudgetResource::Time { 1000 } else { 1 };
        self.used.checked_sub(self.limit).filter(|over| *over >= least)
    }

    /// What an answer that raises the limit looks like.
    pub const fn raised(&self) -> &'static str {
        match self.of {
            BudgetResource::Cost => "'$AMOUNT'",
            BudgetResource::Tokens => "'NUMBER tokens'",
            BudgetResource::Time => "TIME",
        }
    }

    /// In words: `$6.20 of $5.00, $1.20 over`.
    pub fn in_words(&self) -> String {
        let at_least = if self.known { "" } else { "at least " };
        let (amount, unit): (fn(BudgetResource, u64) -> String, _) = match self.of {
            BudgetResource::Cost | BudgetResource::Time => (BudgetResource::words, ""),
            BudgetResource::Tokens => (|_, tokens| thousands(tokens), " tokens"),
        };
        let amount = |number| amount(self.of, number);
        let over = self.over().map_or_else(String::new, |over| format!(", {} over", amount(over)));
        let since = if self.since_allowed { " since more was allowed" } else { "" };
        format!("{at_least}{} of {}{unit}{since}{over}", amount(self.used), amount(self.limit))
    }
}

/// How a limit stands.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetUsageJson {
    of: BudgetResource,
    /// In US dollars, tokens or seconds.
    limit: BudgetAmountJson,
    /// The same; counted since as much again was allowed.
    used: BudgetAmountJson,
    /// By how much the limit is exceeded.
    over: Option<BudgetAmountJson>,
    /// Whether that is all: otherwise there were iterations that told nothing.
    known: bool,
}

/// An amount in the unit of what is limited.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
enum BudgetAmountJson {
    Dollars(f64),
    Count(u64),
}

impl From<&BudgetUsage> for BudgetUsageJson {
    fn from(used: &BudgetUsage) -> Self {
        let amount = |amount: u64| match used.of {
            BudgetResource::Cost => BudgetAmountJson::Dollars(Usd(amount).dollars()),
            BudgetResource::Tokens => BudgetAmountJson::Count(amount),
            BudgetResource::Time => BudgetAmountJson::Count(amount / 1000),
        };
        let over = used.over().map(amount);
        Self { of: used.of, limit: amount(used.limit), used: amount(used.used), over, known: used.known }
    }
}

/// What counts towards the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BudgetSpending {
    tokens: (u64, bool),
    cost: (u64, bool),
    time_ms: (u64, bool),
    since_allowed: bool,
}

/// What an iteration that still runs, or a persona that looks, has used by now, as far as it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunningIterationUsage {
    /// Tokens.
    pub tokens: Option<u64>,
    /// Cost.
    pub cost: Option<Usd>,
    /// Milliseconds.
    pub time_ms: u64,
    /// Whether it may have been more: nobody saw its end.
    pub end_unseen: bool,
}

impl BudgetSpending {
    /// What was used since `from`, where a human allowed as much again then.
    pub fn since(all: &UsageTally, from: Option<&UsageTally>) -> Self {
        let sums = |tally: &UsageTally| {
            let tokens = tally.tokens.unwrap_or(0).saturating_add(tally.tokens_doubt.assumed);
            let cost = tally.cost.map_or(0, |cost| cost.0).saturating_add(tally.cost_doubt.assumed);
            let doubts = (tally.tokens_doubt.iterations, tally.cost_doubt.iterations);
            [(tokens, doubts.0), (cost, doubts.1), (tally.duration_ms, tally.time_doubt)]
        };
        let (now, then) = (sums(all), from.map(sums).unwrap_or_default());
        let since = |(now, then): ((u64, u64), (u64, u64))| (now.0.saturating_sub(then.0), now.1 <= then.1);
        let [tokens, cost, time_ms] = [(now[0], then[0]), (now[1], then[1]), (now[2], then[2])].map(since);
        Self { tokens, cost, time_ms, since_allowed: from.is_some() }
    }

    /// And what runs.
    #[must_use]
    pub fn with(mut self, running: RunningIterationUsage) -> Self {
        self.tokens.0 = self.tokens.0.saturating_add(running.tokens.unwrap_or(0));
        self.cost.0 = self.cost.0.saturating_add(running.cost.map_or(0, |cost| cost.0));
        self.time_ms = (self.time_ms.0.saturating_add(running.time_ms), self.time_ms.1 && !running.end_unseen);
        self
    }

    /// The same with another time: that of a session is the time in which any of its programs runs.
    #[must_use]
    pub fn in_time(mut self, time_ms: u64) -> Self {
        self.time_ms.0 = time_ms;
        self
    }

    /// How each limit stands.
    pub fn of(self, limits: BudgetLimits) -> Vec<BudgetUsage> {
        let used = |of, limit: Option<u64>, (used, known): (u64, bool)| {
            Some(BudgetUsage { of, limit: limit?, used, known, since_allowed: self.since_allowed })
        };
        [
            used(BudgetResource::Cost, limits.max_cost.map(|cost| cost.0), self.cost),
            used(BudgetResource::Tokens, limits.max_tokens, self.tokens),
            used(BudgetResource::Time, limits.max_time.map(|seconds| seconds.saturating_mul(1000)), self.time_ms),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The limits that are reached.
    pub fn reached(self, limits: BudgetLimits) -> Vec<BudgetUsage> {
        self.of(limits).into_iter().filter(BudgetUsage::is_reached).collect()
    }
}

/// Reads the answer at the gate of a budget: the new limits, one or more, of what is limited there.
pub fn raised(text: &str, reached: &[BudgetUsage]) -> Result<NewBudgetLimits> {
    let mut limits = NewBudgetLimits::default();
    let hint = "such as '$10', '500k tokens' or '2h'; several with commas";
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let lower = part.to_ascii_lowercase();
        let bare = lower.strip_suffix("tokens").map(str::trim);
        let of = match reached {
            _ if bare.is_some() => BudgetResource::Tokens,
            _ if lower.starts_with('$') || lower.ends_with("usd") => BudgetResource::Cost,
            [one] => one.of,
            _ => BudgetResource::Time,
        };
        match of {
            BudgetResource::Cost => limits.max_cost = Some(Some(cost(part)?)),
            BudgetResource::Tokens => limits.max_tokens = Some(Some(tokens(bare.unwrap_or(&lower))?)),
            BudgetResource::Time => limits.max_time = Some(Some(seconds(part)?)),
        }
    }
    if limits.is_empty() {
        return Err(Error::new(Code::InvalidInput, "the answer has no new limit").hint(hint));
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::iteration::IterationOutcome;
    use crate::work::money::spending::HighestIterationUsage;
    use crate::work::money::spending::tests::used;

    fn limits(cost: Option<f64>, tokens: Option<u64>, time: Option<u64>) -> BudgetLimits {
        BudgetLimits { max_cost: cost.and_then(Usd::of), max_tokens: tokens, max_time: time }
    }

    fn tally(reports: &[(Option<u64>, Option<f64>, IterationOutcome)]) -> UsageTally {
        let mut tally = UsageTally::default();
        reports.iter().for_each(|(tokens, cost, outcome)| {
            tally.add(&used(*tokens, *cost, outcome.clone()), HighestIterationUsage::default())
        });
        tally
    }

    #[test]
    fn a_limit_is_reached_when_nothing_is_left_and_what_is_over_is_told() {
        let all = tally(&[(Some(60), Some(0.5), IterationOutcome::Complete), (Some(60), Some(0.7), IterationOutcome::Complete)]);
        let reached = BudgetSpending::since(&all, None).reached(limits(Some(1.0), Some(120), Some(60)));
        assert_eq!(
            reached.iter().map(BudgetUsage::in_words).collect::<Vec<_>>(),
            ["$1.20 of $1.00, $0.20 over", "120 of 120 tokens"]
        );
        assert_eq!(reached.iter().map(|one| one.of).collect::<Vec<_>>(), [BudgetResource::Cost, BudgetResource::Tokens]);
        assert!(BudgetSpending::since(&all, None).reached(limits(Some(1.21), Some(121), None)).is_empty());
        assert!(BudgetSpending::default().reached(BudgetLimits::default()).is_empty());
        let json = serde_json::to_value(BudgetUsageJson::from(&reached[0])).unwrap();
        assert_eq!(json, serde_json::json!({"of": "cost", "limit": 1.0, "used": 1.2, "over": 0.2, "known": true}));
    }

    #[test]
    fn what_was_cut_off_counts_as_the_most_and_is_no_certain_sum() {
        let all = tally(&[(Some(60), Some(0.5), IterationOutcome::Complete), (None, None, IterationOutcome::Stopped)]);
        let reached = BudgetSpending::since(&all, None).reached(limits(Some(1.0), None, None));
        assert_eq!(reached[0].in_words(), "at least $1.00 of $1.00");
    }

    #[test]
    fn what_was_allowed_again_counts_from_then_and_what_runs_counts_too() {
        let then = tally(&[(Some(60), Some(5.0), IterationOutcome::Stopped), (None, None, IterationOutcome::Stopped)]);
        let mut now = then;
        now.add(&used(Some(10), Some(0.5), IterationOutcome::Complete), HighestIterationUsage::default());
        let spent = BudgetSpending::since(&now, Some(&then));
        assert_eq!(spent.of(limits(Some(1.0), None, Some(2)))[0].in_words(), "$0.50 of $1.00 since more was allowed");
        assert_eq!(spent.of(limits(None, None, Some(2)))[0].in_words(), "1s of 2s since more was allowed");
        let running = RunningIterationUsage { tokens: Some(5), cost: Usd::of(0.75), time_ms: 700, end_unseen: false };
        let reached = spent.with(running).reached(limits(Some(1.0), Some(16), Some(2)));
        let over = ["$1.25 of $1.00 since more was allowed, $0.25 over", "2s of 2s since more was allowed"];
        assert_eq!(reached.iter().map(BudgetUsage::in_words).collect::<Vec<_>>(), over);
    }

    #[test]
    fn an_answer_names_the_new_limits() {
        let reached = |of: &[BudgetResource]| -> Vec<BudgetUsage> {
            of.iter().map(|of| BudgetUsage { of: *of, limit: 1, used: 1, known: true, since_allowed: false }).collect()
        };
        let answered = |text: &str, of: &[BudgetResource]| raised(text, &reached(of)).map(|new| new.on(BudgetLimits::default()));
        assert_eq!(answered("10", &[BudgetResource::Cost]).unwrap(), limits(Some(10.0), None, None));
        assert_eq!(answered("500k tokens, $3", &[BudgetResource::Time]).unwrap(), limits(Some(3.0), Some(500_000), None));
        assert_eq!(answered("2h", &[BudgetResource::Cost, BudgetResource::Time]).unwrap(), limits(None, None, Some(7200)));
        assert!(answered("", &[BudgetResource::Cost]).is_err() && answered("much", &[BudgetResource::Cost]).is_err());
    }

    #[test]
    fn limits_are_set_and_taken_away_one_by_one() {
        let old = limits(Some(5.0), Some(10), None);
        let new = NewBudgetLimits::read(Some("none"), None, Some("2h")).unwrap();
        assert_eq!(new.on(old), limits(None, Some(10), Some(7200)));
        assert!(
            NewBudgetLimits::default().is_empty() && !new.is_empty() && NewBudgetLimits::read(Some("x"), None, None).is_err()
        );
        assert_eq!(new.on(old).in_words(), "10 tokens, 2h");
        assert_eq!(limits(Some(2.5), None, Some(60)).options(), "--max-cost 2.5 --max-time 60s");
    }
}
