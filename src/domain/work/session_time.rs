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
}

impl SessionRunTime {
    /// The time of a new session.
    pub fn beginning(runs: bool, at: Timestamp) -> Self {
        Self { ran_ms: 0, since: runs.then_some(at) }
    }

    /// Whether nothing ran.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// From now on, at least one program runs, or none.
    pub fn follow(&mut self, runs: bool, at: Timestamp) {
        if !runs {
            (self.ran_ms, self.since) = (self.millis(at), None);
        } else if self.since.is_none() {
            self.since = Some(at);
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
    fn what_runs_at_the_same_time_counts_once() {
        let mut time = SessionRunTime::beginning(false, at(0));
        // One from 10 to 30, another from 20 to 40, a third from 60.
        for (runs, second) in [(true, 10), (true, 20), (true, 30), (false, 40), (true, 60)] {
            time.follow(runs, at(second));
        }
        assert_eq!((time.millis(at(60)), time.millis(at(61))), (30_000, 31_000));
        assert_eq!(time.millis(at(5)), 30_000, "the clock went back");
        assert_eq!(SessionRunTime::beginning(true, at(0)).millis(at(2)), 2_000, "a program that outlived the last session");
    }
}
