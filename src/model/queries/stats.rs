//! What was used, summed up for people and programs: by task, agent, persona, agent program or day. Pure.

use serde::Serialize;

use crate::base::forms::natural;
use crate::state::current_state::State;
use crate::work::money::ledger::OTHERS;
use crate::work::money::spending::{UnknownUsage, UsageTally};
use crate::work::usd::Usd;

/// What is summed up separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatsGrouping {
    /// Tasks.
    Task,
    /// Agents.
    Agent,
    /// Personas.
    Persona,
    /// Agent programs.
    Program,
    /// Days, in UTC.
    Day,
}

impl StatsGrouping {
    /// All, in the order of the help.
    pub const ALL: [Self; 5] = [Self::Task, Self::Agent, Self::Persona, Self::Program, Self::Day];

    /// The word used in JSON and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Agent => "agent",
            Self::Persona => "persona",
            Self::Program => "program",
            Self::Day => "day",
        }
    }

    /// The name, for people, of the sum of what has no name.
    pub const fn without_name(self) -> &'static str {
        match self {
            Self::Task | Self::Agent => "(others)",
            Self::Persona => "(no persona)",
            Self::Program => "(not recorded)",
            Self::Day => "(earlier)",
        }
    }
}

impl std::str::FromStr for StatsGrouping {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|by| by.as_str() == text);
        found.ok_or_else(|| format!("'{text}' is none of task, agent, persona, program, day"))
    }
}

/// A sum with its name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatsLine {
    /// Null: of what has no name, such as tasks without a persona.
    pub name: Option<String>,
    /// Of a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The sum.
    #[serde(flatten)]
    pub sum: StatsSum,
}

/// The numbers of a sum. What is not known is `None`, never 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatsSum {
    /// With the runs of planners.
    pub iterations: u64,
    /// As far as they are known.
    pub tokens: Option<u64>,
    /// Of how many iterations and looks of personas (`--verify @PERSONA`) they are not known.
    pub tokens_unknown: u64,
    /// As far as it is known.
    pub cost_usd: Option<f64>,
    /// Of how many iterations and looks of personas (`--verify @PERSONA`) it is not known.
    pub cost_unknown: u64,
    /// Seconds in which programs ran.
    pub duration: u64,
    /// For how many of them it may have been more: nobody recorded when they ended.
    pub time_unknown: u64,
    /// How many tasks were merged.
    pub merged: u64,
    /// How many merges were taken back.
    pub taken_back: u64,
    /// How often a task failed.
    pub failed: u64,
    /// How many permissions agents asked a human for, or a checkpoint before, and got.
    pub permissions_allowed: u64,
    /// How many they did not get: rejected, or nobody answered.
    pub permissions_refused: u64,
}

impl From<&UsageTally> for StatsSum {
    fn from(tally: &UsageTally) -> Self {
        let UsageTally { iterations, tokens, cost, duration_ms, time_doubt, tokens_doubt, cost_doubt, results } = *tally;
        let unknown = |doubt: UnknownUsage| doubt.iterations;
        Self {
            iterations,
            tokens,
            tokens_unknown: unknown(tokens_doubt),
            cost_usd: cost.map(Usd::dollars),
            cost_unknown: unknown(cost_doubt),
            duration: duration_ms / 1000,
            time_unknown: time_doubt,
            merged: results.merged,
            taken_back: results.taken_back,
            failed: results.failed,
            permissions_allowed: results.permitted,
            permissions_refused: results.refused,
        }
    }
}

/// The sums, ordered by name as people count, what has no name last; and the sum of all.
pub fn stats(state: &State, by: StatsGrouping) -> (Vec<StatsLine>, StatsSum) {
    let ledger = &state.record.ledger;
    let of = |sums: &std::collections::BTreeMap<String, UsageTally>| {
        sums.iter().map(|(name, tally)| (name.clone(), None, *tally)).collect::<Vec<_>>()
    };
    let all = match by {
        StatsGrouping::Task => {
            let tasks = state.record.tasks.iter().map(|(id, record)| (id, record.tally())).filter(|(_, tally)| !tally.is_empty());
            let title = |id| state.restorable.tasks.get(id).map(|task| task.title.clone());
            tasks.map(|(id, tally)| (id.to_string(), title(id), tally)).collect()
        }
        StatsGrouping::Agent => of(&ledger.agents),
        StatsGrouping::Persona => of(&ledger.personas),
        StatsGrouping::Program => of(&ledger.programs),
        StatsGrouping::Day => of(&ledger.days),
    };
    let (unnamed, named): (Vec<_>, Vec<_>) = all.into_iter().partition(|(name, ..)| name == OTHERS);
    let ordered = natural::sorted(named, |(name, ..)| name.as_str()).into_iter().chain(unnamed);
    let lines = ordered.map(|(name, title, tally)| StatsLine {
        name: Some(name).filter(|name| name != OTHERS),
        title,
        sum: StatsSum::from(&tally),
    });
    (lines.collect(), StatsSum::from(&ledger.total))
}

/// The sums as CSV (RFC 4180), with a heading. What is not known is empty.
pub fn csv(by: StatsGrouping, lines: &[StatsLine]) -> String {
    let titles = if by == StatsGrouping::Task { ",title" } else { "" };
    let mut text = format!(
        "{}{titles},iterations,tokens,tokensUnknown,costUsd,costUnknown,duration,merged,takenBack,failed\r\n",
        by.as_str()
    );
    for StatsLine { name, title, sum } in lines {
        let mut fields = vec![field(name.as_deref().unwrap_or_default())];
        if by == StatsGrouping::Task {
            fields.push(field(title.as_deref().unwrap_or_default()));
        }
        let StatsSum { iterations, tokens, tokens_unknown, cost_usd, cost_unknown, duration, merged, taken_back, failed, .. } =
            sum;
        let or_empty = |number: Option<String>| number.unwrap_or_default();
        fields.extend([iterations.to_string(), or_empty(tokens.map(|n| n.to_string())), tokens_unknown.to_string()]);
        fields.extend([or_empty(cost_usd.map(|n| n.to_string())), cost_unknown.to_string()]);
        fields.extend([duration, merged, taken_back, failed].map(u64::to_string));
        text.push_str(&fields.join(","));
        text.push_str("\r\n");
    }
    text
}

/// A text as a field. A spreadsheet takes what begins like a formula for one, and would run it.
fn field(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let text = format!("{}{text}", if is_formula { "'" } else { "" });
    if text.contains([',', '"', '\n', '\r', '\'']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::TaskId;
    use crate::work::iteration::IterationOutcome;
    use crate::work::money::spending::tests::used;
    use crate::work::money::spending::{HighestIterationUsage, TaskResult};

    fn with(title: &str) -> State {
        let mut state = State::default();
        let task = crate::work::tasks::task::Task { title: title.to_owned(), ..crate::work::tasks::wip::tests::task() };
        let id = task.id.clone();
        state.restorable.tasks.insert(id.clone(), task);
        let record = state.record.tasks.entry(id).or_default();
        record.ran(&used(Some(1200), Some(0.25), IterationOutcome::Complete), HighestIterationUsage::default());
        record.ran(&used(None, None, IterationOutcome::Stopped), HighestIterationUsage::default());
        record.results.count(TaskResult::Merged);
        state
    }

    #[test]
    fn a_title_is_no_formula_and_breaks_no_line() {
        let state = with("=HYPERLINK(\"x\"),\nb");
        let (lines, _) = stats(&state, StatsGrouping::Task);
        let id = lines[0].name.clone().unwrap();
        let heading = "task,title,iterations,tokens,tokensUnknown,costUsd,costUnknown,duration,merged,takenBack,failed";
        let line = format!("{id},\"'=HYPERLINK(\"\"x\"\"),\nb\",2,1200,1,0.25,1,3,1,0,0");
        assert_eq!(csv(StatsGrouping::Task, &lines), format!("{heading}\r\n{line}\r\n"));
        for (text, written) in [("a b", "a b"), ("-1", "\"'-1\""), ("@x", "\"'@x\""), ("+x", "\"'+x\""), ("a=b", "a=b")] {
            assert_eq!(field(text), written);
        }
    }

    #[test]
    fn unknown_is_null_and_names_are_ordered_as_people_count() {
        let mut state = with("T");
        for id in ["t-10", "t-9", "t-none"] {
            let record = state.record.tasks.entry(TaskId::new(id).unwrap()).or_default();
            if id != "t-none" {
                record.ran(&used(None, None, IterationOutcome::Complete), HighestIterationUsage::default());
            }
        }
        let (lines, total) = stats(&state, StatsGrouping::Task);
        let names: Vec<&str> = lines.iter().skip(1).filter_map(|line| line.name.as_deref()).collect();
        assert!(names.ends_with(&["t-9", "t-10"]) || lines[0].name.as_deref() == Some("t-9"), "{names:?}");
        let unknown = lines.iter().find(|line| line.name.as_deref() == Some("t-9")).unwrap();
        assert_eq!((unknown.sum.tokens, unknown.sum.cost_usd, unknown.sum.cost_unknown), (None, None, 1));
        assert_eq!(total, StatsSum::from(&UsageTally::default()));
        assert!(stats(&State::default(), StatsGrouping::Day).0.is_empty());
    }
}
