//! How long agents' programs have run in a session. Time in which several run counts once. Pure.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The time of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionRunTime {
    ran_ms: u64,
    /// Since when at least one runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    /// The latest end since then that is known: ends are not recorded in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Timestamp>,
}

impl SessionRunTime {
    /// The time of a new session.
    pub fn beginning(runs: bool, at: Timestamp) -> Self {
        Self { since: runs.then_some(at), ..Self::default() }
    }

    /// Whether nothing ran.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A program began.
    pub fn begun(&mut self, at: Timestamp) {
        self.since.get_or_insert(at);
    }

    /// A program began and ended before its beginning was recorded; whether others run.
    pub fn ran(&mut self, ms: u64, ended: Timestamp, others_run: bool) {
        if self.since.is_none() {
            self.ran_ms = self.ran_ms.saturating_add(ms);
        } else {
            self.ended(ended, others_run);
        }
    }

    /// A program ended, which may have been long before anybody saw it; whether others still run.
    pub fn ended(&mut self, at: Timestamp, others_run: bool) {
        let latest = self.ended.max(Some(at)).filter(|_| self.since.is_some());
        match latest {
            Some(latest) if !others_run => *self = Self { ran_ms: self.millis(latest), ..Self::default() },
            latest => self.ended = latest,
        }
    }

    /// The time until now, in milliseconds.
    pub fn millis(&self, now: Timestamp) -> u64 {
        // A clock that went back counts nothing.
        let runs = self.since.map_or(0, |since| u64::try_from(now.duration_since(since).as_millis()).unwrap_or(0));
        self.ran_ms.saturating_add(runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn what_ran_before_its_beginning_was_recorded_counts_too_and_once() {
        let mut time = SessionRunTime::default();
        (0..3).for_each(|_| time.ran(50, at(1), false));
        assert_eq!(time.millis(at(9)), 150);
        time.begun(at(10));
        time.ran(50, at(11), true);
        time.ended(at(12), false);
        assert_eq!(time.millis(at(20)), 2150);
    }

    #[test]
    fn what_runs_at_the_same_time_counts_once() {
        let mut time = SessionRunTime::beginning(false, at(0));
        // One from 10 to 30, another from 20 to 40, a third from 60.
        time.begun(at(10));
        time.begun(at(20));
        time.ended(at(30), true);
        time.ended(at(40), false);
        time.begun(at(60));
        assert_eq!((time.millis(at(60)), time.millis(at(61))), (30_000, 31_000));
        assert_eq!(time.millis(at(5)), 30_000, "the clock went back");
        assert_eq!(SessionRunTime::beginning(true, at(0)).millis(at(2)), 2_000, "a program that outlived the last session");
    }

    #[test]
    fn an_end_counts_when_it_was_and_not_when_it_was_seen() {
        let mut time = SessionRunTime::beginning(false, at(0));
        time.begun(at(10));
        time.begun(at(10));
        // Both are seen at their next start, the one that ended last first.
        time.ended(at(40), true);
        time.ended(at(20), false);
        assert_eq!((time.millis(at(1000)), time), (30_000, SessionRunTime { ran_ms: 30_000, ..SessionRunTime::default() }));
        // One whose beginning nobody saw.
        time.ended(at(50), false);
        assert_eq!(time.millis(at(1000)), 30_000);
    }
}
