//! How long agents' programs have run in a session, those of personas too. Time in which several run counts once. Pure.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// How many spans are kept apart; older ones are a sum.
const MOST_SPANS: usize = 16;

/// The time of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionRunTime {
    ran_ms: u64,
    /// Until when the sum counts: what ran before is in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    summed_until: Option<Timestamp>,
    /// Since when at least one runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    /// When programs ran, oldest first; no two touch. Ends are not recorded in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    spans: Vec<(Timestamp, Timestamp)>,
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

    /// A program ended, which may have been long before anybody saw it; whether others still run.
    pub fn ended(&mut self, at: Timestamp, others_run: bool) {
        let Some(since) = self.since else { return };
        self.ran(since, at);
        self.since = self.since.filter(|_| others_run);
    }

    /// A program ran from then to then, whose beginning was not recorded.
    pub fn ran(&mut self, began: Timestamp, ended: Timestamp) {
        let began = began.max(self.summed_until.unwrap_or(began));
        // A clock that went back counts nothing.
        if began >= ended {
            return;
        }
        let touches = |span: &(Timestamp, Timestamp)| span.0 <= ended && began <= span.1;
        let (touched, mut apart): (Vec<_>, Vec<_>) = std::mem::take(&mut self.spans).into_iter().partition(touches);
        let whole = touched.into_iter().fold((began, ended), |whole, span| (whole.0.min(span.0), whole.1.max(span.1)));
        apart.push(whole);
        apart.sort_unstable();
        self.spans = apart;
        if self.spans.len() > MOST_SPANS {
            let oldest = self.spans.remove(0);
            self.ran_ms = self.ran_ms.saturating_add(length(oldest));
            self.summed_until = Some(oldest.1);
        }
    }

    /// The same of one that ran for so many milliseconds.
    pub fn ran_for(&mut self, ms: u64, ended: Timestamp) {
        let ran = SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX));
        self.ran(ended.checked_sub(ran).unwrap_or(Timestamp::MIN), ended);
    }

    /// The time until now, in milliseconds.
    pub fn millis(&self, now: Timestamp) -> u64 {
        let mut all = self.clone();
        if let Some(since) = self.since {
            all.ran(since, now);
        }
        all.spans.iter().fold(all.ran_ms, |sum, span| sum.saturating_add(length(*span)))
    }
}

fn length((from, to): (Timestamp, Timestamp)) -> u64 {
    u64::try_from(to.duration_since(from).as_millis()).unwrap_or(0)
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
        (0..3).for_each(|second| time.ran(at(second * 2), at(second * 2 + 1)));
        assert_eq!(time.millis(at(9)), 3000);
        time.begun(at(10));
        time.ran(at(10), at(11));
        time.ended(at(12), false);
        assert_eq!(time.millis(at(20)), 5000);
        // A persona looked all the time.
        time.ran(at(4), at(14));
        assert_eq!(time.millis(at(20)), 12_000);
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
        // A persona looked while it ran, and before.
        time.ran(at(55), at(65));
        assert_eq!((time.millis(at(60)), time.millis(at(70))), (40_000, 45_000));
        assert_eq!(time.millis(at(5)), 40_000, "the clock went back");
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
        assert_eq!(time.millis(at(1000)), 30_000);
        // One whose beginning nobody saw.
        time.ended(at(50), false);
        assert_eq!(time.millis(at(1000)), 30_000);
    }

    #[test]
    fn many_spans_are_few_and_nothing_of_them_is_lost() {
        let mut time = SessionRunTime::default();
        for second in 0..1000 {
            time.ran(at(second * 10), at(second * 10 + 4));
        }
        assert_eq!((time.spans.len(), time.millis(at(20_000))), (MOST_SPANS, 4_000_000));
        // What began long ago counts from where the sum ends.
        time.ran(at(0), at(9_994));
        assert_eq!(time.millis(at(20_000)), 983 * 4000 + 4000 + (9_994 - 9_834) * 1000);
    }
}
