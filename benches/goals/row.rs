//! Values that were measured, and the rows that are made of them.

use std::time::Duration;

/// What was measured, in the order in which it was.
#[derive(Debug, Clone)]
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn of(values: Vec<f64>) -> Self {
        assert!(!values.is_empty(), "nothing was measured");
        Self(values)
    }

    pub fn times(times: &[Duration]) -> Self {
        Self::of(times.iter().map(Duration::as_secs_f64).collect())
    }

    /// The value below which `percent` of them are.
    pub fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
    }

    pub fn min(&self) -> f64 {
        self.percentile(0)
    }

    pub fn median(&self) -> f64 {
        self.percentile(50)
    }

    pub fn max(&self) -> f64 {
        self.percentile(100)
    }

    /// The median of the ratios of each round: what else the machine did in a round hit both.
    pub fn over(&self, other: &Self) -> f64 {
        assert_eq!(self.0.len(), other.0.len(), "both are measured in each round");
        Self(self.0.iter().zip(&other.0).map(|(ours, theirs)| ours / theirs).collect()).median()
    }

    /// What is left of each round without what `other` took in it.
    pub fn without(&self, other: &Self) -> Self {
        assert_eq!(self.0.len(), other.0.len(), "both are measured in each round");
        Self(self.0.iter().zip(&other.0).map(|(whole, part)| (whole - part).max(0.0)).collect())
    }
}

/// What a value says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unit {
    Seconds,
    /// Processor time by wall time.
    Core,
    PerSecond,
    Bytes,
    Count,
}

impl Unit {
    /// A factor for values like this one, and what stands behind them.
    fn scale(self, value: f64) -> (f64, &'static str) {
        match self {
            Self::Seconds if value >= 1.0 => (1.0, " s"),
            Self::Seconds if value >= 1e-3 => (1e3, " ms"),
            Self::Seconds => (1e6, " µs"),
            Self::Core => (100.0, " % of a core"),
            Self::PerSecond => (1.0, " a second"),
            Self::Bytes if value >= 1e6 => (1e-6, " MB"),
            Self::Bytes if value >= 1e3 => (1e-3, " kB"),
            Self::Bytes => (1.0, " bytes"),
            Self::Count => (1.0, ""),
        }
    }

    /// Minimum, median and maximum.
    pub fn all(self, samples: &Samples) -> String {
        let (factor, unit) = self.scale(samples.median());
        let cell = |value: f64| significant(value * factor);
        format!("{} / {} / {}{unit}", cell(samples.min()), cell(samples.median()), cell(samples.max()))
    }

    pub fn one(self, value: f64) -> String {
        let (factor, unit) = self.scale(value);
        format!("{}{unit}", significant(value * factor))
    }
}

/// A number with three digits that mean something, at most two of them behind the point.
fn significant(value: f64) -> String {
    match value.abs() {
        at_least if at_least >= 99.95 => format!("{value:.0}"),
        at_least if at_least >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// What a row promises.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    AtMost(f64),
    /// Nothing: it is there to be seen.
    None,
}

impl Goal {
    pub fn verdict(self, value: f64) -> &'static str {
        match self {
            Self::AtMost(goal) if value <= goal => "met",
            Self::AtMost(_) => "MISSED",
            Self::None => "",
        }
    }

    pub fn cell(self, print: impl Fn(f64) -> String) -> String {
        match self {
            Self::AtMost(goal) => format!("≤ {}", print(goal)),
            Self::None => String::new(),
        }
    }
}

/// How a row was measured.
pub enum Measured {
    /// Beside something else that does the nearest thing; the goal is a ratio.
    Beside { beside: String, ours: Samples, theirs: Samples },
    /// Alone; the goal is a value.
    Alone { unit: Unit, ours: Samples },
    /// At two sizes; the goal is the exponent of the growth: 0 does not grow, 1 grows as the size does, 2 as its square.
    Growth { with: String, unit: Unit, small: (usize, Samples), large: (usize, Samples) },
}

/// One line of a table.
pub struct Row {
    pub what: String,
    pub measured: Measured,
    pub goal: Goal,
    /// The machine's load average when it had been measured.
    pub load: f64,
}

/// The heads of the two kinds of tables.
pub const HEAD: &str = "| what | beside | ours: min / median / max | beside it | ratio | goal | | load |\n\
                        | --- | --- | --- | --- | --- | --- | --- | --- |\n";
pub const GROWTH_HEAD: &str = "| what | grows with | at the smaller size | at the larger one | exponent | goal | | load | group |\n\
                               | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

impl Row {
    pub fn is_growth(&self) -> bool {
        matches!(self.measured, Measured::Growth { .. })
    }

    /// The line in its table, without an end of line.
    pub fn line(&self, group: &str) -> String {
        let (what, load, goal) = (&self.what, self.load, self.goal);
        match &self.measured {
            Measured::Beside { beside, ours, theirs } => {
                let ratio = ours.over(theirs);
                let (ours, theirs) = (Unit::Seconds.all(ours), Unit::Seconds.all(theirs));
                let (promise, verdict) = (goal.cell(ratio_cell), goal.verdict(ratio));
                let ratio = ratio_cell(ratio);
                format!("| {what} | {beside} | {ours} | {theirs} | {ratio} | {promise} | {verdict} | {load:.1} |")
            }
            Measured::Alone { unit, ours } => {
                let (promise, verdict) = (goal.cell(|value| unit.one(value)), goal.verdict(ours.median()));
                format!("| {what} | | {} | | | {promise} | {verdict} | {load:.1} |", unit.all(ours))
            }
            Measured::Growth { with, unit, small, large } => {
                let exponent = exponent(small, large);
                let (promise, verdict) = (goal.cell(|value| format!("{value:.2}")), goal.verdict(exponent));
                let at = |(size, samples): &(usize, Samples)| format!("{}: {}", grouped(*size), unit.all(samples));
                let (small, large) = (at(small), at(large));
                format!("| {what} | {with} | {small} | {large} | {exponent:.2} | {promise} | {verdict} | {load:.1} | {group} |")
            }
        }
    }
}

fn exponent(small: &(usize, Samples), large: &(usize, Samples)) -> f64 {
    (large.1.median() / small.1.median()).ln() / (large.0 as f64 / small.0 as f64).ln()
}

fn ratio_cell(ratio: f64) -> String {
    if ratio < 0.1 { format!("{ratio:.3}") } else { format!("{ratio:.2}") }
}

/// 10000 as 10,000.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
