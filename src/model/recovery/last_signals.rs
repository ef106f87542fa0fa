//! What an agent told in the iteration that a crash cut off, also what no supervisor has recorded yet: looking at a task before it is taken
//! up shows what taking it up will find. Pure.

use jiff::Timestamp;

use crate::agent::stream::summary::StreamSummary;
use crate::work::iteration_marker::IterationMarker;
use crate::work::signals::reports::TaskReports;
use crate::work::signals::signal::AgentSignal;
use crate::work::signals::signal_summary;

/// All that was told.
#[derive(Debug, Clone, Default)]
pub struct CrashedIterationSignals {
    /// What the program's output says.
    pub told: StreamSummary,
    /// The last marker.
    pub marker: Option<IterationMarker>,
    /// When something was heard last.
    pub at: Option<Timestamp>,
    /// When its progress was said last.
    pub progress_at: Option<Timestamp>,
    /// The last word on the task: complete, blocked, or a question.
    pub verdict: Option<AgentSignal>,
    /// The reports on the task, with those that are not recorded.
    pub reports: TaskReports,
    /// How many signals were heard of those that are recorded one by one.
    counted: u64,
}

impl CrashedIterationSignals {
    /// Nothing yet of this iteration; `reports` are those that are recorded.
    pub fn beginning(reports: Option<&TaskReports>) -> Self {
        Self { reports: reports.cloned().unwrap_or_default(), ..Self::default() }
    }

    /// Hears the next signal of the iteration, of which the first `recorded` are in the reports.
    pub fn hear(&mut self, signal: &AgentSignal, at: Timestamp, recorded: u64) {
        signal_summary::add(&mut self.told, signal);
        self.marker = IterationMarker::after(self.marker.take(), signal, &self.told, at);
        self.at = Some(at);
        if let AgentSignal::Progress { .. } = signal {
            self.progress_at = Some(at);
        }
        if let AgentSignal::Seen(_) = signal {
            return;
        }
        self.counted += 1;
        if matches!(signal, AgentSignal::Complete {} | AgentSignal::Blocked { .. } | AgentSignal::Waiting { .. }) {
            self.verdict = Some(signal.clone());
        }
        if self.counted > recorded {
            self.reports.hear(signal, at);
        }
    }
}

/// The signs of life of an iteration.
#[derive(Debug, Clone, Copy)]
pub struct LifeSigns {
    /// When something was heard of it last.
    pub heard: Option<Timestamp>,
    /// When something was recorded of it last.
    pub recorded: Timestamp,
    /// When its files were changed last, as far as captures show it.
    pub changed: Option<Timestamp>,
    /// When its program printed something last.
    pub printed: Option<Timestamp>,
}

impl LifeSigns {
    /// The last of them. What was heard counts with the time at which it was said: it may have been recorded much later.
    pub fn last(self) -> Timestamp {
        let told = self.heard.unwrap_or(self.recorded);
        [self.changed, self.printed].into_iter().flatten().fold(told, Timestamp::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_is_not_counted_twice_and_the_rest_is_heard() {
        let at = Timestamp::UNIX_EPOCH;
        let recorded = TaskReports { progress: Some(70), ..TaskReports::default() };
        let mut heard = CrashedIterationSignals::beginning(Some(&recorded));
        heard.hear(&AgentSignal::Progress { percent: 40 }, at, 1);
        assert_eq!((heard.reports.progress, heard.at), (Some(70), Some(at)), "an older one is in the reports");
        heard.hear(&AgentSignal::Progress { percent: 80 }, at, 1);
        heard.hear(&AgentSignal::Complete {}, at, 1);
        assert_eq!((heard.reports.progress, heard.verdict), (Some(80), Some(AgentSignal::Complete {})));
    }

    #[test]
    fn captures_and_output_are_signs_of_life() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let signs = LifeSigns { heard: Some(at(5)), recorded: at(99), changed: Some(at(3)), printed: Some(at(4)) };
        assert_eq!(signs.last(), at(5));
        assert_eq!(LifeSigns { changed: Some(at(7)), ..signs }.last(), at(7));
        assert_eq!(LifeSigns { printed: Some(at(8)), changed: Some(at(7)), ..signs }.last(), at(8));
    }

    #[test]
    fn what_was_said_counts_from_when_it_was_said() {
        let (early, late) = (Timestamp::UNIX_EPOCH, Timestamp::MAX);
        let signs = LifeSigns { heard: None, recorded: late, changed: None, printed: None };
        assert_eq!((LifeSigns { heard: Some(early), ..signs }.last(), signs.last()), (early, late));
    }
}
