//! Running sums over all iterations: by agent, persona, program and day. So that nobody has to read the log for them. Pure.
//!
//! They are part of the record, which no rollback takes back: what was paid stays paid.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::work::iteration::IterationReport;
use crate::work::money::spending::{HighestIterationUsage, TaskResult, UsageTally};
use crate::work::verifying::verification::ProgramUsage;

/// How many days have a sum of their own; older ones are one sum.
const MOST_DAYS: usize = 400;
/// How many agents, personas or programs have one.
const MOST_NAMES: usize = 1000;
/// The name of the sum of what has none of its own any more, or never had a name.
pub const OTHERS: &str = "";

/// The sums.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UsageLedger {
    /// All of it.
    pub total: UsageTally,
    /// By agent.
    pub agents: BTreeMap<String, UsageTally>,
    /// By persona.
    pub personas: BTreeMap<String, UsageTally>,
    /// By agent program.
    pub programs: BTreeMap<String, UsageTally>,
    /// By day, in UTC.
    pub days: BTreeMap<String, UsageTally>,
}

/// Whose an iteration or a result is. What is not known is empty.
#[derive(Debug, Clone, Copy)]
pub struct UsageOwner<'a> {
    /// The agent.
    pub agent: &'a str,
    /// The persona of the task.
    pub persona: &'a str,
    /// The agent program.
    pub program: &'a str,
    /// When it was.
    pub at: Timestamp,
}

impl UsageLedger {
    /// Whether nothing was counted yet.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The most that an iteration of this program used.
    pub fn most_of(&self, program: &str) -> HighestIterationUsage {
        self.programs.get(program).map(UsageTally::most).unwrap_or_default()
    }

    /// Counts an iteration.
    pub fn ran(&mut self, whose: UsageOwner<'_>, report: &IterationReport) {
        let most = self.most_of(whose.program);
        self.each(whose, |tally| tally.add(report, most));
    }

    /// Counts a look at the work by the program of a persona.
    pub fn looked(&mut self, whose: UsageOwner<'_>, used: &ProgramUsage, duration_ms: u64) {
        let most = self.most_of(whose.program);
        self.each(whose, |tally| tally.looked(used, duration_ms, most));
    }

    /// Counts a run of a planner.
    pub fn planned(&mut self, whose: UsageOwner<'_>, used: &ProgramUsage, duration_ms: u64) {
        let most = self.most_of(whose.program);
        self.each(whose, |tally| tally.planned(used, duration_ms, most));
    }

    /// Counts what became of work.
    pub fn became(&mut self, whose: UsageOwner<'_>, what: TaskResult) {
        // What was taken back on an earlier day is not any more.
        let earlier = if what == TaskResult::BroughtBack {
            self.days.iter().rfind(|(_, tally)| tally.results.taken_back > 0).map(|(day, _)| day.clone())
        } else {
            None
        };
        let day = earlier.unwrap_or_else(|| day_of(whose.at));
        self.each_on(day, whose, |tally| tally.results.count(what));
    }

    fn each(&mut self, whose: UsageOwner<'_>, count: impl Fn(&mut UsageTally)) {
        self.each_on(day_of(whose.at), whose, count);
    }

    fn each_on(&mut self, day: String, whose: UsageOwner<'_>, count: impl Fn(&mut UsageTally)) {
        let UsageOwner { agent, persona, program, at: _ } = whose;
        count(&mut self.total);
        for (sums, name) in [(&mut self.agents, agent), (&mut self.personas, persona), (&mut self.programs, program)] {
            let has_room = sums.len() < MOST_NAMES || sums.contains_key(name);
            count(sums.entry(if has_room { name } else { OTHERS }.to_owned()).or_default());
        }
        count(self.days.entry(day).or_default());
        while self.days.len() > MOST_DAYS {
            let Some(oldest) = self.days.keys().find(|day| !day.is_empty()).cloned() else { break };
            let Some(sum) = self.days.remove(&oldest) else { break };
            self.days.entry(OTHERS.to_owned()).or_default().merge(&sum);
        }
    }
}

fn day_of(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).date().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::iteration::IterationOutcome;
    use crate::work::money::spending::tests::used;

    fn day(number: i64) -> Timestamp {
        Timestamp::from_second(number * 86_400).unwrap()
    }

    fn whose<'a>(agent: &'a str, program: &'a str, at: Timestamp) -> UsageOwner<'a> {
        UsageOwner { agent, persona: "ed", program, at }
    }

    #[test]
    fn every_way_to_sum_has_the_same_total() {
        let mut ledger = UsageLedger::default();
        for (agent, program, number) in [("ed-001", "claude", 0), ("ed-002", "claude", 1), ("ed-001", "codex", 1)] {
            ledger.ran(whose(agent, program, day(number)), &used(Some(10), Some(0.1), IterationOutcome::Complete));
        }
        ledger.became(whose("ed-001", "codex", day(1)), TaskResult::Merged);
        for sums in [&ledger.agents, &ledger.personas, &ledger.programs, &ledger.days] {
            let mut all = UsageTally::default();
            sums.values().for_each(|sum| all.merge(sum));
            assert_eq!(all, ledger.total);
        }
        assert_eq!(ledger.days.keys().collect::<Vec<_>>(), ["1970-01-01", "1970-01-02"]);
        assert_eq!((ledger.agents["ed-001"].tokens, ledger.programs["codex"].results.merged), (Some(20), 1));
    }

    #[test]
    fn a_cut_off_iteration_counts_as_the_most_of_its_program() {
        let mut ledger = UsageLedger::default();
        ledger.ran(whose("a", "claude", day(0)), &used(Some(10), Some(0.1), IterationOutcome::Complete));
        ledger.ran(whose("b", "claude", day(0)), &used(None, None, IterationOutcome::Stopped));
        ledger.ran(whose("b", "codex", day(0)), &used(None, None, IterationOutcome::Stopped));
        assert_eq!(ledger.agents["b"].tokens_doubt.assumed, 10);
    }

    #[test]
    fn the_number_of_sums_is_limited_and_nothing_is_lost() {
        let mut ledger = UsageLedger::default();
        for number in 0..1100 {
            ledger.ran(whose(&format!("a-{number}"), "p", day(number)), &used(Some(1), None, IterationOutcome::Complete));
        }
        assert_eq!((ledger.days.len(), ledger.agents.len()), (MOST_DAYS, MOST_NAMES + 1));
        assert_eq!(ledger.days[OTHERS].tokens, Some(701));
        assert_eq!(ledger.agents[OTHERS].tokens, Some(100));
    }
}
