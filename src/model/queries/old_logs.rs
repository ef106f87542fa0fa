//! What becomes of agents' logs: those that nobody writes to any more are compressed after a while, and the oldest go where all
//! together are too large. Pure.
//!
//! Not here: where they are (`store::beside::agent_logs`), and doing it (`safety::upkeep::tidy::logs`).

use jiff::SignedDuration;

use crate::base::ids::TaskId;
use crate::state::current_state::State;
use crate::work::tasks::task::TaskStatus;

/// Whether somebody still needs what was printed for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentLogNeed {
    /// An agent works on it, or its end is not recorded yet.
    WorkedOn,
    /// What becomes of its result is not decided: it is not merged, archived or gone; or it is the goal of a plan that is open.
    Undecided,
    /// Nobody has to.
    Over,
}

/// Who needs the logs of a task.
pub fn need(state: &State, task: &TaskId) -> AgentLogNeed {
    if state.agent_on(task).is_some() {
        return AgentLogNeed::WorkedOn;
    }
    if state.open_plan().is_some_and(|plan| plan.goal.id == *task) {
        return AgentLogNeed::Undecided;
    }
    match state.restorable.tasks.get(task.as_str()) {
        Some(case) if case.merged.is_none() && case.status != TaskStatus::Archived => AgentLogNeed::Undecided,
        Some(_) | None => AgentLogNeed::Over,
    }
}

/// A log, as far as this decides about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OldAgentLog {
    /// Its bytes on disk.
    pub bytes: u64,
    /// How long ago it was written to.
    pub age: SignedDuration,
    /// Whether it is compressed.
    pub is_packed: bool,
    /// Who needs it.
    pub need: AgentLogNeed,
}

impl OldAgentLog {
    /// Whether it is compressed now, being older than this.
    pub fn is_to_pack(&self, age: SignedDuration) -> bool {
        !self.is_packed && self.bytes > 0 && self.age > age && self.need != AgentLogNeed::WorkedOn
    }
}

/// Which logs go, by their places in the list, so that all have at most `limit` bytes: the oldest first, of those that nobody needs and
/// that are older than `age`. 0 is no limit. Where those are not enough, more stays than the limit.
pub fn beyond(limit: u64, age: SignedDuration, logs: &[OldAgentLog]) -> Vec<usize> {
    let mut sum: u64 = logs.iter().map(|log| log.bytes).sum();
    let mut oldest: Vec<(usize, &OldAgentLog)> =
        logs.iter().enumerate().filter(|(_, log)| log.need == AgentLogNeed::Over && log.age > age).collect();
    oldest.sort_by_key(|(_, log)| std::cmp::Reverse(log.age));
    let mut gone = Vec::new();
    for (place, log) in oldest {
        if limit == 0 || sum <= limit {
            break;
        }
        sum -= log.bytes;
        gone.push(place);
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(bytes: u64, days: i64, need: AgentLogNeed) -> OldAgentLog {
        OldAgentLog { bytes, age: SignedDuration::from_hours(24 * days), is_packed: false, need }
    }

    #[test]
    fn only_what_is_old_and_at_rest_is_compressed() {
        let week = SignedDuration::from_hours(24 * 7);
        let old = log(5, 8, AgentLogNeed::Over);
        let packed = OldAgentLog { is_packed: true, ..old };
        let tasks = [
            old,
            log(5, 8, AgentLogNeed::Undecided),
            log(5, 7, AgentLogNeed::Over),
            log(0, 8, AgentLogNeed::Over),
            log(5, 8, AgentLogNeed::WorkedOn),
            packed,
        ];
        assert_eq!(tasks.map(|log| log.is_to_pack(week)), [true, true, false, false, false, false]);
    }

    #[test]
    fn the_oldest_go_until_the_rest_fits_and_what_somebody_needs_never_does() {
        let none = SignedDuration::ZERO;
        let logs = [
            log(10, 1, AgentLogNeed::Over),
            log(10, 3, AgentLogNeed::Over),
            log(10, 2, AgentLogNeed::Over),
            log(50, 9, AgentLogNeed::Undecided),
        ];
        assert_eq!(beyond(80, none, &logs), <Vec<usize>>::new());
        assert_eq!(beyond(79, none, &logs), [1]);
        assert_eq!(beyond(65, none, &logs), [1, 2]);
        assert_eq!(beyond(10, none, &logs), [1, 2, 0], "more than the limit stays");
        assert_eq!(beyond(10, SignedDuration::from_hours(24), &logs), [1, 2], "too young");
        assert_eq!(beyond(0, none, &logs), <Vec<usize>>::new(), "no limit");
        assert_eq!(beyond(10, none, &[log(50, 9, AgentLogNeed::WorkedOn)]), <Vec<usize>>::new());
    }
}
