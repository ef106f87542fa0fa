//! When what is on disk is looked at.

use std::time::{Duration, Instant};

/// The least time between two looks, however much comes.
const LOOK: Duration = Duration::from_millis(40);

/// When was looked last, and whether that has to be done again.
#[derive(Debug)]
pub struct PanelLookTimes {
    last: Instant,
    overdue: bool,
}

impl PanelLookTimes {
    /// Just now was looked.
    pub fn begin() -> Self {
        Self { last: Instant::now(), overdue: false }
    }

    /// How long ago that was. Waits for a moment where it is too soon for another look.
    pub fn pause(&self) -> Duration {
        let since = self.last.elapsed();
        if since < LOOK {
            // A key is not held up by this; what comes without one is looked at in time.
            std::thread::sleep(LOOK.saturating_sub(since).min(Duration::from_millis(15)));
        }
        since
    }

    /// From now on the next look is due, whatever the log says.
    pub fn look_soon(&mut self) {
        self.overdue = true;
    }

    /// Whether the next look is due, the last one being so long ago and looks being made so often.
    pub fn is_due(&self, since: Duration, often: Duration) -> bool {
        since >= often || self.overdue
    }
}
