//! What an agent told in the iteration that a crash cut off, also what no supervisor has recorded yet: looking at a task before it is taken
//! up shows what taking it up will find. Pure.

use jiff::Timestamp;

use super::marker::Marker;
use crate::domain::agent::stream::summary::Summary;
use crate::domain::work::reports::Reports;
use crate::domain::work::signal::Signal;
use crate::domain::work::told;

/// All that was told.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    /// What the program's output says.
    pub told: Summary,
    /// The last marker.
    pub marker: Option<Marker>,
    /// When something was heard last.
    pub at: Option<Timestamp>,
    /// The last word on the task: complete, blocked, or a question.
    pub verdict: Option<Signal>,
    /// The reports on the task, with those that are not recorded.
    pub reports: Reports,
    /// How many signals were heard of those that are recorded one by one.
    counted: u64,
}

impl Heard {
    /// Nothing yet of this iteration; `reports` are those that are recorded.
    pub fn beginning(reports: Option<&Reports>) -> Self {
        Self { reports: reports.cloned().unwrap_or_default(), ..Self::default() }
    }

    /// Hears the next signal of the iteration, of which the first `recorded` are in the reports.
    pub fn hear(&mut self, signal: &Signal, at: Timestamp, recorded: u64) {
        told::add(&mut self.told, signal);
        self.marker = Marker::after(self.marker.take(), signal, &self.told, at);
        self.at = Some(at);
        if let Signal::Seen(_) = signal {
            return;
        }
        self.counted += 1;
        if matches!(signal, Signal::Complete {} | Signal::Blocked { .. } | Signal::Waiting { .. }) {
            self.verdict = Some(signal.clone());
        }
        if self.counted > recorded {
            self.reports.hear(signal, at);
        }
    }
}

/// The last sign of life of an iteration. What was heard counts with the time at which it was said: it may have been recorded much later.
pub fn last_sign(heard_at: Option<Timestamp>, last_activity: Timestamp) -> Timestamp {
    heard_at.unwrap_or(last_activity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_is_not_counted_twice_and_the_rest_is_heard() {
        let at = Timestamp::UNIX_EPOCH;
        let recorded = Reports { progress: Some(70), ..Reports::default() };
        let mut heard = Heard::beginning(Some(&recorded));
        heard.hear(&Signal::Progress { percent: 40 }, at, 1);
        assert_eq!((heard.reports.progress, heard.at), (Some(70), Some(at)), "an older one is in the reports");
        heard.hear(&Signal::Progress { percent: 80 }, at, 1);
        heard.hear(&Signal::Complete {}, at, 1);
        assert_eq!((heard.reports.progress, heard.verdict), (Some(80), Some(Signal::Complete {})));
    }

    #[test]
    fn what_was_said_counts_from_when_it_was_said() {
        let (early, late) = (Timestamp::UNIX_EPOCH, Timestamp::MAX);
        assert_eq!((last_sign(Some(early), late), last_sign(None, late)), (early, late));
    }
}
