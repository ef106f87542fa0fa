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
    /// When its progress was said last.
    pub progress_at: Option<Timestamp>,
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
        if let Signal::Progress { .. } = signal {
            self.progress_at = Some(at);
        }
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

/// The signs of life of an iteration.
#[derive(Debug, Clone, Copy)]
pub struct Signs {
    /// When something was heard of it last.
    pub heard: Option<Timestamp>,
    /// When something was recorded of it last.
    pub recorded: Timestamp,
    /// When its workspace was captured last, where something had changed.
    pub captured: Option<Timestamp>,
    /// When its program printed something last.
    pub printed: Option<Timestamp>,
}

impl Signs {
    /// The last of them. What was heard counts with the time at which it was said: it may have been recorded much later.
    pub fn last(self) -> Timestamp {
        let told = self.heard.unwrap_or(self.recorded);
        [self.captured, self.printed].into_iter().flatten().fold(told, Timestamp::max)
    }
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
    fn captures_and_output_are_signs_of_life() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let signs = Signs { heard: Some(at(5)), recorded: at(99), captured: Some(at(3)), printed: Some(at(4)) };
        assert_eq!(signs.last(), at(5));
        assert_eq!(Signs { captured: Some(at(7)), ..signs }.last(), at(7));
        assert_eq!(Signs { printed: Some(at(8)), captured: Some(at(7)), ..signs }.last(), at(8));
    }

    #[test]
    fn what_was_said_counts_from_when_it_was_said() {
        let (early, late) = (Timestamp::UNIX_EPOCH, Timestamp::MAX);
        let signs = Signs { heard: None, recorded: late, captured: None, printed: None };
        assert_eq!((Signs { heard: Some(early), ..signs }.last(), signs.last()), (early, late));
    }
}
