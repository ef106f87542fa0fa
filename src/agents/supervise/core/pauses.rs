//! Pauses before something is tried again: the next iteration of an agent, a step that failed for a task, a step that stands
//! still for all tasks.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use axiom_base::env;
use axiom_model::work::endings::failures::pause_after;

/// When a pause ends: after so much time awake, or at a time of day, whichever comes first. A machine that slept through it has
/// waited long enough, and a clock that is set back makes no pause longer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PauseEnd {
    awake: Instant,
    at: Timestamp,
}

impl PauseEnd {
    /// The end of a pause that begins now.
    pub(crate) fn after(pause: Duration) -> Self {
        Self { awake: Instant::now() + pause, at: env::now().checked_add(pause).unwrap_or(Timestamp::MAX) }
    }

    /// The time of day.
    pub(crate) fn at(&self) -> Timestamp {
        self.at
    }

    /// How long it still lasts; `None` when it is over.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.left_at(Instant::now(), env::now())
    }

    fn left_at(&self, awake: Instant, at: Timestamp) -> Option<Duration> {
        let of_clock = Duration::try_from(self.at.duration_since(at)).ok()?;
        let left = self.awake.checked_duration_since(awake)?.min(of_clock);
        (!left.is_zero()).then_some(left)
    }
}

/// A pause that gets longer with each failure in a row: before the next iteration of an agent whose last one did not complete
/// its task; before the next claim or merge where the last one failed because of what concerns all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Backoff {
    pub(crate) until: PauseEnd,
    pub(crate) failures: u32,
}

impl Backoff {
    pub(crate) fn after(before: Option<&Self>) -> Self {
        let failures = before.map_or(0, |backoff| backoff.failures).saturating_add(1);
        Self { until: PauseEnd::after(pause_after(failures)), failures }
    }

    /// How long it still lasts; `None` when it is over.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.until.left()
    }

    pub(crate) fn lasts(&self) -> bool {
        self.until.left().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_while_the_machine_sleeps_and_no_clock_makes_it_longer() {
        let (awake, at) = (Instant::now(), axiom_base::env::now());
        let (pause, second) = (Duration::from_secs(3600), Duration::from_secs(1));
        let until = PauseEnd { awake: awake + pause, at: at + pause };
        assert_eq!(until.left_at(awake, at), Some(pause));
        assert_eq!(until.left_at(awake + second, at + second), Some(pause - second));
        assert_eq!(until.left_at(awake + pause, at + pause), None);
        // Asleep for a night: the clock that stands still then says nothing.
        assert_eq!(until.left_at(awake + second, at + pause * 8), None);
        // Somebody set the clock back by a year, or to the year 1.
        assert_eq!(until.left_at(awake + second, at - pause * 9000), Some(pause - second));
        assert_eq!(until.left_at(awake + pause, Timestamp::MIN), None);
        assert_eq!(PauseEnd::after(Duration::MAX / 4).at, Timestamp::MAX);
    }
}
